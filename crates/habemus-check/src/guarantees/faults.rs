//! What may go wrong in a row of the table.

use crate::setting::{DeliveryOrder, Setting};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing goes wrong.
    None,
    /// Messages on a link overtake each other.
    Reordering,
    /// Twice a timer runs out too early.
    WrongTimeouts,
    /// A process crashes.
    Crash,
    /// A process crashes, and comes back with what it had stored.
    CrashAndRecovery,
    /// A process crashes, and comes back without.
    CrashAndAmnesia,
    /// A message is lost.
    Loss,
    /// A message arrives twice.
    Duplication,
    /// The oracle detector suspects a live process.
    FalseSuspicion,
    /// The network falls into two parts for a while.
    Partition,
}

/// Every kind of fault, in the order of the table.
pub const FAULTS: [Fault; 10] = [
    Fault::None,
    Fault::Reordering,
    Fault::WrongTimeouts,
    Fault::Crash,
    Fault::CrashAndRecovery,
    Fault::CrashAndAmnesia,
    Fault::Loss,
    Fault::Duplication,
    Fault::FalseSuspicion,
    Fault::Partition,
];

impl Fault {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::Reordering => "reordered messages",
            Fault::WrongTimeouts => "two wrong timeouts",
            Fault::Crash => "a crash",
            Fault::CrashAndRecovery => "a crash and recovery",
            Fault::CrashAndAmnesia => "a crash and amnesia",
            Fault::Loss => "a lost message",
            Fault::Duplication => "a doubled message",
            Fault::FalseSuspicion => "a false suspicion",
            Fault::Partition => "a partition",
        }
    }

    /// The flags of the command that ask for it.
    pub fn flags(self) -> &'static str {
        match self {
            Fault::None => "",
            Fault::Reordering => " --order any",
            Fault::WrongTimeouts => " --wrong-timeouts 2",
            Fault::Crash => " --crashes 1",
            Fault::CrashAndRecovery => " --crashes 1 --recoveries 1",
            Fault::CrashAndAmnesia => " --crashes 1 --recoveries 1 --amnesia",
            Fault::Loss => " --loss 1",
            Fault::Duplication => " --duplication 1",
            Fault::FalseSuspicion => " --suspicions 1",
            Fault::Partition => " --partitions 1",
        }
    }

    /// Whether every choice of those who start is tried; else everybody starts, for there are states enough.
    pub(super) fn tries_every_start(self) -> bool {
        matches!(self, Fault::None | Fault::Reordering)
    }

    /// Allows it.
    pub(crate) fn allow(self, setting: &mut Setting) {
        let budget = &mut setting.budget;
        match self {
            Fault::None => {}
            Fault::Reordering => setting.order = DeliveryOrder::Any,
            Fault::WrongTimeouts => budget.wrong_timeouts = 2,
            Fault::Crash => budget.crashes = 1,
            Fault::CrashAndRecovery => (budget.crashes, budget.recoveries) = (1, 1),
            Fault::CrashAndAmnesia => (budget.crashes, budget.recoveries, budget.amnesia) = (1, 1, true),
            Fault::Loss => budget.losses = 1,
            Fault::Duplication => budget.duplications = 1,
            Fault::FalseSuspicion => budget.suspicions = 1,
            Fault::Partition => budget.partitions = 1,
        }
    }
}
