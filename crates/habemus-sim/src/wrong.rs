//! Everything that is wrong with a scenario, where a run would stop at the first of it.
//!
//! Whoever mends a file wants to know all of it at once. What an algorithm takes is known only to what builds
//! it, and that stops at the first thing it does not understand; so what it complains about is taken out, and
//! it is asked again, until it is content.

use habemus::catalogue::SetupError;
use habemus_report::{CueError, RunError, pointed, request, scenarios_of_locks, with_drawn_faults};
use habemus_scenario::{
    Action, Occasion, Parsed, Scenario, ScenarioError, ScenarioErrors, TimeModel, command_and_name, nearest,
};

use crate::prepared::{Purpose, prepare};
use crate::run::conclude;
use crate::simulation::Stop;

/// More errors than this are shown to nobody.
const MAX: usize = 100;

/// Everything that only who knows the algorithms can find wrong in a file that was read.
pub fn wrong_with(parsed: &Parsed) -> Option<ScenarioErrors> {
    let mut errors = found_in(parsed, &parsed.scenario, |_| true).into_iter();
    let first = ScenarioErrors::from(errors.next()?);
    Some(first.with(errors))
}

/// What is wrong with a file in its form, and what else is wrong in the rest of it.
pub fn wrong_besides(errors: ScenarioErrors) -> ScenarioErrors {
    let Some(parsed) = errors.rest() else { return errors };
    if parsed.scenario.algorithm.is_empty() {
        return errors;
    }
    let mut scenario = parsed.scenario.clone();
    let knows_processes = !scenario.ids.is_empty();
    if !knows_processes {
        scenario.ids = (1..=5).collect();
    }
    // Where something is missing because it could not be read, not everything that follows is an error of its
    // own.
    let stands_alone = |error: &RunError| match error {
        RunError::Setup(SetupError::Unknown { .. })
        | RunError::Script(CueError::UnknownCommand { .. } | CueError::UnknownKind { .. })
        | RunError::UnknownKind { .. }
        | RunError::UnknownProperty(_) => true,
        RunError::Setup(SetupError::Unfit { what, .. }) => matches!(*what, "topology" | "detector"),
        RunError::Setup(SetupError::Value { .. }) => knows_processes,
        _ => false,
    };
    let others = found_in(parsed, &scenario, stands_alone);
    errors.with(others)
}

fn found_in(parsed: &Parsed, scenario: &Scenario, counts: impl Fn(&RunError) -> bool) -> Vec<ScenarioError> {
    let mut scenario = scenario.clone();
    let mut found = Vec::new();
    while found.len() < MAX
        && let Err(error) = try_out(&scenario)
    {
        if counts(&error) {
            found.push(pointed(&error, parsed));
        }
        if !take_out(&error, &mut scenario) {
            break;
        }
    }
    found
}

/// Prepares a run, and judges it before it has begun. Locks with names are taken for one without, and no
/// faults are drawn, so that a line of the script is always the line of the file.
fn try_out(scenario: &Scenario) -> Result<(), RunError> {
    scenarios_of_locks(scenario)?;
    with_drawn_faults(scenario)?;
    let mut plain = Scenario { resources: Vec::new(), random: None, ..scenario.clone() };
    for cue in &mut plain.script {
        if let Action::Command { word, .. } = &mut cue.action {
            *word = command_and_name(word).0.to_owned();
        }
    }
    let prepared = prepare(&request(&plain)?, &plain, Purpose::Play { keep_trace: false })?;
    conclude(prepared, &plain, &plain, Stop::Quiet).map(|_| ())
}

/// Takes the cause of an error out of the scenario; whether that could be done.
fn take_out(error: &RunError, scenario: &mut Scenario) -> bool {
    match error {
        RunError::Setup(SetupError::Unknown { what: "algorithm", name, known }) => {
            // What goes with an algorithm is looked at as if the nearest one was meant.
            let Some(meant) = nearest(name, known.iter().map(String::as_str)) else { return false };
            meant.clone_into(&mut scenario.algorithm);
            true
        }
        RunError::Setup(SetupError::Unknown { what: "option", name, .. }) => {
            scenario.options.remove(name).is_some()
        }
        RunError::Setup(SetupError::Value { option, .. }) => scenario.options.remove(*option).is_some(),
        RunError::Setup(SetupError::Unknown { what, .. } | SetupError::Unfit { what, .. }) => match *what {
            "topology" => scenario.topology.take().is_some(),
            "detector" => scenario.detector.take().is_some(),
            "network" => {
                let synchronous = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
                std::mem::replace(&mut scenario.network.model, synchronous) != synchronous
            }
            _ => false,
        },
        RunError::Script(CueError::UnknownCommand { cue, .. }) => {
            scenario.script[*cue].action = Action::Crash(Vec::new());
            true
        }
        RunError::Script(CueError::UnknownKind { cue, .. }) => {
            scenario.script[*cue].occasion = Occasion::At(std::time::Duration::ZERO);
            true
        }
        RunError::UnknownKind { kind, .. } => scenario.expect.messages.remove(kind).is_some(),
        RunError::UnknownProperty(unknown) => {
            let expect = &mut scenario.expect;
            for list in [&mut expect.holds, &mut expect.violates, &mut expect.outside] {
                list.retain(|name| *name != unknown.name);
            }
            true
        }
        RunError::TooManyFaults { .. } => {
            scenario.random = None;
            true
        }
        RunError::Setup(SetupError::System(_))
        | RunError::Script(CueError::UnknownProcess { .. })
        | RunError::Names(_) => false,
    }
}
