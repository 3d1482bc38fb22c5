//! The flags that commands share, in groups, and the scenario that they amount to.

mod clients;
mod network;
mod random;
mod run;
mod script;
mod subject;
mod system;

use habemus_scenario::{Action, Cue};

use crate::error::CliError;

pub(crate) use clients::ClientFlags;
pub(crate) use network::NetworkFlags;
pub(crate) use random::RandomFlags;
pub(crate) use run::RunFlags;
pub(crate) use script::ScriptFlags;
#[cfg(feature = "nodes")]
pub(crate) use subject::scenario_file;
pub(crate) use subject::{Described, SubjectFlags};
pub(crate) use system::{OptionFlags, SystemFlags};

/// Something wrong with a flag's value.
pub(crate) fn flag(name: &str, error: &impl std::fmt::Display) -> CliError {
    CliError::new(format!("--{name}: {error}"))
}

fn has_command(cues: &[Cue]) -> bool {
    cues.iter().any(|cue| matches!(cue.action, Action::Command { .. }))
}
