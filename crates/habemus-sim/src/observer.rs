//! What a simulation tells whoever watches it.
//!
//! The observer is a type parameter of the simulation: nobody watching, `()`, costs nothing at all.

use habemus::{Address, Problem, Process, Suspicion};
use habemus_trace::Dropped;

use crate::time::Time;

/// Somebody who watches a simulation.
pub trait Observer<P: Process> {
    /// What it attaches to a message when it is sent, to have it back when the message arrives.
    type Stamp: Clone;

    /// A message leaves.
    fn sent(&mut self, at: Time, from: Address, to: Address, message: &P::Message) -> Self::Stamp;

    /// A message is about to be handled by its receiver.
    fn delivered(&mut self, at: Time, from: Address, to: Address, message: &P::Message, stamp: &Self::Stamp) {
        let _ = (at, from, to, message, stamp);
    }

    /// There is another copy of a message on its way, which arrives or is lost like the first.
    fn duplicated(&mut self, stamp: &Self::Stamp) {
        let _ = stamp;
    }

    /// A message is lost.
    fn dropped(&mut self, at: Time, from: Address, to: Address, stamp: &Self::Stamp, why: Dropped) {
        let _ = (at, from, to, stamp, why);
    }

    /// A timer runs out at a process.
    fn timer(&mut self, at: Time, process: Address, timer: &P::Timer) {
        let _ = (at, process, timer);
    }

    /// Something else happens at a process.
    fn noticed(&mut self, at: Time, process: Address, notice: Notice<'_, P::Problem>) {
        let _ = (at, process, notice);
    }

    /// All processes have started that are to start at the beginning.
    fn all_started(&mut self, at: Time) {
        let _ = at;
    }

    /// Links fail or heal.
    fn network_changed(&mut self, at: Time, change: NetworkChange<'_>) {
        let _ = (at, change);
    }

    /// Whether all live processes have the same leader; asked only where the run should stop then.
    fn agreed(&self) -> bool {
        false
    }
}

/// Something that happens at a process, other than messages and timers: it is the same for every algorithm
/// that solves a problem.
#[derive(Debug)]
pub enum Notice<'a, Q: Problem> {
    /// It started.
    Started {
        /// Again, after a crash.
        recovered: bool,
    },
    /// It crashed.
    Crashed,
    /// It stopped to react.
    Paused,
    /// It reacts again.
    Resumed,
    /// Its application asked for something.
    Command(&'a Q::Command),
    /// It told its application something.
    Output(&'a Q::Output),
    /// A detector spoke: the oracle, or the one below the algorithm.
    Suspicion(Suspicion),
}

// It is copied whatever the problem; deriving would ask commands and outputs to be `Copy`.
impl<Q: Problem> Clone for Notice<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Q: Problem> Copy for Notice<'_, Q> {}

/// What happens to links, each from the first to the second.
#[derive(Clone, Copy, Debug)]
pub enum NetworkChange<'a> {
    /// They stop to carry messages.
    Cut(&'a [(Address, Address)]),
    /// They carry messages again.
    Healed(&'a [(Address, Address)]),
}

/// Nobody watches.
impl<P: Process> Observer<P> for () {
    type Stamp = ();

    #[inline]
    fn sent(&mut self, _: Time, _: Address, _: Address, _: &P::Message) {}
}
