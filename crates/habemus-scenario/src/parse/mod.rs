//! Reads scenario files.

use std::fs;
use std::path::Path;

use toml::de::DeTable;

use crate::error::{Problem, ReadError, ScenarioError, ScenarioErrors};
use crate::names;
use crate::processes::Processes;
use crate::scenario::{Action, DEFAULT_EVENT_LIMIT, Occasion, Scenario, Trigger, TriggerKind};
use crate::script;
use crate::source::{Location, SourceMap};

mod expect;
mod network;
mod open_list;
mod options;
mod random;
mod reader;
mod resources;
mod script_lines;
mod system;
mod values;
mod workload;

use reader::Reader;

/// A scenario, and where its file says what.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What the file says.
    pub scenario: Scenario,
    /// Where it says it; for errors that only who knows the algorithms can find.
    pub source: SourceMap,
}

/// Reads a scenario from the text of a file; `file` is its name in messages.
///
/// # Errors
/// Everything that is wrong with it. Names of algorithms, options, topologies, detectors, properties,
/// commands and messages are not checked: who knows them does, with [`Parsed::source`] and
/// [`Parsed::unknown_commands`], of a file with errors, too, for which [`ScenarioErrors::rest`] is there.
pub fn parse(file: &str, text: &str) -> Result<Parsed, ScenarioErrors> {
    let mut reader = Reader::new(file, text);
    let (document, syntax_errors) = DeTable::parse_recoverable(text);
    let can_be_read = reader.syntax_errors(&syntax_errors);
    if !can_be_read && let Some(errors) = reader.take_errors() {
        return Err(errors);
    }
    let scenario = scenario(&mut reader, document.get_ref());
    let errors = reader.take_errors();
    let parsed = Parsed { scenario, source: reader.into_source() };
    match errors {
        Some(errors) => Err(errors.beside(parsed)),
        None => Ok(parsed),
    }
}

/// Reads a scenario from a file.
///
/// # Errors
/// If the file cannot be read, or is no scenario.
pub fn read(path: impl AsRef<Path>) -> Result<Parsed, ReadError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|reason| ReadError::Unreadable { path: path.to_owned(), reason })?;
    if let Some(at) = bytes.iter().position(|byte| byte.is_ascii_control() && !b"\t\n\r".contains(byte)) {
        // What is shown of a file must not write control characters to a terminal.
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        return Err(ReadError::NotText { path: path.to_owned(), line, byte: bytes[at] });
    }
    let file = path.display().to_string();
    let text = String::from_utf8(bytes).map_err(|error| not_text(&file, &error))?;
    Ok(parse(&file, &text)?)
}

impl Parsed {
    /// Every command of the script that is not among these words of the algorithm's problem, as an error.
    pub fn unknown_commands(&self, words: &[&str]) -> Vec<ScenarioError> {
        let known: Vec<&str> = words.iter().chain(script::FAULTS).copied().collect();
        let help = match words {
            [] => "the algorithm takes no commands".to_owned(),
            [word] => format!("the algorithm's only command is `{word}`"),
            words => format!("the algorithm's commands are {}", names::listed(words, "and")),
        };
        let mut errors = Vec::new();
        for (index, cue) in self.scenario.script.iter().enumerate() {
            let Action::Command { word, .. } = &cue.action else {
                continue;
            };
            let first = word.split(' ').next().unwrap_or_default();
            if words.contains(&first) {
                continue;
            }
            let message = match names::nearest(word, known.iter().copied()) {
                Some(name) => format!("unknown action `{word}`: did you mean `{name}`?"),
                None => format!("unknown action `{word}`"),
            };
            errors.push(self.source.error_at(&Location::command(index), message, Some(help.clone())));
        }
        errors
    }

    /// Every kind of message, in the script and in the expectations, that the algorithm does not send, as an
    /// error.
    pub fn unknown_messages(&self, kinds: &[&str]) -> Vec<ScenarioError> {
        let waited_for =
            self.scenario.script.iter().enumerate().filter_map(|(index, cue)| match &cue.occasion {
                Occasion::When(Trigger {
                    what: TriggerKind::Sends(kind) | TriggerKind::Receives(kind),
                    ..
                }) => Some((Location::message(index), kind)),
                _ => None,
            });
        let counted = self.scenario.expect.messages.keys().filter(|kind| *kind != "total");
        let counted = counted.map(|kind| (Location::name(format!("expect.messages.{kind}")), kind));
        waited_for
            .chain(counted)
            .filter(|(_, kind)| !kinds.contains(&kind.as_str()))
            .map(|(location, kind)| self.source.unknown_at(&location, "message", kind, kinds))
            .collect()
    }
}

/// The keys at the top of a file.
const KEYS: &[&str] = &[
    "title",
    "notes",
    "algorithm",
    "processes",
    "ids",
    "topology",
    "links",
    "detector",
    "seed",
    "choices",
    "until",
    "time-limit",
    "event-limit",
    "script",
    "resources",
    "options",
    "network",
    "random",
    "workload",
    "expect",
];

/// The tables and their keys; `options` is not among them, for its keys belong to the algorithm.
const TABLES: &[(&str, &[&str])] = &[
    ("network", network::KEYS),
    ("random", random::KEYS),
    ("workload", workload::KEYS),
    ("expect", expect::KEYS),
];

fn scenario(reader: &mut Reader<'_>, document: &DeTable<'_>) -> Scenario {
    reader.check_keys("", document, KEYS);
    let algorithm = system::algorithm(reader, document);
    let ids = system::ids(reader, document);
    let processes = ids.as_deref().map_or_else(Processes::anything, Processes::new);
    let topology = system::topology(reader, document, &processes);
    let network = network::read(reader, document, &processes);
    let script = script_lines::read(reader, document, &processes);
    let random = random::read(reader, document, &processes);
    let workload = workload::read(reader, document, &processes, &script);
    let expect = expect::read(reader, document, &processes);
    Scenario {
        title: reader.optional(document, "title", Reader::string),
        notes: reader.optional(document, "notes", Reader::string),
        algorithm,
        topology,
        detector: reader.optional(document, "detector", Reader::name),
        options: options::read(reader, document),
        seed: reader.optional(document, "seed", Reader::whole_number).unwrap_or(Scenario::default().seed),
        choices: reader.optional(document, "choices", system::choices).unwrap_or_default(),
        network,
        script,
        random,
        resources: resources::read(reader, document),
        workload,
        until: reader.optional(document, "until", Reader::until).unwrap_or(Scenario::default().until),
        time_limit: reader.optional(document, "time-limit", Reader::positive_duration),
        event_limit: reader
            .optional(document, "event-limit", Reader::positive_number)
            .unwrap_or(DEFAULT_EVENT_LIMIT),
        expect,
        ids: ids.unwrap_or_default(),
    }
}

fn not_text(file: &str, error: &std::string::FromUtf8Error) -> ScenarioErrors {
    let valid = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes());
    let problem = Problem::new(valid..valid, "expected text in UTF-8, found a byte that is none");
    SourceMap::new(file, &text).error(problem).into()
}
