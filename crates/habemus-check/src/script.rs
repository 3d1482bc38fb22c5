//! What a scenario says of the circumstances of a check.

use std::time::Duration;

use habemus::Address;
use habemus_report::address_of;
use habemus_scenario::units::{self, UnitError};
use habemus_scenario::{Action, Latency, Network, Scenario};

use crate::setting::{DeliveryOrder, MAX_DRIFT, MAX_FAULTS, Setting, Speed, Start};

impl Setting {
    /// What a scenario's network, clients and script say of the circumstances: who starts, and how many
    /// faults of each kind there may be. When they happen is left open.
    pub fn follow_script(&mut self, scenario: &Scenario) {
        self.order = if scenario.network.fifo { DeliveryOrder::Fifo } else { DeliveryOrder::Any };
        let more = |budget: &mut u8, count: usize| {
            *budget = budget.saturating_add(u8::try_from(count).unwrap_or(u8::MAX)).min(MAX_FAULTS);
        };
        let budget = &mut self.budget;
        let (mut starters, mut crashing) = (Vec::new(), Vec::new());
        for cue in &scenario.script {
            match &cue.action {
                Action::Command { word, processes } if word != "release" => starters.extend(processes),
                Action::Crash(processes) => {
                    more(&mut budget.crashes, processes.len());
                    crashing.extend(processes);
                }
                Action::Recover { processes, amnesia } => {
                    more(&mut budget.recoveries, processes.len());
                    budget.amnesia |= *amnesia;
                }
                Action::Cut(_) | Action::Partition(_) => more(&mut budget.partitions, 1),
                Action::Loss(probability) if *probability > 0.0 => more(&mut budget.losses, 1),
                Action::Suspect { .. } => more(&mut budget.suspicions, 1),
                _ => {}
            }
        }
        more(&mut budget.losses, usize::from(scenario.network.loss > 0.0));
        more(&mut budget.duplications, usize::from(scenario.network.duplication > 0.0));
        self.faulty = addresses(scenario, &crashing);
        let mut named = starters.clone();
        named.sort_unstable();
        named.dedup();
        self.start = Start::These(addresses(scenario, &named));
        let max = named.iter().map(|id| starters.iter().filter(|other| *other == id).count()).max();
        if let Some(workload) = &scenario.workload
            && workload.entries > 0
        {
            self.entries = workload.entries;
            self.clients = addresses(scenario, &workload.clients);
        } else if let Some(max) = max {
            self.entries = u32::try_from(max).unwrap_or(1);
            self.clients = addresses(scenario, &named);
        }
    }
}

impl Speed {
    /// What a scenario says about speed, or else what is usual.
    pub fn of(scenario: &Scenario) -> Self {
        let usual = Speed::default();
        let rates = scenario.script.iter().filter_map(|cue| match cue.action {
            Action::Drift { rate, .. } => Some(((rate - 1.0).abs() * WHOLE).ceil() as u32),
            _ => None,
        });
        Speed {
            drift: rates.max().unwrap_or(usual.drift).min(MAX_DRIFT),
            delay: Speed::delay_of(&scenario.network).unwrap_or(usual.delay),
        }
    }

    /// How long a message takes at least and at most, if a network says so.
    pub fn delay_of(network: &Network) -> Option<(Duration, Duration)> {
        let all = std::iter::once(&network.latency).chain(network.links.values());
        let ranges = all.map(|latency| match *latency {
            Latency::Constant(delay) => Some((delay, delay)),
            Latency::Uniform { min, max } => Some((min, max)),
            Latency::Exponential { .. } | Latency::LogNormal { .. } => None,
        });
        ranges.reduce(|one, other| {
            let (one, other) = (one?, other?);
            Some((one.0.min(other.0), one.1.max(other.1)))
        })?
    }

    /// Reads by how much clocks may drift: `1%`, whichever way.
    ///
    /// # Errors
    /// If the text is no percentage, or too much.
    pub fn parse_drift(text: &str) -> Result<u32, UnitError> {
        let rate = units::parse_drift(text)?;
        let millionths = ((rate - 1.0).abs() * WHOLE).round();
        if millionths > f64::from(MAX_DRIFT) {
            return Err(UnitError::new(format!("a clock may drift by 90% at most, found `{}`", text.trim())));
        }
        Ok(millionths as u32)
    }
}

const WHOLE: f64 = 1_000_000.0;

/// The addresses of the processes that are there, of those with these identifiers.
fn addresses(scenario: &Scenario, ids: &[u64]) -> Vec<Address> {
    ids.iter().filter_map(|id| address_of(scenario, *id)).collect()
}
