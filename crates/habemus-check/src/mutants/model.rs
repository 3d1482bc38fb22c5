//! A small system and its circumstances, in few words.

use std::collections::BTreeMap;

use habemus::catalogue::{Request, Shape};
use habemus::{Address, DEFAULT_PULSE, Id};

use crate::check::check;
use crate::error::CheckError;
use crate::guarantees;
use crate::handle::CheckHandle;
use crate::report::CheckReport;
use crate::setting::{Properties, Setting, Start};

/// A model to be checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What goes wrong, or what else is special.
    pub name: String,
    /// Identifiers, by address.
    pub ids: Vec<u64>,
    /// How processes are connected, if not as usual.
    pub topology: Option<&'static str>,
    /// The detector, if not as usual.
    pub detector: Option<&'static str>,
    /// The options of the algorithm.
    pub options: BTreeMap<String, String>,
    /// The circumstances.
    pub setting: Setting,
}

/// `algorithm` with processes 1 to `processes`.
pub(super) fn model(algorithm: &'static str, processes: u64) -> Model {
    Model {
        algorithm,
        name: format!("n = {processes}"),
        ids: (1..=processes).collect(),
        topology: None,
        detector: None,
        options: BTreeMap::new(),
        setting: Setting::default(),
    }
}

impl Model {
    /// A model of the table of guarantees.
    pub(super) fn of_row(row: &guarantees::Model) -> Self {
        Model {
            algorithm: row.entry.name,
            name: row.faults().to_owned(),
            ids: row.ids(),
            topology: None,
            detector: None,
            options: row.named_options(),
            setting: row.setting(),
        }
    }

    /// With this option.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(super) fn ids(mut self, ids: &[u64]) -> Self {
        self.ids = ids.to_vec();
        self
    }

    pub(super) fn topology(mut self, name: &'static str) -> Self {
        self.topology = Some(name);
        self
    }

    /// Everybody starts.
    pub(super) fn all_start(self) -> Self {
        let everybody = (0..self.ids.len() as u32).map(Address).collect();
        self.with(|setting| setting.start = Start::These(everybody))
    }

    /// Under other circumstances.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    /// With this property alone.
    #[must_use]
    pub fn property(self, name: &str) -> Self {
        self.with(|setting| setting.properties = Properties::Named(vec![name.to_owned()]))
    }

    pub(super) fn request(&self) -> Request<'_> {
        Request {
            algorithm: self.algorithm,
            ids: self.ids.iter().copied().map(Id).collect(),
            shape: self.topology.map(|name| Shape::Named(name.to_owned())),
            detector: self.detector,
            options: &self.options,
            pulse: DEFAULT_PULSE,
            seed: 1,
            signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
        }
    }

    /// Whether nothing but the moments at which timers run out tells it from another model.
    pub(super) fn is_but_for_timers(&self, other: &Model) -> bool {
        let timers = self.setting.timers;
        self.is_of_the_same_system(other)
            && self.ids == other.ids
            && self.setting == Setting { timers, ..other.setting.clone() }
    }

    /// Whether it has at least as much in it as another model of the same circumstances.
    pub(super) fn is_no_less_than(&self, other: &Model) -> bool {
        let alike = Setting {
            clients: other.setting.clients.clone(),
            entries: other.setting.entries,
            faulty: other.setting.faulty.clone(),
            ..self.setting.clone()
        };
        self.is_of_the_same_system(other)
            && alike == other.setting
            && self.ids.len() >= other.ids.len()
            && self.wishes() >= other.wishes()
            && (self.setting.faulty.is_empty() || self.setting.faulty == other.setting.faulty)
    }

    fn is_of_the_same_system(&self, other: &Model) -> bool {
        (self.algorithm, self.topology, self.detector, &self.options)
            == (other.algorithm, other.topology, other.detector, &other.options)
    }

    /// How often anybody may enter, if it is a lock.
    fn wishes(&self) -> u64 {
        let clients = match self.setting.clients.len() {
            0 => self.ids.len(),
            some => some,
        };
        clients as u64 * u64::from(self.setting.entries)
    }

    /// Checks it.
    ///
    /// # Errors
    /// As [`check`].
    pub fn check(&self) -> Result<CheckReport, CheckError> {
        check(&self.request(), &self.setting, &CheckHandle::default())
    }
}
