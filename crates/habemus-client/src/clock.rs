//! A clock that also runs while the machine sleeps.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nobody sleeps longer than this without looking at the clock: a timer stands still while the machine
/// sleeps.
const LOOK: Duration = Duration::from_millis(250);

/// Time since the machine was started, sleep included: the clock by which a [`Guard`](crate::Guard) is valid.
pub fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Waits until then.
pub(crate) async fn until(then: Duration) {
    loop {
        let left = then.saturating_sub(now());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(LOOK)).await;
    }
}
