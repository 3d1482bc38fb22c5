//! When a run ends, and why it did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use habemus_scenario::Until;

use crate::time::Time;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing can happen any more.
    Quiet,
    /// All live processes have the same leader.
    Agreed,
    /// The time that was asked for has come.
    Time,
    /// The number of events that was asked for has been reached.
    Events,
    /// The limit on virtual time was reached first.
    TimeLimit,
    /// The limit on events was reached first.
    EventLimit,
    /// Somebody stopped it.
    Interrupted,
}

/// A hand on a run, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    /// How many events have taken place so far, about.
    pub events: AtomicU64,
    /// Set it to stop the run.
    pub stop: Arc<AtomicBool>,
}

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// When it is over.
    pub until: Until,
    /// Virtual time at which it is cut off.
    pub time: Time,
    /// Events after which it is cut off.
    pub events: u64,
    /// Whoever may stop it, and wants to know how far it is.
    pub control: Option<&'a Control>,
}

impl Limits<'_> {
    /// Until nothing can happen any more, however long it takes.
    pub fn quiet() -> Self {
        Limits { until: Until::Quiet, time: Time::MAX, events: u64::MAX, control: None }
    }

    pub(super) fn interrupted(&self, events: u64) -> bool {
        let Some(control) = self.control else { return false };
        control.events.store(events, Ordering::Relaxed);
        control.stop.load(Ordering::Relaxed)
    }
}
