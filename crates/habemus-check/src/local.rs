//! The state of one process, with what its driver keeps about it.

use habemus::clock::VectorClock;
use habemus::{Address, Status, Suspicion};

use crate::rate::Rate;

/// All that a step at a process reads and writes, its inbox aside. What is of the algorithm's own types is
/// there by the number that [`Handlers`](crate::handlers::Handlers) gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Local {
    pub(crate) address: Address,
    /// How fast its clock runs.
    pub(crate) rate: Rate,
    pub(crate) body: Body,
    /// What stable storage holds; kept only where a recovery may read it.
    pub(crate) stored: Option<u32>,
    /// What it is, as its client sees it.
    pub(crate) status: Status,
    /// How many more times its client begins something.
    pub(crate) wants: u32,
    /// The requests it knows of; empty where they are not tracked.
    pub(crate) clock: VectorClock,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Body {
    Up { process: u32, timers: Vec<Running> },
    Down,
    Dead,
}

/// A timer that runs. Without durations (timers at any time) both are 0. Where timers have an order, they are
/// what is left, in nanoseconds; where there are zones, what it was set for, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Running {
    pub(crate) timer: u32,
    /// It runs out no earlier than after this long,
    pub(crate) min: u64,
    /// and no later than after this many.
    pub(crate) max: u64,
}

/// What lies in an inbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Item {
    Message { from: Address, message: u32, clock: VectorClock },
    Notice(Suspicion),
}

impl Local {
    /// A process that has not started.
    pub(crate) fn unborn(address: Address, wants: u32, rate: Rate) -> Self {
        Local {
            address,
            rate,
            body: Body::Down,
            stored: None,
            status: Status::Idle,
            wants,
            clock: VectorClock::default(),
        }
    }
}
