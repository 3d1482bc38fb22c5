//! A disk that takes its time, and loses in a crash what was not synced.

use std::collections::VecDeque;

use habemus_replica::{Entry, Recovered, StoredSnapshot, StoredState, Write};

/// What is durable, and what is being written.
#[derive(Clone)]
pub(crate) struct Disk {
    state: StoredState,
    snapshot: Option<StoredSnapshot>,
    entries: Vec<Entry>,
    /// When each write will be durable, in order.
    writing: VecDeque<(u64, Write)>,
}

impl Disk {
    pub(crate) fn new(recovered: Recovered) -> Disk {
        let Recovered { state, snapshot, entries } = recovered;
        Disk { state, snapshot, entries, writing: VecDeque::new() }
    }

    pub(crate) fn write(&mut self, done_at: u64, write: Write) {
        self.writing.push_back((done_at, write));
    }

    /// The number of the next write that is durable by now and must be told, if there is one.
    pub(crate) fn next_done(&mut self, now: u64) -> Option<u64> {
        while let Some((_, write)) = self.writing.pop_front_if(|(done_at, _)| *done_at <= now) {
            let (number, sync) = (write.number, write.sync);
            self.make_durable(write);
            if sync {
                return Some(number);
            }
        }
        None
    }

    /// What was being written is lost, but for the first `kept` writes, which came through without being
    /// told.
    pub(crate) fn crash(&mut self, kept: usize) {
        let kept = kept.min(self.writing.len());
        let through: Vec<Write> = self.writing.drain(..kept).map(|(_, write)| write).collect();
        for write in through {
            self.make_durable(write);
        }
        self.writing.clear();
    }

    /// A snapshot that the replica made itself replaces the entries that it speaks of.
    pub(crate) fn compact(&mut self, snapshot: StoredSnapshot) {
        // It is of what was applied, and nothing is applied before it is durable.
        self.entries.retain(|entry| entry.index > snapshot.index);
        self.snapshot = Some(snapshot);
    }

    pub(crate) fn recover(&self) -> Recovered {
        let (snapshot, entries) = (self.snapshot.clone(), self.entries.clone());
        Recovered { state: self.state, snapshot, entries }
    }

    fn make_durable(&mut self, write: Write) {
        if let Some(snapshot) = write.snapshot {
            self.entries.clear();
            self.snapshot = Some(snapshot);
        }
        if let Some(first) = write.entries.first() {
            self.entries.retain(|entry| entry.index < first.index);
            self.entries.extend(write.entries);
        }
        if let Some(state) = write.state {
            self.state = state;
        }
    }
}
