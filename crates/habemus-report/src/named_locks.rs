//! Locks with names: one run for each, over the same processes and under the same faults, and one report of
//! all.

use std::collections::{BTreeMap, BTreeSet};

use habemus::ProblemKind;
use habemus_scenario::{Occasion, Scenario, is_name};

use crate::drawn_faults::with_drawn_faults;
use crate::error::RunError;
use crate::property_line::{Finding, PropertyLine};
use crate::report::Report;
use crate::statistics::Statistics;

/// The scenarios of the locks that have names, by name; none if the scenario is about one without.
///
/// # Errors
/// If the scenario asks for what cannot be had with names, or if it draws faults and that makes no sense.
pub fn scenarios_of_locks(scenario: &Scenario) -> Result<BTreeMap<String, Scenario>, RunError> {
    let locks = scenario.locks();
    if locks.iter().all(String::is_empty) {
        return Ok(BTreeMap::new());
    }
    refuse_what_makes_no_sense(scenario, &locks)?;
    // All locks live through the same faults.
    let drawn = with_drawn_faults(scenario)?;
    let together = drawn.as_ref().unwrap_or(scenario);
    let about = |name: String| {
        let mut own = together.about(&name);
        own.expect = Default::default();
        own.title = Some(match &scenario.title {
            Some(title) => format!("{title} · {name}"),
            None => name.clone(),
        });
        (name, own)
    };
    Ok(locks.into_iter().map(about).collect())
}

fn refuse_what_makes_no_sense(scenario: &Scenario, locks: &BTreeSet<String>) -> Result<(), RunError> {
    let refuse = |why: &str| Err(RunError::Names(why.to_owned()));
    let is_lock = habemus::catalogue::entry(&scenario.algorithm)?.problem == ProblemKind::MutualExclusion;
    if !is_lock {
        return refuse("only locks have names: leave the resources out");
    }
    if let Some(bad) = locks.iter().find(|name| !name.is_empty() && !is_name(name)) {
        let why = format!("'{bad}' will not do as a name: use at most 64 letters, digits, - and _");
        return refuse(&why);
    }
    if scenario.script.iter().any(|cue| matches!(cue.occasion, Occasion::When(_) | Occasion::After(_))) {
        return refuse(
            "where locks have names each is a run of its own, and what happens in one cannot be waited for \
                in the \
             others: give the action a time instead of 'when' or 'after'",
        );
    }
    if scenario.expect.entered.is_some() {
        return refuse("'entered' is the order at one lock: expect it in a scenario without names");
    }
    Ok(())
}

/// One report of all locks.
///
/// # Panics
/// If there is no report.
pub fn report_of_locks(scenario: &Scenario, reports: BTreeMap<String, Report>) -> Report {
    let first = reports.values().next().expect("a scenario is about one lock at least");
    let unfinished = reports.values().find(|report| !report.complete).unwrap_or(first);
    let mut statistics = Statistics::default();
    reports.values().for_each(|report| statistics.add(&report.statistics));
    let mut whole = Report {
        seed: scenario.seed,
        stop: unfinished.stop.clone(),
        quiet: reports.values().all(|report| report.quiet),
        complete: unfinished.complete,
        ended: unfinished.ended,
        entered: Vec::new(),
        statistics,
        properties: (0..first.properties.len()).map(|index| line(&reports, index)).collect(),
        expected_something: scenario.expect != Default::default(),
        failures: Vec::new(),
        open: Vec::new(),
        fingerprint: fingerprint(&reports),
        trace: None,
        ..first.clone()
    };
    whole.hold_against(&scenario.expect);
    whole.locks = reports;
    whole
}

/// A property holds if it holds at every lock; otherwise the first at which it does not says why.
fn line(reports: &BTreeMap<String, Report>, index: usize) -> PropertyLine {
    let lines = || reports.iter().map(|(name, report)| (name, &report.properties[index]));
    let with = |verdict: Finding| lines().find(|(_, line)| line.verdict == verdict);
    let worst = with(Finding::Violated).or_else(|| with(Finding::Open)).or_else(|| with(Finding::Holds));
    let worst = worst.or_else(|| lines().next());
    let (name, line) = worst.expect("there is one lock at least");
    let explanation = line.explanation.as_ref().map(|why| format!("{name}: {why}"));
    PropertyLine { explanation, ..line.clone() }
}

fn fingerprint(reports: &BTreeMap<String, Report>) -> String {
    let mut all = 0_u64;
    for report in reports.values() {
        // Real runs have words in its place.
        let Ok(own) = u64::from_str_radix(&report.fingerprint, 16) else { return report.fingerprint.clone() };
        all = (all.rotate_left(5) ^ own).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    format!("{all:016x}")
}
