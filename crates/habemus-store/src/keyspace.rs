//! All keys, with what they were at every revision that is still known.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::error::StoreError;
use crate::event::{Event, KeyValue, Revised, Revision};
use crate::history::History;
use crate::key_range::KeyRange;
use crate::ordered::Ordered;
use crate::session::SessionId;

/// What a version costs beside its key and value, roughly.
const VERSION_OVERHEAD: usize = 128;

/// All keys, with what they were at every revision since history was compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keyspace {
    revision: Revision,
    keys: Ordered<Versions>,
    history: History,
    bytes: usize,
}

/// When a key was written: in which revision, and as the how manieth of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) revision: Revision,
    pub(crate) nth: u32,
}

/// What one key was, from the earliest revision that is known to the latest. Nearly all keys have one
/// version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Versions(SmallVec<[Version; 1]>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) since: Stamp,
    /// Nothing from when it was deleted.
    pub(crate) state: Option<Arc<KeyValue>>,
}

impl Versions {
    pub(crate) fn all(&self) -> &[Version] {
        &self.0
    }

    fn at(&self, revision: Revision) -> Option<&Arc<KeyValue>> {
        let later = self.0.partition_point(|version| version.since.revision <= revision);
        self.0[..later].last()?.state.as_ref()
    }

    fn now(&self) -> Option<&Arc<KeyValue>> {
        self.0.last()?.state.as_ref()
    }
}

impl Version {
    fn bytes(&self, key: &Bytes) -> usize {
        VERSION_OVERHEAD + key.len() + self.state.as_ref().map_or(0, |state| state.value.len())
    }
}

impl Keyspace {
    pub(crate) fn new() -> Keyspace {
        Keyspace {
            revision: Revision::FIRST,
            keys: Ordered::new(),
            history: History::from(Revision(0)),
            bytes: 0,
        }
    }

    /// The latest revision.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Nothing before this revision is known.
    pub(crate) fn compacted(&self) -> Revision {
        self.history.compacted()
    }

    /// How much memory keys, values and history take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many revisions are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.history.len()
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        self.keys.get(key)?.now()
    }

    /// The keys of `range` as they were at `revision`, in the order of their bytes.
    pub(crate) fn range(&self, range: &KeyRange, revision: Revision) -> impl Iterator<Item = &Arc<KeyValue>> {
        let bounds = range.bounds();
        let found = bounds.map(|bounds| self.keys.range(bounds));
        found.into_iter().flatten().filter_map(move |(_, versions)| versions.at(revision))
    }

    /// Whether the keys can still, and already, be seen as they were at `revision`.
    pub(crate) fn known(&self, revision: Revision) -> Result<(), StoreError> {
        if revision > self.revision {
            return Err(StoreError::Future(self.revision));
        }
        if revision < self.compacted() {
            return Err(StoreError::Compacted(self.compacted()));
        }
        Ok(())
    }

    /// What happened at `first` and later, if all of it is still known.
    pub(crate) fn since(&self, first: Revision) -> Result<impl Iterator<Item = &Revised>, StoreError> {
        if first < self.compacted() {
            return Err(StoreError::Compacted(self.compacted()));
        }
        Ok(self.history.since(first))
    }

    /// Begins a revision. If nothing is written, there is none.
    pub(crate) fn begin(&mut self) -> Writing<'_> {
        Writing { revision: self.revision.next(), keyspace: self, events: Vec::new() }
    }

    /// Forgets what the keys were before `revision`.
    pub(crate) fn compact(&mut self, revision: Revision) -> Result<(), StoreError> {
        if revision <= self.compacted() {
            return Err(StoreError::Compacted(self.compacted()));
        }
        if revision > self.revision {
            return Err(StoreError::Future(self.revision));
        }
        // Only keys that were written since the last time can have anything to forget.
        for revised in self.history.compact(revision) {
            for event in revised.events.iter() {
                self.compact_key(&event.key, revision);
            }
        }
        Ok(())
    }

    fn compact_key(&mut self, key: &Bytes, revision: Revision) {
        let Some(versions) = self.keys.get_mut(key) else { return };
        let before = versions.0.partition_point(|version| version.since.revision < revision);
        let later = versions.0.partition_point(|version| version.since.revision <= revision);
        let keep = match versions.0[..later].last() {
            // All that was done to the key at that very revision is still told: a transaction may have
            // written it twice.
            _ if before < later => before,
            // The last one before is what the key was then. A deletion is as good as nothing.
            Some(last) if last.state.is_some() => later - 1,
            _ => later,
        };
        let forgotten: usize = versions.0.drain(..keep).map(|version| version.bytes(key)).sum();
        self.bytes -= forgotten;
        if versions.0.is_empty() {
            self.keys.remove(key);
        }
    }

    /// Every version of every key that is known, as it is now.
    pub(crate) fn frozen(&self) -> Ordered<Versions> {
        self.keys.clone()
    }

    /// The keyspace that knows these versions. The history is in them.
    pub(crate) fn rebuild(
        revision: Revision,
        compacted: Revision,
        versions: impl IntoIterator<Item = (Bytes, Vec<Version>)>,
    ) -> Keyspace {
        let mut keyspace =
            Keyspace { revision, keys: Ordered::new(), history: History::from(compacted), bytes: 0 };
        let mut events: BTreeMap<Stamp, Event> = BTreeMap::new();
        for (key, versions) in versions {
            let mut before = None;
            for version in versions {
                if version.since.revision >= compacted {
                    let now = version.state.clone();
                    events.insert(version.since, Event { key: key.clone(), now, before });
                }
                before = version.state.clone();
                keyspace.push(&key, version);
            }
        }
        let mut revised: BTreeMap<Revision, Vec<Event>> = BTreeMap::new();
        for (stamp, event) in events {
            revised.entry(stamp.revision).or_default().push(event);
        }
        for (revision, events) in revised {
            keyspace.history.push(Revised { revision, events: events.into() });
        }
        keyspace
    }

    /// The same keys at a later revision, with no history.
    pub(crate) fn beyond(&self, revision: Revision) -> Keyspace {
        let latest = self.keys.iter().filter_map(|(key, versions)| {
            let last = versions.0.last().filter(|last| last.state.is_some())?;
            Some((key.clone(), vec![last.clone()]))
        });
        Keyspace::rebuild(revision, revision, latest)
    }

    fn push(&mut self, key: &Bytes, version: Version) {
        self.bytes += version.bytes(key);
        match self.keys.get_mut(key) {
            Some(versions) => versions.0.push(version),
            None => {
                self.keys.insert(key.clone(), Versions(smallvec![version]));
            }
        }
    }
}

/// One revision in the making. What it reads includes what it has written.
pub(crate) struct Writing<'a> {
    keyspace: &'a mut Keyspace,
    revision: Revision,
    events: Vec<Event>,
}

impl Writing<'_> {
    pub(crate) fn keyspace(&self) -> &Keyspace {
        self.keyspace
    }

    /// The revision that reads see: the next one as soon as something is written.
    pub(crate) fn visible(&self) -> Revision {
        if self.events.is_empty() { self.keyspace.revision } else { self.revision }
    }

    /// Writes a key.
    pub(crate) fn put(&mut self, key: Bytes, value: Bytes, session: Option<SessionId>) -> Arc<KeyValue> {
        let before = self.keyspace.get(&key).cloned();
        let now = Arc::new(KeyValue {
            created: before.as_ref().map_or(self.revision, |before| before.created),
            modified: self.revision,
            version: before.as_ref().map_or(1, |before| before.version + 1),
            key: key.clone(),
            value,
            session,
        });
        self.push(key, Some(Arc::clone(&now)), before);
        now
    }

    /// Deletes a key, if it is there.
    pub(crate) fn delete(&mut self, key: &Bytes) -> Option<Arc<KeyValue>> {
        let before = self.keyspace.get(key).cloned()?;
        self.push(key.clone(), None, Some(Arc::clone(&before)));
        Some(before)
    }

    fn push(&mut self, key: Bytes, now: Option<Arc<KeyValue>>, before: Option<Arc<KeyValue>>) {
        let nth = u32::try_from(self.events.len()).expect("a transaction has fewer operations");
        let since = Stamp { revision: self.revision, nth };
        self.keyspace.push(&key, Version { since, state: now.clone() });
        self.events.push(Event { key, now, before });
    }

    /// Ends the revision, and says what it changed.
    pub(crate) fn commit(self) -> Option<Revised> {
        if self.events.is_empty() {
            return None;
        }
        let revised = Revised { revision: self.revision, events: self.events.into() };
        self.keyspace.revision = self.revision;
        self.keyspace.history.push(revised.clone());
        Some(revised)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// All keys at every revision, written down in full: slow, and too simple to be wrong.
    #[derive(Default)]
    struct Ledger(Vec<BTreeMap<Bytes, KeyValue>>);

    impl Ledger {
        fn write(&mut self, key: u8, value: Option<u8>, revision: Revision) {
            let mut keys = self.0.last().cloned().unwrap_or_default();
            let key = Bytes::copy_from_slice(&[key]);
            let before = keys.remove(&key);
            if let Some(value) = value {
                let created = before.as_ref().map_or(revision, |before| before.created);
                let version = before.map_or(1, |before| before.version + 1);
                let value = Bytes::copy_from_slice(&[value]);
                let now =
                    KeyValue { key: key.clone(), value, created, modified: revision, version, session: None };
                keys.insert(key, now);
            } else if before.is_none() {
                return;
            }
            self.0.push(keys);
        }
    }

    fn write(keyspace: &mut Keyspace, key: u8, value: Option<u8>) -> Option<Revised> {
        let key = Bytes::copy_from_slice(&[key]);
        let mut writing = keyspace.begin();
        match value {
            Some(value) => drop(writing.put(key, Bytes::copy_from_slice(&[value]), None)),
            None => drop(writing.delete(&key)),
        }
        writing.commit()
    }

    proptest! {
        #[test]
        fn every_revision_that_is_known_is_seen_as_it_was(
            writes in vec((0_u8..5, any::<Option<u8>>()), 1..60),
            compactions in vec(1_u64..60, 0..3),
        ) {
            let mut keyspace = Keyspace::new();
            let mut ledger = Ledger(vec![BTreeMap::new()]);
            for (key, value) in writes {
                write(&mut keyspace, key, value);
                ledger.write(key, value, Revision(ledger.0.len() as u64 + 1));
            }
            prop_assert_eq!(keyspace.revision().0, ledger.0.len() as u64);
            for revision in compactions {
                let possible = revision > keyspace.compacted().0 && revision <= keyspace.revision().0;
                prop_assert_eq!(keyspace.compact(Revision(revision)).is_ok(), possible);
            }
            let all = KeyRange::From(Bytes::new());
            for (index, keys) in ledger.0.iter().enumerate() {
                let revision = Revision(index as u64 + 1);
                if revision < keyspace.compacted() {
                    let gone = StoreError::Compacted(keyspace.compacted());
                    prop_assert_eq!(keyspace.known(revision), Err(gone));
                    continue;
                }
                let seen: Vec<KeyValue> = keyspace.range(&all, revision).map(|it| (**it).clone()).collect();
                prop_assert_eq!(seen, keys.values().cloned().collect::<Vec<_>>());
            }
        }

        #[test]
        fn nothing_is_kept_of_what_nobody_can_see(writes in vec((0_u8..5, any::<Option<u8>>()), 1..60)) {
            let mut keyspace = Keyspace::new();
            for (key, value) in writes {
                write(&mut keyspace, key, value);
            }
            let last = keyspace.revision();
            prop_assume!(last > Revision::FIRST);
            keyspace.compact(last).expect("the last revision is known");
            let live = keyspace.range(&KeyRange::From(Bytes::new()), last).count();
            // A deletion at that very revision can still be told.
            let told = keyspace.since(last).expect("the last revision is known").next().expect("it wrote");
            let deletion = usize::from(told.events[0].now.is_none());
            prop_assert_eq!(keyspace.keys.len(), live + deletion);
            let bytes = live * (VERSION_OVERHEAD + 2) + deletion * (VERSION_OVERHEAD + 1);
            prop_assert_eq!(keyspace.bytes(), bytes);
            prop_assert_eq!(keyspace.remembered(), 1);
        }
    }

    #[test]
    fn what_a_compacted_revision_did_is_told_without_its_past() {
        let mut keyspace = Keyspace::new();
        write(&mut keyspace, 1, Some(1));
        write(&mut keyspace, 1, None);
        keyspace.compact(Revision(3)).expect("3 is known");
        let told: Vec<&Revised> = keyspace.since(Revision(3)).expect("3 is known").collect();
        let deleted = Event { key: Bytes::from_static(&[1]), now: None, before: None };
        assert_eq!(told, [&Revised { revision: Revision(3), events: [deleted].into() }]);
        write(&mut keyspace, 2, Some(2));
        keyspace.compact(Revision(4)).expect("4 is known");
        assert_eq!(keyspace.keys.len(), 1, "the deletion has been forgotten");
    }

    #[test]
    fn a_key_that_comes_back_is_created_anew() {
        let mut keyspace = Keyspace::new();
        write(&mut keyspace, 1, Some(1));
        write(&mut keyspace, 1, Some(2));
        write(&mut keyspace, 1, None);
        write(&mut keyspace, 1, Some(3));
        let now = keyspace.get(&[1]).expect("it came back");
        assert_eq!((now.created, now.modified, now.version), (Revision(5), Revision(5), 1));
    }

    #[test]
    fn deleting_nothing_is_no_revision() {
        let mut keyspace = Keyspace::new();
        assert_eq!(write(&mut keyspace, 1, None), None);
        assert_eq!(keyspace.revision(), Revision::FIRST);
    }

    #[test]
    fn history_tells_what_happened_from_a_revision_on() {
        let mut keyspace = Keyspace::new();
        for value in 1..=4 {
            write(&mut keyspace, 1, Some(value));
        }
        keyspace.compact(Revision(3)).expect("3 is known");
        let told: Vec<u64> =
            keyspace.since(Revision(3)).expect("3 is known").map(|revised| revised.revision.0).collect();
        assert_eq!(told, [3, 4, 5]);
        assert_eq!(keyspace.since(Revision(2)).err(), Some(StoreError::Compacted(Revision(3))));
    }
}
