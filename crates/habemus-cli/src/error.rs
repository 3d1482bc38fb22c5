//! Bad input, said so that it can be mended.

use std::io;

use habemus::catalogue::SetupError;
use habemus_check::{CheckError, ReplayError};
use habemus_report::{CueError, RunError, pointed};
use habemus_scenario::{Parsed, ReadError, ScenarioErrors, nearest};
use habemus_sim::{CostError, wrong_besides, wrong_with};
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

    /// An error of a run, pointing into the file that the scenario came from, if it came from one, with
    /// everything else that is wrong there.
    pub(crate) fn from_run(error: RunError, parsed: Option<&Parsed>) -> Self {
        let Some(parsed) = parsed else { return error.into() };
        let first = ScenarioErrors::from(pointed(&error, parsed));
        let errors = match wrong_with(parsed) {
            Some(all) => all.with(first.iter().cloned()),
            None => first,
        };
        CliError::File(Box::new(errors))
    }

    /// An error of something else that was made of a file: what is wrong with the file, if it is that.
    pub(crate) fn in_file(self, parsed: Option<&Parsed>) -> Self {
        match parsed.and_then(wrong_with) {
            Some(errors) => CliError::File(Box::new(errors)),
            None => self,
        }
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
            ReadError::Wrong(errors) => CliError::File(Box::new(wrong_besides(errors))),
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
