//! The same scenario under thousands of seeds, on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use habemus_report::{Conclusion, Finding, Report, RunError};
use habemus_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::parts::Seeds;
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepReport {
    /// Runs asked for.
    pub asked: u64,
    /// Runs that are over.
    pub runs: u64,
    /// Runs that were not as expected.
    pub failures: u64,
    /// The one with the lowest seed among them.
    pub first_failure: Option<Failure>,
    /// Runs that were cut off before it could be told whether they are as expected.
    pub open: u64,
    /// The one with the lowest seed among them, and what could not be told.
    pub first_open: Option<Failure>,
    /// Messages sent, over all runs.
    pub messages: u64,
    /// Events, over all runs.
    pub events: u64,
    /// How often the leader changed, over all runs.
    pub leader_changes: u64,
    /// Crashes, over all runs.
    pub crashes: u64,
    /// In how many runs each line of the script waited for something that did not happen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unmet: BTreeMap<String, u64>,
    /// In how many runs each property was held, violated or left open.
    pub properties: BTreeMap<String, Tally>,
}

/// How often a property came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// It held.
    pub holds: u64,
    /// It was broken.
    pub violated: u64,
    /// It could not be told.
    pub open: u64,
    /// In so many of the runs in which it was broken the algorithm does not promise it: they are outside its
    /// model, or it promises it under none.
    pub outside: u64,
    /// It demanded nothing.
    pub does_not_apply: u64,
}

/// A run that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    sweep_part(scenario, &Seeds::whole(first, count), threads, sweeping)
}

/// Plays `scenario` with these seeds, on `threads` threads.
///
/// # Errors
/// If the scenario makes no sense.
pub fn sweep_part(
    scenario: &Scenario,
    seeds: &Seeds,
    threads: usize,
    sweeping: &Sweeping,
) -> Result<SweepReport, RunError> {
    let count = seeds.in_this_shard();
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ok(SweepReport { asked: count, ..SweepReport::default() }));
    let work = || {
        let mut mine = SweepReport::default();
        let mut scenario = scenario.clone();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || sweeping.stop.load(Ordering::Relaxed) {
                break;
            }
            scenario.seed = seeds.nth(number);
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
        let conclusion = report.conclusion();
        self.runs += 1;
        self.messages += report.statistics.messages;
        self.events += report.statistics.events;
        self.leader_changes += report.statistics.leader_changes;
        self.crashes += report.statistics.crashes;
        for line in report.unmet {
            *self.unmet.entry(line).or_default() += 1;
        }
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
        match conclusion {
            Conclusion::AsExpected => {}
            Conclusion::NotAsExpected => {
                self.failures += 1;
                sweeping.failed.fetch_add(1, Ordering::Relaxed);
                first_of(&mut self.first_failure, Failure { seed: report.seed, failures: report.failures });
            }
            Conclusion::Open => {
                self.open += 1;
                first_of(&mut self.first_open, Failure { seed: report.seed, failures: report.open });
            }
        }
        sweeping.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what came of other runs.
    pub(crate) fn merge(&mut self, other: SweepReport) {
        self.asked += other.asked;
        self.runs += other.runs;
        self.failures += other.failures;
        self.messages += other.messages;
        self.events += other.events;
        self.leader_changes += other.leader_changes;
        self.crashes += other.crashes;
        for (line, runs) in other.unmet {
            *self.unmet.entry(line).or_default() += runs;
        }
        for (name, tally) in other.properties {
            let mine = self.properties.entry(name).or_default();
            mine.holds += tally.holds;
            mine.violated += tally.violated;
            mine.open += tally.open;
            mine.outside += tally.outside;
            mine.does_not_apply += tally.does_not_apply;
        }
        self.open += other.open;
        if let Some(failure) = other.first_failure {
            first_of(&mut self.first_failure, failure);
        }
        if let Some(open) = other.first_open {
            first_of(&mut self.first_open, open);
        }
    }
}

/// Keeps the one with the lowest seed.
fn first_of(first: &mut Option<Failure>, other: Failure) {
    if first.as_ref().is_none_or(|first| other.seed < first.seed) {
        *first = Some(other);
    }
}
