//! The node's clock: wall time for the record, and a local time that may run at another rate.

use std::time::Duration;

use crate::clock::BootInstant as Instant;
use crate::recorder::Wall;

/// The node's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalClock {
    pub(super) wall: Wall,
    /// How much faster than the wall clock it runs.
    drift: f64,
}

impl LocalClock {
    pub(super) fn new(wall: Wall) -> Self {
        LocalClock { wall, drift: 1.0 }
    }

    /// Runs at this rate from now on; a rate that makes no sense is refused.
    pub(super) fn drift(&mut self, rate: f64) -> bool {
        let makes_sense = rate.is_finite() && rate > 0.0;
        if makes_sense {
            self.drift = rate;
        }
        makes_sense
    }

    /// What the process reads, if it reads the clock.
    pub(super) fn shows(&self, now: Instant) -> Duration {
        Duration::from_nanos(self.wall.at(now)).mul_f64(self.drift)
    }

    /// How long a timer really runs that is set to run so long.
    pub(super) fn really(&self, after: Duration) -> Duration {
        if self.drift == 1.0 { after } else { after.div_f64(self.drift) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_shows_more_and_its_timers_run_out_sooner() {
        let mut clock = LocalClock::new(Wall::new(0));
        let second = Duration::from_secs(1);
        assert_eq!(clock.really(second), second);
        assert!(clock.drift(2.0) && !clock.drift(0.0) && !clock.drift(f64::NAN));
        assert_eq!(clock.really(second), second / 2);
        let now = Instant::now();
        let (shown, wall) =
            (clock.shows(now).as_secs_f64(), Duration::from_nanos(clock.wall.at(now)).as_secs_f64());
        assert!((shown / wall - 2.0).abs() < 1e-6, "{shown} of {wall}");
    }
}
