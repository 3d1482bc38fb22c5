//! How much a member keeps, and what it still takes when that is full.

use std::collections::VecDeque;
use std::time::Duration;

use habemus_store::{Command, Operation, Revision, Store, Txn};

use crate::status::Refused;

/// What a session costs beside its keys, roughly.
const SESSION: usize = 256;

/// How much a member keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    /// Bytes of keys, values, history and sessions, roughly.
    pub(crate) bytes: usize,
    /// How many revisions are remembered.
    pub(crate) history: usize,
    /// For how long they are, if that is bounded.
    pub(crate) age: Option<Duration>,
}

impl Quota {
    /// How many bytes there are.
    pub(crate) fn used(store: &Store) -> usize {
        store.bytes() + store.session_count() * SESSION
    }

    /// Whether nothing more is taken.
    pub(crate) fn is_full(&self, store: &Store) -> bool {
        Quota::used(store) >= self.bytes
    }

    /// Refuses what needs room when there is none. Whatever makes room is always taken.
    pub(crate) fn check(&self, store: &Store, command: &Command) -> Result<(), Refused> {
        let grows = match command {
            Command::Put(_) | Command::OpenSession { .. } | Command::Enter(_) => true,
            Command::Txn(txn) => puts(txn),
            Command::As(_, command) => return self.check(store, command),
            // An operator must be able to help.
            Command::Auth(_)
            | Command::Delete(_)
            | Command::Compact(_)
            | Command::RenewSessions(_)
            | Command::CloseSession { .. }
            | Command::Leave(_)
            | Command::Tick => false,
        };
        if grows && self.is_full(store) { Err(Refused::NoSpace) } else { Ok(()) }
    }

    /// Up to where history is to be forgotten, if it has become much longer than is wanted, or older.
    pub(crate) fn forget(&self, store: &Store, ages: &mut Ages, now: Duration) -> Option<Revision> {
        let old = self.age.and_then(|age| ages.older(age, now, store.revision()));
        let long = self.too_long(store);
        old.max(long).filter(|revision| *revision > store.compacted())
    }

    fn too_long(&self, store: &Store) -> Option<Revision> {
        let much = self.history.saturating_add(self.history / 8 + 1);
        let revision = Revision(store.revision().0.saturating_sub(self.history as u64));
        (store.remembered() > much).then_some(revision)
    }
}

/// When which revisions were there, in a few samples.
#[derive(Default)]
pub(crate) struct Ages(VecDeque<(Duration, Revision)>);

impl Ages {
    /// The latest revision that is known to be as old as that, at a time when there is `revision`.
    fn older(&mut self, age: Duration, now: Duration, revision: Revision) -> Option<Revision> {
        let is_past = |at: Duration, age| now >= at.saturating_add(age);
        let is_new = self.0.back().is_none_or(|(at, last)| *last < revision && is_past(*at, age / 16));
        if is_new {
            self.0.push_back((now, revision));
        }
        let mut old = None;
        while let Some((_, revision)) = self.0.pop_front_if(|(at, _)| is_past(*at, age)) {
            old = Some(revision);
        }
        old
    }
}

fn puts(txn: &Txn) -> bool {
    txn.then.iter().chain(&txn.otherwise).any(|operation| match operation {
        Operation::Put(_) => true,
        Operation::Txn(inner) => puts(inner),
        Operation::Range(_) | Operation::Delete(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use habemus_store::{ClusterTime, Delete, KeyRange, Put};

    use super::*;

    #[test]
    fn when_it_is_full_only_what_makes_room_is_taken() {
        let mut store = Store::new();
        let quota = Quota { bytes: 1000, history: 10, age: None };
        let put = Command::Put(Put::new("key", vec![0; 2000]));
        assert!(quota.check(&store, &put).is_ok());
        store.apply(ClusterTime::default(), put.clone());
        assert!(quota.check(&store, &put).is_err());
        let inner = Txn { then: vec![Operation::Put(Put::new("a", "b"))], ..Txn::default() };
        let nested = Txn { otherwise: vec![Operation::Txn(inner)], ..Txn::default() };
        assert!(quota.check(&store, &Command::Txn(nested)).is_err());
        let delete = Command::Delete(Delete { keys: KeyRange::One("key".into()) });
        assert!(quota.check(&store, &delete).is_ok());
        assert!(quota.check(&store, &Command::Compact(Revision(2))).is_ok());
    }

    #[test]
    fn history_is_forgotten_when_it_is_much_longer_than_wanted() {
        let mut store = Store::new();
        let quota = Quota { bytes: 1 << 20, history: 8, age: None };
        let forget = |store: &Store| quota.forget(store, &mut Ages::default(), Duration::ZERO);
        for _ in 0..10 {
            assert_eq!(forget(&store), None);
            store.apply(ClusterTime::default(), Command::Put(Put::new("key", "value")));
        }
        store.apply(ClusterTime::default(), Command::Put(Put::new("key", "value")));
        assert_eq!(forget(&store), Some(Revision(4)));
        store.apply(ClusterTime::default(), Command::Compact(Revision(4)));
        assert_eq!(forget(&store), None);
    }

    #[test]
    fn whoever_wants_all_of_history_may_say_so_by_the_largest_numbers() {
        let (mut store, mut ages) = (Store::new(), Ages::default());
        let age = Some(Duration::from_secs(u64::MAX));
        let quota = Quota { bytes: usize::MAX, history: usize::MAX, age };
        for second in 1..5 {
            let put = Command::Put(Put::new("key", "value"));
            assert!(quota.check(&store, &put).is_ok());
            store.apply(ClusterTime::default(), put);
            assert_eq!(quota.forget(&store, &mut ages, Duration::from_secs(second)), None);
        }
    }

    #[test]
    fn history_is_forgotten_when_it_is_old() {
        let mut store = Store::new();
        let (age, mut ages) = (Duration::from_secs(100), Ages::default());
        let quota = Quota { bytes: 1 << 20, history: 1000, age: Some(age) };
        let mut forgotten = Vec::new();
        for second in 0..300 {
            store.apply(ClusterTime::default(), Command::Put(Put::new("key", "value")));
            if let Some(revision) = quota.forget(&store, &mut ages, Duration::from_secs(second)) {
                // The second in which it was written.
                let written = revision.0 - 2;
                assert!(second - written >= 100 && second - written < 110, "{revision} at {second}");
                store.apply(ClusterTime::default(), Command::Compact(revision));
                forgotten.push(revision);
            }
        }
        assert!(forgotten.len() > 10 && forgotten.is_sorted(), "{forgotten:?}");
        assert!(store.remembered() < 115, "{}", store.remembered());
        for second in 300..1000 {
            quota.forget(&store, &mut ages, Duration::from_secs(second));
        }
        assert!(ages.0.len() <= 17, "no more samples are kept than are needed");
    }
}
