//! Every algorithm with every fault of its own model, as scenarios to be swept.

use std::time::Duration;

use habemus::catalogue::{self, Circumstances, Entry, Fault, Faults, Model, Promise, Setup, Timing, Visitor};
use habemus::{ProblemKind, Process};
use habemus_report::request;
use habemus_scenario::{
    Action, Cue, Latency, Occasion, RandomFaults, Scenario, TimeModel, TopologyChoice, Workload,
};

/// A scenario to be swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it is called: "bully-oracle-recoveries".
    pub name: String,
    /// What is played with each seed.
    pub scenario: Scenario,
}

/// So many processes take part.
const PROCESSES: usize = 5;
/// When the faults end.
const FAULTS: Duration = Duration::from_secs(2);
/// So long after the last fault everything promised holds.
const SETTLED: Duration = Duration::from_secs(3);
/// Where nobody knows how long a message takes, no time is stated: mistakes end, but nobody can say when the
/// last one is made. So long after the last fault such a run is cut off, and what does not hold then is open.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same of clients that still want to enter then.
const SERVED: Duration = Duration::from_secs(20);

/// What becomes of those that crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    NobodyCrashes,
    StaysDown,
    Remembers,
    Forgets,
}

impl Fate {
    /// Those that a model lets happen.
    fn of(faults: Faults) -> Vec<Fate> {
        let fates = [
            (Fault::Crash, Fate::StaysDown),
            (Fault::Recovery, Fate::Remembers),
            (Fault::Amnesia, Fate::Forgets),
        ];
        let possible: Vec<Fate> =
            fates.iter().filter(|(fault, _)| faults.contains(*fault)).map(|(_, fate)| *fate).collect();
        if possible.is_empty() { vec![Fate::NobodyCrashes] } else { possible }
    }

    fn name(self) -> &'static str {
        match self {
            Fate::NobodyCrashes => "",
            Fate::StaysDown => "-crashes",
            Fate::Remembers => "-recoveries",
            Fate::Forgets => "-amnesia",
        }
    }

    /// The faults that are of this kind.
    fn faults(self) -> Faults {
        match self {
            Fate::NobodyCrashes => Faults::NONE,
            Fate::StaysDown => Faults::of(&[Fault::Crash]),
            Fate::Remembers => Faults::of(&[Fault::Recovery]),
            Fate::Forgets => Faults::of(&[Fault::Amnesia]),
        }
    }
}

/// What an algorithm promises on one of its detectors.
struct Promised {
    model: Model,
    promises: Vec<Promise>,
}

/// Asks a system.
struct Ask;

impl Visitor for Ask {
    type Result = Promised;

    fn visit<P: Process>(self, setup: Setup<P>) -> Promised {
        Promised { model: setup.contract.model, promises: setup.contract.promises }
    }
}

/// What an algorithm is swept with: on each of its detectors all faults of its model together, and again
/// without those under which it does not promise everything, so that each promise is put to the test.
pub fn cases(entry: &'static Entry) -> Vec<Case> {
    let detectors: Vec<Option<&'static str>> = match entry.detectors {
        [] => vec![None],
        all => all.iter().copied().map(Some).collect(),
    };
    let mut cases = Vec::new();
    for detector in detectors {
        let calm = calm(entry, detector);
        let asked = request(&calm).ok().and_then(|request| catalogue::build(&request).ok());
        let Some(promised) = asked.and_then(|chosen| chosen.accept(Ask).ok()) else { continue };
        for (number, faults) in sets(&promised).into_iter().enumerate() {
            for fate in Fate::of(faults) {
                let on = detector.map(|detector| format!("-{detector}")).unwrap_or_default();
                let without = if number == 0 { String::new() } else { format!("-without-{number}") };
                let name = format!("{}{on}{}{without}", entry.name, fate.name());
                let scenario = scenario(calm.clone(), entry.problem, &promised, faults, fate);
                cases.push(Case { name, scenario });
            }
        }
    }
    cases
}

/// All faults of the model, and what is left of them without the exceptions of each promise.
fn sets(Promised { model, promises }: &Promised) -> Vec<Faults> {
    let mut sets = vec![model.faults()];
    for under in promises.iter().map(|promise| promise.under(model)) {
        if !sets.contains(&under) {
            sets.push(under);
        }
    }
    sets
}

/// The system, with nothing that goes wrong.
fn calm(entry: &Entry, detector: Option<&str>) -> Scenario {
    Scenario {
        algorithm: entry.name.to_owned(),
        ids: (1..=PROCESSES as u64).collect(),
        detector: detector.map(str::to_owned),
        ..Scenario::default()
    }
}

fn scenario(
    mut scenario: Scenario,
    problem: ProblemKind,
    Promised { model, promises }: &Promised,
    faults: Faults,
    fate: Fate,
) -> Scenario {
    let crashes = Faults::of(&[Fault::Crash, Fault::Recovery, Fault::Amnesia]);
    let mut faults = faults.without(crashes).and(fate.faults());
    let measures =
        scenario.detector.as_deref().is_some_and(|detector| !["none", "oracle"].contains(&detector));
    if measures && !model.faults().contains(Fault::FalseSuspicion) && model.timing == Timing::Asynchronous {
        // A detector that measures time is right only where everybody is in time.
        faults = faults.without(Faults::of(&[Fault::WrongTimeouts, Fault::Pause, Fault::Drift]));
    }
    if fate != Fate::NobodyCrashes && falls_apart(&scenario.algorithm) {
        scenario.topology = Some(TopologyChoice::Named("complete".to_owned()));
    }
    network(&mut scenario, model, faults);
    scenario.random = random(model, scenario.detector.as_deref(), faults, fate);
    if faults.contains(Fault::Treason) {
        scenario.options.insert("traitors".to_owned(), "drawn".to_owned());
    }
    everybody_begins(&mut scenario, problem, faults);
    if model.timing == Timing::EventuallyTimely && problem != ProblemKind::MutualExclusion {
        scenario.expect.within = None;
        scenario.time_limit = Some(FAULTS + PATIENCE);
    }
    let crashing = scenario.random.as_ref().filter(|random| random.crashes > 0.0);
    let down = crashing.map_or(0, |random| random.max_down);
    let circumstances = Circumstances { faults, down, lasting: false, processes: PROCESSES };
    let outside = promises.iter().filter(|promise| !promise.claim(model, &circumstances).is_promised());
    scenario.expect.outside = outside.map(|promise| promise.property.to_owned()).collect();
    scenario
}

/// Whether the crash of one process may part the others, of which no model that has crashes knows anything.
fn falls_apart(algorithm: &str) -> bool {
    let topologies = catalogue::entry(algorithm).map_or(&[][..], |entry| entry.topologies);
    topologies.first() == Some(&"random") && topologies.contains(&"complete")
}

/// The network as the model has it until the faults end.
fn network(scenario: &mut Scenario, model: &Model, faults: Faults) {
    let network = &mut scenario.network;
    let late = model.timing == Timing::EventuallyTimely || faults.contains(Fault::WrongTimeouts);
    if model.timing == Timing::Pulses {
        network.model = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
    } else if late {
        network.model = TimeModel::PartiallySynchronous { gst: FAULTS, delta: Duration::from_millis(10) };
        network.latency = Latency::Exponential { mean: Duration::from_millis(50) };
    }
    network.fifo = !faults.contains(Fault::Reordering);
    if faults.contains(Fault::Duplication) {
        network.duplication = 0.05;
    }
    if faults.contains(Fault::Loss) {
        scenario.script.push(at(Duration::ZERO, Action::Loss(0.05)));
        scenario.script.push(at(FAULTS, Action::Loss(0.0)));
    }
}

fn random(model: &Model, detector: Option<&str>, faults: Faults, fate: Fate) -> Option<RandomFaults> {
    let rate = |fault: Fault, rate: f64| if faults.contains(fault) { rate } else { 0.0 };
    let milliseconds = Duration::from_millis;
    let usual = RandomFaults::usual(PROCESSES);
    let max_down = model.max_down(PROCESSES).min(PROCESSES - 1);
    let random = RandomFaults {
        crashes: if fate == Fate::NobodyCrashes || max_down == 0 { 0.0 } else { 2.0 },
        recover_after: usual.recover_after.filter(|_| fate != Fate::StaysDown),
        amnesia: fate == Fate::Forgets,
        max_down: max_down.max(1),
        pauses: rate(Fault::Pause, 2.0),
        cuts: rate(Fault::Cut, 2.0),
        partitions: rate(Fault::Partition, 1.0),
        partition_for: (milliseconds(50), milliseconds(500)),
        drifts: rate(Fault::Drift, 2.0),
        // Real detectors err by themselves.
        suspicions: if detector == Some("oracle") { rate(Fault::FalseSuspicion, 2.0) } else { 0.0 },
        until: FAULTS,
        ..usual
    };
    let rates =
        [random.crashes, random.pauses, random.cuts, random.partitions, random.drifts, random.suspicions];
    rates.iter().any(|rate| *rate > 0.0).then_some(random)
}

/// Everybody stands, proposes, or wants to enter again and again while the faults come.
fn everybody_begins(scenario: &mut Scenario, problem: ProblemKind, faults: Faults) {
    let milliseconds = Duration::from_millis;
    let word = match problem {
        ProblemKind::Election => "elect",
        ProblemKind::Agreement => "propose",
        ProblemKind::MutualExclusion | ProblemKind::FailureDetection => {
            // A late holder stays for longer than any lease; it need not come so often.
            let late = faults.contains(Fault::LateHolder);
            let (entries, longest) = if late { (2, milliseconds(1500)) } else { (6, milliseconds(10)) };
            scenario.workload = Some(Workload {
                entries,
                hold: (milliseconds(1), longest),
                think: (milliseconds(0), milliseconds(500)),
                ..Workload::usual(false)
            });
            scenario.expect.within = Some(SERVED);
            return;
        }
    };
    let everybody = Action::Command { word: word.to_owned(), processes: scenario.ids.clone() };
    scenario.script.push(at(Duration::ZERO, everybody));
    scenario.expect.within = Some(SETTLED);
}

fn at(time: Duration, action: Action) -> Cue {
    Cue { occasion: Occasion::At(time), action }
}
