//! Logical times of which only the distances matter.
//!
//! Lamport's clocks grow for ever, and with them the states of whatever uses them. But a process that compares times
//! with each other, and with nothing else, does the same at any time of day: a state and the same state with all times
//! later by some amount are two names for one. The explorer keeps the one whose earliest time is 0. Where that leaves
//! finitely many states, what holds is proved for runs of any length.
//!
//! Processes say of themselves that they are like this ([`Process::times`]); here it is tried on every step.

use std::time::Duration;

use habemus::clock::LamportClock;
use habemus::{Address, Context, Held, Process, Step, System};

/// By how much times are moved to see whether a process minds.
pub(super) const MUCH_LATER: u64 = 1_000_003;

/// Whether the processes of this system say that nothing but the distances between logical times matters.
pub(super) fn is_timeless<P: Process>(system: &System<P>) -> bool {
    P::times(Held::Process(&mut sample(system)), &system.config, &mut |_| {})
}

/// A process that can be asked what it says of itself.
pub(super) fn sample<P: Process>(system: &System<P>) -> P {
    let (mut step, mut chooser) = (Step::default(), |_| 0);
    P::on_start(None, &mut Context::new(Address(0), system, Duration::ZERO, &mut step, &mut chooser))
}

/// The least of the times that are visited.
pub(super) fn least(visit_all: impl FnOnce(&mut dyn FnMut(&mut LamportClock))) -> Option<u64> {
    let mut least = None;
    visit_all(&mut |time| least = Some(least.map_or(time.0, |least: u64| least.min(time.0))));
    least
}
