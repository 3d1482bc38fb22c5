//! What the environment may still do, packed into one word of a state.

use crate::setting::{Budget, MAX_FAULTS};

/// The remaining budgets, three bits each, and the set of processes that a partition cuts off, eight bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Environment(pub(crate) u32);

/// A fault that has a budget; its number is its offset in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Crash = 0,
    Recovery = 3,
    Loss = 6,
    Duplication = 9,
    Suspicion = 12,
    Partition = 15,
    WrongTimeout = 18,
}

const MAX: u32 = MAX_FAULTS as u32;
const GROUP: u32 = 24;
/// Partitions are explored for at most this many processes.
pub(crate) const MAX_PARTITIONED: usize = 8;

impl Environment {
    pub(crate) fn new(budget: &Budget) -> Self {
        let all = [
            (Fault::Crash, budget.crashes),
            (Fault::Recovery, budget.recoveries),
            (Fault::Loss, budget.losses),
            (Fault::Duplication, budget.duplications),
            (Fault::Suspicion, budget.suspicions),
            (Fault::Partition, budget.partitions),
            (Fault::WrongTimeout, budget.wrong_timeouts),
        ];
        let counted = |word, (fault, count): &(Fault, u8)| word | (u32::from(*count) & MAX) << *fault as u32;
        Environment(all.iter().fold(0, counted))
    }

    pub(crate) fn left(self, fault: Fault) -> u32 {
        (self.0 >> fault as u32) & MAX
    }

    /// The environment after one such fault; there must be one left.
    pub(crate) fn after(self, fault: Fault) -> Self {
        Environment(self.0 - (1 << fault as u32))
    }

    /// The processes that are cut off from the others; none if the network is whole.
    pub(crate) fn group(self) -> u32 {
        self.0 >> GROUP
    }

    pub(crate) fn with_group(self, group: u32) -> Self {
        Environment((self.0 & ((1 << GROUP) - 1)) | group << GROUP)
    }

    /// The environment with every process at another address. The first is always on the side that is not
    /// named.
    pub(crate) fn moved(self, to: &[u32]) -> Self {
        let all = (1_u32 << to.len()) - 1;
        let moved = (0..to.len()).filter(|place| self.group() >> place & 1 == 1);
        let moved = moved.fold(0, |group, place| group | 1 << to[place]);
        self.with_group(if moved & 1 == 1 { !moved & all } else { moved })
    }

    /// Whether a message from one to the other gets through.
    pub(crate) fn links(self, from: u8, to: u8) -> bool {
        let group = self.group();
        (group >> from) & 1 == (group >> to) & 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_moves_with_the_processes() {
        let cut = |group| Environment::new(&Budget::default()).with_group(group);
        for (before, after) in
            [(0, 0), (0b0010, 0b0100), (0b1000, 0b1110), (0b1010, 0b1010), (0b1100, 0b0110)]
        {
            assert_eq!(cut(before).moved(&[1, 2, 3, 0]), cut(after), "{before:b}");
        }
    }

    #[test]
    fn a_fault_uses_its_own_budget_only() {
        let budget = Budget { crashes: 2, losses: MAX_FAULTS, partitions: 1, ..Budget::default() };
        let environment = Environment::new(&budget).after(Fault::Crash).after(Fault::Loss);
        let left =
            [Fault::Crash, Fault::Recovery, Fault::Loss, Fault::Partition].map(|f| environment.left(f));
        assert_eq!(left, [1, 0, MAX - 1, 1]);
        let cut = environment.after(Fault::Partition).with_group(0b101);
        assert_eq!((cut.left(Fault::Partition), cut.group()), (0, 0b101));
        assert!(cut.links(0, 2) && !cut.links(0, 1));
        assert!(cut.with_group(0).links(0, 1));
    }
}
