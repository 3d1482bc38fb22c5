//! For how long a node's word holds, readable without asking the node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{BootInstant, sleep_until};

/// It is over, for good.
const OVER: u64 = 0;
/// No time ends it.
const UNBOUNDED: u64 = u64::MAX;

/// For how long a node leads or is inside. The node makes it longer as long as it can; everybody who has been
/// told of it shares it and sees its end on time, even if the node is stuck: in a full inbox, on a slow disk,
/// or because it was stopped. Once anybody has seen its end, it is over for all.
#[derive(Clone, Debug)]
pub struct Lease(Arc<AtomicU64>);

impl Default for Lease {
    /// One that is over.
    fn default() -> Self {
        Lease(Arc::new(AtomicU64::new(OVER)))
    }
}

impl Lease {
    /// One that ends then unless it is made longer; `None`: no time ends it.
    pub(crate) fn until(end: Option<BootInstant>) -> Self {
        Lease(Arc::new(AtomicU64::new(encoded(end))))
    }

    /// Makes it longer; says whether that was possible. It is not if anybody has seen its end.
    pub(crate) fn extend(&self, end: Option<BootInstant>) -> bool {
        let renewed = |now: u64| (now != OVER).then(|| encoded(end));
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, renewed).is_ok()
    }

    /// Ends it now.
    pub(crate) fn end(&self) {
        self.0.store(OVER, Ordering::Release);
    }

    /// Whether it is not over.
    pub fn is_valid(&self) -> bool {
        loop {
            let end = self.0.load(Ordering::Acquire);
            if end == OVER || end == UNBOUNDED {
                return end == UNBOUNDED;
            }
            if BootInstant::now() < BootInstant::from_nanos(end) {
                return true;
            }
            // It must not come back to life for others: unless it was made longer just now, it is over.
            if self.0.compare_exchange(end, OVER, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return false;
            }
        }
    }

    /// When it ends unless the node makes it longer, on CLOCK_BOOTTIME; `None`: no time ends it. A moment of
    /// the past if it is over.
    pub fn valid_until(&self) -> Option<BootInstant> {
        match self.0.load(Ordering::Acquire) {
            UNBOUNDED => None,
            end => Some(BootInstant::from_nanos(end)),
        }
    }

    /// How long it lasts from now on; `None`: no time ends it.
    pub fn remaining(&self) -> Option<Duration> {
        self.valid_until().map(|end| end.duration_since(BootInstant::now()))
    }

    /// Waits until its time has run out. That it was ended before its time is for others to say.
    pub(crate) async fn run_out(&self) {
        while self.is_valid() {
            match self.valid_until() {
                // A suspended machine wakes late: so it is not long before it looks again.
                Some(end) => sleep_until(end.min(BootInstant::now() + Duration::from_secs(1))).await,
                None => std::future::pending().await,
            }
        }
    }
}

fn encoded(end: Option<BootInstant>) -> u64 {
    end.map_or(UNBOUNDED, |end| end.as_nanos().clamp(OVER + 1, UNBOUNDED - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_an_hour() -> Option<BootInstant> {
        Some(BootInstant::now() + Duration::from_secs(3600))
    }

    #[test]
    fn it_is_over_for_all_once_anybody_has_seen_its_end() {
        let lease = Lease::until(Some(BootInstant::now()));
        let told = lease.clone();
        assert!(!told.is_valid());
        assert!(!lease.extend(in_an_hour()) && !lease.is_valid());
    }

    #[test]
    fn it_is_made_longer_unseen_and_ended_at_once() {
        let lease = Lease::until(Some(BootInstant::now()));
        // Nobody has looked, so nobody can tell that it was late.
        assert!(lease.extend(in_an_hour()) && lease.is_valid());
        assert!(lease.remaining().is_some_and(|rest| rest > Duration::from_secs(3000)));
        lease.end();
        assert!(!lease.is_valid() && !lease.extend(None));
        assert_eq!(lease.remaining(), Some(Duration::ZERO));
    }

    #[test]
    fn without_a_bound_only_the_node_ends_it() {
        let lease = Lease::until(None);
        assert!(lease.is_valid() && lease.valid_until().is_none());
        lease.end();
        assert!(!lease.is_valid());
    }

    #[tokio::test]
    async fn its_end_comes_by_itself() {
        let lease = Lease::until(Some(BootInstant::now() + Duration::from_millis(20)));
        assert!(lease.is_valid());
        lease.run_out().await;
        assert!(!lease.is_valid());
    }
}
