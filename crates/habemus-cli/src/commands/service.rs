//! `habemus serve`, `lock`, `elect`, `backup` and their siblings: the service and its clients. They are
//! programs of their own, for they are built from much that nothing else here needs.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::Outcome;
use crate::error::CliError;

/// A command of another program, which this one becomes; and it explains its options better.
#[derive(Args)]
#[command(
    disable_help_flag = true,
    after_help = "The options are those of another program, which this one becomes: habemusd for
serve, habemusctl for lock and its siblings, habemus-demo for demo. --help after
the command shows them, with examples; docs/service.md shows how they are used."
)]
pub(crate) struct External {
    /// Options of the program that this becomes; --help lists them.
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl External {
    /// Becomes the demo.
    pub(crate) fn demo(&self) -> Result<Outcome, CliError> {
        self.become_program("habemus-demo", None)
    }

    /// Becomes a member of the service.
    pub(crate) fn serve(&self) -> Result<Outcome, CliError> {
        self.become_program("habemusd", None)
    }

    /// Becomes a client of the service.
    pub(crate) fn ask(&self, task: &str) -> Result<Outcome, CliError> {
        self.become_program("habemusctl", Some(task))
    }

    fn become_program(&self, program: &str, task: Option<&str>) -> Result<Outcome, CliError> {
        let arguments: Vec<OsString> =
            task.map(OsString::from).into_iter().chain(self.options.clone()).collect();
        become_program(program, &arguments)
    }
}

/// Becomes another program; what is returned says why not.
pub(crate) fn become_program(program: &str, arguments: &[OsString]) -> Result<Outcome, CliError> {
    let error = Command::new(find(program)).args(arguments).exec();
    Err(CliError::new(format!(
        "cannot run {program}: {error}. It is a program of its own, and belongs beside this one or on the \
            PATH; \
         `./habemus` in the project's directory builds it when it is first wanted"
    )))
}

/// Beside this program, or wherever the PATH has it.
fn find(program: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(program));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(program))
}
