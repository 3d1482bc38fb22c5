//! The clients: real processes, which can be stopped.

use std::net::SocketAddr;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::Failed;
use crate::scratch::cannot_run;

/// How many there are.
pub(crate) const CLIENTS: usize = 3;

/// All of them, by number.
pub(crate) struct Workers(Vec<Child>);

impl Workers {
    pub(crate) fn start(resource: SocketAddr, members: &[String]) -> Result<Workers, Failed> {
        let cannot = |error| cannot_run("a client", &error);
        let own = std::env::current_exe().map_err(cannot)?;
        let mut workers = Vec::new();
        for client in 0..CLIENTS {
            let mut command = Command::new(&own);
            command.arg("worker").arg(client.to_string()).arg(resource.to_string()).args(members);
            command.process_group(0).kill_on_drop(true);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            workers.push(command.spawn().map_err(cannot)?);
        }
        Ok(Workers(workers))
    }

    /// Stops a client where it is, or lets it go on.
    pub(crate) fn signal(&self, client: usize, signal: Signal) -> Result<(), Failed> {
        let gone = || Failed::story(format!("client {} has ended", client + 1));
        let pid = self.0[client]
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw)
            .ok_or_else(gone)?;
        kill_process(pid, signal).map_err(|error| Failed::story(error.to_string()))
    }
}
