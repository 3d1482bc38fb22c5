//! `habemus serve`: a member of the service. It is a program of its own, for it is built from much that nothing
//! else here needs.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::Outcome;
use crate::error::CliError;

/// The program that is a member.
const PROGRAM: &str = "habemusd";

/// Run a member of the service: locks, elections and sessions behind etcd's interface.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Serve {
    /// The options of the program habemusd, which this becomes; --help lists them.
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Serve {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let error = Command::new(program()).args(&self.options).exec();
        Err(CliError::new(format!(
            "cannot run {PROGRAM}: {error}. It belongs beside this program or on the PATH; build it with \
             `cargo build --release -p habemus-server`, or let `./habemus serve` do that"
        )))
    }
}

/// Beside this program, or wherever the PATH has it.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}
