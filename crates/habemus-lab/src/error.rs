//! Why the lab cannot do what was asked.

use habemus_report::RunError;
use habemus_sim::{ActError, Refusal};

/// Why the lab cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario cannot be read.
    #[error("{0}")]
    Scenario(String),
    /// The scenario makes no sense.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It cannot be done now.
    #[error("{0}")]
    Refused(Refusal),
    /// It does not fit the system.
    #[error("{0}")]
    Action(String),
    /// The link leads nowhere.
    #[error("this link is damaged: {0}")]
    Link(&'static str),
    /// There is no such thing.
    #[error("there is no such {0}")]
    Missing(&'static str),
    /// A message cannot arrive before it is sent.
    #[error("it had not been sent by then")]
    Early,
    /// Nothing can be done to a recording.
    #[error("this is a recording")]
    Recorded,
    /// Nothing that was looked for has happened.
    #[error("nothing of the kind has happened")]
    NotFound,
    /// What was asked cannot be read.
    #[error("{0}")]
    Wish(#[from] serde_json::Error),
}

impl From<ActError> for LabError {
    fn from(error: ActError) -> Self {
        match error {
            ActError::Cue(error) => LabError::Action(error.to_string()),
            ActError::Refused(refusal) => LabError::Refused(refusal),
        }
    }
}
