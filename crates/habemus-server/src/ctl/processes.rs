//! The program that runs under a lock, with everything that it has started.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The variable of the environment that marks a program and whatever it starts.
pub(crate) const MARK: &str = "HABEMUS_HOLD";

/// The program, known by its mark, and by its process group if it has one of its own. The mark is inherited
/// by whatever it starts, also by what has left the group; and a guardian knows it before there is a program.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    mark: Vec<u8>,
    pub(crate) group: Option<Pid>,
}

impl Family {
    pub(crate) fn new(mark: &str) -> Family {
        Family { mark: format!("{MARK}={mark}").into_bytes(), group: None }
    }

    /// Sends a signal to all of them.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended already.
            let _ = kill_process_group(group, signal);
        }
        for member in self.members() {
            let _ = kill_process(member, signal);
        }
    }

    /// Kills all of them, and returns when none is left: one that was just being started is found the next
    /// time.
    pub(crate) async fn kill(&self) {
        loop {
            self.signal(Signal::KILL);
            if self.members().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// All processes that carry the mark and are no zombies.
    fn members(&self) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let marked = pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
        });
        marked.filter_map(Pid::from_raw).collect()
    }
}
