//! `habemus man`: manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::error::CliError;
use crate::{Habemus, Outcome, exit_codes, help, output};

/// Print the manual page, or write those of all commands.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus man | man -l -
  habemus man --out /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

impl Man {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let command = help::grouped(exit_codes::explain(Habemus::command()));
        match &self.out {
            None => {
                let mut text = Vec::new();
                clap_mangen::Man::new(command).render(&mut text)?;
                output::print(&String::from_utf8_lossy(&text))?;
            }
            Some(directory) => {
                let written = std::fs::create_dir_all(directory)
                    .and_then(|()| clap_mangen::generate_to(command, directory));
                written.map_err(|error| {
                    CliError::new(format!("cannot write into {}: {error}", directory.display()))
                })?;
            }
        }
        Ok(Outcome::Holds)
    }
}
