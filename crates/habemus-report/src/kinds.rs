//! Whether the kinds of messages that a scenario names are kinds of the algorithm.

use habemus_scenario::{Occasion, Scenario, TriggerKind};

use crate::error::CueError;

/// Refuses a scenario that waits for messages of a kind that is not among `known`: it would wait in vain.
/// Where no kinds are known, everything goes.
///
/// # Errors
/// The first of them.
pub fn know_kinds(scenario: &Scenario, known: &[&str]) -> Result<(), CueError> {
    let mut waited_for = scenario.script.iter().enumerate().filter_map(|(index, cue)| match &cue.occasion {
        Occasion::When(trigger) => match &trigger.what {
            TriggerKind::Sends(kind) | TriggerKind::Receives(kind) => Some((index, kind)),
            _ => None,
        },
        Occasion::At(_) | Occasion::After(_) => None,
    });
    match waited_for.find(|(_, kind)| !known.contains(&kind.as_str())) {
        Some((cue, kind)) if !known.is_empty() => Err(CueError::UnknownKind {
            cue,
            kind: kind.clone(),
            known: known.iter().map(|&kind| kind.to_owned()).collect(),
        }),
        _ => Ok(()),
    }
}
