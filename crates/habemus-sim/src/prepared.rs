//! A simulation of an algorithm that was chosen at run time, ready to start.
//!
//! Of everything above the delivery loop this is the only part that is compiled for every algorithm.

use habemus::catalogue::{self, Claim, Contract, Entry, Request, Setup, SetupError, Visitor};
use habemus::property::{End, Population};
use habemus::{Message, Problem, Process};
use habemus_report::{RunError, know_kinds, request};
use habemus_scenario::{Action, Cue, Occasion, Scenario, TimeModel, Workload};
use habemus_trace::{Header, Origin};

use crate::simulation::{Limits, Simulation, Stop};
use crate::time::{Time, nanos};
use crate::watch::{Attention, Observed, Watch};

/// A system ready to start, whatever its processes are.
pub(crate) struct Prepared {
    pub(crate) entry: &'static Entry,
    pub(crate) population: Population,
    /// Whether it never comes to rest.
    pub(crate) perpetual: bool,
    /// The failure detector on which it stands, or "none".
    pub(crate) detector: &'static str,
    /// What it promises.
    pub(crate) contract: Contract,
    pub(crate) simulation: Box<dyn Run>,
}

/// What becomes of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// It is played as the scenario has it, and judged; with or without keeping the trace.
    Play { keep_trace: bool },
    /// These begin at once, and whoever enters leaves at once: what counts is the messages; and who leads, if
    /// so asked.
    Measure { start: &'a [u64], leader: bool },
}

/// Prepares the system that `request` describes to play `scenario`.
///
/// # Errors
/// If the request makes no sense, or the scenario does not fit the system.
pub(crate) fn prepare(
    request: &Request<'_>,
    scenario: &Scenario,
    purpose: Purpose<'_>,
) -> Result<Prepared, RunError> {
    catalogue::build(request)?.accept(Prepare { scenario, purpose })?
}

/// Prepares a system that need not be in the catalogue.
///
/// # Errors
/// If the scenario does not fit the system.
pub(crate) fn prepare_system<P: Process>(
    setup: Setup<P>,
    scenario: &Scenario,
    purpose: Purpose<'_>,
) -> Result<Prepared, RunError> {
    Prepare { scenario, purpose }.visit(setup)
}

#[cfg(feature = "stepper")]
use crate::stepper::Steps;

/// What is asked of a simulation that is taken step by step: nothing, where none is.
#[cfg(not(feature = "stepper"))]
pub(crate) trait Steps {}
#[cfg(not(feature = "stepper"))]
impl<P: Process> Steps for Simulation<P, Watch<P::Problem>> {}

/// A simulation that is watched.
pub(crate) trait Run: Steps {
    /// Starts and runs it until it is over or a limit is reached.
    fn run(&mut self, limits: Limits<'_>) -> Stop;
    /// The virtual time.
    fn now(&self) -> Time;
    /// How many events have taken place.
    fn events(&self) -> u64;
    /// The lines of the script that called what was not there.
    fn missed(&self) -> &[String];
    /// The lines of the script whose occasion has not come, counted from 0.
    fn unmet(&self) -> Vec<usize>;
    /// What was seen, if it ends like this; `claim` says what the algorithm claims of a property.
    fn finish(self: Box<Self>, end: End, claim: &dyn Fn(&str) -> Claim) -> Observed;
}

impl<P: Process> Run for Simulation<P, Watch<P::Problem>> {
    fn run(&mut self, limits: Limits<'_>) -> Stop {
        self.start();
        Simulation::run(self, limits)
    }

    fn now(&self) -> Time {
        Simulation::now(self)
    }

    fn events(&self) -> u64 {
        Simulation::events(self)
    }

    fn missed(&self) -> &[String] {
        Simulation::missed(self)
    }

    fn unmet(&self) -> Vec<usize> {
        Simulation::unmet(self)
    }

    fn finish(self: Box<Self>, end: End, claim: &dyn Fn(&str) -> Claim) -> Observed {
        self.into_observer().finish(end, claim)
    }
}

struct Prepare<'a> {
    scenario: &'a Scenario,
    purpose: Purpose<'a>,
}

impl Visitor for Prepare<'_> {
    type Result = Result<Prepared, RunError>;

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        fit(setup.synchronous, setup.entry.name, self.scenario.network.model)?;
        know_kinds(self.scenario, &P::Message::vocabulary())?;
        let measured = self.measured(P::Problem::COMMANDS);
        let attention = self.attention(setup.entry, &setup.topology);
        let watch = Watch::new(setup.population.clone(), attention);
        let scenario = measured.as_ref().unwrap_or(self.scenario);
        let simulation: Simulation<P, _> = Simulation::new(setup.system, scenario, setup.oracle, watch)?;
        Ok(Prepared {
            entry: setup.entry,
            population: setup.population,
            perpetual: setup.perpetual,
            detector: setup.detector,
            contract: setup.contract,
            simulation: Box::new(simulation),
        })
    }
}

impl Prepare<'_> {
    /// The scenario of a measurement, if this is one.
    fn measured(&self, commands: &[&str]) -> Option<Scenario> {
        let Purpose::Measure { start, .. } = self.purpose else { return None };
        let zero = std::time::Duration::ZERO;
        let word = commands.first().copied().unwrap_or_default().to_owned();
        let mut scenario = self.scenario.clone();
        scenario.script.push(Cue {
            occasion: Occasion::At(zero),
            action: Action::Command { word, processes: start.to_vec() },
        });
        let hold = (zero, zero);
        scenario.workload = Some(Workload { entries: 0, clients: Vec::new(), hold, think: hold, rate: 0.0 });
        Some(scenario)
    }

    fn attention(&self, entry: &Entry, topology: &str) -> Attention {
        match self.purpose {
            Purpose::Measure { leader: false, .. } => Attention::Count,
            Purpose::Measure { leader: true, .. } | Purpose::Play { keep_trace: false } => Attention::Judge,
            Purpose::Play { keep_trace: true } => Attention::Record(Box::new(Header {
                format: habemus_trace::FORMAT,
                algorithm: entry.name.to_owned(),
                problem: entry.problem,
                title: self.scenario.title.clone(),
                processes: self.scenario.ids.clone(),
                topology: topology.to_owned(),
                seed: Some(self.scenario.seed),
                origin: request(self.scenario).ok().map(|request| Origin::of(&request)),
                cycle: None,
            })),
        }
    }
}

/// Refuses an algorithm that works in pulses where the network does not promise them.
fn fit(synchronous: bool, algorithm: &str, model: TimeModel) -> Result<(), SetupError> {
    let unfit = |name: &str, reason: &str| {
        let reason = format!("{algorithm} works in pulses, {reason}");
        Err(SetupError::Unfit { what: "network", name: name.to_owned(), reason })
    };
    let late = "and everything sent in one must arrive before the next; the model must be synchronous";
    match model {
        _ if !synchronous => Ok(()),
        // A message takes half a pulse.
        TimeModel::Synchronous { pulse } if nanos(pulse) < 2 => {
            unfit("synchronous", "and a pulse must last at least 2ns")
        }
        // A script that calls everything keeps the pulses apart itself.
        TimeModel::Synchronous { .. } | TimeModel::Scripted => Ok(()),
        TimeModel::Asynchronous => unfit("asynchronous", late),
        TimeModel::PartiallySynchronous { .. } => unfit("partially-synchronous", late),
    }
}
