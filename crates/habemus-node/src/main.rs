//! The program `habemus-node`: `habemus node` alone, without simulator and pictures, for machines that run
//! nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    habemus_node::command::main()
}
