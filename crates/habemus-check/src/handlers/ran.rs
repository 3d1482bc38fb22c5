//! Which handlers have run, and which messages and timers came of them, as far as somebody might miss one.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Small numbers that were seen. A step is noted for every cause in every local state, and hardly ever
/// something new: so to note again what is known takes no lock.
#[derive(Debug, Default)]
pub(super) struct Seen {
    few: AtomicU64,
    others: Mutex<BTreeSet<u32>>,
}

impl Seen {
    pub(super) fn note(&self, number: u32) {
        if number >= u64::BITS {
            self.others.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        } else if self.few.load(Ordering::Relaxed) >> number & 1 == 0 {
            self.few.fetch_or(1 << number, Ordering::Relaxed);
        }
    }

    pub(super) fn all(&self) -> BTreeSet<u32> {
        let few = self.few.load(Ordering::Relaxed);
        let mut all = self.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.extend((0..u64::BITS).filter(|number| few >> number & 1 == 1));
        all
    }
}

/// What has run.
#[derive(Debug, Default)]
pub(super) struct Ran {
    /// The messages that were delivered: by kind, where an algorithm names all of its kinds.
    pub(super) delivered: Seen,
    /// The timers that were set, and those that ran out.
    pub(super) set: Seen,
    pub(super) timers: Seen,
    pub(super) command: AtomicBool,
    pub(super) suspicion: AtomicBool,
    /// The kinds of the messages that were sent and delivered, where not all are known.
    pub(super) kinds: Mutex<(BTreeSet<&'static str>, BTreeSet<&'static str>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_are_seen_once() {
        let seen = Seen::default();
        for number in [3, 63, 64, 3, 900, 0, 64] {
            seen.note(number);
        }
        assert_eq!(seen.all(), BTreeSet::from([0, 3, 63, 64, 900]));
    }
}
