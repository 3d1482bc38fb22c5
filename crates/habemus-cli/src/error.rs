//! Bad input, said so that it can be mended.

use std::io;

use habemus::catalogue::SetupError;
use habemus_check::{CheckError, ReplayError};
use habemus_report::{CueError, RunError, UnknownProperty};
use habemus_scenario::{Location, Parsed, ReadError, ScenarioErrors, nearest};
use habemus_sim::CostError;
use owo_colors::OwoColorize;

/// What is wrong with the input.
#[derive(Debug)]
pub(crate) enum CliError {
    /// Something wrong in a scenario file, at a line and column.
    File(Box<ScenarioErrors>),
    /// Something else.
    Plain {
        /// What.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// Whoever read our output has stopped: not our business.
    ClosedPipe,
    /// Ctrl-C came before there was anything to say.
    #[cfg_attr(not(feature = "nodes"), expect(dead_code, reason = "only nodes take long to begin"))]
    Interrupted,
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        CliError::Plain { message: message.into(), help: None }
    }

    pub(crate) fn help(message: impl Into<String>, help: impl Into<String>) -> Self {
        CliError::Plain { message: message.into(), help: Some(help.into()) }
    }

    pub(crate) fn print(self) {
        match self {
            CliError::File(errors) => {
                anstream::eprintln!("{:?}", miette::Report::new(*errors));
            }
            CliError::Plain { message, help } => {
                anstream::eprintln!("{} {message}", "error:".red().bold());
                if let Some(help) = help {
                    anstream::eprintln!("{} {help}", " help:".cyan());
                }
            }
            CliError::ClosedPipe => {}
            CliError::Interrupted => anstream::eprintln!("interrupted before it began"),
        }
    }

    /// An error of a run, pointing into the file that the scenario came from, if it came from one.
    pub(crate) fn from_run(error: RunError, parsed: Option<&Parsed>) -> Self {
        let Some(parsed) = parsed else { return error.into() };
        let source = &parsed.source;
        let errors: ScenarioErrors = match &error {
            RunError::Setup(SetupError::Unknown { what, name, known }) => {
                let location = match *what {
                    "option" => Location::option_name(name),
                    what => Location::value(what),
                };
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                source.unknown_at(&location, what, name, &known).into()
            }
            RunError::Setup(SetupError::Value { option, .. }) => {
                source.error_at(&Location::option(option), error.to_string(), None).into()
            }
            RunError::Setup(SetupError::Unfit { what, .. }) => {
                source.error_at(&Location::value(*what), error.to_string(), None).into()
            }
            RunError::Setup(SetupError::System(_)) => {
                source.error_at(&Location::value("ids"), error.to_string(), None).into()
            }
            RunError::Script(CueError::UnknownCommand { cue, word, known, .. }) => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                source.unknown_at(&Location::command(*cue), "command", word, &known).into()
            }
            RunError::Script(CueError::UnknownKind { cue, kind, known }) => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                source.unknown_at(&Location::message(*cue), "kind of message", kind, &known).into()
            }
            RunError::UnknownKind { kind, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let location = Location::value(format!("expect.messages.{kind}"));
                source.unknown_at(&location, "kind of message", kind, &known).into()
            }
            RunError::Script(CueError::UnknownProcess { .. }) => {
                source.error_at(&Location::value("ids"), error.to_string(), None).into()
            }
            RunError::Names(_) => {
                source.error_at(&Location::value("resources"), error.to_string(), None).into()
            }
            RunError::TooManyFaults { .. } => {
                source.error_at(&Location::value("random"), error.to_string(), None).into()
            }
            RunError::UnknownProperty(UnknownProperty { name, known, .. }) => {
                let expect = &parsed.scenario.expect;
                let index = |list: &[String]| list.iter().position(|other| other == name);
                let location = match (index(&expect.holds), index(&expect.violates)) {
                    (Some(index), _) => Location::value(format!("expect.holds[{index}]")),
                    (_, Some(index)) => Location::value(format!("expect.violates[{index}]")),
                    _ => Location::value("expect"),
                };
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                source.unknown_at(&location, "property", name, &known).into()
            }
        };
        CliError::File(Box::new(errors))
    }
}

impl From<SetupError> for CliError {
    fn from(error: SetupError) -> Self {
        if let SetupError::Unknown { name, known, .. } = &error
            && let Some(near) = nearest(name, known.iter().map(String::as_str))
        {
            return CliError::help(error.to_string(), format!("did you mean '{near}'?"));
        }
        CliError::new(error.to_string())
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Setup(error) => error.into(),
            RunError::Script(CueError::UnknownKind { ref kind, ref known, .. })
            | RunError::UnknownKind { ref kind, ref known } => {
                match nearest(kind, known.iter().map(String::as_str)) {
                    Some(near) => CliError::help(error.to_string(), format!("did you mean '{near}'?")),
                    None => CliError::new(error.to_string()),
                }
            }
            error => CliError::new(error.to_string()),
        }
    }
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Setup(error) => error.into(),
            error => CliError::new(error.to_string()),
        }
    }
}

impl From<ReplayError> for CliError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Setup(error) => error.into(),
            ReplayError::Unknown => CliError::help(
                error.to_string(),
                "name the algorithm and its options: habemus run bully -n 3 --replay FILE",
            ),
            error => CliError::new(error.to_string()),
        }
    }
}

impl From<CostError> for CliError {
    fn from(error: CostError) -> Self {
        match error {
            CostError::Setup(error) => error.into(),
            error => CliError::new(error.to_string()),
        }
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Wrong(errors) => CliError::File(Box::new(errors)),
            error => CliError::help(error.to_string(), "give the path of a scenario file"),
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::new(error.to_string()),
        }
    }
}
