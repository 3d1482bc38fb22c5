//! Numbers that processes may compare with each other, and not look at.
//!
//! What a logical time or a term is as a number makes no difference to a process that only compares it with
//! others of the same system. The types see to that, but for one way: a process can make a number of its own,
//! by ticking or taking the next one again and again, and compare with that. So a driver gives the numbers of
//! a system values that no process can make, has a step done once more, and asks whether one of them was held
//! against something else.

use std::cell::Cell;

thread_local! {
    static PEEKED: Cell<bool> = const { Cell::new(false) };
}

/// A process of this thread has found out something about a number.
#[cold]
pub(crate) fn peek() {
    PEEKED.set(true);
}

/// Whether a process of this thread has found out something about a number that was out of its reach, since
/// this was asked last.
pub fn has_peeked() -> bool {
    PEEKED.replace(false)
}
