//! What a node has counted and learnt, to be shown.

use std::collections::{BTreeMap, BTreeSet};

use habemus::{Address, Suspicion};

/// Counts of what the processes of a node did.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Messages sent, by kind.
    pub(super) sent: BTreeMap<&'static str, u64>,
    /// Messages received.
    pub(super) received: u64,
    /// How often a critical section was entered.
    pub(super) entries: u64,
    /// The term of the leader that is known; 0 where the algorithm has none.
    pub(super) term: u64,
}

impl Tally {
    pub(super) fn on_send(&mut self, kind: &'static str) {
        *self.sent.entry(kind).or_default() += 1;
    }
}

/// Which peers are believed to be down.
#[derive(Debug, Default)]
pub(super) struct Absent {
    /// Those that a detector suspects.
    pub(super) suspected: BTreeSet<Address>,
    /// Those that have said that they stop, and have not come back.
    pub(super) stopped: BTreeSet<Address>,
}

impl Absent {
    /// Takes note of a suspicion; says whether it is news.
    pub(super) fn on_suspicion(&mut self, suspicion: Suspicion) -> bool {
        match suspicion {
            Suspicion::Suspect(peer) => self.suspected.insert(peer),
            Suspicion::Restore(peer) => self.suspected.remove(&peer),
        }
    }
}
