//! What the tests have in common.

use std::collections::BTreeMap;

use habemus::catalogue::Request;
use habemus::{DEFAULT_PULSE, Id};
use habemus_check::{CheckError, Control, Properties, Report, Setting, check};

/// A model to be checked, in few words.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) algorithm: &'static str,
    pub(crate) processes: u64,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) setting: Setting,
}

/// `algorithm` with processes 1 to `processes`.
pub(crate) fn model(algorithm: &'static str, processes: u64) -> Model {
    Model { algorithm, processes, options: BTreeMap::new(), setting: Setting::default() }
}

impl Model {
    pub(crate) fn option(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    pub(crate) fn property(self, name: &str) -> Self {
        self.with(|setting| setting.properties = Properties::Named(vec![name.to_owned()]))
    }

    pub(crate) fn try_run(&self) -> Result<Report, CheckError> {
        let request = Request {
            algorithm: self.algorithm,
            ids: (1..=self.processes).map(Id).collect(),
            shape: None,
            detector: None,
            options: &self.options,
            pulse: DEFAULT_PULSE,
            seed: 1,
        };
        check(&request, &self.setting, &Control::default())
    }

    pub(crate) fn run(&self) -> Report {
        self.try_run().expect("the model makes sense")
    }
}
