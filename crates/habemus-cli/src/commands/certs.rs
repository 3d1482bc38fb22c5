//! `habemus certs`: certificates for mutual TLS between nodes, and keys for algorithms that sign.

use std::path::PathBuf;

use clap::Args;
use habemus_node::certs::{self, Existing};
use habemus_scenario::script;

use crate::error::CliError;
use crate::{Outcome, output};

/// Make certificates for mutual TLS between nodes, and keys for algorithms that sign, for development.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus certs --ids 1..5 --out certs
  habemus node … --tls-authority certs/authority.pem \\
      --tls-certificate certs/node-3.pem --tls-key certs/node-3.key

  habemus node --algorithm signed-generals … --keys certs

An authority that is in the directory already signs the new certificates, which
are valid for a year; nodes read changed files without being restarted. Files
that are there are replaced only with --force. A node gets node-ID.pem,
node-ID.key and node-ID.sign, and the *.public of all.")]
pub(crate) struct Certs {
    /// The nodes: 1..5 or 3,17,24.
    #[arg(long, value_name = "IDS")]
    ids: String,
    /// Where to put the files.
    #[arg(long, value_name = "DIR", default_value = "certs")]
    out: PathBuf,
    /// Replace certificates and keys of these nodes that are there already; the authority stays.
    #[arg(long)]
    force: bool,
}

impl Certs {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let ids = script::parse_ids(&self.ids).map_err(|why| CliError::new(format!("--ids: {why}")))?;
        if ids.len() > 10_000 {
            return Err(CliError::new("--ids: at most 10000 certificates are made at once"));
        }
        let existing = if self.force { Existing::Replace } else { Existing::Refuse };
        certs::make(&self.out, &ids, existing).map_err(|error| CliError::new(error.to_string()))?;
        let out = self.out.display();
        output::print(&format!(
            "{out}/authority.pem signs {} certificate{}; keep {out}/authority.key to yourself",
            ids.len(),
            if ids.len() == 1 { "" } else { "s" }
        ))?;
        Ok(Outcome::Holds)
    }
}
