//! The log as the engine sees it: in memory, from a snapshot on. What is durable of it, the driver knows.

use std::cell::Cell;
use std::collections::VecDeque;

use bytes::Bytes;
use habemus_store::Store;
use raft::eraftpb::{self, ConfState, HardState, Snapshot};
use raft::{GetEntriesContext, RaftState, StorageError};
use serde::{Deserialize, Serialize};

use crate::member::{Member, MemberId, Members};
use crate::replicated::{FrozenReplicated, Replicated};
use crate::settings::StartError;
use crate::wire::{Entry, conf_state};

/// What a member must never forget beside the log: for whom it voted, and what it knows to be committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredState {
    /// The latest term that it has seen.
    pub term: u64,
    /// For whom it voted in that term; 0 for nobody.
    pub vote: u64,
    /// Everything up to this index is committed.
    pub commit: u64,
}

/// Everything that the log said up to an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSnapshot {
    /// Up to which index.
    pub index: u64,
    /// The term of the entry there.
    pub term: u64,
    /// Who voted then.
    pub voters: Vec<MemberId>,
    /// Who only learned.
    pub learners: Vec<MemberId>,
    /// Members and store.
    pub data: Bytes,
}

/// Everything that the log said up to an index, not written down yet: that takes its time, and can be done
/// elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct FrozenSnapshot {
    pub(crate) index: u64,
    pub(crate) term: u64,
    pub(crate) conf: ConfState,
    pub(crate) replicated: FrozenReplicated,
}

impl FrozenSnapshot {
    /// Writes it down.
    pub fn to_stored(&self) -> StoredSnapshot {
        let ids = |ids: &[u64]| ids.iter().copied().map(MemberId).collect();
        StoredSnapshot {
            index: self.index,
            term: self.term,
            voters: ids(&self.conf.voters),
            learners: ids(&self.conf.learners),
            data: self.replicated.to_bytes(),
        }
    }
}

impl StoredSnapshot {
    pub(crate) fn from_engine(snapshot: &Snapshot) -> StoredSnapshot {
        let metadata = snapshot.get_metadata();
        let ids = |ids: &[u64]| ids.iter().copied().map(MemberId).collect();
        StoredSnapshot {
            index: metadata.index,
            term: metadata.term,
            voters: ids(&metadata.get_conf_state().voters),
            learners: ids(&metadata.get_conf_state().learners),
            data: snapshot.data.clone(),
        }
    }

    pub(crate) fn to_engine(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let metadata = snapshot.mut_metadata();
        metadata.index = self.index;
        metadata.term = self.term;
        metadata.set_conf_state(self.conf_state());
        snapshot.data = self.data.clone();
        snapshot
    }

    pub(crate) fn conf_state(&self) -> ConfState {
        let ids = |ids: &[MemberId]| ids.iter().map(|id| id.0).collect();
        conf_state(ids(&self.voters), ids(&self.learners))
    }
}

/// Nobody counts so far, and whoever begins below it can count on for ever.
const FAR: u64 = u64::MAX / 2;

/// What a member finds on its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its state.
    pub state: StoredState,
    /// The latest snapshot; `None` for a member that was added and has heard of nothing yet.
    pub snapshot: Option<StoredSnapshot>,
    /// The entries after the snapshot, in a row.
    pub entries: Vec<Entry>,
}

impl Recovered {
    /// What each of the first members begins with.
    pub fn first(members: impl IntoIterator<Item = (MemberId, Member)>) -> Recovered {
        Recovered::first_with(members, Store::new())
    }

    /// What each of the first members begins with, if that is not nothing.
    pub fn first_with(members: impl IntoIterator<Item = (MemberId, Member)>, store: Store) -> Recovered {
        let members: Members = members.into_iter().collect();
        let voters = members.keys().copied().collect();
        let data = Replicated { store, ..Replicated::new(members) }.to_bytes();
        let snapshot = StoredSnapshot { index: 1, term: 1, voters, learners: Vec::new(), data };
        let state = StoredState { term: 1, vote: 0, commit: 1 };
        Recovered { state, snapshot: Some(snapshot), entries: Vec::new() }
    }

    /// Whether entries, snapshot and state fit together.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let base = self.snapshot.as_ref().map_or((0, 0), |snapshot| (snapshot.index, snapshot.term));
        let mut last = base;
        for entry in &self.entries {
            if entry.index != last.0 + 1 || entry.term < last.1 {
                return Err(StartError::Damaged(format!("entry {} follows entry {}", entry.index, last.0)));
            }
            if !entry.is_readable() {
                return Err(StartError::Damaged(format!(
                    "entry {} cannot be read: it may be of a later version",
                    entry.index
                )));
            }
            last = (entry.index, entry.term);
        }
        let commit = self.state.commit;
        if commit > last.0 {
            return Err(StartError::Damaged(format!(
                "entries are committed up to {commit}, but end at {}",
                last.0
            )));
        }
        if last.0.max(self.state.term) > FAR {
            return Err(StartError::Damaged("its numbers are larger than any cluster counts".to_owned()));
        }
        if self.snapshot.is_some() && self.state.term < last.1 {
            return Err(StartError::Damaged("the log has seen later terms than the state".to_owned()));
        }
        Ok(())
    }

    /// What a member begins with that was added to a cluster.
    pub fn added() -> Recovered {
        Recovered { state: StoredState::default(), snapshot: None, entries: Vec::new() }
    }
}

/// The log in memory.
pub(crate) struct Log {
    state: HardState,
    conf: ConfState,
    /// The index and term of the last entry that was forgotten.
    base: (u64, u64),
    entries: VecDeque<eraftpb::Entry>,
    /// A snapshot for those who are behind, while it is wanted.
    snapshot: Option<Snapshot>,
    /// Somebody is behind, and there is no snapshot.
    wanted: Cell<bool>,
}

impl Log {
    pub(crate) fn new(recovered: &Recovered) -> Log {
        let StoredState { term, vote, commit } = recovered.state;
        let snapshot = recovered.snapshot.as_ref();
        // What is in a snapshot was committed, whether or not the state that says so was written in time.
        let commit = commit.max(snapshot.map_or(0, |snapshot| snapshot.index));
        let mut state = HardState::default();
        (state.term, state.vote, state.commit) = (term, vote, commit);
        Log {
            state,
            conf: snapshot.map(StoredSnapshot::conf_state).unwrap_or_default(),
            base: snapshot.map_or((0, 0), |it| (it.index, it.term)),
            entries: recovered.entries.iter().map(Entry::to_engine).collect(),
            snapshot: None,
            wanted: Cell::new(false),
        }
    }

    pub(crate) fn first(&self) -> u64 {
        self.base.0 + 1
    }

    pub(crate) fn last(&self) -> u64 {
        self.base.0 + self.entries.len() as u64
    }

    /// Appends entries, and forgets those that they replace.
    pub(crate) fn append(&mut self, entries: &[eraftpb::Entry]) {
        let Some(first) = entries.first() else { return };
        let keep = first.index.saturating_sub(self.first());
        self.entries.truncate(usize::try_from(keep).expect("memory holds the log"));
        self.entries.extend(entries.iter().cloned());
    }

    /// Begins anew after a snapshot.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot) {
        let metadata = snapshot.get_metadata();
        self.base = (metadata.index, metadata.term);
        self.conf = metadata.get_conf_state().clone();
        self.entries.clear();
        self.snapshot = None;
    }

    /// Forgets the entries up to `index`.
    pub(crate) fn compact(&mut self, index: u64) {
        while self.first() <= index {
            let Some(entry) = self.entries.pop_front() else { return };
            self.base = (entry.index, entry.term);
        }
    }

    pub(crate) fn set_conf(&mut self, conf: ConfState) {
        self.conf = conf;
    }

    pub(crate) fn conf(&self) -> &ConfState {
        &self.conf
    }

    pub(crate) fn wants_snapshot(&self) -> bool {
        self.wanted.replace(false)
    }

    pub(crate) fn offer(&mut self, snapshot: Option<Snapshot>) {
        self.snapshot = snapshot;
    }

    fn entry(&self, index: u64) -> Option<&eraftpb::Entry> {
        let offset = index.checked_sub(self.first())?;
        self.entries.get(usize::try_from(offset).ok()?)
    }

    /// The term of the entry at `index`, if it is known.
    pub(crate) fn term_at(&self, index: u64) -> Option<u64> {
        if index == self.base.0 { Some(self.base.1) } else { self.entry(index).map(|entry| entry.term) }
    }
}

impl raft::Storage for Log {
    fn initial_state(&self) -> raft::Result<RaftState> {
        Ok(RaftState { hard_state: self.state.clone(), conf_state: self.conf.clone() })
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        max_size: impl Into<Option<u64>>,
        _: GetEntriesContext,
    ) -> raft::Result<Vec<eraftpb::Entry>> {
        if low < self.first() {
            return Err(StorageError::Compacted.into());
        }
        let mut left = max_size.into().unwrap_or(u64::MAX);
        let mut entries = Vec::new();
        for index in low..high {
            let Some(entry) = self.entry(index) else { return Err(StorageError::Unavailable.into()) };
            let size = (entry.data.len() + entry.context.len()) as u64;
            if !entries.is_empty() && size > left {
                break;
            }
            left = left.saturating_sub(size);
            entries.push(entry.clone());
        }
        Ok(entries)
    }

    fn term(&self, index: u64) -> raft::Result<u64> {
        match self.term_at(index) {
            Some(term) => Ok(term),
            None if index < self.first() => Err(StorageError::Compacted.into()),
            None => Err(StorageError::Unavailable.into()),
        }
    }

    fn first_index(&self) -> raft::Result<u64> {
        Ok(self.first())
    }

    fn last_index(&self) -> raft::Result<u64> {
        Ok(self.last())
    }

    fn snapshot(&self, request_index: u64, _: u64) -> raft::Result<Snapshot> {
        // From a snapshot that the log does not go on from, nobody could.
        let min = request_index.max(self.base.0);
        match &self.snapshot {
            Some(snapshot) if snapshot.get_metadata().index >= min => Ok(snapshot.clone()),
            _ => {
                self.wanted.set(true);
                Err(StorageError::SnapshotTemporarilyUnavailable.into())
            }
        }
    }
}
