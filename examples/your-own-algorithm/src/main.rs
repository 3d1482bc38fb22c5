//! One process of it as a node on a real network:
//!
//!     cargo run -- --id 1 --ids 1,2 --listen 127.0.0.1:7001 --peer 2=127.0.0.1:7002
//!     cargo run -- --id 2 --ids 1,2 --listen 127.0.0.1:7002 --peer 1=127.0.0.1:7001
//!
//! Then type `elect` into one of them.

use std::process::ExitCode;

fn main() -> ExitCode {
    habemus_node::command::main_with(your_own_algorithm::setup, std::env::args_os().skip(1))
}
