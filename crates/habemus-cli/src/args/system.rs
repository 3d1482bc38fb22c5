//! The flags that describe a system: which processes, how connected, over which detector, with which options.

use std::collections::BTreeMap;

use clap::Args;
use habemus_scenario::{MAX_PROCESSES, Processes, Scenario, TopologyChoice, script};

use super::flag;
use crate::error::CliError;

/// The system. Flags come on top of what a scenario file says.
#[derive(Args, Debug, Clone)]
pub(crate) struct SystemFlags {
    /// How many processes; their identifiers are 1 to N.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "ids", help_heading = "System")]
    processes: Option<usize>,
    /// The identifiers, in the order of their addresses: 3,17,24 or 0..7.
    #[arg(long, value_name = "IDS", help_heading = "System")]
    ids: Option<String>,
    /// How the processes are connected: complete, ring, grid, …
    #[arg(long, value_name = "SHAPE", conflicts_with = "links", help_heading = "System")]
    topology: Option<String>,
    /// The links themselves: 1-2,2-3,3-1.
    #[arg(long, value_name = "LINKS", help_heading = "System")]
    links: Option<String>,
    /// The failure detector: oracle, heartbeat, …
    #[arg(long, value_name = "NAME", help_heading = "System")]
    detector: Option<String>,
    #[command(flatten)]
    options: OptionFlags,
}

/// Options of the algorithm or detector.
#[derive(Args, Debug, Clone)]
pub(crate) struct OptionFlags {
    /// An option of the algorithm or detector, as `habemus list ALGORITHM` shows them.
    #[arg(short = 'o', long = "option", value_name = "NAME=VALUE", help_heading = "System")]
    options: Vec<String>,
}

impl SystemFlags {
    /// Whether they say who the processes are.
    pub(crate) fn names_processes(&self) -> bool {
        self.processes.is_some() || self.ids.is_some()
    }

    /// Changes the system of a scenario; if nobody says how many processes there are, there are `usual`.
    pub(crate) fn apply(&self, scenario: &mut Scenario, usual: u64) -> Result<(), CliError> {
        if let Some(ids) = &self.ids {
            scenario.ids = script::parse_ids(ids).map_err(|e| flag("ids", &e))?;
        } else if let Some(count) = self.processes {
            if count == 0 || count > usize::try_from(MAX_PROCESSES).unwrap_or(usize::MAX) {
                return Err(CliError::new(format!("--processes must be from 1 to {MAX_PROCESSES}")));
            }
            scenario.ids = (1..=count as u64).collect();
        } else if scenario.ids.is_empty() {
            scenario.ids = (1..=usual).collect();
        }
        if let Some(topology) = &self.topology {
            scenario.topology = Some(TopologyChoice::Named(topology.clone()));
        }
        if let Some(links) = &self.links {
            let processes = Processes::new(&scenario.ids);
            let all = script::parse_links(links, &processes).map_err(|e| flag("links", &e))?;
            scenario.topology = Some(TopologyChoice::Links(all));
        }
        if self.detector.is_some() {
            scenario.detector.clone_from(&self.detector);
        }
        scenario.options.extend(self.options.read()?);
        Ok(())
    }
}

impl OptionFlags {
    /// As names and values.
    pub(crate) fn read(&self) -> Result<BTreeMap<String, String>, CliError> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err(CliError::help(
                format!("--option: expected NAME=VALUE, found '{text}'"),
                "for example: -o variant=as-printed",
            )),
        };
        self.options.iter().map(pair).collect()
    }
}
