//! What every member has: members and store, as bytes and back.

use std::collections::BTreeSet;

use bytes::Bytes;
use habemus_store::{Frozen, Store};
use serde::{Deserialize, Serialize};

use crate::log::StoredSnapshot;
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

/// All of that as it was at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrozenReplicated {
    members: Members,
    removed: BTreeSet<MemberId>,
    store: Frozen,
}

impl FrozenReplicated {
    pub(crate) fn to_bytes(&self) -> Bytes {
        let (members, removed) = (self.members.clone(), self.removed.clone());
        let written = WrittenReplicated { members, removed, store: self.store.to_bytes().into() };
        postcard::to_extend(&written, Vec::new()).expect("memory takes whatever is written").into()
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenReplicated {
    members: Members,
    removed: BTreeSet<MemberId>,
    // As bytes, not one by one.
    store: Bytes,
}

impl Replicated {
    pub(crate) fn new(members: Members) -> Replicated {
        Replicated { members, removed: BTreeSet::new(), store: Store::new() }
    }

    pub(crate) fn freeze(&self) -> FrozenReplicated {
        let (members, removed) = (self.members.clone(), self.removed.clone());
        FrozenReplicated { members, removed, store: self.store.freeze() }
    }

    pub(crate) fn to_bytes(&self) -> Bytes {
        self.freeze().to_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Replicated, StartError> {
        let damaged = |error: &dyn ToString| StartError::Damaged(error.to_string());
        let written: WrittenReplicated = postcard::from_bytes(bytes).map_err(|error| damaged(&error))?;
        let store = Store::from_bytes(&written.store).map_err(|error| damaged(&error))?;
        Ok(Replicated { members: written.members, removed: written.removed, store })
    }

    /// Whether those who vote and learn are its members: the engine goes by the ones, everybody else by the
    /// others.
    pub(crate) fn has_members_of(&self, snapshot: &StoredSnapshot) -> bool {
        let ids = |learner: bool| {
            self.members.iter().filter(move |(_, it)| it.learner == learner).map(|(id, _)| *id)
        };
        let same = |said: &[MemberId], learner: bool| {
            said.len() == ids(learner).count() && ids(learner).all(|id| said.contains(&id))
        };
        same(&snapshot.voters, false) && same(&snapshot.learners, true) && !snapshot.voters.is_empty()
    }
}
