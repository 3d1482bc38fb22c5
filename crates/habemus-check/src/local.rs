//! The state of one process, with what its driver keeps about it.

use habemus::clock::VectorClock;
use habemus::{Address, Chooser, Process, Status, Suspicion};

/// All that a step at a process reads and writes, its inbox aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Local<P: Process> {
    pub(crate) place: Address,
    pub(crate) body: Body<P>,
    /// What stable storage holds; kept only where a recovery may read it.
    pub(crate) stable: Option<P::Stable>,
    /// What it is, as its client sees it.
    pub(crate) status: Status,
    /// How many more times its client begins something.
    pub(crate) wants: u32,
    /// The requests it knows of; empty where they are not tracked.
    pub(crate) clock: VectorClock,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Body<P: Process> {
    Up { process: P, timers: Vec<Running<P::Timer>> },
    Down,
    Dead,
}

/// A timer that runs. Without durations (timers at any time) both are 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Running<T> {
    pub(crate) timer: T,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// What lies in an inbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Item<M> {
    Message { from: Address, message: M, clock: VectorClock },
    Notice(Suspicion),
}

/// Replays a sequence of choices and takes the first possibility where it ends.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// What was chosen, of how many.
    taken: Vec<(u32, u32)>,
    at: usize,
}

impl Chooser for Branch {
    fn choose(&mut self, bound: u32) -> u32 {
        if self.at == self.taken.len() {
            self.taken.push((0, bound));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }
}

impl Branch {
    /// What was chosen.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = u32> + '_ {
        self.taken.iter().take(self.at).map(|(choice, _)| *choice)
    }

    /// The same choices from the beginning.
    pub(crate) fn again(&mut self) {
        self.at = 0;
    }

    /// Goes on to the next sequence; says whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((choice, bound)) = self.taken.pop() {
            if choice + 1 < bound {
                self.taken.push((choice + 1, bound));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_choices_is_tried_once() {
        let mut branch = Branch::default();
        let mut seen = Vec::new();
        loop {
            // A second choice exists only after the first possibility of the first.
            let first = branch.choose(2);
            let second = (first == 0).then(|| branch.choose(3));
            seen.push((first, second));
            if !branch.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, Some(0)), (0, Some(1)), (0, Some(2)), (1, None)]);
    }
}
