//! How a replica applies what is committed.

use habemus_store::Command;

use super::Replica;
use crate::batch::Batch;
use crate::effect::Effect;
use crate::wire::{Entry, EntryKind};

impl Replica {
    /// Applies what is committed, but for what must wait.
    pub(super) fn apply_held(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let mut entries = std::mem::take(&mut self.held);
        let waits = |entry: &Entry| entry.index > self.told && self.is_own_removal(entry);
        let free = entries.iter().position(waits).unwrap_or(entries.len());
        self.held = entries.split_off(free);
        for entry in &entries {
            self.apply(entry);
        }
        if !entries.is_empty() {
            self.node.advance_apply_to(self.applied);
            self.snapshot_if_due();
        }
        // That it is committed was durable when it began to wait.
        if self.settling.is_none() {
            self.effects.append(&mut self.changed);
        }
    }

    fn apply(&mut self, entry: &Entry) {
        self.applied = entry.index;
        match entry.kind {
            EntryKind::Commands if entry.data.is_empty() => {}
            EntryKind::Commands => self.apply_batch(entry),
            EntryKind::Change => self.apply_change(entry),
        }
        if self.role.leads && entry.term == self.role.term {
            self.clock.begin(self.now);
        }
    }

    fn apply_batch(&mut self, entry: &Entry) {
        let batch = Batch::from_bytes(&entry.data).expect("nothing else is let into the log");
        self.clock.apply(batch.at, self.now);
        if batch.commands.is_empty() {
            self.tick_is_proposed = false;
            let applied = self.replicated.store.apply(batch.at, Command::Tick);
            self.effects.push(Effect::Applied { index: entry.index, request: None, applied });
        }
        for (request, command) in batch.commands {
            let applied = self.replicated.store.apply(batch.at, command);
            let request = self.pending.remove(&request).map(|_| request);
            self.effects.push(Effect::Applied { index: entry.index, request, applied });
        }
    }
}
