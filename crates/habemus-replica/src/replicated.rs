//! What every member has: members and store, as bytes and back.

use std::collections::BTreeSet;

use bytes::Bytes;
use habemus_store::Store;
use serde::{Deserialize, Serialize};

use crate::member::{MemberId, Members};
use crate::settings::StartError;

/// What every member has, once it has applied the same log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replicated {
    pub(crate) members: Members,
    /// Those who went; they do not come back.
    pub(crate) removed: BTreeSet<MemberId>,
    pub(crate) store: Store,
}

#[derive(Serialize, Deserialize)]
struct WrittenReplicated {
    members: Members,
    removed: BTreeSet<MemberId>,
    store: Vec<u8>,
}

impl Replicated {
    pub(crate) fn new(members: Members) -> Replicated {
        Replicated { members, removed: BTreeSet::new(), store: Store::new() }
    }

    pub(crate) fn to_bytes(&self) -> Bytes {
        let (members, removed) = (self.members.clone(), self.removed.clone());
        let written = WrittenReplicated { members, removed, store: self.store.to_bytes() };
        postcard::to_extend(&written, Vec::new()).expect("memory takes whatever is written").into()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Replicated, StartError> {
        let damaged = |error: &dyn ToString| StartError::Damaged(error.to_string());
        let written: WrittenReplicated = postcard::from_bytes(bytes).map_err(|error| damaged(&error))?;
        let store = Store::from_bytes(&written.store).map_err(|error| damaged(&error))?;
        Ok(Replicated { members: written.members, removed: written.removed, store })
    }
}
