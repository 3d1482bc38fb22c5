//! Every algorithm by name, for programs that choose at run time.
//!
//! The choice is erased one level above processes: [`build`] makes the system that was asked for, as a value,
//! and [`Chosen::accept`] hands it to a [`Visitor`], which is generic over the process and drives it at full
//! speed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::analysis::CostModel;
use crate::property::Population;
use crate::signatures::{self, Scheme};
use crate::symmetry::{PermutationSymmetric, RotationSymmetric, ShiftInvariant, Symmetries};
use crate::term::TermInvariant;
use crate::{Id, ProblemKind, Process, System, SystemError};

mod agreements;
mod detectors;
mod elections;
mod faults;
mod model;
mod mutexes;
mod options;
mod register;
mod shape;
mod stack;

pub use detectors::{DETECTORS, DetectorSetup, detector};
pub use faults::{Fault, Faults};
pub use model::{Circumstances, Claim, Contract, Links, Model, Promise, Survivors, Timing};
pub use options::{OptionSpec, Options, Values, VariantKind, VariantSpec};
use options::{as_printed, mutant, rules};
pub use register::{Chosen, ENTRIES, Visitor, build};
pub use shape::{SHAPES, Shape};

/// What the catalogue says of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line and in scenario files.
    pub name: &'static str,
    /// What it solves.
    pub problem: ProblemKind,
    /// What it is, in a line.
    pub summary: &'static str,
    /// What it assumes about time, channels and faults, with nothing but its usual options.
    pub model: Model,
    /// The topologies it runs on; the first is the default.
    pub topologies: &'static [&'static str],
    /// The failure detectors it can stand on, the first is the default; empty if it needs none.
    pub detectors: &'static [&'static str],
    /// The properties that hold under its model.
    pub promises: &'static [Promise],
    /// What it costs.
    pub cost: &'static str,
    /// Where the lecture notes describe it.
    pub notes: &'static str,
    /// Its parameters.
    pub options: &'static [OptionSpec],
    /// How its cost is measured.
    pub cost_model: Option<CostModel>,
}

impl Entry {
    /// An entry for an algorithm that is not in the catalogue: it solves `problem` in an asynchronous system
    /// without faults, promises nothing, and has no options. Fill in more with `..`:
    ///
    /// ```
    /// use habemus::ProblemKind;
    /// use habemus::catalogue::{Entry, Fault, Model, Promise, Timing};
    /// static MINE: Entry = Entry {
    ///     model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    ///     promises: &[Promise::of("E2")],
    ///     ..Entry::own("mine", ProblemKind::Election)
    /// };
    /// assert!(MINE.promises("E2") && !MINE.promises("E1"));
    /// ```
    pub const fn own(name: &'static str, problem: ProblemKind) -> Self {
        Entry {
            name,
            problem,
            summary: "",
            model: Model::new(Timing::Asynchronous, &[]),
            topologies: &["own"],
            detectors: &[],
            promises: &[],
            cost: "",
            notes: "",
            options: &[],
            cost_model: None,
        }
    }

    /// Whether it promises this property under its model.
    pub fn promises(&self, property: &str) -> bool {
        self.promise(property).is_some()
    }

    /// The promise of this property, if there is one.
    pub fn promise(&self, property: &str) -> Option<&'static Promise> {
        self.promises.iter().find(|promise| promise.property == property)
    }

    /// What it assumes and promises with nothing but its usual options.
    pub fn contract(&self) -> Contract {
        let promises = self.promises.to_vec();
        Contract { model: self.model, promises, outside: None, max_latency: None }
    }

    /// The model of the same algorithm on this detector. A one-shot election that is held again on a detector
    /// recovers from crashes and partitions; an algorithm that relies on a detector and has none does not.
    pub fn model_on(&self, detector: &str) -> Model {
        self.on_detector(self.model, detector)
    }

    /// The same of a model that options have changed.
    fn on_detector(&self, model: Model, detector: &str) -> Model {
        const SERVICE: &[Fault] = &[Fault::Crash, Fault::Recovery, Fault::Partition];
        const REPORTED: &[Fault] = &[Fault::Crash, Fault::Recovery, Fault::FalseSuspicion, Fault::Partition];
        match (self.detectors.first(), detector) {
            (Some(&"none"), "none") | (None, _) => model,
            (Some(&"none"), _) => {
                let timing = match model.timing {
                    Timing::Asynchronous => Timing::Timely,
                    timing => timing,
                };
                Model { timing, ..model }.and(SERVICE)
            }
            (Some(_), "none") => model.without(REPORTED),
            (Some(_), _) => model,
        }
    }

    /// The parameters of the algorithm and of the detectors it can stand on, each once: detectors share some.
    pub fn all_options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        let detectors = self.detectors.iter().flat_map(|detector| options::of_detector(detector));
        let mut all: Vec<&'static OptionSpec> = Vec::new();
        for option in self.options.iter().chain(detectors) {
            if all.iter().all(|other| other.name != option.name) {
                all.push(option);
            }
        }
        all.into_iter()
    }

    /// Its variants, the usual one first; empty if it has none.
    pub fn variants(&self) -> &'static [VariantSpec] {
        let variants = |option: &OptionSpec| match option.values {
            Values::Variants(variants) => Some(variants),
            Values::Text(_) => None,
        };
        self.options.iter().find_map(variants).unwrap_or_default()
    }

    /// Whether it works in pulses, and so needs a synchronous network.
    pub fn is_synchronous(&self) -> bool {
        self.traits().is_synchronous
    }

    /// Asks the process itself, so that no entry can say otherwise.
    fn traits(&self) -> Traits {
        let request = Request {
            algorithm: self.name,
            ids: (1..=4).map(Id).collect(),
            shape: None,
            detector: None,
            options: &BTreeMap::new(),
            pulse: crate::DEFAULT_PULSE,
            seed: 0,
            signatures: Some(Scheme::Made(signatures::unsigned)),
        };
        build(&request).and_then(|chosen| chosen.accept(AskTraits)).unwrap_or_default()
    }
}

/// What a system says of itself.
#[derive(Default)]
struct Traits {
    is_synchronous: bool,
}

struct AskTraits;

impl Visitor for AskTraits {
    type Result = Traits;

    fn visit<P: Process>(self, setup: Setup<P>) -> Traits {
        Traits { is_synchronous: setup.synchronous }
    }
}

/// What is asked of the catalogue.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The algorithm's name.
    pub algorithm: &'a str,
    /// The identifiers, by address.
    pub ids: Vec<Id>,
    /// How they are connected; `None`: the algorithm's first topology.
    pub shape: Option<Shape>,
    /// The detector's name; `None`: the algorithm's first.
    pub detector: Option<&'a str>,
    /// Parameters of the algorithm and the detector, as text.
    pub options: &'a BTreeMap<String, String>,
    /// The length of a pulse in synchronous systems.
    pub pulse: Duration,
    /// What draws the shape, if it is a random one, and traitors.
    pub seed: u64,
    /// How processes sign; `None`: they cannot, and algorithms that need it are refused.
    pub signatures: Option<Scheme>,
}

/// A system ready to be driven.
#[derive(Clone, Debug)]
pub struct Setup<P: Process> {
    /// What the catalogue says of the algorithm.
    pub entry: &'static Entry,
    /// The processes and their network.
    pub system: System<P>,
    /// What monitors need to know.
    pub population: Population,
    /// How long after a crash or recovery the driver must speak as the oracle detector; `None`: never.
    pub oracle: Option<Duration>,
    /// Whether the system never comes to rest, because it sends heartbeats for ever.
    pub perpetual: bool,
    /// Whether it works in pulses, and so needs a synchronous network.
    pub synchronous: bool,
    /// Whether a one-shot election is held again and again, as a service.
    pub service: bool,
    /// The failure detector on which the algorithm stands, by name; "none" if it stands on none.
    pub detector: &'static str,
    /// How the processes are connected, to be shown.
    pub topology: String,
    /// What the model checker may take for the same.
    pub symmetries: Symmetries<P>,
    /// What it assumes and promises, with these options and on this detector.
    pub contract: Contract,
}

impl<P: Process> Setup<P> {
    /// A system whose algorithm is not in the catalogue: alone, without an oracle, and with nobody better
    /// suited to lead than others; see [`Entry::own`].
    pub fn own(entry: &'static Entry, system: System<P>) -> Self {
        let shape = Shape::Named(entry.topologies.first().copied().unwrap_or("own").to_owned());
        Setup::new(entry, system, None, &shape)
    }

    /// The algorithm alone, without an oracle; `preference` is as in [`Population`].
    fn new(entry: &'static Entry, system: System<P>, preference: Option<Vec<u32>>, shape: &Shape) -> Self {
        Setup {
            entry,
            population: Population {
                ids: system.ids.to_vec(),
                preference,
                permits: 1,
                is_sure_to_start: false,
            },
            system,
            oracle: None,
            perpetual: false,
            synchronous: P::SYNCHRONOUS,
            service: false,
            detector: "none",
            topology: shape.name().to_owned(),
            symmetries: Symmetries::default(),
            contract: entry.contract(),
        }
    }

    /// The same around another process, of whose symmetries nothing is known.
    fn with_system<Q: Process>(self, system: System<Q>) -> Setup<Q> {
        let Setup { entry, population, oracle, perpetual, synchronous, service, detector, topology, .. } =
            self;
        let contract = self.contract;
        Setup {
            entry,
            system,
            population,
            oracle,
            perpetual,
            synchronous,
            service,
            detector,
            topology,
            symmetries: Symmetries::default(),
            contract,
        }
    }
}

impl<P: ShiftInvariant> Setup<P> {
    /// The same, with the symmetry of time.
    #[must_use]
    pub fn shift_invariant(self) -> Self {
        Setup { symmetries: self.symmetries.with_clock_shift(&self.system.config), ..self }
    }
}

impl<P: RotationSymmetric> Setup<P> {
    /// The same, with the symmetry of addresses.
    #[must_use]
    pub fn rotation_symmetric(self) -> Self {
        Setup { symmetries: self.symmetries.with_rotation(), ..self }
    }
}

impl<P: PermutationSymmetric> Setup<P> {
    /// The same, with the symmetry of all permutations of addresses.
    #[must_use]
    pub fn permutation_symmetric(self) -> Self {
        Setup { symmetries: self.symmetries.with_permutation(), ..self }
    }
}

impl<P: TermInvariant> Setup<P> {
    /// The same, with the symmetry of terms.
    #[must_use]
    pub fn term_invariant(self) -> Self {
        Setup { symmetries: self.symmetries.with_terms(), ..self }
    }
}

/// The entry of the algorithm called `name`.
///
/// # Errors
/// If there is none.
pub fn entry(name: &str) -> Result<&'static Entry, SetupError> {
    let known = || ENTRIES.iter().map(|entry| entry.name.to_owned()).collect();
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| SetupError::Unknown {
        what: "algorithm",
        name: name.to_owned(),
        known: known(),
    })
}

/// Why a request makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// A name that nothing has.
    Unknown {
        /// What it should name: "algorithm", "option", "topology", "detector".
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// An option's value is not what it should be.
    Value {
        /// The option.
        option: &'static str,
        /// The value given.
        value: String,
        /// Why not, and what would do.
        reason: String,
    },
    /// The algorithm does not run on this topology, detector or network.
    Unfit {
        /// "topology", "detector" or "network".
        what: &'static str,
        /// The name given.
        name: String,
        /// Why not, and what would do.
        reason: String,
    },
    /// The identifiers are no good.
    System(SystemError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::Unknown { what, name, known } if known.is_empty() => {
                write!(f, "there is no {what} '{name}': there is none to choose")
            }
            SetupError::Unknown { what, name, known } => {
                write!(f, "there is no {what} '{name}'; there are: {}", known.join(", "))
            }
            SetupError::Value { option, value, reason } => {
                write!(f, "option {option} cannot be '{value}': {reason}")
            }
            SetupError::Unfit { what, name, reason } => {
                write!(f, "the {what} '{name}' will not do: {reason}")
            }
            SetupError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SetupError {}

impl From<SystemError> for SetupError {
    fn from(error: SystemError) -> Self {
        SetupError::System(error)
    }
}
