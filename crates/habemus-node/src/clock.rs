//! Time that runs on while the machine is suspended: leases are promises to others, and theirs does.

use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment on CLOCK_BOOTTIME, which counts from the start of the machine, suspensions included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootInstant(Duration);

impl BootInstant {
    /// Now.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        BootInstant(Duration::new(
            now.tv_sec.try_into().unwrap_or_default(),
            now.tv_nsec.try_into().unwrap_or_default(),
        ))
    }

    /// How long the machine had been up, as CLOCK_BOOTTIME counts it.
    pub fn since_boot(self) -> Duration {
        self.0
    }

    /// How long after `earlier` it is; zero if it is not.
    pub fn duration_since(self, earlier: BootInstant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// How long ago it is; zero if it is to come.
    pub fn elapsed(self) -> Duration {
        BootInstant::now().duration_since(self)
    }

    pub(crate) fn from_nanos(nanos: u64) -> Self {
        BootInstant(Duration::from_nanos(nanos))
    }

    pub(crate) fn as_nanos(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Add<Duration> for BootInstant {
    type Output = BootInstant;

    fn add(self, after: Duration) -> BootInstant {
        BootInstant(self.0.saturating_add(after))
    }
}

/// Sleeps until then. The runtime's clock stands still in a suspension, so whoever must not be late looks at
/// the clock when it wakes, and others look themselves.
pub(crate) async fn sleep_until(at: BootInstant) {
    tokio::time::sleep(at.duration_since(BootInstant::now())).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_never_back() {
        let (first, second) = (BootInstant::now(), BootInstant::now());
        assert!(first <= second && first > BootInstant::default());
        assert_eq!(first.duration_since(first + Duration::from_secs(1)), Duration::ZERO);
        let later = first + Duration::from_secs(1);
        assert_eq!(later.duration_since(first), Duration::from_secs(1));
        assert_eq!(BootInstant::from_nanos(later.as_nanos()), later);
    }
}
