//! Counterexamples are repeated by the processes themselves, and by the simulator as scenarios.

use std::collections::BTreeMap;

use habemus_check::guarantees::{GuaranteeRow, manifest, models};
use habemus_check::{CheckHandle, ReplayError, replay};
use habemus_report::Finding;
use habemus_trace::{Happening, Trace};

use crate::help::model;

/// Runs without end: the notes' Yo-Yo never stops, and no script goes on for ever.
const ENDLESS: [&str; 4] = [
    "yo-yo (as-printed) E2",
    "yo-yo (as-printed) agreement",
    "yo-yo (as-printed) eventual-accuracy",
    "yo-yo (as-printed) termination",
];

/// The counterexamples of models with at most so many states are all repeated.
const SMALL: u64 = 25_000;

/// Of larger ones up to here, those that no smaller model of the algorithm has; `HABEMUS_COUNTEREXAMPLES=all`
/// repeats all of them.
const LARGE: u64 = 250_000;

/// The rows of the manifest whose counterexamples are repeated, in its order.
fn refuted_rows() -> Vec<GuaranteeRow> {
    let refuted = |row: &GuaranteeRow| -> Vec<String> {
        let cells = row.properties.iter().filter(|(_, cell)| cell.steps().is_some());
        cells.map(|(property, _)| property.clone()).collect()
    };
    let mut rows: Vec<_> = manifest().into_iter().filter(|row| row.states <= LARGE).collect();
    rows.retain(|row| !refuted(row).is_empty());
    if std::env::var("HABEMUS_COUNTEREXAMPLES").is_ok_and(|which| which == "all") {
        return rows;
    }
    let mut smallest = BTreeMap::new();
    for row in &rows {
        for property in refuted(row) {
            let states = smallest.entry((row.algorithm.clone(), property)).or_insert(row.states);
            *states = row.states.min(*states);
        }
    }
    rows.retain(|row| {
        let is_smallest = |property| smallest.get(&(row.algorithm.clone(), property)) == Some(&row.states);
        row.states <= SMALL || refuted(row).into_iter().any(is_smallest)
    });
    rows
}

/// What each counterexample is one of, the property, and the run.
fn counterexamples() -> Vec<(String, String, Trace)> {
    let rows = refuted_rows();
    let mut all = Vec::new();
    for model in models().iter().filter(|model| rows.iter().any(|row| model.is_of(row))) {
        let report = model.check(&CheckHandle::default());
        for line in report.into_iter().flat_map(|(_, report)| report.properties) {
            let faults = model.variant.map_or(model.faults().to_owned(), |variant| format!("({variant})"));
            let name = format!("{} {faults} {}", model.entry.name, line.name);
            all.extend(line.counterexample.map(|trace| (name, line.name, trace)));
        }
    }
    all
}

#[test]
fn every_counterexample_is_repeated_with_the_same_verdict_and_as_a_scenario() {
    let (mut replayed, mut endless) = (0, Vec::new());
    for (name, property, trace) in counterexamples() {
        let replay = replay(&trace, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let broken = |report: &habemus_report::Report| {
            report.properties.iter().any(|line| line.name == property && line.verdict == Finding::Violated)
        };
        assert!(broken(&replay.report), "{name}");
        replayed += 1;
        let Some(scenario) = replay.scenario() else {
            endless.push(name);
            continue;
        };
        // What is written is read back, and shows the same in the simulator.
        let text = habemus_scenario::to_toml(&scenario);
        let parsed = habemus_scenario::parse("counterexample.toml", &text)
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{text}"));
        assert_eq!(parsed.scenario, scenario, "{name}");
        let report = habemus_sim::run(&scenario, true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.failures.is_empty(), "{name}: {:?}\n{text}", report.failures);
        assert!(broken(&report), "{name}\n{text}");
        let told = |trace: &Trace| -> Vec<Happening> {
            trace.records.iter().map(|record| record.what.clone()).filter(is_step).collect()
        };
        let simulated = report.trace.as_ref().map(told).unwrap_or_default();
        let (mut numbered, mut again) = (told(&trace), simulated);
        forget_numbers(&mut numbered);
        forget_numbers(&mut again);
        assert!(again.starts_with(&numbered), "{name}\n{numbered:#?}\n{again:#?}");
    }
    assert!(replayed >= 450, "only {replayed} counterexamples");
    // Clients of the service ask a log that is dead for ever.
    let of_the_service = endless.iter().filter(|name| name.starts_with("service a crash")).count();
    assert!(of_the_service > 0);
    endless.retain(|name| !name.starts_with("service a crash"));
    endless.sort_unstable();
    assert_eq!(endless, ENDLESS);
}

/// Whether the processes notice it: what is lost is noted a little earlier or later.
fn is_step(what: &Happening) -> bool {
    !matches!(what, Happening::Violation { .. } | Happening::Drop { .. })
}

/// The checker numbers messages through and names the links of a cut in another order.
fn forget_numbers(happenings: &mut [Happening]) {
    for what in happenings {
        if let Happening::Send { message, .. } | Happening::Deliver { message, .. } = what {
            *message = 0;
        }
        if let Happening::Cut { links } | Happening::Heal { links } = what {
            links.sort_unstable();
        }
    }
}

#[test]
fn a_run_of_something_else_is_refused() {
    let ring = model("anonymous-ring", 3).property("uniqueness").run();
    let line = ring.property("uniqueness").expect("it was asked for");
    let trace = line.counterexample.clone().expect("it is violated");
    assert!(replay(&trace, None).is_ok());
    // Another algorithm, under the same name.
    let mut other = trace.clone();
    other.header.algorithm = "chang-roberts".to_owned();
    let error = replay(&other, None).expect_err("the messages are others").to_string();
    assert!(error.contains("Election"), "{error}");
    // A step that cannot be.
    let mut other = trace.clone();
    let delivered = other.records.iter().position(|record| matches!(record.what, Happening::Deliver { .. }));
    let delivered = delivered.expect("something is delivered");
    let record = other.records[delivered].clone();
    other.records.insert(0, record);
    let error = replay(&other, None).expect_err("nobody has sent it").to_string();
    assert!(error.starts_with("the trace does not fit: at record 1"), "{error}");
    // A step that is left out.
    let mut other = trace.clone();
    other.records.remove(delivered);
    assert!(matches!(replay(&other, None), Err(ReplayError::Misfit { .. })));
    // A claim that the run does not bear out.
    let mut other = trace.clone();
    for record in &mut other.records {
        if let Happening::Violation { property, .. } = &mut record.what {
            "E2".clone_into(property);
        }
    }
    assert!(matches!(replay(&other, None), Err(ReplayError::Unproven { .. })));
    // No word about where the processes come from.
    let mut other = trace;
    other.header.origin = None;
    assert_eq!(replay(&other, None).err(), Some(ReplayError::Unknown));
}
