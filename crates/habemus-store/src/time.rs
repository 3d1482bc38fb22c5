//! The time of the cluster, which is the same for every member because it comes with what is applied.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Time since the cluster began, as its leaders have counted it. It never goes back, and stands still while
/// nobody leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClusterTime(pub Duration);

impl ClusterTime {
    /// The time `later`, or the end of all time if it lies beyond.
    pub fn after(self, later: Duration) -> ClusterTime {
        ClusterTime(self.0.saturating_add(later))
    }

    /// How long it is from here to `then`; nothing if that has passed.
    pub fn until(self, then: ClusterTime) -> Duration {
        then.0.saturating_sub(self.0)
    }
}
