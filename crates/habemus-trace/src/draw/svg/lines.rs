//! The line of each process, thick and coloured where the process is something in particular.

use habemus::Status;

use super::canvas::{Canvas, Point};
use super::legend::Sign;
use super::spans::Span;
use super::timeline::Timeline;
use crate::draw::scene::{Condition, Life, Scene};

/// A stretch of a line on which nothing changes.
#[derive(Clone, Copy)]
struct Stretch {
    start: f64,
    end: f64,
    condition: Condition,
}

/// The line of one process, from its left to its right end.
pub(super) struct Lifeline {
    y: f64,
    stretches: Vec<Stretch>,
}

impl Lifeline {
    pub(super) fn new(
        scene: &Scene<'_>,
        timeline: &Timeline,
        process: usize,
        start: Point,
        right: f64,
    ) -> Lifeline {
        Lifeline { y: start.y, stretches: stretches(scene, timeline, process, start.x, right) }
    }

    /// The signs that a reader needs to know.
    pub(super) fn signs(&self) -> impl Iterator<Item = Sign> {
        self.stretches
            .iter()
            .flat_map(|stretch| match stretch.condition.life {
                Life::Unborn => [None, None],
                Life::Down => [Some(Sign::Down), None],
                Life::Up => [None, bar(stretch.condition.status).map(|(.., sign)| sign)],
                Life::Paused => [Some(Sign::Paused), None],
            })
            .flatten()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, span: Span) {
        for &Stretch { start, end, condition } in &self.stretches {
            let Some((start, end)) = span.cut(start, end) else { continue };
            let (from, to) = (Point { x: start, y: self.y }, Point { x: end, y: self.y });
            let mut block = |class: &str, height: f64, round: f64| {
                canvas.rectangle(class, from.shifted(0.0, -height / 2.0), end - start, height, round);
            };
            match condition.life {
                Life::Unborn => {}
                Life::Down => canvas.line("line down", from, to),
                Life::Paused => {
                    block("paused-ground", 16.0, 3.0);
                    block("paused", 16.0, 3.0);
                }
                Life::Up => match bar(condition.status) {
                    Some((class, height, _)) => block(class, height, height / 2.0),
                    None => canvas.line("line", from, to),
                },
            }
        }
    }
}

fn stretches(scene: &Scene<'_>, timeline: &Timeline, process: usize, left: f64, right: f64) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let (mut start, mut condition) = (left, scene.before[process]);
    for (index, moment) in scene.moments.iter().enumerate() {
        if moment.column == Some(process) && moment.after != condition {
            let end = timeline.x[index];
            if end > start {
                stretches.push(Stretch { start, end, condition });
            }
            (start, condition) = (end, moment.after);
        }
    }
    stretches.push(Stretch { start, end: right, condition });
    stretches
}

/// The bar that shows a status: its class, its height and its sign in the legend.
fn bar(status: Status) -> Option<(&'static str, f64, Sign)> {
    match status {
        Status::Idle | Status::Following(_) => None,
        Status::Waiting => Some(("waiting", 6.0, Sign::Waiting)),
        Status::Inside => Some(("inside", 14.0, Sign::Inside)),
        Status::Leading => Some(("leading", 9.0, Sign::Leading)),
        Status::Decided => Some(("decided", 9.0, Sign::Decided)),
    }
}
