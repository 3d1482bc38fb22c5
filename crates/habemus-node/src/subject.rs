//! What a node runs: one process behind bytes, out of the catalogue or of the program's own.

use habemus::catalogue::Setup;
use habemus::{Address, Process, System};
use habemus_machine::{self as machine, Facts, Labels, Machine};

use crate::settings::{Settings, SettingsError};

/// A process that has not started, and what there is to know of its system.
pub(crate) struct Subject {
    pub(crate) facts: Facts,
    pub(crate) machine: Box<dyn Machine>,
    pub(crate) me: Address,
    /// What all nodes of the cluster must agree on, in words.
    pub(crate) agreement: String,
}

impl Subject {
    /// The process that the settings ask the catalogue for. `labels` says whether anybody reads them.
    pub(crate) fn of_the_catalogue(settings: &Settings, labels: Labels) -> Result<Self, SettingsError> {
        settings.check()?;
        let me = settings.address();
        let (facts, machine) = machine::build(&settings.request()?, me, labels)?;
        Ok(Subject { facts, machine, me, agreement: settings.agreement()? })
    }

    /// A process of a system that the program has made itself.
    pub(crate) fn of_its_own<P: Process>(
        mut setup: Setup<P>,
        settings: &Settings,
        labels: Labels,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        settings.check_own(setup.entry.name, setup.system.ids.iter().map(|id| id.0).collect())?;
        let System { topology, config, pulse, .. } = &mut setup.system;
        *pulse = settings.pulse;
        let agreement = format!(
            "{} with processes {:?}, topology {topology:?}, constants {config:?}, pulse {pulse:?}{}",
            settings.algorithm,
            settings.ids,
            settings.epoch_in_words()
        );
        let me = settings.address();
        let (facts, machine) = machine::erase(setup, me, labels);
        Ok(Subject { facts, machine, me, agreement })
    }
}
