//! What the tests of whole systems have in common: scenarios, runs, sweeps, and costs beside theory.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus_report::Finding;
use habemus_scenario::{Action, Cue, Network, Occasion, Scenario};
use habemus_sim::{CostRequest, Report, SweepReport, Sweeping, cost, run, sweep};

/// Options as they are written down in a test.
pub(crate) type Choices<'a> = &'a [(&'a str, &'a str)];

/// Where the project is.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) fn at(milliseconds: u64, action: Action) -> Cue {
    Cue { occasion: Occasion::At(ms(milliseconds)), action }
}

pub(crate) fn elect(processes: &[u64]) -> Action {
    Action::Command { word: "elect".to_owned(), processes: processes.to_vec() }
}

/// The scenario that a text describes.
#[track_caller]
pub(crate) fn parse(text: &str) -> Scenario {
    habemus_scenario::parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}")).scenario
}

/// A scenario of the project, such as `exhibits/s4-yo-yo.toml`.
#[track_caller]
pub(crate) fn read(file: &str) -> Scenario {
    habemus_scenario::read(root().join(file)).unwrap_or_else(|error| panic!("{error}")).scenario
}

/// The scenario with these options, too.
pub(crate) fn with(scenario: &Scenario, options: Choices<'_>) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.options.extend(options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    scenario
}

#[track_caller]
pub(crate) fn play(scenario: &Scenario) -> Report {
    run(scenario, false).unwrap_or_else(|error| panic!("{scenario:?}: {error}"))
}

/// Plays it and keeps the trace.
#[track_caller]
pub(crate) fn play_traced(scenario: &Scenario) -> Report {
    run(scenario, true).unwrap_or_else(|error| panic!("{scenario:?}: {error}"))
}

/// Plays it under so many seeds, from 1.
#[track_caller]
pub(crate) fn swept(scenario: &Scenario, seeds: u64) -> SweepReport {
    sweep(scenario, 1, seeds, 2, &Sweeping::default()).unwrap_or_else(|error| panic!("{scenario:?}: {error}"))
}

/// Under so many seeds, from 1, every run is as promised and expected.
#[track_caller]
pub(crate) fn assert_kept(scenario: &Scenario, seeds: u64) {
    let report = swept(scenario, seeds);
    let figures = (report.runs, report.failures, report.open);
    assert_eq!(figures, (seeds, 0, 0), "{scenario:?}: {:?} {:?}", report.first_failure, report.first_open);
}

/// What became of a property.
#[track_caller]
pub(crate) fn verdict(report: &Report, property: &str) -> Finding {
    report.properties.iter().find(|line| line.name == property).expect("there is such a property").verdict
}

/// How many messages of a kind were sent.
pub(crate) fn sent(report: &Report, kind: &str) -> u64 {
    report.statistics.by_kind.get(kind).copied().unwrap_or(0)
}

/// Measures ten seeds of an algorithm, if it is not asked for something else.
pub(crate) fn cost_request(
    algorithm: &str,
    arrangement: Arrangement,
    start: Start,
    options: Choices<'_>,
    sizes: &[usize],
) -> CostRequest {
    CostRequest {
        algorithm: algorithm.to_owned(),
        topology: None,
        options: with(&Scenario::default(), options).options,
        sizes: sizes.to_vec(),
        arrangement,
        start,
        seeds: 10,
        again: None,
        first_seed: 1,
        network: Network::default(),
    }
}

/// Theory has a figure for what is measured, and it holds.
#[track_caller]
pub(crate) fn assert_theory_holds(request: &CostRequest) {
    let points = cost(request, 2, &AtomicBool::new(false), |_| {}).unwrap_or_else(|error| panic!("{error}"));
    for point in points {
        assert!(point.theory.is_some(), "there is nothing to compare with: {request:?}");
        assert_eq!(point.broken, None, "n = {} of {request:?}", point.processes);
    }
}
