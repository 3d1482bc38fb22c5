//! The flags that describe the clients of locks.

use clap::Args;
use habemus::{ProblemKind, catalogue};
use habemus_scenario::{Processes, Scenario, Workload, script, units};

use super::{flag, has_command};
use crate::error::CliError;

/// What the clients of a lock do.
#[derive(Args, Debug, Clone)]
pub(crate) struct ClientFlags {
    /// Locks with names, each an instance of its own over the same processes: orders,stock.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Clients of a lock")]
    resources: Vec<String>,
    /// How often each client enters a lock [default: 1].
    #[arg(long, value_name = "N", help_heading = "Clients of a lock")]
    entries: Option<u32>,
    /// Which processes are clients [default: all].
    #[arg(long, value_name = "IDS", help_heading = "Clients of a lock")]
    clients: Option<String>,
    /// How long a client stays inside [default: 5ms].
    #[arg(long, value_name = "TIME", help_heading = "Clients of a lock")]
    hold: Option<String>,
    /// How long a client waits before it asks [default: 0ms..5ms].
    #[arg(long, value_name = "TIME", help_heading = "Clients of a lock")]
    think: Option<String>,
    /// How many wishes a second come up at each client, whatever became of the earlier ones: 5/s.
    #[arg(long, value_name = "RATE", conflicts_with = "think", help_heading = "Clients of a lock")]
    rate: Option<String>,
}

impl ClientFlags {
    /// Changes the clients of a scenario; one that comes from a file has the clients that it says.
    pub(super) fn apply(&self, scenario: &mut Scenario, from_file: bool) -> Result<(), CliError> {
        if !self.resources.is_empty() {
            scenario.resources.clone_from(&self.resources);
        }
        let times = [&self.clients, &self.hold, &self.think, &self.rate];
        let given =
            self.entries.is_some() || !self.resources.is_empty() || times.iter().any(|flag| flag.is_some());
        let is_lock = catalogue::entry(&scenario.algorithm)
            .is_ok_and(|entry| entry.problem == ProblemKind::MutualExclusion);
        if !given && (from_file || !is_lock) {
            return Ok(());
        }
        let usual = Workload::usual(has_command(&scenario.script));
        let workload = scenario.workload.get_or_insert(usual);
        workload.entries = self.entries.unwrap_or(workload.entries);
        let range = |name: &str, text: &Option<String>, otherwise| match text {
            Some(text) => units::parse_range(text).map_err(|e| flag(name, &e)),
            None => Ok(otherwise),
        };
        workload.hold = range("hold", &self.hold, workload.hold)?;
        workload.think = range("think", &self.think, workload.think)?;
        if let Some(rate) = &self.rate {
            workload.rate = units::parse_rate(rate).map_err(|e| flag("rate", &e))?;
        }
        if let Some(clients) = &self.clients {
            let processes = Processes::new(&scenario.ids);
            workload.clients =
                script::parse_processes(clients, &processes).map_err(|e| flag("clients", &e))?;
        }
        Ok(())
    }
}
