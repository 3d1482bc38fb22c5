//! Keys, and what happened to them.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::session::SessionId;

/// The state of all keys, counted: each step that writes makes one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revision(pub u64);

impl Revision {
    /// An empty store has revision 1, as in etcd; 0 stands for "now" in requests.
    pub const FIRST: Revision = Revision(1);

    pub(crate) fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

impl Display for Revision {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key as it was from one revision to the next that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: Bytes,
    /// Its value.
    pub value: Bytes,
    /// When it was created, after which it was never deleted. The fencing token of a key in a queue.
    pub created: Revision,
    /// When it was last written.
    pub modified: Revision,
    /// How often it was written since it was created, beginning with 1.
    pub version: u64,
    /// With whose end it is deleted.
    pub session: Option<SessionId>,
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which key it happened to.
    pub key: Bytes,
    /// What it is from now on; nothing if it was deleted.
    pub now: Option<Arc<KeyValue>>,
    /// What it was before; nothing if it was not there, or if that has been compacted.
    pub before: Option<Arc<KeyValue>>,
}

/// What one revision changed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revised {
    /// The revision.
    pub revision: Revision,
    /// At least one event.
    pub events: Arc<[Event]>,
}
