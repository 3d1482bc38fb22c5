//! Playing a scenario.

use std::collections::BTreeMap;

use habemus::catalogue::Setup;
use habemus::{ProblemKind, Process};
use habemus_report::{
    Ended, Ending, Finished, Report, RunError, Statistics, circumstances, report_of_locks, request,
    scenarios_of_locks, with_drawn_faults,
};
use habemus_scenario::{Occasion, Scenario, TimeModel, Until};

use crate::prepared::{Prepared, Purpose, prepare, prepare_system};
use crate::simulation::{Control, Limits, Stop};
use crate::time::{Time, nanos};
use crate::watch::{CLOCK_LIMIT, Observed, TRACE_LIMIT};

/// How long a system that never rests is left in peace after the last scripted event, in nanoseconds.
const PEACE: Time = 10_000_000_000;
/// How long a system that should come to rest may take, in nanoseconds: a day.
const PATIENCE: Time = 86_400_000_000_000;

/// Plays a scenario, with or without keeping the trace.
///
/// # Errors
/// If the scenario makes no sense.
pub fn run(scenario: &Scenario, keep_trace: bool) -> Result<Report, RunError> {
    play(scenario, keep_trace, None)
}

/// Plays a scenario with a system that is not in the catalogue; what the scenario says of the algorithm is
/// not asked.
///
/// # Errors
/// If the scenario does not fit the system.
pub fn run_system<P: Process>(
    setup: Setup<P>,
    scenario: &Scenario,
    keep_trace: bool,
) -> Result<Report, RunError> {
    let drawn = with_drawn_faults(scenario)?;
    let played = drawn.as_ref().unwrap_or(scenario);
    report(prepare_system(setup, played, Purpose::Play { keep_trace })?, scenario, played, None)
}

/// Plays a scenario as [`run`] does, with a hand on it from another thread.
///
/// # Errors
/// If the scenario makes no sense.
pub fn run_controlled(scenario: &Scenario, keep_trace: bool, control: &Control) -> Result<Report, RunError> {
    play(scenario, keep_trace, Some(control))
}

fn play(scenario: &Scenario, keep_trace: bool, control: Option<&Control>) -> Result<Report, RunError> {
    let locks = scenarios_of_locks(scenario)?;
    if locks.is_empty() {
        return play_one(scenario, keep_trace, control);
    }
    let mut reports = BTreeMap::new();
    for (name, own) in locks {
        reports.insert(name, play_one(&own, keep_trace, control)?);
    }
    Ok(report_of_locks(scenario, reports))
}

fn play_one(scenario: &Scenario, keep_trace: bool, control: Option<&Control>) -> Result<Report, RunError> {
    let request = request(scenario)?;
    let drawn = with_drawn_faults(scenario)?;
    let played = drawn.as_ref().unwrap_or(scenario);
    report(prepare(&request, played, Purpose::Play { keep_trace })?, scenario, played, control)
}

/// Runs it, and says what came of it; `played` is the scenario with its faults drawn.
fn report(
    mut prepared: Prepared,
    scenario: &Scenario,
    played: &Scenario,
    control: Option<&Control>,
) -> Result<Report, RunError> {
    let limits = Limits { control, ..limits(played, prepared.perpetual, deadline(played)) };
    let stop = prepared.simulation.run(limits);
    conclude(prepared, scenario, played, stop)
}

/// Says what came of a run that ended like this.
pub(crate) fn conclude(
    prepared: Prepared,
    scenario: &Scenario,
    played: &Scenario,
    stop: Stop,
) -> Result<Report, RunError> {
    let deadline = deadline(played);
    let limits = limits(played, prepared.perpetual, deadline);
    let ended = match stop {
        Stop::Quiet => Ended::AtRest,
        Stop::Agreed | Stop::Time | Stop::Events => Ended::AsAsked,
        Stop::TimeLimit if deadline == Some(limits.time) => Ended::AtTheDeadline,
        Stop::TimeLimit | Stop::EventLimit => Ended::AtALimit,
        Stop::Interrupted => Ended::Interrupted,
    };
    let words = if ended == Ended::AtTheDeadline { "the deadline had come" } else { describe(stop) };
    let ending = Ending { stop: words.to_owned(), ended, time: prepared.simulation.now() };
    let events = prepared.simulation.events();
    let idle = if events == 0 { nobody_begins(prepared.entry.problem) } else { None };
    let missed = prepared.simulation.missed().to_vec();
    let unmet: Vec<String> =
        prepared.simulation.unmet().into_iter().map(|line| scenario_line(played, line)).collect();
    let circumstances = circumstances(played, &prepared.contract);
    let claim = |name: &str| prepared.contract.claim(name, &circumstances);
    let observed = prepared.simulation.finish(ending.end(), &claim);
    let finished = Finished {
        entry: prepared.entry,
        population: &prepared.population,
        seed: scenario.seed,
        ending: &ending,
        remarks: remarks(&observed, prepared.population.len()).into_iter().chain(idle).collect(),
        standing: &observed.standing,
        decided: observed.decided,
        statistics: Statistics { events, ..observed.statistics },
        refused_writes: observed.refused_writes,
        properties: observed.properties,
        fingerprint: format!("{:016x}", observed.fingerprint),
        trace: observed.trace,
    };
    let mut report = finished.report(&scenario.expect)?;
    report.failures.extend(missed);
    report.unmet = unmet;
    Ok(report)
}

/// A line of the script as it was written, or drawn.
fn scenario_line(scenario: &Scenario, line: usize) -> String {
    scenario.script[line].to_string()
}

/// When the script is over, the last random fault is mended and the network has settled.
fn last_fault(scenario: &Scenario) -> Time {
    let timed = scenario.script.iter().filter_map(|cue| match cue.occasion {
        Occasion::At(time) => Some(nanos(time)),
        Occasion::When(_) | Occasion::After(_) => None,
    });
    let settled = match scenario.network.model {
        TimeModel::PartiallySynchronous { gst, .. } => nanos(gst),
        _ => 0,
    };
    timed.max().unwrap_or(0).max(settled)
}

/// By when everything is expected to hold, if anybody has said so.
pub(crate) fn deadline(scenario: &Scenario) -> Option<Time> {
    scenario.expect.within.map(|within| last_fault(scenario).saturating_add(nanos(within)))
}

pub(crate) fn limits(scenario: &Scenario, perpetual: bool, deadline: Option<Time>) -> Limits<'static> {
    let default = last_fault(scenario).saturating_add(if perpetual { PEACE } else { PATIENCE });
    let asked = match scenario.until {
        Until::Time(time) => nanos(time),
        _ => 0,
    };
    let time = scenario.time_limit.map_or(default.max(asked), nanos);
    let time = deadline.map_or(time, |deadline| match scenario.time_limit {
        Some(_) => deadline.min(time),
        None => deadline,
    });
    Limits { until: scenario.until, time, events: scenario.event_limit, control: None }
}

/// How to make something happen where nothing has.
fn nobody_begins(problem: ProblemKind) -> Option<String> {
    let how = match problem {
        ProblemKind::Election => "script = [\"0ms elect 1\"]",
        ProblemKind::MutualExclusion => "script = [\"0ms acquire 1\"], or a [workload]",
        _ => return None,
    };
    Some(format!("nothing happened, for nobody was told to begin: write for example {how}"))
}

/// What was left out because of a limit.
fn remarks(observed: &Observed, processes: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    if processes > CLOCK_LIMIT {
        remarks.push(format!("no vector clocks are kept for more than {CLOCK_LIMIT} processes"));
    }
    if observed.trace_is_cut {
        remarks.push(format!("the trace holds only the first {TRACE_LIMIT} records"));
    }
    remarks
}

fn describe(stop: Stop) -> &'static str {
    match stop {
        Stop::Quiet => "nothing more could happen",
        Stop::Agreed => "all live processes agreed on the leader",
        Stop::Time => "the time asked for had come",
        Stop::Events => "the number of events asked for was reached",
        Stop::TimeLimit => "the time limit was reached",
        Stop::EventLimit => "the event limit was reached",
        Stop::Interrupted => "it was interrupted",
    }
}
