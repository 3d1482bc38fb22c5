//! How a replica makes snapshots, takes them, and sees to it that those who are behind get one.

use std::collections::BTreeSet;

use raft::SnapshotStatus;
use raft::eraftpb::Snapshot;

use super::Replica;
use crate::effect::Effect;
use crate::log::{FrozenSnapshot, StoredSnapshot};
use crate::replicated::Replicated;

impl Replica {
    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        let replicated = self.looked_at.take().filter(|(data, _)| *data == snapshot.data).map(|(_, it)| it);
        // If another one has come since, it is read once more.
        let replicated = replicated.map_or_else(|| Replicated::from_bytes(&snapshot.data), Ok);
        self.replicated = replicated.expect("it was looked at when it came");
        self.applied = snapshot.get_metadata().index;
        self.clock.apply(self.replicated.store.now(), self.now);
        self.node.mut_store().restore(snapshot);
        self.bytes_since_snapshot = 0;
        self.held.clear();
        self.effects.push(Effect::Restored);
    }

    /// The engine waits for ever for a follower to take a snapshot that was lost, unless it is told.
    pub(super) fn retry_snapshots(&mut self) {
        let patience = self.settings.max_election_ticks as u64 * 4;
        let receiving: BTreeSet<u64> = self.receiving_snapshots().collect();
        self.catching_up.retain(|id, _| receiving.contains(id));
        for id in receiving {
            let since = *self.catching_up.entry(id).or_insert(self.ticks);
            if self.ticks >= since + patience {
                self.catching_up.remove(&id);
                self.node.report_snapshot(id, SnapshotStatus::Failure);
            }
        }
        if self.catching_up.is_empty() && self.ticks >= self.offered_at + patience {
            self.node.mut_store().offer(None);
        }
    }

    pub(super) fn receiving_snapshots(&self) -> impl Iterator<Item = u64> {
        let leads = self.role.leads;
        let progress = self.node.raft.prs().iter();
        progress.filter(move |(_, it)| leads && it.state == raft::ProgressState::Snapshot).map(|(id, _)| *id)
    }

    pub(super) fn offer_snapshot(&mut self) {
        if self.restoring.is_none() && self.node.store().wants_snapshot() {
            // Whoever asks again while it is written down need not wait for another.
            if self.is_offering {
                return;
            }
            self.is_offering = true;
            self.effects.push(Effect::Offer(self.snapshot()));
        }
    }

    /// What was to be offered to those who are behind is written down.
    pub fn offer(&mut self, snapshot: &StoredSnapshot) {
        self.is_offering = false;
        self.offered_at = self.ticks;
        self.node.mut_store().offer(Some(snapshot.to_engine()));
    }

    fn snapshot(&self) -> Box<FrozenSnapshot> {
        let log = self.node.store();
        Box::new(FrozenSnapshot {
            index: self.applied,
            term: log.term_at(self.applied).expect("what was just applied is in the log, or where it begins"),
            conf: log.conf().clone(),
            replicated: self.replicated.freeze(),
        })
    }

    pub(super) fn snapshot_if_due(&mut self) {
        if self.bytes_since_snapshot < self.settings.snapshot_after_bytes {
            return;
        }
        self.bytes_since_snapshot = 0;
        self.effects.push(Effect::Snapshot(self.snapshot()));
        let forget = self.applied.saturating_sub(self.settings.keep_entries);
        self.node.mut_store().compact(forget);
    }
}
