//! `habemus errata`: where the lecture notes are wrong, shown anew.

use std::sync::atomic::Ordering;

use clap::Args;
use habemus_check::CheckHandle;

use crate::errata::{ERRATA, page, section};
use crate::error::CliError;
use crate::{Outcome, interrupt, output};

/// Show where the lecture notes are wrong, with the runs that prove it.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus errata
  habemus errata bully
  habemus errata --page > docs/errata.md")]
pub(crate) struct Errata {
    /// Show this one; without it, list them all.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// All of them as a page in Markdown.
    #[arg(long, conflicts_with = "name")]
    page: bool,
}

impl Errata {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let handle = CheckHandle { stop: interrupt::flag(), ..CheckHandle::default() };
        if self.page {
            output::print(&page(&handle)?)?;
            return Ok(unless_interrupted(&handle));
        }
        let Some(name) = &self.name else {
            for erratum in ERRATA {
                output::print(&format!("{:<15} {}\n", erratum.name, erratum.title))?;
            }
            return Ok(Outcome::Holds);
        };
        let Some(erratum) = ERRATA.iter().find(|erratum| erratum.name == name) else {
            let known: Vec<&str> = ERRATA.iter().map(|erratum| erratum.name).collect();
            let help = match habemus_scenario::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are: {}", known.join(", ")),
            };
            return Err(CliError::help(format!("there is no erratum '{name}'"), help));
        };
        output::print(&section(erratum, &handle)?)?;
        Ok(unless_interrupted(&handle))
    }
}

/// Whether all proofs came to their end.
fn unless_interrupted(handle: &CheckHandle) -> Outcome {
    if handle.stop.load(Ordering::Relaxed) { Outcome::Incomplete } else { Outcome::Holds }
}
