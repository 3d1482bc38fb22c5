//! One node of a cluster: an operating-system process, and the way to talk with it.

use std::fs::{self, OpenOptions};
use std::process::Stdio;

use habemus::Status;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::{Blueprint, ClusterError};
use crate::control::{NodeReport, SupervisorCommand};

/// What comes from a node.
#[derive(Debug)]
pub(super) enum FromNode {
    Report(Box<NodeReport>),
    /// It says no more: it has ended.
    End,
}

#[derive(Debug)]
pub(super) struct Member {
    child: Option<Child>,
    commands: Option<mpsc::UnboundedSender<SupervisorCommand>>,
    /// Counts starts.
    pub(super) life: u32,
    pub(super) address: Option<String>,
    pub(super) http: Option<String>,
    pub(super) paused: bool,
    /// Whether it was started ahead of its time: in the eyes of all it is still down.
    pub(super) ahead: bool,
    pub(super) status: Status,
}

impl Default for Member {
    fn default() -> Self {
        Member {
            child: None,
            commands: None,
            life: 0,
            address: None,
            http: None,
            paused: false,
            ahead: false,
            status: Status::Idle,
        }
    }
}

impl Member {
    pub(super) fn is_alive(&self) -> bool {
        self.child.is_some() && !self.ahead
    }

    /// Whether the operating system runs it.
    pub(super) fn is_there(&self) -> bool {
        self.child.is_some()
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// A command is written as soon as the node reads: one that is stopped reads it later.
    pub(super) fn tell(&self, command: SupervisorCommand) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }

    pub(super) fn spawn(
        &mut self,
        id: u64,
        blueprint: &Blueprint,
        hears: mpsc::UnboundedSender<(u64, u32, FromNode)>,
    ) -> Result<(), ClusterError> {
        let directory = blueprint.directory.join(format!("node-{id}"));
        let log_path = directory.join("log.txt");
        let log = fs::create_dir_all(&directory)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(&log_path))
            .map_err(|why| ClusterError::Io { path: log_path, why })?;
        let program = &blueprint.program;
        let wrapper = blueprint.wrappers.get(&id).map(Vec::as_slice).unwrap_or_default();
        let mut command = match wrapper {
            [] => Command::new(&program.path),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&program.path);
                command
            }
        };
        let host = blueprint.hosts.get(&id).map_or("127.0.0.1", String::as_str);
        let ids: Vec<String> = blueprint.ids.iter().map(u64::to_string).collect();
        command
            .args(&program.arguments)
            .args(["--supervised", "--id", &id.to_string(), "--ids", &ids.join(",")])
            .args(["--listen", &format!("{host}:0"), "--data"])
            .arg(&directory)
            .args(&blueprint.flags)
            .args(blueprint.own_flags.get(&id).into_iter().flatten())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            // Ctrl-C at the terminal is for the supervisor, which ends its nodes itself.
            .process_group(0)
            .kill_on_drop(true);
        let failed = |why| ClusterError::Spawn { id, program: program.path.clone(), why };
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        self.life += 1;
        let life = self.life;
        let (commands, mut commanded) = mpsc::unbounded_channel::<SupervisorCommand>();
        if let Some(mut stdin) = stdin {
            tokio::spawn(async move {
                while let Some(command) = commanded.recv().await {
                    let mut line = serde_json::to_vec(&command).unwrap_or_default();
                    line.push(b'\n');
                    if stdin.write_all(&line).await.is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = stdout {
            tokio::spawn(async move {
                let mut lines = BufReader::new(stdout).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if let Ok(report) = serde_json::from_str(&line) {
                        let _ = hears.send((id, life, FromNode::Report(Box::new(report))));
                    }
                }
                let _ = hears.send((id, life, FromNode::End));
            });
        }
        (self.child, self.commands) = (Some(child), Some(commands));
        (self.address, self.http, self.paused, self.status) = (None, None, false, Status::Idle);
        Ok(())
    }

    /// Kills it with SIGKILL and waits until it is gone.
    pub(super) async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It can only fail if the process is gone already.
            let _ = child.kill().await;
        }
        (self.commands, self.address, self.http, self.paused, self.ahead) = (None, None, None, false, false);
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.wait().await;
        }
        (self.commands, self.address, self.http, self.paused) = (None, None, None, false);
    }

    /// Sends a signal; says whether that changed anything.
    pub(super) fn signal(&mut self, signal: Signal) -> bool {
        let Some(pid) = self.pid() else { return false };
        let wants_pause = signal == Signal::STOP;
        if signal != Signal::TERM && self.paused == wants_pause {
            return false;
        }
        let sent = Pid::from_raw(pid as i32).is_some_and(|pid| kill_process(pid, signal).is_ok());
        if sent && signal != Signal::TERM {
            self.paused = wants_pause;
        }
        sent
    }
}
