//! Virtual time: nanoseconds since the run began.

use std::time::Duration;

/// An instant or a span, in nanoseconds.
pub type Time = u64;

/// A duration in nanoseconds; beyond 584 years, the longest there is.
#[inline]
pub fn nanos(duration: Duration) -> Time {
    duration.as_nanos().try_into().unwrap_or(Time::MAX)
}
