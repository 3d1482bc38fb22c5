//! What one entry of the log says.

use bytes::Bytes;
use habemus_store::{ClusterTime, Command};
use serde::{Deserialize, Serialize};

use crate::member::MemberId;

/// Whose request it is: the member that a client is connected to, and a number that this member gives only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId {
    /// Which member answers.
    pub origin: MemberId,
    /// Its number there. Members begin anew at random after a restart, so that no old number comes back.
    pub number: u64,
}

/// What came together, at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) at: ClusterTime,
    pub(crate) commands: Vec<(RequestId, Command)>,
}

impl Batch {
    pub(crate) fn to_bytes(&self) -> Bytes {
        postcard::to_extend(self, Vec::new()).expect("memory takes whatever is written").into()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Batch, postcard::Error> {
        postcard::from_bytes(bytes)
    }
}
