//! Whether the kinds of messages that a scenario names are kinds of the algorithm.

use habemus_scenario::{Occasion, Scenario, TriggerKind};

use crate::error::{CueError, RunError};

/// Refuses a scenario that waits for messages of a kind that is not among `known`, or counts them: it would
/// wait in vain, and count none. Where no kinds are known, everything goes.
///
/// # Errors
/// The first of them.
pub fn know_kinds(scenario: &Scenario, known: &[&str]) -> Result<(), RunError> {
    let mut waited_for = scenario.script.iter().enumerate().filter_map(|(index, cue)| match &cue.occasion {
        Occasion::When(trigger) => match &trigger.what {
            TriggerKind::Sends(kind) | TriggerKind::Receives(kind) => Some((index, kind)),
            _ => None,
        },
        Occasion::At(_) | Occasion::After(_) => None,
    });
    let mut counted = scenario.expect.messages.keys().filter(|kind| *kind != "total");
    let is_unknown = |kind: &str| !known.is_empty() && !known.contains(&kind);
    let names = || known.iter().map(|&kind| kind.to_owned()).collect();
    if let Some((cue, kind)) = waited_for.find(|(_, kind)| is_unknown(kind)) {
        return Err(CueError::UnknownKind { cue, kind: kind.clone(), known: names() }.into());
    }
    match counted.find(|kind| is_unknown(kind)) {
        Some(kind) => Err(RunError::UnknownKind { kind: kind.clone(), known: names() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use habemus_scenario::Count;

    use super::*;

    #[test]
    fn messages_of_a_kind_that_is_not_there_cannot_be_counted() {
        let counting = |kind: &str| {
            let mut scenario = Scenario::default();
            scenario.expect.messages.insert(kind.to_owned(), Count { min: 1, max: 1 });
            know_kinds(&scenario, &["Election", "Ok"])
        };
        assert_eq!((counting("Ok"), counting("total")), (Ok(()), Ok(())));
        let error = counting("Okay").expect_err("it is refused").to_string();
        assert_eq!(error, "there are no messages of the kind 'Okay' to be counted; there are: Election, Ok");
    }
}
