//! What each process is, and what follows from it: who leads, who entered, how often.

use std::collections::BTreeMap;

use habemus::property::Population;
use habemus::{Address, Id, Status};

use crate::statistics::{Ballot, Statistics};

/// How many entries into the critical section are remembered by name.
const ENTRIES_KEPT: usize = 10_000;

/// The standing of all processes.
#[derive(Clone, Debug)]
pub struct Standing {
    /// What each process is, and since when; `None` while it is down.
    status: Vec<Option<(Status, u64)>>,
    ballot: Ballot,
    last_leader: Option<Address>,
    entered: Vec<Address>,
    /// How often each process that has asked has entered.
    shares: BTreeMap<Address, u64>,
}

impl Standing {
    /// So many processes, none of which has started.
    pub fn new(count: usize) -> Self {
        let status = vec![None; count];
        Standing {
            status,
            ballot: Ballot::default(),
            last_leader: None,
            entered: Vec::new(),
            shares: BTreeMap::new(),
        }
    }

    /// What a process is; `None` while it is down.
    pub fn status(&self, process: Address) -> Option<Status> {
        self.status[process.index()].map(|(status, _)| status)
    }

    /// Who entered, in order (the first ten thousand entries).
    pub fn entered(&self) -> &[Address] {
        &self.entered
    }

    /// How often the one of those who asked that entered least did, and the one that entered most.
    pub fn min_and_max_entries(&self) -> (u64, u64) {
        let min = self.shares.values().min().copied().unwrap_or(0);
        (min, self.shares.values().max().copied().unwrap_or(0))
    }

    /// The leader that every live process names, if it is alive and knows it.
    pub fn agreed_leader(&self, population: &Population) -> Option<Id> {
        let leader = self.ballot.agreed()?;
        // Most often it is the one that became leader last; but that one may have yielded to one before it.
        let last = self.last_leader.filter(|last| population.id(*last) == leader);
        let address = last.or_else(|| population.address(leader))?;
        matches!(self.status[address.index()], Some((Status::Leading, _))).then_some(leader)
    }

    /// A process whose identifier is `id` becomes something else, or goes down; `at` is in nanoseconds.
    pub fn become_status(
        &mut self,
        at: u64,
        process: Address,
        id: Id,
        status: Option<Status>,
        statistics: &mut Statistics,
    ) {
        let before = self.status[process.index()];
        if let Some((before, _)) = before {
            self.ballot.count(id, before, false);
        }
        if let Some(status) = status {
            self.ballot.count(id, status, true);
        }
        let before_status = before.map(|(status, _)| status);
        self.status[process.index()] = match (before, status) {
            // The same again does not start anew: a second request is the first one still.
            (Some((old, since)), Some(new)) if old == new => Some((old, since)),
            (_, new) => new.map(|status| (status, at)),
        };
        match status {
            Some(Status::Leading) if before_status != Some(Status::Leading) => {
                statistics.elections_won += 1;
                if self.last_leader.is_some_and(|last| last != process) {
                    statistics.leader_changes += 1;
                }
                self.last_leader = Some(process);
            }
            Some(Status::Waiting) => {
                self.shares.entry(process).or_default();
            }
            Some(Status::Inside) => {
                *self.shares.entry(process).or_default() += 1;
                statistics.entries += 1;
                if self.entered.len() < ENTRIES_KEPT {
                    self.entered.push(process);
                }
                if let Some((Status::Waiting, since)) = before {
                    // Clocks of two machines may disagree a little.
                    statistics.waiting.add(at.saturating_sub(since));
                }
            }
            _ => {}
        }
    }
}
