//! A check that runs, as another thread sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A hand on a check, from another thread: how far it is, and a way to stop it.
#[derive(Debug, Default)]
pub struct CheckHandle {
    /// Set it to stop the check.
    pub stop: Arc<AtomicBool>,
    /// How many states were reached so far.
    pub states: AtomicU64,
    /// How many steps from the beginning exploration is.
    pub depth: AtomicU32,
    /// How many states of this depth are to be explored.
    pub level: AtomicU64,
    /// How many states were looked at so far in search of cycles.
    pub cycle_search: AtomicU64,
}

impl CheckHandle {
    /// Whether the check is to be stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes note of another state that was looked at in search of cycles; says whether to go on.
    pub(crate) fn count_cycle_search(&self) -> bool {
        self.cycle_search.fetch_add(1, Ordering::Relaxed);
        !self.is_stopped()
    }
}
