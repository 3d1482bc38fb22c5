//! When to say that a peer cannot be reached: once, and then less and less often.

use std::time::Duration;

use crate::clock::BootInstant as Instant;

/// A peer that is away no longer than this is not missed: nodes start one after the other.
const GRACE: Duration = Duration::from_secs(1);
/// The first wait between two warnings; it doubles with each.
const SHORTEST: Duration = Duration::from_secs(10);
/// The longest wait between two warnings.
const LONGEST: Duration = Duration::from_secs(600);

/// A peer that cannot be reached.
#[derive(Debug)]
pub(super) struct Absence {
    since: Instant,
    next: Instant,
    wait: Duration,
}

impl Absence {
    pub(super) fn new(now: Instant) -> Self {
        Absence { since: now, next: now + GRACE, wait: SHORTEST }
    }

    /// It could not be reached at `now`: for how long that is so, if it is to be said.
    pub(super) fn warning(&mut self, now: Instant) -> Option<Duration> {
        if now < self.next {
            return None;
        }
        (self.next, self.wait) = (now + self.wait, LONGEST.min(self.wait * 2));
        Some(now.duration_since(self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_be_reached_is_warned_of_once_and_then_less_and_less_often() {
        let start = Instant::now();
        let mut absence = Absence::new(start);
        let said: Vec<u64> = (0..4000)
            .filter_map(|second| absence.warning(start + Duration::from_secs(second)))
            .map(|away| away.as_secs())
            .collect();
        assert_eq!(said, [1, 11, 31, 71, 151, 311, 631, 1231, 1831, 2431, 3031, 3631]);
    }
}
