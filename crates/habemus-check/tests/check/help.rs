//! What the tests have in common.

use std::collections::BTreeMap;

use habemus::catalogue::{self, Request, Setup};
use habemus::property::Population;
use habemus::{Address, DEFAULT_PULSE, Id, Process, System};
use habemus_check::{
    CheckError, CheckHandle, CheckReport, ExplorationCounts, Properties, Setting, Start, certificate, check,
    counts,
};

/// A model to be checked, in few words.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) algorithm: &'static str,
    pub(crate) ids: Vec<u64>,
    pub(crate) detector: Option<&'static str>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) setting: Setting,
}

/// A system that is not in the catalogue, in the place of one that is.
pub(crate) fn setup<P: Process>(
    in_place_of: &str,
    system: System<P>,
    preference: Option<Vec<u32>>,
) -> Setup<P> {
    let population = Population { ids: system.ids.to_vec(), preference, permits: 1, is_sure_to_start: false };
    let entry = catalogue::entry(in_place_of).expect("it is in the catalogue");
    Setup { population, synchronous: false, topology: String::new(), ..Setup::own(entry, system) }
}

/// `algorithm` with processes 1 to `processes`.
pub(crate) fn model(algorithm: &'static str, processes: u64) -> Model {
    let ids = (1..=processes).collect();
    Model { algorithm, ids, detector: None, options: BTreeMap::new(), setting: Setting::default() }
}

impl Model {
    pub(crate) fn option(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.to_owned(), value.to_owned());
        self
    }

    /// On this failure detector; one that elects once is then held again and again, as a service.
    pub(crate) fn detector(mut self, name: &'static str) -> Self {
        self.detector = Some(name);
        self
    }

    pub(crate) fn ids(mut self, ids: &[u64]) -> Self {
        self.ids = ids.to_vec();
        self
    }

    /// Everybody starts.
    pub(crate) fn all_start(self) -> Self {
        let everybody = (0..self.ids.len() as u32).map(Address).collect();
        self.with(|setting| setting.start = Start::These(everybody))
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    pub(crate) fn property(self, name: &str) -> Self {
        self.with(|setting| setting.properties = Properties::Named(vec![name.to_owned()]))
    }

    pub(crate) fn try_run(&self) -> Result<CheckReport, CheckError> {
        self.run_under(&CheckHandle::default())
    }

    pub(crate) fn run_under(&self, handle: &CheckHandle) -> Result<CheckReport, CheckError> {
        check(&self.request(), &self.setting, handle)
    }

    pub(crate) fn certificate(&self) -> String {
        let certificate = certificate(&self.request(), &self.setting, &CheckHandle::default());
        certificate.expect("the model makes sense, and ends")
    }

    pub(crate) fn counts(&self) -> Vec<ExplorationCounts> {
        counts(&self.request(), &self.setting, &CheckHandle::default()).expect("the model makes sense")
    }

    fn request(&self) -> Request<'_> {
        Request {
            algorithm: self.algorithm,
            ids: self.ids.iter().copied().map(Id).collect(),
            shape: None,
            detector: self.detector,
            options: &self.options,
            pulse: DEFAULT_PULSE,
            seed: 1,
            signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
        }
    }

    pub(crate) fn run(&self) -> CheckReport {
        self.try_run().expect("the model makes sense")
    }
}
