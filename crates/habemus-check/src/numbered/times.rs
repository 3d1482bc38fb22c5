//! Logical times of which only the distances matter.
//!
//! Lamport's clocks grow for ever, and with them the states of whatever uses them. But a process that compares times
//! with each other, and with nothing else, does the same at any time of day: a state and the same state with all times
//! later by some amount are two names for one. The explorer keeps the one whose earliest time is 0. Where that leaves
//! finitely many states, what holds is proved for runs of any length.
//!
//! Processes say of themselves that they are like this ([`ShiftInvariant`](habemus::symmetry::ShiftInvariant)); here it
//! is tried on every step.

use habemus::clock::LamportClock;

/// By how much times are moved to see whether a process minds.
pub(super) const MUCH_LATER: u64 = 1_000_003;

/// The least of the times that are visited.
pub(super) fn least(visit_all: impl FnOnce(&mut dyn FnMut(&mut LamportClock))) -> Option<u64> {
    let mut least = None;
    visit_all(&mut |time| least = Some(least.map_or(time.0, |least: u64| least.min(time.0))));
    least
}
