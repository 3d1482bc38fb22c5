//! What all members must agree on: what came of each command, compared whenever one is applied, and the whole
//! store, compared from time to time.

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hasher;

use habemus_store::{Applied, Store};
use rustc_hash::FxHasher;

/// What the first member had that got there.
#[derive(Default)]
pub(crate) struct Agreed {
    /// What came of each command from index `first` on, by the index of its entry and its place there.
    applied: VecDeque<Vec<Applied>>,
    first: usize,
    /// A digest of the whole store after an index.
    stores: BTreeMap<u64, u64>,
}

impl Agreed {
    /// Notes what came of the command at this place, or compares it with what another member said.
    pub(crate) fn compare(&mut self, index: u64, nth: usize, applied: &Applied) -> Result<(), String> {
        // Whoever comes so late finds nobody who remembers.
        let Some(place) = (index as usize).checked_sub(self.first) else { return Ok(()) };
        if self.applied.len() <= place {
            self.applied.resize_with(place + 1, Vec::new);
        }
        match self.applied[place].get(nth) {
            None => self.applied[place].push(applied.clone()),
            Some(known) if known == applied => {}
            Some(known) => return Err(format!("at index {index} it has {applied:?}, another {known:?}")),
        }
        Ok(())
    }

    /// Forgets what was before an index.
    pub(crate) fn forget_before(&mut self, index: u64) {
        let forgotten = (index as usize).saturating_sub(self.first).min(self.applied.len());
        self.applied.drain(..forgotten);
        self.first += forgotten;
        self.stores = self.stores.split_off(&index);
    }

    /// Notes the store after an index, or compares it with another member's.
    pub(crate) fn has_same_store(&mut self, index: u64, store: &Store) -> bool {
        let mut hasher = FxHasher::default();
        hasher.write(&store.to_bytes());
        let digest = hasher.finish();
        *self.stores.entry(index).or_insert(digest) == digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus_store::{ClusterTime, Command, Put};

    #[test]
    fn who_comes_to_something_else_is_noticed() {
        let (mut one, mut other) = (Store::new(), Store::new());
        let put = |store: &mut Store, value| {
            store.apply(ClusterTime::default(), Command::Put(Put::new("a", value)))
        };
        let (first, same, different) = (put(&mut one, "x"), put(&mut other, "x"), put(&mut other, "y"));
        let mut agreed = Agreed::default();
        assert!(agreed.compare(3, 0, &first).is_ok() && agreed.has_same_store(3, &one));
        assert_eq!(agreed.compare(3, 0, &same), Ok(()));
        assert!(agreed.compare(3, 0, &different).is_err());
        assert!(!agreed.has_same_store(3, &other));
    }
}
