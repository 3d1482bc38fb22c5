//! Clocks that do not run at the rate of time.

use std::time::Duration;

/// True time, in microseconds from the beginning.
pub(crate) type Micros = u64;

/// A clock that runs by some parts of a million too fast or too slow, and began anywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkewedClock {
    million: u64,
    /// It has run at this rate since then,
    since: Micros,
    /// when it showed this.
    showed: u64,
}

impl SkewedClock {
    /// A clock that shows `showed` at the beginning, and is `skew` parts of a million too fast.
    pub(crate) fn new(showed: u64, skew: i64) -> SkewedClock {
        SkewedClock { million: rate(skew), since: 0, showed }
    }

    pub(crate) fn at(&self, now: Micros) -> Duration {
        Duration::from_micros(self.showed + (now - self.since) * self.million / 1_000_000)
    }

    /// When it shows `local`, or has shown it, if it goes on like this.
    pub(crate) fn when(&self, local: Duration) -> Micros {
        let local = u64::try_from(local.as_micros()).unwrap_or(u64::MAX / 1_000_000);
        self.since + local.saturating_sub(self.showed) * 1_000_000 / self.million
    }

    /// From now on it is wrong by no more than `bound` parts of a million.
    pub(crate) fn come_to_reason(&mut self, now: Micros, bound: i64) {
        let skew = self.million.cast_signed() - 1_000_000;
        if skew.abs() > bound {
            self.change(now, skew.clamp(-bound, bound));
        }
    }

    /// From now on it runs at another rate.
    pub(crate) fn change(&mut self, now: Micros, skew: i64) {
        self.showed = u64::try_from(self.at(now).as_micros()).unwrap_or(u64::MAX);
        self.since = now;
        self.million = rate(skew);
    }
}

fn rate(skew: i64) -> u64 {
    1_000_000_u64.saturating_add_signed(skew)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_too_fast_shows_more_and_says_when() {
        let mut clock = SkewedClock::new(5_000, 10_000);
        assert_eq!(clock.at(1_000_000), Duration::from_micros(1_015_000));
        assert_eq!(clock.when(Duration::from_micros(1_015_000)), 1_000_000);
        clock.change(1_000_000, -500_000);
        assert_eq!(clock.at(1_000_002), Duration::from_micros(1_015_001));
        assert_eq!(clock.when(Duration::from_micros(1_015_001)), 1_000_002);
    }
}
