//! The messages as slanted arrows.

use std::collections::BTreeMap;

use super::canvas::{Canvas, Point, shortened, text_width};
use super::place::{Room, Spot};
use super::spans::Span;
use super::timeline::Timeline;
use crate::Dropped;
use crate::draw::phrase;
use crate::draw::scene::{Flight, Scene};
use crate::draw::time;
use crate::draw::words;

/// The size of the letters on an arrow.
const LETTERS: f64 = 12.0;
/// The longest label that is written out.
const LONGEST: usize = 32;
/// So many kinds of messages have a colour of their own.
pub(super) const COLORS: usize = 5;

/// A message in the picture.
#[derive(Clone)]
pub(super) struct Arrow {
    from: Point,
    to: Point,
    fate: Fate,
    /// Which colour it has.
    color: usize,
    label: String,
    tooltip: String,
    spot: Option<Spot>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Delivered,
    Lost,
    Pending,
}

/// The kinds of messages in the order in which they appear; this is the order of the colours.
pub(super) fn kinds<'t>(scene: &Scene<'t>) -> Vec<&'t str> {
    let mut kinds = Vec::new();
    for flight in &scene.flights {
        if !kinds.contains(&flight.kind) {
            kinds.push(flight.kind);
        }
    }
    kinds
}

/// One arrow for each arrival or loss, and for each message still on its way.
pub(super) fn arrows(
    scene: &Scene<'_>,
    timeline: &Timeline,
    left: f64,
    line: impl Fn(usize) -> f64,
) -> Vec<Arrow> {
    let colors: BTreeMap<&str, usize> =
        kinds(scene).into_iter().enumerate().map(|(index, kind)| (kind, index.min(COLORS))).collect();
    let mut arrows = Vec::new();
    for flight in &scene.flights {
        let mut arrow = |end: Option<(usize, Option<Dropped>)>| {
            let arrives = end.map(|(moment, _)| timeline.x[moment]);
            let departs = flight.sent.map(|moment| timeline.x[moment]);
            let departs = departs.or(arrives.map(|x| (x - timeline.flight).max(left))).unwrap_or(left);
            let from = Point { x: departs, y: line(flight.from) };
            let target = Point { x: arrives.unwrap_or(departs + timeline.flight), y: line(flight.to) };
            let (fate, part) = match end {
                None => (Fate::Pending, 0.55),
                Some((_, None)) => (Fate::Delivered, 1.0),
                Some((_, Some(Dropped::Down))) => (Fate::Lost, 1.0),
                Some((_, Some(Dropped::Cut))) => (Fate::Lost, 0.55),
                Some((_, Some(Dropped::Loss))) => (Fate::Lost, 0.7),
            };
            let to = from.towards(target, part);
            // The head stops short of the line, so that both can be seen.
            let short = if part < 1.0 { 0.0 } else { 4.0 };
            let to = to.towards(from, (short / from.distance(to).max(1.0)).min(0.5));
            let color = colors.get(flight.kind).copied().unwrap_or(COLORS);
            let label = shortened(&words::plain(&flight.words), LONGEST);
            arrows.push(Arrow {
                from,
                to,
                fate,
                color,
                label,
                tooltip: tooltip(scene, flight, end),
                spot: None,
            });
        };
        match flight.ends.as_slice() {
            [] => arrow(None),
            ends => ends.iter().for_each(|&end| arrow(Some(end))),
        }
    }
    arrows
}

fn tooltip(scene: &Scene<'_>, flight: &Flight<'_>, end: Option<(usize, Option<Dropped>)>) -> String {
    let (from, to) = (scene.processes[flight.from], scene.processes[flight.to]);
    let at = |moment: usize| time::span(scene.moments[moment].at);
    let sent = flight.sent.map(|moment| format!(", sent at {}", at(moment))).unwrap_or_default();
    let ended = match end {
        None => ", still on its way".into(),
        Some((moment, None)) => format!(", received at {}", at(moment)),
        Some((moment, Some(why))) => format!(", missed at {}: {}", at(moment), words::reason(why)),
    };
    format!("{}: {from} → {to}{sent}{ended}", phrase::full(flight.label))
}

impl Arrow {
    pub(super) fn fate(&self) -> Fate {
        self.fate
    }

    /// Whether it goes through this place.
    pub(super) fn crosses(&self, x: f64) -> bool {
        self.from.x.min(self.to.x) < x && x < self.from.x.max(self.to.x)
    }

    /// Whether anything of it is seen in a row.
    pub(super) fn is_in(&self, span: Span) -> bool {
        span.meets(self.from.x - 2.0, self.to.x + 8.0)
    }

    /// Whether the message went from a process to itself.
    fn is_loop(&self) -> bool {
        (self.from.y - self.to.y).abs() < 1.0
    }

    /// Keeps labels off this arrow.
    pub(super) fn claim(&self, room: &mut Room) {
        room.avoid(self.from, self.to, 1.6);
        if self.fate == Fate::Lost {
            room.block(self.to, 14.0, 14.0);
        }
    }

    /// Looks for a place for the label; `own` is the number of this arrow in the room. False if there is
    /// none.
    pub(super) fn place_label(&mut self, room: &mut Room, own: usize) -> bool {
        if self.label.is_empty() {
            return true;
        }
        let width = text_width(&self.label, LETTERS);
        self.spot = room.take(self.spots(width), width, LETTERS, Some(own));
        // A message on its way has only half an arrow, and little is lost without its label.
        self.spot.is_some() || self.fate == Fate::Pending
    }

    fn spots(&self, width: f64) -> Vec<Spot> {
        if self.is_loop() {
            let middle = self.from.towards(self.to, 0.5);
            return vec![
                Spot::level(middle.shifted(0.0, -26.0), 0.0),
                Spot::level(middle.shifted(0.0, 20.0), 1.0),
            ];
        }
        let length = self.from.distance(self.to);
        let direction =
            Point { x: (self.to.x - self.from.x) / length, y: (self.to.y - self.from.y) / length };
        let above = Point { x: direction.y, y: -direction.x };
        // The label keeps this far from the ends of the arrow, unless it is too long for that.
        let reach = ((length - width) / 2.0 - 5.0).max(0.0) / length;
        let too_long = if width + 8.0 > length { 3.0 } else { 0.0 };
        let mut spots = Vec::new();
        for (index, shift) in [-0.15, 0.0, -0.4, 0.2, -0.7, 0.5, -1.0, 0.8, 1.0].into_iter().enumerate() {
            let on_line = self.from.towards(self.to, 0.5 + shift * reach);
            for (side, extra) in [(4.5, 0.0), (-4.5 - LETTERS * 0.72, 1.2)] {
                let base = on_line.shifted(above.x * side, above.y * side);
                spots.push(Spot { base, direction, penalty: 0.15 * index as f64 + extra + too_long });
            }
        }
        spots
    }

    /// Draws the arrow; its label comes later, above all arrows.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let color = format!("k{}", self.color);
        canvas.group(&self.tooltip, |canvas| {
            let style = match self.fate {
                Fate::Delivered => "message",
                Fate::Lost => "message lost",
                Fate::Pending => "message pending",
            };
            let class = format!("{style} {color}");
            let before_end = if self.is_loop() {
                let (rise, middle) = (self.from.y - 30.0, self.from.towards(self.to, 0.5));
                let control = Point { x: middle.x, y: rise - 8.0 };
                canvas.path(&class, &format!("M{}Q{control} {}", self.from, self.to));
                control
            } else {
                canvas.line(&class, self.from, self.to);
                self.from
            };
            match self.fate {
                Fate::Delivered => head(canvas, &format!("head {color}"), before_end, self.to),
                Fate::Lost => cross(canvas, "loss", self.to, 4.5),
                Fate::Pending => {}
            }
        });
    }

    pub(super) fn draw_label(&self, canvas: &mut Canvas, span: Span) {
        if let Some(spot) = self.spot.as_ref().filter(|spot| span.has(spot.base.x)) {
            let class = format!("label middle k{}", self.color);
            canvas.slanted_text(&class, spot.base, spot.direction, &self.label);
        }
    }
}

/// An arrow's head with its tip at the end.
pub(super) fn head(canvas: &mut Canvas, class: &str, from: Point, tip: Point) {
    let length = from.distance(tip).max(1.0);
    let (x, y) = ((tip.x - from.x) / length, (tip.y - from.y) / length);
    let back = tip.shifted(-x * 9.0, -y * 9.0);
    let (left, right) = (back.shifted(-y * 3.6, x * 3.6), back.shifted(y * 3.6, -x * 3.6));
    canvas.path(class, &format!("M{tip}L{left}L{right}Z"));
}

/// A cross with its middle there.
pub(super) fn cross(canvas: &mut Canvas, class: &str, at: Point, size: f64) {
    let corner = |x: f64, y: f64| at.shifted(x * size, y * size);
    let (a, b, c, d) = (corner(-1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0), corner(1.0, -1.0));
    canvas.path(class, &format!("M{a}L{b}M{c}L{d}"));
}
