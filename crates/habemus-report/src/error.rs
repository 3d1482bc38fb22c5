//! Why a scenario cannot be run, or a run cannot be judged, whoever runs it.

use habemus::ProblemKind;
use habemus::catalogue::SetupError;

use crate::drawn_faults::MAX_FAULTS;

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The system makes no sense.
    #[error("{0}")]
    Setup(SetupError),
    /// The script makes no sense.
    #[error("{0}")]
    Script(#[from] CueError),
    /// The rates of random faults are beyond reason.
    #[error(
        "the random faults would be about {about} of a kind, but at most {MAX_FAULTS} are drawn: lower the \
            rate, \
         or end them earlier"
    )]
    TooManyFaults {
        /// How many, about.
        about: f64,
    },
    /// Locks with names are asked for what they cannot do.
    #[error("{0}")]
    Names(String),
    /// An expectation counts messages of a kind that the algorithm does not have.
    #[error("there are no messages of the kind '{kind}' to be counted; there are: {}", known.join(", "))]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// An expectation names a property that the problem does not have.
    #[error("{0}")]
    UnknownProperty(#[from] UnknownProperty),
}

impl From<SetupError> for RunError {
    fn from(error: SetupError) -> Self {
        RunError::Setup(error)
    }
}

/// Why a line of a script cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CueError {
    /// A process that does not exist.
    #[error("there is no process {id}; there are: {}", some(known))]
    UnknownProcess {
        /// The identifier.
        id: u64,
        /// Those that exist.
        known: Vec<u64>,
    },
    /// A command that the problem does not have.
    #[error("'{word}' is neither a fault nor a command of {problem}; its commands are: {}", known.join(", "))]
    UnknownCommand {
        /// Which line of the script, counted from 0.
        cue: usize,
        /// The word.
        word: String,
        /// The problem.
        problem: ProblemKind,
        /// Its commands.
        known: Vec<String>,
    },
    /// A line waits for a kind of message that the algorithm does not have.
    #[error("there are no messages of the kind '{kind}'; there are: {}", known.join(", "))]
    UnknownKind {
        /// Which line of the script, counted from 0.
        cue: usize,
        /// The kind.
        kind: String,
        /// Those that there are.
        known: Vec<String>,
    },
}

/// The first dozen identifiers: a system may have a million.
fn some(ids: &[u64]) -> String {
    let shown: Vec<String> = ids.iter().take(12).map(u64::to_string).collect();
    shown.join(", ") + if ids.len() > 12 { ", …" } else { "" }
}

/// Somebody asks for a property that the problem does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no property '{name}' of {problem}; there are: {}", known.join(", "))]
pub struct UnknownProperty {
    /// The name.
    pub name: String,
    /// The problem.
    pub problem: ProblemKind,
    /// Its properties.
    pub known: Vec<String>,
}
