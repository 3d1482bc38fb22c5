//! Shorthand for the tests.

use habemus_journal::Limits;
use habemus_replica::{Entry, EntryKind, Member, MemberId, Recovered, StoredSnapshot, StoredState, Write};

pub(crate) const SMALL: Limits = Limits { segment: 4096 };

pub(crate) fn first() -> Recovered {
    let member =
        Member { name: "a".into(), peer_addresses: vec![], client_addresses: vec![], learner: false };
    Recovered::first([(MemberId(1), member)])
}

pub(crate) fn entry(index: u64, term: u64) -> Entry {
    let mut data = vec![u8::try_from(index % 251).expect("it is small"); 100];
    // To a replica it says the time 0 and no command.
    data[..3].fill(0);
    let data = data.into();
    Entry { index, term, kind: EntryKind::Commands, data, context: bytes::Bytes::new() }
}

/// Entries in a row, and the state that goes with them.
pub(crate) fn write(first: u64, count: u64, term: u64) -> Write {
    let entries: Vec<Entry> = (first..first + count).map(|index| entry(index, term)).collect();
    let state = Some(StoredState { term, vote: 1, commit: first.saturating_sub(1) });
    Write { number: first, snapshot: None, entries, state, sync: true }
}

pub(crate) fn snapshot(index: u64, term: u64) -> StoredSnapshot {
    let data = vec![7; 1500].into();
    StoredSnapshot { index, term, voters: vec![MemberId(1)], learners: vec![], data }
}

/// What a member knows, as the writes say.
pub(crate) fn apply(known: &mut Recovered, write: &Write) {
    if let Some(snapshot) = &write.snapshot {
        known.snapshot = Some(snapshot.clone());
        known.entries.clear();
    }
    if let Some(first) = write.entries.first() {
        known.entries.retain(|entry| entry.index < first.index);
        known.entries.extend(write.entries.iter().cloned());
    }
    known.state = write.state.unwrap_or(known.state);
}

/// What a member knows after it has compacted its log itself.
pub(crate) fn compact(known: &mut Recovered, snapshot: &StoredSnapshot) {
    known.entries.retain(|entry| entry.index > snapshot.index);
    known.snapshot = Some(snapshot.clone());
}
