//! What a run cost.

use std::collections::BTreeMap;

use habemus::{Id, Status};
use serde::Serialize;

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Messages sent.
    pub messages: u64,
    /// Messages sent, by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Of those, the background traffic of detectors.
    pub background: u64,
    /// Their size in bytes, as they would go over a wire.
    pub bytes: u64,
    /// The size of the largest.
    pub largest: u64,
    /// Messages that arrived; a duplicated one counts twice.
    pub delivered: u64,
    /// Messages lost: by chance, on a cut link, at a dead receiver.
    pub dropped: u64,
    /// The longest chain of messages each of which was sent because of the one before.
    pub longest_chain: u32,
    /// Timers that ran out.
    pub timers: u64,
    /// Virtual time at the end, in nanoseconds.
    pub time: u64,
    /// Events that took place.
    pub events: u64,
    /// How often a process became leader.
    pub elections_won: u64,
    /// How often another process than the last leader became leader.
    pub leader_changes: u64,
    /// How often a process entered the critical section.
    pub entries: u64,
    /// Of those who asked: how often the one that entered least did,
    pub min_entries: u64,
    /// and the one that entered most.
    pub max_entries: u64,
    /// From request to entry.
    pub waiting: Spread,
    /// Crashes.
    pub crashes: u64,
    /// Recoveries.
    pub recoveries: u64,
    /// Writes of holders of the past that the protected resource refused.
    pub refused_writes: u64,
}

impl Statistics {
    /// Entries into the critical section for each message delay: the longest chain of messages is the time of
    /// the run, measured in delays. `None` if nobody entered, or nothing was sent.
    pub fn throughput(&self) -> Option<f64> {
        (self.entries > 0 && self.longest_chain > 0)
            .then(|| self.entries as f64 / f64::from(self.longest_chain))
    }

    /// Adds what another lock cost over the same processes: their faults are the same, and count once.
    pub fn add(&mut self, other: &Statistics) {
        let first = *self == Statistics::default();
        self.messages += other.messages;
        for (kind, count) in &other.by_kind {
            *self.by_kind.entry(kind.clone()).or_default() += count;
        }
        self.background += other.background;
        self.bytes += other.bytes;
        self.largest = self.largest.max(other.largest);
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.longest_chain = self.longest_chain.max(other.longest_chain);
        self.timers += other.timers;
        self.time = self.time.max(other.time);
        self.events += other.events;
        self.elections_won += other.elections_won;
        self.leader_changes += other.leader_changes;
        self.entries += other.entries;
        self.min_entries = if first { other.min_entries } else { self.min_entries.min(other.min_entries) };
        self.max_entries = self.max_entries.max(other.max_entries);
        self.waiting.merge(&other.waiting);
        self.crashes = self.crashes.max(other.crashes);
        self.recoveries = self.recoveries.max(other.recoveries);
        self.refused_writes += other.refused_writes;
    }

    /// How unequal those who asked were served: the most entries of one over the fewest of another; 1 is
    /// fair. `None` if somebody never entered.
    pub fn unfairness(&self) -> Option<f64> {
        (self.min_entries > 0).then(|| self.max_entries as f64 / self.min_entries as f64)
    }
}

/// Least, mean and greatest of some spans, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many spans.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// The sum of all.
    pub total: u64,
    /// The longest.
    pub max: u64,
}

impl Spread {
    /// Counts a span.
    pub fn add(&mut self, span: u64) {
        self.min = if self.count == 0 { span } else { self.min.min(span) };
        self.max = self.max.max(span);
        self.total += span;
        self.count += 1;
    }

    /// Counts all spans of another.
    pub fn merge(&mut self, other: &Spread) {
        if other.count > 0 {
            self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
            self.max = self.max.max(other.max);
            self.total += other.total;
            self.count += other.count;
        }
    }

    /// The mean, if there is one.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }
}

/// Who names whom as leader, kept up to date so that agreement is a question of a moment.
#[derive(Clone, Debug, Default)]
pub struct Ballot {
    votes: BTreeMap<Id, usize>,
    undecided: usize,
}

impl Ballot {
    /// A process whose own identifier is `id` comes to (or leaves) this status.
    pub fn count(&mut self, id: Id, status: Status, comes: bool) {
        let named = match status {
            Status::Leading => Some(id),
            Status::Following(Some(leader)) => Some(leader),
            // On an anonymous ring one who knows that there is a leader agrees with whoever leads.
            Status::Following(None) => return,
            _ => None,
        };
        let number = match named {
            Some(leader) => self.votes.entry(leader).or_default(),
            None => &mut self.undecided,
        };
        if comes {
            *number += 1;
        } else {
            *number -= 1;
        }
        if let Some(leader) = named
            && self.votes[&leader] == 0
        {
            self.votes.remove(&leader);
        }
    }

    /// The one leader that everybody names.
    pub fn agreed(&self) -> Option<Id> {
        match (self.undecided, self.votes.len()) {
            (0, 1) => self.votes.keys().next().copied(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_needs_everybody() {
        let mut ballot = Ballot::default();
        ballot.count(Id(1), Status::Idle, true);
        ballot.count(Id(2), Status::Leading, true);
        assert_eq!(ballot.agreed(), None);
        ballot.count(Id(1), Status::Idle, false);
        ballot.count(Id(1), Status::Following(Some(Id(2))), true);
        assert_eq!(ballot.agreed(), Some(Id(2)));
        ballot.count(Id(3), Status::Leading, true);
        assert_eq!(ballot.agreed(), None);
    }

    #[test]
    fn a_spread_has_min_mean_and_max() {
        let mut spread = Spread::default();
        [4, 2, 6].into_iter().for_each(|span| spread.add(span));
        assert_eq!((spread.min, spread.mean(), spread.max), (2, Some(4.0), 6));
        let mut merged = Spread::default();
        merged.merge(&spread);
        merged.merge(&Spread::default());
        assert_eq!(merged, spread);
        let mut another = Spread::default();
        another.add(1);
        merged.merge(&another);
        assert_eq!((merged.count, merged.min, merged.total, merged.max), (4, 1, 13, 6));
    }
}
