//! A link to the lab.

use clap::Args;
use habemus_scenario::{Scenario, link};

use crate::error::CliError;
use crate::output;

/// Where `./habemus lab` serves the page unless it is told otherwise.
const USUAL_ADDRESS: &str = "http://127.0.0.1:4223/";

/// A link to the lab.
#[derive(Args, Debug, Clone)]
pub(crate) struct LabFlag {
    /// Print a link that opens this run in the lab, at this address [default: http://127.0.0.1:4223/, where
    /// `./habemus lab` serves it].
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    #[arg(default_missing_value = USUAL_ADDRESS)]
    lab: Option<String>,
}

/// Where a link is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// With the report.
    Output,
    /// Beside it: another program reads the output.
    Aside,
}

impl LabFlag {
    /// Whether a link is wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.lab.is_some()
    }

    /// Prints a link to the lab that opens a scenario, if one is wanted.
    pub(crate) fn show(&self, scenario: &Scenario, place: Where) -> Result<(), CliError> {
        let Some(address) = &self.lab else { return Ok(()) };
        let address = address.split('#').next().unwrap_or_default();
        let line = format!("{address}#s={}", link::pack(scenario));
        match place {
            Where::Output => output::print(&format!("\n{line}")),
            Where::Aside => {
                anstream::eprintln!("{line}");
                Ok(())
            }
        }
    }
}
