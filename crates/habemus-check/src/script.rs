//! What a scenario says of the circumstances of a check.

use habemus::Address;
use habemus_report::address_of;
use habemus_scenario::{Action, Scenario};

use crate::setting::{DeliveryOrder, MAX_FAULTS, Setting, Start};

impl Setting {
    /// What a scenario's network, clients and script say of the circumstances: who starts, and how many faults of
    /// each kind there may be. When they happen is left open.
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

/// The addresses of the processes that are there, of those with these identifiers.
fn addresses(scenario: &Scenario, ids: &[u64]) -> Vec<Address> {
    ids.iter().filter_map(|id| address_of(scenario, *id)).collect()
}
