//! The log that replaces the diagram when there are too many processes.

use super::Page;
use super::line::{Line, Paint, wrap};
use crate::Happening;
use crate::draw::scene::{Scene, SceneEvent};
use crate::draw::time::Scale;
use crate::draw::words;

/// Writes one line for each event: when, who, what.
pub(super) fn draw(page: &mut Page, scene: &Scene<'_>, scale: &Scale) {
    let times = scene.moments.iter().map(|moment| scale.show(moment.at).len());
    let time = times.max().unwrap_or(0).max(scale.unit.chars().count());
    let name = scene.processes.iter().map(|id| id.to_string().len()).max().unwrap_or(1);
    let mut head = Line::new(page.width);
    head.write(0, &format!("{:>time$}", scale.unit), time, Paint::Faint);
    page.line(&head);
    for moment in scene.moments.iter().filter(|moment| !moment.expected) {
        let flight = moment.flight.map(|flight| &scene.flights[flight]);
        let sentence = words::sentence(moment, flight);
        let paint = paint(moment);
        if let Happening::Violation { .. } = moment.record.what {
            violation(page, &sentence);
            continue;
        }
        let mut line = Line::new(page.width);
        line.write(0, &format!("{:>time$}", scale.show(moment.at)), time, Paint::Faint);
        if let Some(id) = moment.record.process {
            line.write(time + 2, &format!("{id:>name$}"), name, Paint::Strong);
        }
        line.write(time + 2 + name + 2, &sentence, page.width, paint);
        page.line(&line);
    }
}

/// Writes a violation across the whole width.
pub(super) fn violation(page: &mut Page, text: &str) {
    for part in wrap(text, page.width.saturating_sub(3)) {
        let mut line = Line::new(page.width);
        line.write(0, "!!", page.width, Paint::Bad);
        line.write(3, &part, page.width, Paint::Bad);
        page.line(&line);
    }
}

fn paint(moment: &SceneEvent<'_>) -> Paint {
    match moment.record.what {
        Happening::Crash | Happening::Drop { .. } | Happening::Cut { .. } | Happening::Violation { .. } => {
            Paint::Bad
        }
        Happening::Send { .. } | Happening::Deliver { .. } => Paint::Label,
        _ => Paint::Plain,
    }
}
