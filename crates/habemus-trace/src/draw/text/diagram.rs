//! The rows of the diagram: lifelines, arrows, marks.

use std::collections::BTreeSet;

use super::Page;
use super::layout::{Layout, margin_words, words_at};
use super::legend::{self, Sign};
use super::lifeline::{crossing, lifeline, meaning, origin};
use super::line::{Line, Paint, columns};
use super::log;
use crate::Dropped;
use crate::draw::rows::{Row, RowContent};
use crate::draw::scene::{Condition, Scene};
use crate::draw::time::Scale;
use crate::draw::words::{self, Mark};

/// After this many rows the names of the processes are repeated below the diagram.
const LONG: usize = 24;

/// Draws all rows and the legend.
pub(super) fn draw(page: &mut Page, scene: &Scene<'_>, rows: &[Row], scale: &Scale, layout: &Layout) {
    let mut diagram = Diagram { scene, layout, now: scene.before.clone(), used: BTreeSet::new() };
    page.line(&diagram.head(scale.unit));
    let mut shown = None;
    for row in rows {
        if let RowContent::Violation { text } = &row.what {
            log::violation(page, text);
            continue;
        }
        let mut line = diagram.lifelines();
        if let RowContent::Silence(_) = row.what {
            diagram.used.insert(Sign::Silence);
            line.put(layout.time.saturating_sub(1), '⋮', Paint::Faint);
        } else if shown != Some(row.at) {
            line.write(0, &format!("{:>1$}", scale.show(row.at), layout.time), layout.time, Paint::Faint);
            shown = Some(row.at);
        }
        diagram.row(&mut line, &row.what);
        page.line(&line);
        if let Some((column, after)) = row.change {
            diagram.now[column] = after;
        }
    }
    if rows.len() > LONG {
        page.line(&diagram.head(scale.unit));
    }
    legend::draw(page, &diagram.used);
}

struct Diagram<'s> {
    scene: &'s Scene<'s>,
    layout: &'s Layout,
    now: Vec<Condition>,
    used: BTreeSet<Sign>,
}

impl Diagram<'_> {
    fn head(&self, unit: &str) -> Line {
        let layout = self.layout;
        let mut line = Line::new(layout.width);
        line.write(0, &format!("{:>1$}", unit, layout.time), layout.time, Paint::Faint);
        for (process, id) in self.scene.processes.iter().enumerate() {
            let name = id.to_string();
            line.write(layout.column(process) - name.len() / 2, &name, name.len(), Paint::Strong);
        }
        line
    }

    fn lifelines(&mut self) -> Line {
        let mut line = Line::new(self.layout.width);
        for process in 0..self.now.len() {
            let (sign, paint) = lifeline(self.now[process]);
            line.put(self.layout.column(process), sign, paint);
            self.used.extend(meaning(sign));
        }
        line
    }

    fn row(&mut self, line: &mut Line, what: &RowContent) {
        match what {
            RowContent::Silence(_) | RowContent::Violation { .. } => {}
            RowContent::Network { text } => self.network(line, text),
            RowContent::Cycle => self.network(line, words::CYCLE),
            RowContent::Sends { from, .. } => {
                self.used.insert(Sign::Sent);
                self.mark(line, *from, ('●', Paint::Plain), (what, Paint::Label));
            }
            RowContent::Mark { column, mark, .. } => {
                self.used.insert(Sign::Mark(*mark));
                let paint = paint(*mark);
                self.mark(line, *column, (mark.sign(), paint), (what, paint));
            }
            RowContent::Message { from, to, lost, .. } if from == to => {
                let (sign, used) = if lost.is_some() { ('╳', Sign::Lost) } else { ('↻', Sign::Itself) };
                self.used.insert(used);
                self.mark(line, *from, (sign, Paint::Plain), (what, Paint::Label));
            }
            RowContent::Message { from, to, label, lost, earlier } => {
                self.arrow(line, (*from, *to), *lost, *earlier);
                match self.layout.margin {
                    Some(margin) => self.beside(line, margin, what, Paint::Label),
                    None => self.label(line, (*from, *to), label, *lost),
                }
            }
        }
    }

    /// A sign on a lifeline, with its words.
    fn mark(&self, line: &mut Line, process: usize, sign: (char, Paint), words: (&RowContent, Paint)) {
        let at = self.layout.column(process);
        line.put(at, sign.0, sign.1);
        if let Some(margin) = self.layout.margin {
            return self.beside(line, margin, words.0, words.1);
        }
        let text = words_at(self.scene, words.0);
        let length = columns(&text);
        let fits_right = at + 2 + length <= self.layout.width;
        let fits_left = self.layout.time + 1 + length + 2 <= at;
        let start = if !fits_right && fits_left { at - 2 - length } else { at + 2 };
        // Words may hide the lifelines that they cross, with a blank on either side.
        for hidden in (start - 1..=start + length).filter(|&hidden| hidden != at) {
            line.put(hidden, ' ', Paint::Plain);
        }
        line.write(start, &text, self.layout.width, words.1);
    }

    fn beside(&self, line: &mut Line, margin: usize, what: &RowContent, paint: Paint) {
        line.write(margin, &margin_words(self.scene, what), self.layout.width, paint);
    }

    fn arrow(&mut self, line: &mut Line, (from, to): (usize, usize), lost: Option<Dropped>, earlier: bool) {
        let (start, end) = (self.layout.column(from), self.layout.column(to));
        let rightwards = start < end;
        let dash = if earlier { '┄' } else { '─' };
        let paint = if lost.is_some() { Paint::Bad } else { Paint::Plain };
        for at in start.min(end) + 1..start.max(end) {
            line.put(at, dash, paint);
        }
        for crossed in from.min(to) + 1..from.max(to) {
            let (sign, lifeline_paint) = lifeline(self.now[crossed]);
            let crossing = crossing(sign).unwrap_or(dash);
            line.put(
                self.layout.column(crossed),
                crossing,
                if crossing == dash { paint } else { lifeline_paint },
            );
        }
        if !earlier {
            let (sign, lifeline_paint) = lifeline(self.now[from]);
            line.put(start, origin(sign, rightwards), lifeline_paint);
        }
        let head = if rightwards { end - 1 } else { end + 1 };
        let sign = match lost {
            Some(_) => '╳',
            None if rightwards => '▶',
            None => '◀',
        };
        line.put(head, sign, paint);
        self.used.insert(match (lost, earlier) {
            (Some(_), _) => Sign::Lost,
            (None, true) => Sign::SentEarlier,
            (None, false) => Sign::Arrow,
        });
    }

    /// The label on an arrow: between the sender and the next process if it fits there.
    fn label(&self, line: &mut Line, (from, to): (usize, usize), label: &str, lost: Option<Dropped>) {
        let (start, end) = (self.layout.column(from), self.layout.column(to));
        let rightwards = start < end;
        let near = if rightwards { start + self.layout.pitch } else { start - self.layout.pitch };
        let with_reason = lost.map(|why| format!("{label}: {}", words::reason(why)));
        let room = |until: usize| start.abs_diff(until) - 1;
        let (spacious, tight) = (4, 2);
        let choices = [
            (with_reason.as_deref(), near, spacious),
            (with_reason.as_deref(), end, spacious),
            (Some(label), near, tight),
        ];
        let choice = choices.into_iter().find_map(|(text, until, spare)| {
            text.filter(|text| columns(text) + spare <= room(until)).map(|text| (text, until))
        });
        let (text, until) = choice.unwrap_or((label, end));
        // The head is part of the room only when the label ends at the receiver.
        let head = usize::from(until == end);
        let left = start.min(until) + 1 + if rightwards { 0 } else { head };
        let inner = room(until) - head;
        line.write(left + (inner - columns(text).min(inner)) / 2, text, inner, Paint::Label);
    }

    fn network(&self, line: &mut Line, text: &str) {
        let end = self.layout.margin.unwrap_or(self.layout.width);
        for at in self.layout.time + 1..self.layout.column(self.now.len().saturating_sub(1)).max(end) {
            line.put(at, '╌', Paint::Bad);
        }
        let start = self.layout.time + 3;
        line.write(start, &format!(" {text} "), self.layout.width.saturating_sub(start), Paint::Bad);
    }
}

fn paint(mark: Mark) -> Paint {
    match mark {
        Mark::Lead | Mark::Decide => Paint::Leader,
        Mark::Enter => Paint::Inside,
        Mark::Crash | Mark::Suspect => Paint::Bad,
        Mark::Start
        | Mark::Recover
        | Mark::Pause
        | Mark::Resume
        | Mark::Timer
        | Mark::Command
        | Mark::Output
        | Mark::Restore => Paint::Plain,
        Mark::State => Paint::Faint,
    }
}
