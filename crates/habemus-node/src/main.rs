//! The program `habemus-node`: `habemus node` alone, without simulator and pictures, for machines that run nothing else.

use std::process::ExitCode;

use clap::Parser;
use habemus_node::command::NodeArgs;

/// Run one process of an algorithm between real machines.
#[derive(Parser)]
#[command(name = "habemus-node", version, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    node: NodeArgs,
}

fn main() -> ExitCode {
    match Program::parse().node.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_bad_input() { 2 } else { 1 })
        }
    }
}
