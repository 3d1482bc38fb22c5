//! Where each event is from left to right.
//!
//! Time is drawn to scale as far as it can be read: a long silence is cut out, what depends on each other is
//! kept apart, and what happens at the same time stays in its order. So the scale varies, but left is never
//! later than right.

use std::collections::BTreeMap;

use crate::Happening;
use crate::draw::scene::Scene;

/// A silence that would be longer than this many usual flights of a message is cut out.
const LONGEST_SILENCE: f64 = 3.2;
/// How wide the place of a cut is.
const BREAK: f64 = 56.0;
/// How far apart two steps of one process are at least.
const STEP: f64 = 26.0;
/// How far a message flies at least.
const FLIGHT: f64 = 34.0;

/// The horizontal places of all events.
pub(super) struct Timeline {
    /// The place of each moment.
    pub(super) x: Vec<f64>,
    /// Where silences were cut out.
    pub(super) breaks: Vec<Break>,
    /// The place of the last event.
    pub(super) end: f64,
    /// How far a message usually flies.
    pub(super) flight: f64,
    /// Pairs of a time and its place, both rising.
    knots: Vec<(u64, f64)>,
}

/// A silence that was cut out.
pub(super) struct Break {
    pub(super) start: f64,
    pub(super) end: f64,
    /// How long it was, in nanoseconds.
    pub(super) silence: u64,
}

impl Timeline {
    /// Places the events from `start` on. A usual message flies `flight` pixels; `stretch` widens all the
    /// rest.
    pub(super) fn new(scene: &Scene<'_>, start: f64, flight: f64, stretch: f64) -> Timeline {
        let flight = flight * stretch;
        let scale = scene.pace().map_or(0.0, |pace| flight / pace as f64);
        // Without a clock there is only the order, and each message may as well fly as far as it should.
        let min_flight = if scale == 0.0 { flight } else { FLIGHT * stretch };
        let mut timeline =
            Timeline { x: Vec::new(), breaks: Vec::new(), end: start, flight, knots: Vec::new() };
        let mut last_step: Vec<Option<(usize, u64, f64)>> = vec![None; scene.processes.len()];
        let mut now = scene.moments.first().map_or(0, |moment| moment.at);
        for moment in &scene.moments {
            let silence = moment.at.saturating_sub(now);
            now = now.max(moment.at);
            let mut x = timeline.end + timeline.width_of(silence, scale);
            if let Some(column) = moment.column
                && !matches!(moment.record.what, Happening::Drop { .. })
            {
                x = match last_step[column] {
                    // All that a process does at once is in one place.
                    Some((step, at, place)) if step == moment.step && at == moment.at => place,
                    Some((step, _, place)) if step != moment.step => x.max(place + STEP * stretch),
                    _ => x,
                };
            }
            if let Some(sent) = moment.flight.and_then(|flight| scene.flights[flight].sent)
                && sent < timeline.x.len()
            {
                x = x.max(timeline.x[sent] + min_flight);
            }
            if let Some(column) = moment.column
                && !matches!(moment.record.what, Happening::Drop { .. })
            {
                last_step[column] = Some((moment.step, moment.at, x));
            }
            timeline.x.push(x);
            timeline.end = timeline.end.max(x);
            if timeline.knots.last().is_none_or(|&(at, _)| at < now) {
                timeline.knots.push((now, timeline.end));
            }
        }
        timeline
    }

    /// Events at these places and nothing else.
    #[cfg(test)]
    pub(super) fn at(x: Vec<f64>) -> Timeline {
        Timeline { x, breaks: Vec::new(), end: 0.0, flight: 0.0, knots: Vec::new() }
    }

    /// How much room a silence gets; a long one is cut out.
    fn width_of(&mut self, silence: u64, scale: f64) -> f64 {
        let width = silence as f64 * scale;
        if width <= LONGEST_SILENCE * self.flight {
            return width;
        }
        // The cut begins and ends a little away from the events beside it.
        let margin = STEP;
        let start = self.end + margin;
        self.breaks.push(Break { start, end: start + BREAK, silence });
        BREAK + 2.0 * margin
    }

    /// Whether time passes at all.
    pub(super) fn has_time(&self) -> bool {
        self.knots.len() > 1
    }

    /// Presses the whole into a width, if it is wider.
    pub(super) fn squeeze(&mut self, start: f64, width: f64) {
        let factor = width / (self.end - start).max(1.0);
        if factor >= 1.0 {
            return;
        }
        let squeezed = |x: f64| start + (x - start) * factor;
        self.x.iter_mut().for_each(|x| *x = squeezed(*x));
        self.knots.iter_mut().for_each(|(_, x)| *x = squeezed(*x));
        for cut in &mut self.breaks {
            (cut.start, cut.end) = (squeezed(cut.start), squeezed(cut.end));
        }
        self.end = squeezed(self.end);
        self.flight *= factor;
    }

    /// The times that the axis names, with their places: round numbers, and the time after each break.
    pub(super) fn ticks(&self, spacing: f64) -> Vec<(u64, f64)> {
        let mut ticks: BTreeMap<u64, f64> = BTreeMap::new();
        for segment in self.segments() {
            let (Some(&(first, start)), Some(&(last, end))) = (segment.first(), segment.last()) else {
                continue;
            };
            let width = end - start;
            let step = round_step((last - first) as f64 * spacing / width.max(1.0));
            let mut place = segment.windows(2).peekable();
            let mut at = first.div_ceil(step).saturating_mul(step);
            let mut left = ticks.last_key_value().map_or(f64::NEG_INFINITY, |(_, &x)| x);
            let mut named = 0;
            while at <= last && at >= first {
                while place.peek().is_some_and(|pair| pair[1].0 < at) {
                    place.next();
                }
                let x = place.peek().map_or(end, |pair| between(pair[0], pair[1], at));
                if x - left >= spacing * 0.7 {
                    ticks.insert(at, x);
                    left = x;
                    named += 1;
                }
                let Some(next) = at.checked_add(step) else { break };
                at = next;
            }
            if named == 0 && start - left >= spacing * 0.7 {
                ticks.insert(first, start);
            }
        }
        ticks.into_iter().collect()
    }

    /// The knots between one break and the next.
    fn segments(&self) -> Vec<Vec<(u64, f64)>> {
        let mut segments = vec![Vec::new()];
        let mut breaks = self.breaks.iter().peekable();
        for &knot in &self.knots {
            if breaks.peek().is_some_and(|cut| cut.end <= knot.1) {
                segments.push(Vec::new());
                while breaks.peek().is_some_and(|cut| cut.end <= knot.1) {
                    breaks.next();
                }
            }
            segments.last_mut().expect("there is always a last segment").push(knot);
        }
        segments
    }
}

fn between(left: (u64, f64), right: (u64, f64), at: u64) -> f64 {
    let part = (at - left.0) as f64 / (right.0 - left.0).max(1) as f64;
    left.1 + (right.1 - left.1) * part
}

/// The least of 1, 2, 5, 10, 20, 50, … that is at least this.
fn round_step(min: f64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for digit in [1, 2, 5] {
            let step = power.saturating_mul(digit);
            if step as f64 >= min || step == u64::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}
