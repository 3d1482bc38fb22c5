//! Playing a scenario.

use std::collections::BTreeMap;

use habemus::Process;
use habemus::catalogue::{self, Setup, SetupError, Visitor};
use habemus::property::{End, Monitor, Population};
use habemus_report::{
    Ending, Finished, PropertyLine, Report, RunError, Statistics, report_of_locks, request,
    scenarios_of_locks, with_drawn_faults,
};
use habemus_scenario::{Occasion, Scenario, TimeModel, Until};
use habemus_trace::{Header, Origin};

use crate::simulation::{Control, Limits, Simulation, Stop};
use crate::time::{Time, nanos};
use crate::watch::{CLOCK_LIMIT, TRACE_LIMIT, Watch};

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
    Play { scenario, keep_trace, control: None }.visit(setup)
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
    catalogue::build(&request)?.accept(Play { scenario, keep_trace, control })?
}

/// Refuses a process that works in pulses where the network does not promise them.
pub(crate) fn fit<P: Process>(setup: &Setup<P>, model: TimeModel) -> Result<(), SetupError> {
    let unfit = |name: &str, reason: &str| {
        let reason = format!("{} works in pulses, {reason}", setup.entry.name);
        Err(SetupError::Unfit { what: "network", name: name.to_owned(), reason })
    };
    let late = "and everything sent in one must arrive before the next; the model must be synchronous";
    match model {
        _ if !setup.synchronous => Ok(()),
        // A message takes half a pulse.
        TimeModel::Synchronous { pulse } if nanos(pulse) < 2 => {
            unfit("synchronous", "and a pulse must last at least 2ns")
        }
        // A script that calls everything keeps the pulses apart itself.
        TimeModel::Synchronous { .. } | TimeModel::Scripted => Ok(()),
        TimeModel::Asynchronous => unfit("asynchronous", late),
        TimeModel::PartiallySynchronous { .. } => unfit("partially-synchronous", late),
    }
}

struct Play<'a> {
    scenario: &'a Scenario,
    keep_trace: bool,
    control: Option<&'a Control>,
}

impl Visitor for Play<'_> {
    type Result = Result<Report, RunError>;

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        fit(&setup, self.scenario.network.model)?;
        let drawn = with_drawn_faults(self.scenario)?;
        let scenario = drawn.as_ref().unwrap_or(self.scenario);
        let header = self.keep_trace.then(|| header(scenario, &setup));
        let limits = Limits { control: self.control, ..limits(scenario, setup.perpetual) };
        let watch = Watch::<P>::new(setup.population.clone(), header);
        let mut simulation = Simulation::new(setup.system.clone(), scenario, setup.oracle, watch)?;
        simulation.start();
        let stop = simulation.run(limits);
        // A system that hums for ever has had its time of peace: what has not happened by then will not.
        let at_peace = setup.perpetual && stop == Stop::TimeLimit && scenario.time_limit.is_none();
        let end = if stop == Stop::Quiet || at_peace { End::Quiet } else { End::CutOff };
        report(self.scenario, &setup, simulation, stop, end)
    }
}

fn limits(scenario: &Scenario, perpetual: bool) -> Limits<'static> {
    let timed = scenario.script.iter().filter_map(|cue| match cue.occasion {
        Occasion::At(time) => Some(nanos(time)),
        Occasion::When(_) => None,
    });
    let settled = match scenario.network.model {
        TimeModel::PartiallySynchronous { gst, .. } => nanos(gst),
        _ => 0,
    };
    let last = timed.max().unwrap_or(0).max(settled);
    let default = last.saturating_add(if perpetual { PEACE } else { PATIENCE });
    let asked = match scenario.until {
        Until::Time(time) => nanos(time),
        _ => 0,
    };
    let time = scenario.time_limit.map_or(default.max(asked), nanos);
    Limits { until: scenario.until, time, events: scenario.event_limit, control: None }
}

fn header<P: Process>(scenario: &Scenario, setup: &Setup<P>) -> Header {
    Header {
        format: habemus_trace::FORMAT,
        algorithm: setup.entry.name.to_owned(),
        problem: setup.entry.problem.to_string(),
        title: scenario.title.clone(),
        processes: scenario.ids.clone(),
        topology: setup.topology.clone(),
        seed: Some(scenario.seed),
        origin: request(scenario).ok().map(|request| Origin::of(&request)),
        cycle: None,
    }
}

/// What was left out because of a limit.
fn remarks<P: Process>(watch: &Watch<P>, population: &Population) -> Vec<String> {
    let mut remarks = Vec::new();
    if population.len() > CLOCK_LIMIT {
        remarks.push(format!("no vector clocks are kept for more than {CLOCK_LIMIT} processes"));
    }
    if watch.trace_is_cut() {
        remarks.push(format!("the trace holds only the first {TRACE_LIMIT} records"));
    }
    remarks
}

fn report<P: Process>(
    scenario: &Scenario,
    setup: &Setup<P>,
    simulation: Simulation<P, Watch<P>>,
    stop: Stop,
    end: End,
) -> Result<Report, RunError> {
    let (time, events) = (simulation.now(), simulation.events());
    let missed = simulation.missed().to_vec();
    let mut watch = simulation.into_observer();
    let ending = Ending {
        stop: describe(stop).to_owned(),
        quiet: stop == Stop::Quiet,
        over: end == End::Quiet,
        complete: end == End::Quiet || matches!(stop, Stop::Agreed | Stop::Time | Stop::Events),
        time,
    };
    let line = |property: crate::watch::PropertyReport| {
        let promised = setup.promises(property.name);
        PropertyLine::new(property.name, property.demand, property.verdict, promised)
    };
    let remarks = remarks(&watch, &setup.population);
    let trace = watch.take_trace();
    let finished = Finished {
        entry: setup.entry,
        population: &setup.population,
        seed: scenario.seed,
        ending: &ending,
        standing: watch.standing(),
        decided: watch.decided().map(|(address, decision)| (address, decision.to_owned())).collect(),
        statistics: Statistics { events, ..watch.statistics() },
        refused_writes: watch.monitors().map(Monitor::refused_writes).sum(),
        properties: watch.properties(end).into_iter().map(line).collect(),
        remarks,
        fingerprint: format!("{:016x}", watch.fingerprint()),
        trace,
    };
    let mut report = finished.report(&scenario.expect)?;
    report.failures.extend(missed);
    Ok(report)
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
