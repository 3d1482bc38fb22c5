//! The same scenario under thousands of seeds, on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use habemus_report::{Finding, Report, RunError};
use habemus_scenario::Scenario;
use serde::Serialize;

use crate::run::run;

/// How a sweep is going, to be looked at from another thread.
#[derive(Debug, Default)]
pub struct Sweeping {
    /// Runs that are over.
    pub done: AtomicU64,
    /// Runs that were not as expected.
    pub failed: AtomicU64,
    /// Set it to stop the sweep early.
    pub stop: Arc<AtomicBool>,
}

/// What came of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct SweepReport {
    /// Runs asked for.
    pub asked: u64,
    /// Runs that are over.
    pub runs: u64,
    /// Runs that were not as expected.
    pub failures: u64,
    /// The one with the lowest seed among them.
    pub first_failure: Option<Failure>,
    /// Messages sent, over all runs.
    pub messages: u64,
    /// Events, over all runs.
    pub events: u64,
    /// How often the leader changed, over all runs.
    pub leader_changes: u64,
    /// Crashes, over all runs.
    pub crashes: u64,
    /// In how many runs each property was held, violated or left open.
    pub properties: BTreeMap<String, Tally>,
}

/// How often a property came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// It held.
    pub holds: u64,
    /// It was broken.
    pub violated: u64,
    /// It could not be told.
    pub open: u64,
    /// In so many of the runs in which it was broken the algorithm does not promise it: they are outside its model, or it
    /// promises it under none.
    pub outside: u64,
    /// It demanded nothing.
    pub does_not_apply: u64,
}

/// A run that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The seed that repeats it.
    pub seed: u64,
    /// What was wrong.
    pub failures: Vec<String>,
}

/// Plays `scenario` with the seeds from `first`, `count` of them, on `threads` threads.
///
/// # Errors
/// If the scenario makes no sense.
pub fn sweep(
    scenario: &Scenario,
    first: u64,
    count: u64,
    threads: usize,
    sweeping: &Sweeping,
) -> Result<SweepReport, RunError> {
    let empty = SweepReport {
        asked: count,
        runs: 0,
        failures: 0,
        first_failure: None,
        messages: 0,
        events: 0,
        leader_changes: 0,
        crashes: 0,
        properties: BTreeMap::new(),
    };
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ok(empty.clone()));
    let work = || {
        let mut mine = empty.clone();
        let mut scenario = scenario.clone();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || sweeping.stop.load(Ordering::Relaxed) {
                break;
            }
            scenario.seed = first.wrapping_add(number);
            match run(&scenario, false) {
                Ok(report) => mine.add(report, sweeping),
                Err(error) => {
                    sweeping.stop.store(true, Ordering::Relaxed);
                    *total.lock().expect("no thread panics while it holds the lock") = Err(error);
                    return;
                }
            }
        }
        if let Ok(total) = &mut *total.lock().expect("no thread panics while it holds the lock") {
            total.merge(mine);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner().expect("no thread panics while it holds the lock")
}

impl SweepReport {
    fn add(&mut self, report: Report, sweeping: &Sweeping) {
        self.runs += 1;
        self.messages += report.statistics.messages;
        self.events += report.statistics.events;
        self.leader_changes += report.statistics.leader_changes;
        self.crashes += report.statistics.crashes;
        for line in report.properties {
            let tally = self.properties.entry(line.name).or_default();
            match line.verdict {
                Finding::Holds => tally.holds += 1,
                Finding::Violated => {
                    tally.violated += 1;
                    tally.outside += u64::from(!line.promised);
                }
                Finding::DoesNotApply => tally.does_not_apply += 1,
                _ => tally.open += 1,
            }
        }
        if !report.failures.is_empty() {
            self.failures += 1;
            sweeping.failed.fetch_add(1, Ordering::Relaxed);
            self.offer(Failure { seed: report.seed, failures: report.failures });
        }
        sweeping.done.fetch_add(1, Ordering::Relaxed);
    }

    fn offer(&mut self, failure: Failure) {
        if self.first_failure.as_ref().is_none_or(|first| failure.seed < first.seed) {
            self.first_failure = Some(failure);
        }
    }

    fn merge(&mut self, other: SweepReport) {
        self.runs += other.runs;
        self.failures += other.failures;
        self.messages += other.messages;
        self.events += other.events;
        self.leader_changes += other.leader_changes;
        self.crashes += other.crashes;
        for (name, tally) in other.properties {
            let mine = self.properties.entry(name).or_default();
            mine.holds += tally.holds;
            mine.violated += tally.violated;
            mine.open += tally.open;
            mine.outside += tally.outside;
            mine.does_not_apply += tally.does_not_apply;
        }
        if let Some(failure) = other.first_failure {
            self.offer(failure);
        }
    }
}
