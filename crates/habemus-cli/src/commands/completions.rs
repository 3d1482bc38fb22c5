//! `habemus completions`: completions for a shell.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::error::CliError;
use crate::{Habemus, Outcome};

/// Print completions for a shell.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus completions bash > /etc/bash_completion.d/habemus
  habemus completions fish > ~/.config/fish/completions/habemus.fish")]
pub(crate) struct Completions {
    /// Which shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Habemus::command(), "habemus", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Holds)
    }
}
