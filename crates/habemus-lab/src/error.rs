//! Why the lab cannot do what was asked.

use habemus_report::RunError;
use habemus_scenario::ScenarioErrors;
use habemus_sim::{ActError, Refusal};

use crate::language::Language;
use crate::outside::missing_words;
use crate::texts::refusal_words;

/// Why the lab cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario cannot be read.
    #[error("{0}")]
    Scenario(String),
    /// The scenario makes no sense.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There are more processes than can be drawn.
    #[error("the lab shows at most {0} processes")]
    TooMany(usize),
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

impl LabError {
    /// Everything that is wrong with a file, a line for each.
    pub(crate) fn in_file(errors: &ScenarioErrors) -> Self {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        LabError::Scenario(lines.join("\n"))
    }

    /// What is said to whoever asked; and what the parser or the command says of it, which they say in
    /// English only.
    pub fn words(&self, language: Language) -> (String, Option<String>) {
        if language == Language::English {
            return match self {
                LabError::Refused(refusal) => (refusal_words(*refusal, language), None),
                other => (other.to_string(), None),
            };
        }
        let said = match self {
            LabError::Refused(refusal) => refusal_words(*refusal, language),
            LabError::Early => "ela ainda não tinha sido enviada".to_owned(),
            LabError::Recorded => "isto é uma gravação".to_owned(),
            LabError::NotFound => "nada assim aconteceu".to_owned(),
            LabError::TooMany(max) => format!("o laboratório mostra no máximo {max} processos"),
            LabError::Missing(what) => missing_words(what),
            LabError::Link(_) => "este link está danificado".to_owned(),
            LabError::Scenario(_) => "este cenário não pode ser lido".to_owned(),
            LabError::Run(_) => "este cenário não faz sentido".to_owned(),
            LabError::Action(_) => "isto não cabe neste sistema".to_owned(),
            LabError::Wish(_) => "a página e o motor não se entendem".to_owned(),
        };
        let detail = match self {
            LabError::Scenario(_) | LabError::Run(_) | LabError::Action(_) | LabError::Wish(_) => {
                Some(self.to_string())
            }
            _ => None,
        };
        (said, detail)
    }
}

impl From<ActError> for LabError {
    fn from(error: ActError) -> Self {
        match error {
            ActError::Cue(error) => LabError::Action(error.to_string()),
            ActError::Refused(refusal) => LabError::Refused(refusal),
        }
    }
}
