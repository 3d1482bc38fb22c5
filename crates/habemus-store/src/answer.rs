//! What comes of commands.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::event::{KeyValue, Revision};
use crate::range::Found;
use crate::session::SessionId;

/// What comes of a command that is not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A key was written.
    Put {
        /// What it was before.
        before: Option<Arc<KeyValue>>,
    },
    /// These keys were deleted.
    Deleted(Vec<Arc<KeyValue>>),
    /// A transaction went one way or the other.
    Txn(TxnAnswer),
    /// These sessions were renewed, and last so long; `None` for those that have ended.
    Renewed(Vec<(SessionId, Option<Duration>)>),
    /// It stands in the queue.
    Entered(Entered),
    /// It is done, and there is nothing to say.
    Done,
}

/// What came of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnAnswer {
    /// Whether all comparisons held.
    pub succeeded: bool,
    /// What came of each operation of the way that was taken.
    pub answers: Vec<OperationAnswer>,
}

/// What came of one operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationAnswer {
    /// The revision that the operation left behind.
    pub revision: Revision,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Keys were read.
    Found(Found),
    /// A key was written.
    Put {
        /// What it was before.
        before: Option<Arc<KeyValue>>,
    },
    /// These keys were deleted.
    Deleted(Vec<Arc<KeyValue>>),
    /// A transaction in the transaction went one way or the other.
    Txn(TxnAnswer),
}

/// Somebody stands in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The key with which it stands there.
    pub key: Bytes,
    /// The fencing token: larger than that of everybody before.
    pub token: Revision,
    /// Whether it is inside already.
    pub granted: bool,
}
