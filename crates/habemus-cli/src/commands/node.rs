//! `habemus node`: one process of an algorithm on a real network.

use clap::Args;
use habemus_node::command::{CommandError, NodeArgs};

use crate::Outcome;
use crate::error::CliError;

/// Run one process of an algorithm as a node on a real network.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus node --id 3 --listen 127.0.0.1:7103 --peer 1=127.0.0.1:7101 --peer 2=127.0.0.1:7102 \\
      --algorithm bully --data /var/lib/habemus --http 127.0.0.1:8103
  habemus node --config node.toml

Words on standard input: elect, acquire [NAME], release [NAME], stop. SIGTERM
stops in good order.")]
pub(crate) struct Node {
    #[command(flatten)]
    node: NodeArgs,
}

impl Node {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        match self.node.run() {
            Ok(()) => Ok(Outcome::Holds),
            Err(error) if error.is_bad_input() => Err(error.into()),
            Err(error) => {
                CliError::from(error).print();
                Ok(Outcome::Fails)
            }
        }
    }
}

impl From<CommandError> for CliError {
    fn from(error: CommandError) -> Self {
        CliError::new(error.to_string())
    }
}
