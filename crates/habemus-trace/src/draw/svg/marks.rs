//! What happens at one process: a sign on its line, and words beside it.

use std::collections::BTreeMap;

use super::arrows::{cross, head};
use super::canvas::{Canvas, Point, shortened, text_width};
use super::legend::Sign;
use super::place::{Room, Spot};
use super::spans::Span;
use super::timeline::Timeline;
use crate::Happening;
use crate::draw::scene::Scene;
use crate::draw::time;
use crate::draw::words::{self, Mark};

const LETTERS: f64 = 11.0;
const LONGEST: usize = 24;
/// How far apart two signs of one step are.
const APART: f64 = 15.0;

/// A mark in the picture.
pub(super) struct Pin {
    mark: Mark,
    at: Point,
    text: String,
    tooltip: String,
    spot: Option<Spot>,
}

/// The marks of all processes. Several at one place stand side by side.
pub(super) fn pins(scene: &Scene<'_>, timeline: &Timeline, line: impl Fn(usize) -> f64) -> Vec<Pin> {
    let mut taken: BTreeMap<(usize, usize, u64), f64> = BTreeMap::new();
    let mut pins = Vec::new();
    for (index, moment) in scene.moments.iter().enumerate() {
        let Some(column) = moment.column.filter(|_| !moment.expected) else {
            continue;
        };
        let Some((mark, text)) = Mark::of(&moment.record.what) else {
            continue;
        };
        let shift = taken.entry((column, moment.step, moment.at)).or_default();
        let at = Point { x: timeline.x[index] + *shift, y: line(column) };
        *shift += if has_sign(mark) { APART } else { 0.0 };
        let tooltip = format!("{} {text} at {}", scene.processes[column], time::span(moment.at));
        let texts = match &moment.record.what {
            // Each variable finds a place of its own.
            Happening::State { variables } => words::assignments(variables),
            _ => vec![text],
        };
        for text in texts {
            let (text, tooltip) = (shortened(&words::plain(&text), LONGEST), tooltip.clone());
            pins.push(Pin { mark, at, text, tooltip, spot: None });
        }
    }
    pins
}

/// The places on the lines where messages leave or arrive.
pub(super) fn dots(scene: &Scene<'_>, timeline: &Timeline, line: impl Fn(usize) -> f64) -> Vec<Point> {
    let mut dots: Vec<Point> = Vec::new();
    for (index, moment) in scene.moments.iter().enumerate() {
        let is_message = matches!(moment.record.what, Happening::Send { .. } | Happening::Deliver { .. });
        if let Some(column) = moment.column.filter(|_| is_message) {
            let dot = Point { x: timeline.x[index], y: line(column) };
            if dots.last() != Some(&dot) {
                dots.push(dot);
            }
        }
    }
    dots
}

impl Pin {
    pub(super) fn sign(&self) -> Option<Sign> {
        has_sign(self.mark).then_some(Sign::Mark(self.mark))
    }

    /// Keeps labels off this mark.
    pub(super) fn claim(&self, room: &mut Room) {
        if has_sign(self.mark) {
            room.block(self.at, 15.0, 15.0);
        }
    }

    /// Looks for a place for the words. False if there is none.
    pub(super) fn place_label(&mut self, room: &mut Room) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let width = text_width(&self.text, LETTERS);
        let half = width / 2.0;
        let beside = half - 4.0;
        let above = if self.mark == Mark::Command { -15.0 } else { -12.0 };
        let places = [
            (beside, above),
            (beside, 20.0),
            (0.0, above - 1.0),
            (0.0, 21.0),
            (beside, above - 12.0),
            (beside, 32.0),
            (-beside, above - 1.0),
            (-beside, 20.0),
        ];
        let spots = places
            .into_iter()
            .enumerate()
            .map(|(index, (x, y))| Spot::level(self.at.shifted(x, y), 0.4 * index as f64))
            .collect();
        self.spot = room.take(spots, width, LETTERS, None);
        self.spot.is_some()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, span: Span) {
        if has_sign(self.mark) && span.meets(self.at.x - 10.0, self.at.x + 10.0) {
            canvas.group(&self.tooltip, |canvas| draw_sign(canvas, self.mark, self.at));
        }
    }

    pub(super) fn draw_label(&self, canvas: &mut Canvas, span: Span) {
        if let Some(spot) = self.spot.as_ref().filter(|spot| span.has(spot.base.x)) {
            let class = match self.mark {
                Mark::Crash => "words middle bad",
                Mark::State => "words middle state",
                _ => "words middle",
            };
            canvas.text(class, spot.base, &self.text);
        }
    }
}

/// Some marks need no sign, because the line shows them.
fn has_sign(mark: Mark) -> bool {
    !matches!(mark, Mark::Output | Mark::Enter | Mark::Pause | Mark::Resume | Mark::State)
}

/// Draws the sign of a mark with its middle on the line.
pub(super) fn draw_sign(canvas: &mut Canvas, mark: Mark, at: Point) {
    match mark {
        Mark::Start | Mark::Recover => canvas.circle("open", at, 5.0),
        Mark::Crash => cross(canvas, "crash", at, 7.0),
        Mark::Timer => {
            canvas.circle("open", at, 6.5);
            let (top, right) = (at.shifted(0.0, -4.0), at.shifted(3.0, 0.0));
            canvas.path("hand", &format!("M{top}L{at}L{right}"));
        }
        Mark::Command => head(canvas, "command", at.shifted(0.0, -20.0), at.shifted(0.0, -3.0)),
        Mark::Lead => star(canvas, at),
        Mark::Decide => {
            let corners =
                [(0.0, -7.5), (7.5, 0.0), (0.0, 7.5), (-7.5, 0.0)].map(|(x, y)| at.shifted(x, y).to_string());
            canvas.path("decision", &format!("M{}Z", corners.join("L")));
        }
        Mark::Suspect => {
            canvas.circle("doubt", at, 7.0);
            canvas.text("doubt-sign middle", at.shifted(0.0, 4.0), "?");
        }
        Mark::Restore => {
            canvas.circle("open", at, 6.5);
            let (a, b, c) = (at.shifted(-3.0, 0.2), at.shifted(-0.8, 2.6), at.shifted(3.2, -2.6));
            canvas.path("hand", &format!("M{a}L{b}L{c}"));
        }
        Mark::Output | Mark::Enter | Mark::Pause | Mark::Resume | Mark::State => {}
    }
}

/// A star of five points. The numbers are the sines and cosines of its corners.
fn star(canvas: &mut Canvas, at: Point) {
    let outer = [(0.0, -1.0), (0.951, -0.309), (0.588, 0.809), (-0.588, 0.809), (-0.951, -0.309)];
    let inner = [(0.588, -0.809), (0.951, 0.309), (0.0, 1.0), (-0.951, 0.309), (-0.588, -0.809)];
    let corners: Vec<String> = outer
        .iter()
        .zip(inner)
        .flat_map(|(&(x, y), (u, v))| [at.shifted(x * 10.0, y * 10.0), at.shifted(u * 4.4, v * 4.4)])
        .map(|corner| corner.to_string())
        .collect();
    canvas.path("star", &format!("M{}Z", corners.join("L")));
}
