//! What clients saw and what was done to the members, with times.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use habemus_dst::{Inside, KeyCall};

/// What clients saw, and what was done to the members.
pub(crate) struct Record {
    begin: Instant,
    stopping: AtomicBool,
    parts: Mutex<Parts>,
}

/// The parts of a record.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    pub(crate) calls: Vec<KeyCall>,
    pub(crate) inside: Vec<Inside>,
    pub(crate) faults: Vec<Fault>,
    /// When somebody who does nothing else wrote something, and how long that took, in microseconds.
    pub(crate) probes: Vec<(u64, u64)>,
    /// What a watch was told that it must not have been.
    pub(crate) watch: Vec<String>,
    pub(crate) watched: u64,
    pub(crate) locks_lost: u64,
}

/// Something that was done to the members.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) what: String,
    /// Its kind, for statistics.
    pub(crate) kind: &'static str,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

impl Record {
    pub(crate) fn new() -> Record {
        Record { begin: Instant::now(), stopping: AtomicBool::new(false), parts: Mutex::default() }
    }

    /// Microseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Clients begin nothing new any more.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(crate) fn note<T>(&self, note: impl FnOnce(&mut Parts) -> T) -> T {
        // Whoever panicked while writing has left a record that is whole, or the compiler would not have let
        // it.
        note(&mut self.parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(crate) fn parts(&self) -> Parts {
        self.note(|parts| parts.clone())
    }
}
