//! The argument that says what it is about: an algorithm or a scenario file; and the system's flags.

use std::path::{Path, PathBuf};

use clap::Args;
use habemus::catalogue;
use habemus_scenario::{Parsed, Scenario, TimeModel};

use super::SystemFlags;
use crate::error::CliError;

/// An algorithm or a scenario file, and the system. Flags come on top of what the file says.
#[derive(Args, Debug, Clone)]
pub(crate) struct SubjectFlags {
    /// An algorithm of the catalogue (`habemus list`), or a scenario file.
    #[arg(value_name = "ALGORITHM|FILE", required = true)]
    what: Option<String>,
    #[command(flatten)]
    system: SystemFlags,
}

/// A scenario, and the file it came from.
pub(crate) struct Described {
    /// What to run.
    pub(crate) scenario: Scenario,
    /// The file, for errors that point into it.
    pub(crate) parsed: Option<Parsed>,
}

impl SubjectFlags {
    /// Whether the command says what it is about at all.
    pub(crate) fn is_given(&self) -> bool {
        self.what.is_some()
    }

    /// The same system of another algorithm.
    pub(crate) fn of(&self, algorithm: &str) -> Self {
        SubjectFlags { what: Some(algorithm.to_owned()), system: self.system.clone() }
    }

    /// What it names.
    pub(crate) fn named(&self) -> Option<&str> {
        self.what.as_deref()
    }

    /// Whether it says who the processes are.
    pub(crate) fn names_processes(&self) -> bool {
        self.system.names_processes()
    }

    /// The scenario of the file, or an empty one, with the system that the flags ask for, or with `usual`
    /// processes.
    pub(crate) fn describe(&self, usual: u64) -> Result<Described, CliError> {
        let parsed = scenario_file(self.what()).map(habemus_scenario::read).transpose()?;
        let mut scenario = match &parsed {
            Some(parsed) => parsed.scenario.clone(),
            None => Scenario { algorithm: self.what().to_owned(), ..Scenario::default() },
        };
        if parsed.is_none() && catalogue::entry(self.what())?.is_synchronous() {
            // Flags may still say otherwise.
            scenario.network.model = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
        }
        self.system.apply(&mut scenario, usual)?;
        Ok(Described { scenario, parsed })
    }

    /// What is meant; nothing, where a recorded run says it.
    fn what(&self) -> &str {
        self.what.as_deref().unwrap_or_default()
    }
}

/// The scenario file that a word means, if it is no algorithm.
pub(crate) fn scenario_file(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    let looks_like_one = path.extension().is_some_and(|extension| extension == "toml")
        || word.contains(std::path::MAIN_SEPARATOR);
    let is_one = looks_like_one || catalogue::entry(word).is_err() && path.is_file();
    is_one.then(|| path.to_owned())
}
