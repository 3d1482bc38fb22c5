//! A run that is taken step by step: what may come next is known, it can be forked, and things can be done to
//! it.
//!
//! What is done by hand is a line of the script, `after 17 events: crash 5`: a run that was changed is a
//! scenario like any other, and [`run`](crate::run()) plays it with the same fingerprint.

use habemus::catalogue::{Circumstances, Entry};
use habemus::property::{End, Population};
use habemus::{Address, Status};
use habemus_report::{
    CueError, PropertyLine, Report, RunError, Statistics, circumstances, request, with_drawn_faults,
};
use habemus_scenario::{Action, Cue, Occasion, Scenario};
use habemus_trace::{Header, Record};

use crate::prepared::{Prepared, Purpose, Run, prepare};
use crate::run::{conclude, deadline, limits};
use crate::simulation::{Limits, Refusal, Simulation, Stop};
use crate::time::Time;
use crate::watch::Watch;

/// Something that may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEvent {
    /// The identifier of the process that it concerns.
    pub process: u64,
    /// When it comes by itself, in nanoseconds; `None` if it waits for the script, or for the process to go
    /// on.
    pub due: Option<Time>,
    /// What it is.
    pub what: PendingKind,
    /// Why it cannot be chosen to come now; `None`: it can.
    pub refusal: Option<Refusal>,
}

/// What may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingKind {
    /// A message arrives.
    Message {
        /// The identifier of its sender.
        from: u64,
        /// Its number, as in the trace.
        number: u64,
        /// Which of those on its link it is, counted from 1; 0 if it has arrived and only its process is
        /// paused.
        nth: u32,
        /// Its kind.
        kind: String,
        /// All of it.
        label: String,
        /// Whether it is background traffic.
        background: bool,
    },
    /// A timer runs out.
    Timer {
        /// Which.
        label: String,
        /// Whether it drives background traffic.
        background: bool,
    },
    /// A client asks for something.
    Command {
        /// What.
        label: String,
    },
    /// The oracle detector suspects somebody.
    Suspicion {
        /// The identifier of the suspect.
        suspect: u64,
    },
    /// The oracle detector trusts somebody again.
    Trust {
        /// The identifier of the restored.
        restored: u64,
    },
}

/// What a process is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessState {
    /// Its identifier.
    pub id: u64,
    /// Whether it is up.
    pub is_up: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// What it is, as its application sees it.
    pub status: Status,
}

/// The links between the processes, by identifier, each from the first to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// All that there are.
    pub all: Vec<(u64, u64)>,
    /// Those of them that carry nothing at present.
    pub cut: Vec<(u64, u64)>,
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// It does not fit the system.
    #[error(transparent)]
    Cue(#[from] CueError),
    /// It cannot happen now.
    #[error(transparent)]
    Refused(Refusal),
}

/// What taking a run step by step needs of a simulation.
pub(crate) trait Steps {
    fn begin(&mut self);
    fn step(&mut self, limits: &Limits<'_>) -> Option<Stop>;
    fn is_over(&self, limits: &Limits<'_>) -> bool;
    fn come_to(&mut self, time: Time);
    fn act(&mut self, action: &Action) -> Result<(), ActError>;
    fn fork(&self) -> Box<dyn Run>;
    fn pending(&self) -> Vec<PendingEvent>;
    fn processes(&self) -> Vec<ProcessState>;
    fn variables(&self, at: Address) -> (Option<String>, Option<String>);
    fn links(&self) -> Links;
    fn commands(&self, at: Address) -> Vec<&'static str>;
    fn statistics(&self) -> Statistics;
    fn properties(&self, claim: &dyn Fn(&str) -> habemus::catalogue::Claim) -> Vec<PropertyLine>;
    fn fingerprint(&self) -> u64;
    fn take_records(&mut self) -> Vec<Record>;
    fn header(&self) -> Option<Header>;
}

impl<P: habemus::Process> Steps for Simulation<P, Watch<P::Problem>> {
    fn begin(&mut self) {
        self.start();
    }

    fn step(&mut self, limits: &Limits<'_>) -> Option<Stop> {
        Simulation::step(self, limits)
    }

    fn is_over(&self, limits: &Limits<'_>) -> bool {
        Simulation::is_over(self, limits)
    }

    fn come_to(&mut self, time: Time) {
        Simulation::come_to(self, time);
    }

    fn act(&mut self, action: &Action) -> Result<(), ActError> {
        Simulation::act(self, action)
    }

    fn fork(&self) -> Box<dyn Run> {
        Box::new(self.clone())
    }

    fn pending(&self) -> Vec<PendingEvent> {
        Simulation::pending(self)
    }

    fn processes(&self) -> Vec<ProcessState> {
        Simulation::processes(self)
    }

    fn variables(&self, at: Address) -> (Option<String>, Option<String>) {
        Simulation::variables(self, at)
    }

    fn links(&self) -> Links {
        Simulation::links(self)
    }

    fn commands(&self, at: Address) -> Vec<&'static str> {
        Simulation::commands(self, at)
    }

    fn statistics(&self) -> Statistics {
        let statistics = self.observer().statistics_so_far();
        Statistics { events: self.events(), ..statistics }
    }

    fn properties(&self, claim: &dyn Fn(&str) -> habemus::catalogue::Claim) -> Vec<PropertyLine> {
        self.observer().properties_so_far(End::CutOff, claim)
    }

    fn fingerprint(&self) -> u64 {
        self.observer().fingerprint()
    }

    fn take_records(&mut self) -> Vec<Record> {
        self.observer_mut().take_records()
    }

    fn header(&self) -> Option<Header> {
        self.observer().header().cloned()
    }
}

/// A run, taken step by step.
pub struct Stepper {
    /// As it was written, with what was done by hand.
    scenario: Scenario,
    /// The same with its faults drawn.
    played: Scenario,
    entry: &'static Entry,
    population: Population,
    contract: habemus::catalogue::Contract,
    perpetual: bool,
    detector: &'static str,
    circumstances: Circumstances,
    limits: Limits<'static>,
    simulation: Box<dyn Run>,
    /// Why it is over, if it is.
    stop: Option<Stop>,
}

/// A scenario to be played step by step: everybody has started, and nothing else has happened. It is about
/// one lock; of one about several, [`scenarios_of_locks`](habemus_report::scenarios_of_locks) makes one for
/// each.
///
/// # Errors
/// If the scenario makes no sense.
pub fn stepper(scenario: &Scenario) -> Result<Stepper, RunError> {
    let drawn = with_drawn_faults(scenario)?;
    let played = drawn.unwrap_or_else(|| scenario.clone());
    let prepared = prepare(&request(scenario)?, &played, Purpose::Play { keep_trace: true })?;
    let Prepared { entry, population, perpetual, detector, contract, mut simulation } = prepared;
    simulation.begin();
    Ok(Stepper {
        limits: limits(&played, perpetual, deadline(&played)),
        circumstances: circumstances(&played, &contract),
        scenario: scenario.clone(),
        played,
        entry,
        population,
        contract,
        perpetual,
        detector,
        simulation,
        stop: None,
    })
}

impl Stepper {
    /// Lets the next event take place; says whether there was one.
    pub fn step(&mut self) -> bool {
        if self.stop.is_none() && self.simulation.is_over(&self.limits) && self.simulation.events() > 0 {
            self.stop = Some(Stop::Agreed);
        }
        if self.stop.is_some() {
            return false;
        }
        self.stop = self.simulation.step(&self.limits);
        self.stop.is_none()
    }

    /// Why the run is over, if it is known to be.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Does something to the system now, as a line of the script that waits for this number of events.
    ///
    /// # Errors
    /// If it does not fit the system, or cannot happen now; then nothing has.
    pub fn act(&mut self, action: &Action) -> Result<(), ActError> {
        let occasion = Occasion::After(self.events());
        self.simulation.act(action)?;
        let cue = Cue { occasion, action: action.clone() };
        self.scenario.script.push(cue.clone());
        self.played.script.push(cue);
        self.circumstances = circumstances(&self.played, &self.contract);
        self.stop = None;
        Ok(())
    }

    /// The same run as far as it is, to go another way. The records that have not been taken go with it.
    pub fn fork(&self) -> Stepper {
        Stepper {
            scenario: self.scenario.clone(),
            played: self.played.clone(),
            entry: self.entry,
            population: self.population.clone(),
            contract: self.contract.clone(),
            perpetual: self.perpetual,
            detector: self.detector,
            circumstances: self.circumstances,
            limits: self.limits,
            simulation: self.simulation.fork(),
            stop: self.stop,
        }
    }

    /// The scenario that leads here, with what was done by hand.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The algorithm.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// How many events have taken place.
    pub fn events(&self) -> u64 {
        self.simulation.events()
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// Whatever may come next, in the order in which it would come by itself.
    pub fn pending(&self) -> Vec<PendingEvent> {
        self.simulation.pending()
    }

    /// What each process is.
    pub fn processes(&self) -> Vec<ProcessState> {
        self.simulation.processes()
    }

    /// The variables of a process as derived `Debug` shows them (`None` while it is down), and what its
    /// stable storage holds.
    pub fn variables(&self, at: Address) -> (Option<String>, Option<String>) {
        self.simulation.variables(at)
    }

    /// What a client can ask of a process now, in words.
    pub fn commands(&self, at: Address) -> Vec<&'static str> {
        self.simulation.commands(at)
    }

    /// The links between the processes, and those of them that are cut.
    pub fn links(&self) -> Links {
        self.simulation.links()
    }

    /// The figures so far.
    pub fn statistics(&self) -> Statistics {
        self.simulation.statistics()
    }

    /// What became of each property so far: what must still happen is open.
    pub fn properties(&self) -> Vec<PropertyLine> {
        self.simulation.properties(&|name| self.contract.claim(name, &self.circumstances))
    }

    /// Of everything that has happened.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.simulation.fingerprint())
    }

    /// Takes the records of what has happened since they were taken last.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.simulation.take_records()
    }

    /// What stands at the beginning of its trace.
    pub fn header(&self) -> Option<Header> {
        self.simulation.header()
    }

    /// What came of the run, if it is over here; without its trace, whose records have been taken.
    ///
    /// # Errors
    /// If the scenario expects a property that there is not.
    pub fn report(&self) -> Result<Report, RunError> {
        let mut simulation = self.simulation.fork();
        let stop = self.stop.unwrap_or(Stop::Interrupted);
        if matches!(stop, Stop::Time | Stop::TimeLimit) {
            let end = match self.limits.until {
                habemus_scenario::Until::Time(time) if stop == Stop::Time => crate::time::nanos(time),
                _ => self.limits.time,
            };
            simulation.come_to(end);
        }
        let prepared = Prepared {
            entry: self.entry,
            population: self.population.clone(),
            perpetual: self.perpetual,
            detector: self.detector,
            contract: self.contract.clone(),
            simulation,
        };
        conclude(prepared, &self.scenario, &self.played, stop)
    }
}
