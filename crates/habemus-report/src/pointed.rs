//! Where in its file the cause is that a scenario cannot be run.

use habemus::catalogue::SetupError;
use habemus_scenario::{Location, Parsed, ScenarioError, script};

use crate::error::{CueError, RunError, UnknownProperty};

/// The error, pointing at what has to be written otherwise.
pub fn pointed(error: &RunError, parsed: &Parsed) -> ScenarioError {
    let source = &parsed.source;
    let unknown = |location: Location, what: &str, name: &str, known: &[String]| {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        source.unknown_at(&location, what, name, &known)
    };
    let at = |path: &str| source.error_at(&Location::value(path), error.to_string(), None);
    match error {
        RunError::Setup(SetupError::Unknown { what: "option", name, known }) => {
            unknown(Location::option_name(name), "option", name, known)
        }
        RunError::Setup(SetupError::Unknown { what, name, known }) => {
            unknown(Location::value(*what), what, name, known)
        }
        RunError::Setup(SetupError::Value { option, .. }) => {
            source.error_at(&Location::option(option), error.to_string(), None)
        }
        RunError::Setup(SetupError::Unfit { what, .. }) => at(what),
        RunError::Setup(SetupError::System(_)) | RunError::Script(CueError::UnknownProcess { .. }) => {
            at("ids")
        }
        RunError::Script(CueError::UnknownCommand { cue, word, known, .. }) => {
            let faults = script::FAULTS.iter().map(|&word| word.to_owned());
            let known: Vec<String> = known.iter().cloned().chain(faults).collect();
            unknown(Location::command(*cue), "command", word, &known)
        }
        RunError::Script(CueError::UnknownKind { cue, kind, known }) => {
            unknown(Location::message(*cue), "kind of message", kind, known)
        }
        RunError::UnknownKind { kind, known } => {
            unknown(Location::name(format!("expect.messages.{kind}")), "kind of message", kind, known)
        }
        RunError::Names(_) => at("resources"),
        RunError::TooManyFaults { .. } => at("random"),
        RunError::UnknownProperty(UnknownProperty { name, known, .. }) => {
            unknown(expectation(parsed, name), "property", name, known)
        }
    }
}

/// Where the file expects something of this property.
fn expectation(parsed: &Parsed, property: &str) -> Location {
    let expect = &parsed.scenario.expect;
    let lists = [("holds", &expect.holds), ("violates", &expect.violates), ("outside", &expect.outside)];
    let named = |(list, names): (&str, &Vec<String>)| {
        let index = names.iter().position(|name| name == property)?;
        Some(Location::value(format!("expect.{list}[{index}]")))
    };
    lists.into_iter().find_map(named).unwrap_or_else(|| Location::value("expect"))
}
