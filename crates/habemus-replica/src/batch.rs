//! What one entry of the log says.

use bytes::Bytes;
use habemus_store::{ClusterTime, Command};
use serde::{Deserialize, Serialize};

use crate::member::MemberId;

/// Whose request it is: the member that a client is connected to, and a number that this member gives only
/// once.
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

/// So many bytes of commands are proposed as one entry, at most, unless one command alone has more: whatever
/// takes an entry (a message, the journal) need not take one of any length.
const MAX_BYTES: usize = 1 << 20;

/// Splits commands into those that go into one entry.
pub(crate) fn split(commands: Vec<(RequestId, Command)>) -> Vec<Vec<(RequestId, Command)>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut bytes = 0;
    for (request, command) in commands {
        let size = command.bytes();
        if bytes + size > MAX_BYTES && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += size;
        part.push((request, command));
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use habemus_store::Put;

    use super::*;

    #[test]
    fn long_commands_are_proposed_apart_and_none_is_lost() {
        let put = |bytes: usize| Command::Put(Put::new("key", vec![0; bytes]));
        let request = |number| RequestId { origin: MemberId(1), number };
        let sizes = [10, MAX_BYTES / 2, MAX_BYTES / 2, MAX_BYTES * 2, 10, 10];
        let commands: Vec<_> =
            (1..).zip(sizes).map(|(number, bytes)| (request(number), put(bytes))).collect();
        let parts = split(commands.clone());
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 2]);
        assert_eq!(parts.concat(), commands);
        assert!(split(Vec::new()).is_empty());
    }
}
