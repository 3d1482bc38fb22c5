//! `habemusd`: locks, elections and sessions behind etcd's interface. One member, alone or of a cluster.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    habemus_server::run().await
}
