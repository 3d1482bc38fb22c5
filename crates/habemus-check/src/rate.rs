//! How fast a process's clock runs, and how long its timers take by the right time.

use std::time::Duration;

use habemus::Delay;

use crate::setting::Speed;
use crate::zone::{LONGEST, Picos};

/// How fast a clock runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Rate {
    /// Within the bound on drift, now so and now so, for each timer anew. That is more than a clock can do:
    /// two timers of one process run on one clock. What holds even so holds.
    #[default]
    Any,
    /// As slow as may be, always.
    Slow,
    /// As fast as may be, always.
    Fast,
}

/// What is tried of the rates of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rates {
    /// Everything, and more than clocks can do: for proofs.
    Loose,
    /// Each process has the slowest clock or the fastest, for good: for runs that are told.
    Extreme,
}

impl Rates {
    /// The rates that each process may have.
    pub(crate) fn choices(self) -> &'static [Rate] {
        match self {
            Rates::Loose => &[Rate::Any],
            Rates::Extreme => &[Rate::Slow, Rate::Fast],
        }
    }
}

const WHOLE: u128 = 1_000_000;

/// When a timer runs out, in picoseconds of the right time from when it was set: at the earliest and at the
/// latest.
pub(crate) fn window(after: Delay, rate: Rate, speed: &Speed) -> (u64, u64) {
    let (min, max) = (picos_of(after.min), picos_of(after.max.max(after.min)));
    let drift = u128::from(speed.drift);
    let by_fast = |time: u128| time * WHOLE / (WHOLE + drift);
    let by_slow = |time: u128| time * WHOLE / (WHOLE - drift);
    let (min, max) = match rate {
        Rate::Any => (by_fast(min), (max * WHOLE).div_ceil(WHOLE - drift)),
        Rate::Slow => (by_slow(min), by_slow(max)),
        Rate::Fast => (by_fast(min), by_fast(max)),
    };
    (bounded(min) as u64, bounded(max) as u64)
}

/// A duration in picoseconds; what is too long to be told from for ever is that long.
pub(crate) fn picos(duration: Duration) -> Picos {
    bounded(picos_of(duration))
}

fn picos_of(duration: Duration) -> u128 {
    duration.as_nanos().saturating_mul(1000).min(LONGEST as u128)
}

fn bounded(time: u128) -> Picos {
    time.min(LONGEST as u128) as Picos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_what_every_clock_within_the_bound_measures() {
        let speed = Speed { drift: 10_000, ..Speed::default() };
        let after = Delay { min: Duration::from_millis(101), max: Duration::from_millis(198) };
        let milli = 1_000_000_000;
        assert_eq!(window(after, Rate::Any, &speed), (100 * milli, 200 * milli));
        assert_eq!(window(after, Rate::Fast, &speed).0, 100 * milli);
        assert_eq!(window(after, Rate::Slow, &speed).1, 200 * milli);
    }
}
