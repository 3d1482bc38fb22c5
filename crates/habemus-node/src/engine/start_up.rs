//! The time before the process lives: when it begins, and what comes too early.

use std::collections::VecDeque;

use super::Ask;
use super::held::{MAX_HELD, MAX_HELD_BYTES};
use crate::clock::BootInstant as Instant;
use crate::transport::Arrivals;
use crate::transport::frame::Body;

/// When the process begins, and what waits for it.
#[derive(Default)]
pub(super) struct StartUp {
    begun: bool,
    begin_at: Option<Instant>,
    /// Whether the process was down before: what came then is lost.
    comes_back: bool,
    frames: VecDeque<Arrivals>,
    /// How many bytes those take.
    bytes: usize,
    asks: Vec<Ask>,
}

/// What waited for the process.
pub(super) struct Waited {
    pub(super) since: Instant,
    pub(super) asks: Vec<Ask>,
    pub(super) frames: VecDeque<Arrivals>,
}

impl StartUp {
    /// Begins at `begin_at`; `None`: when a supervisor says so.
    pub(super) fn new(begin_at: Option<Instant>) -> Self {
        StartUp { begin_at, ..StartUp::default() }
    }

    /// Whether the process lives.
    pub(super) fn is_over(&self) -> bool {
        self.begun
    }

    /// When the process begins, if that is known and it has not begun.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.begin_at.filter(|_| !self.begun)
    }

    /// A supervisor says when to begin, and whether the process was down before.
    pub(super) fn schedule(&mut self, begin_at: Instant, comes_back: bool) {
        (self.begin_at, self.comes_back) = (Some(begin_at), comes_back);
    }

    /// Something has come over a connection too early; says whether there was room for it.
    pub(super) fn defer_frame(&mut self, frame: Arrivals) -> bool {
        let size = match &frame {
            Arrivals::Frame { body, .. } => body.size(),
            Arrivals::Peer(_) => 0,
        };
        let fits = self.frames.len() < MAX_HELD && self.bytes < MAX_HELD_BYTES;
        if fits {
            self.bytes += size;
            self.frames.push_back(frame);
        }
        fits
    }

    /// Something was asked too early. What there is no room for is dropped, and whoever asked learns that
    /// nobody answers.
    pub(super) fn defer_ask(&mut self, ask: Ask) {
        if self.asks.len() < MAX_HELD {
            self.asks.push(ask);
        }
    }

    /// The process lives from now on. Gives what has waited for it, without messages that came while it was
    /// down; `clock` counts the nanoseconds of the run.
    pub(super) fn begin(&mut self, clock: impl Fn(Instant) -> u64) -> Waited {
        let since = self.begin_at.unwrap_or_else(Instant::now);
        self.begun = true;
        let (asks, mut frames) = (std::mem::take(&mut self.asks), std::mem::take(&mut self.frames));
        if self.comes_back {
            let beginning = clock(since);
            frames.retain(|frame| {
                !matches!(frame, Arrivals::Frame { body: Body::Message { due, .. }, .. } if *due < beginning)
            });
        }
        Waited { since, asks, frames }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use habemus::Address;

    use super::*;

    fn message(due: u64) -> Arrivals {
        let (name, clock, bytes) = (String::new(), Vec::new(), Vec::new());
        let body = Body::Message { name, number: 0, clock, due, bytes };
        Arrivals::Frame { from: Address(0), body }
    }

    /// When the messages are due that a process gets which begins ten nanoseconds after `zero`.
    fn received(comes_back: bool) -> Vec<u64> {
        let (mut start_up, zero) = (StartUp::default(), Instant::now());
        assert_eq!(start_up.next_due(), None);
        let begin_at = zero + Duration::from_nanos(10);
        start_up.schedule(begin_at, comes_back);
        assert_eq!((start_up.is_over(), start_up.next_due()), (false, Some(begin_at)));
        assert!([0, 5, 10, 15].into_iter().all(|due| start_up.defer_frame(message(due))));
        let waited = start_up.begin(|at| at.duration_since(zero).as_nanos() as u64);
        assert_eq!((start_up.is_over(), start_up.next_due(), waited.since), (true, None, begin_at));
        let due = |frame| match frame {
            Arrivals::Frame { body: Body::Message { due, .. }, .. } => due,
            other => panic!("{other:?}"),
        };
        waited.frames.into_iter().map(due).collect()
    }

    #[test]
    fn a_new_process_gets_what_came_before_it_began() {
        assert_eq!(received(false), [0, 5, 10, 15]);
    }

    #[test]
    fn only_so_much_waits_for_a_process_that_has_not_begun() {
        let mut start_up = StartUp::default();
        assert!((0..MAX_HELD).all(|_| start_up.defer_frame(message(0))));
        assert!(!start_up.defer_frame(message(0)));
    }

    #[test]
    fn a_process_that_was_down_has_lost_what_came_then() {
        assert_eq!(received(true), [10, 15]);
    }
}
