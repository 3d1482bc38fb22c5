//! Measured messages beside the figure that theory gives.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use habemus::analysis::{Again, Arrangement, Bound, CostModel, Start};
use habemus::catalogue::{self, Claim, Request, SetupError, Shape};
use habemus::property::End;
use habemus::{Address, Status};
use habemus_report::{RunError, Statistics, Stream, Use, pulse};
use habemus_scenario::{Action, Cue, Network, Occasion, Scenario, Until};
use serde::Serialize;

use crate::prepared::{Purpose, prepare};
use crate::simulation::{Limits, Stop};
use crate::time::Time;

/// What to measure.
#[derive(Clone, Debug)]
pub struct CostRequest {
    /// The algorithm.
    pub algorithm: String,
    /// Its options.
    pub options: BTreeMap<String, String>,
    /// How the processes are connected; `None`: the algorithm's first topology.
    pub topology: Option<Shape>,
    /// Systems of these sizes.
    pub sizes: Vec<usize>,
    /// How the identifiers lie.
    pub arrangement: Arrangement,
    /// Who starts.
    pub start: Start,
    /// Instead of the first election one that is held again, for this reason.
    pub again: Option<Again>,
    /// How many runs of each size.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// The network.
    pub network: Network,
}

/// What was measured at one size.
#[derive(Clone, Debug, Serialize)]
pub struct CostPoint {
    /// How many processes.
    pub processes: usize,
    /// Runs measured.
    pub runs: u64,
    /// The fewest messages.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub max: u64,
    /// The mean, by kind.
    pub by_kind: BTreeMap<String, f64>,
    /// The longest chain of messages, on average.
    pub longest_chain: f64,
    /// The figure that theory gives.
    pub theory: Option<f64>,
    /// What kind of figure: `exactly`, `at most`, `on average`.
    pub theory_kind: Option<&'static str>,
    /// As a formula.
    pub formula: Option<&'static str>,
    /// The mean over theory.
    pub ratio: Option<f64>,
    /// What the measurement says of theory: why it is broken, if it is.
    pub broken: Option<String>,
}

/// Why nothing can be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// The request makes no sense.
    #[error("{0}")]
    Setup(SetupError),
    /// Nobody has said how.
    #[error("{0} has no cost model: nothing is known to hold its messages against")]
    NoModel(String),
    /// There is none to be held again.
    #[error("{0} holds no election that could be held again")]
    NoElection(String),
    /// Those that are left cannot elect.
    #[error("{algorithm} elects nobody after a crash among {processes}; take more processes")]
    NobodyLeft {
        /// The algorithm.
        algorithm: String,
        /// The size.
        processes: String,
    },
    /// A run did not come to its end.
    #[error("the run with {processes} processes and seed {seed} did not come to its end: {why}")]
    Unfinished {
        /// How many processes.
        processes: usize,
        /// The seed.
        seed: u64,
        /// What was missing.
        why: String,
    },
    /// It was stopped.
    #[error("interrupted")]
    Interrupted,
}

/// One of the cases in which an algorithm's cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostCase {
    /// How the identifiers lie.
    pub arrangement: Arrangement,
    /// Who starts.
    pub start: Start,
    /// Why it is held again, if it is.
    pub again: Option<Again>,
}

/// Every case of an algorithm: the ordinary one, the best and the worst, with one that starts and with all,
/// and after a crash and a recovery where theory knows of that.
pub fn cost_cases(model: &CostModel) -> Vec<CostCase> {
    let mut cases = Vec::new();
    for arrangement in [Arrangement::Random, Arrangement::Best, Arrangement::Worst] {
        for start in [Start::One, Start::All] {
            cases.push(CostCase { arrangement, start, again: None });
        }
    }
    if model.again.is_some() {
        let (arrangement, start) = (Arrangement::Random, Start::All);
        let held_again = |again| CostCase { arrangement, start, again: Some(again) };
        cases.extend([Again::Crash, Again::Recovery].map(held_again));
    }
    cases
}

/// Measures; `finished` is told each size as it is done, and `stop` ends it early.
///
/// # Errors
/// If the request makes no sense, or a run does not come to its end.
pub fn cost(
    request: &CostRequest,
    threads: usize,
    stop: &AtomicBool,
    mut finished: impl FnMut(&CostPoint),
) -> Result<Vec<CostPoint>, CostError> {
    let entry = catalogue::entry(&request.algorithm).map_err(CostError::Setup)?;
    let model = entry.cost_model.ok_or_else(|| CostError::NoModel(request.algorithm.clone()))?;
    let again = request.again.map(|again| Some((again, model.again?)));
    if again == Some(None) {
        return Err(CostError::NoElection(request.algorithm.clone()));
    }
    let mut points = Vec::new();
    for &processes in &request.sizes {
        let option = |name: &str| match (name, &request.topology) {
            ("topology", Some(shape)) => Some(shape.name().to_owned()),
            _ => request.options.get(name).cloned(),
        };
        let bound = match again.flatten() {
            None => (model.bound)(request.arrangement, request.start, processes, &option),
            Some((again, theory)) => {
                // Where too few are left to elect anybody there is nothing to measure.
                let Some(bound) = theory(again, processes) else { continue };
                // What is known of elections that are held again is known of the usual options.
                request.options.is_empty().then_some(bound)
            }
        };
        let runs = measure_all(request, &model, processes, threads, stop)?;
        let point = CostPoint::new(processes, &runs, bound.as_ref());
        finished(&point);
        points.push(point);
    }
    if points.is_empty() {
        let sizes: Vec<String> = request.sizes.iter().map(usize::to_string).collect();
        let (algorithm, processes) = (request.algorithm.clone(), sizes.join(" or "));
        return Err(CostError::NobodyLeft { algorithm, processes });
    }
    Ok(points)
}

fn measure_all(
    request: &CostRequest,
    model: &CostModel,
    processes: usize,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Vec<Statistics>, CostError> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed) as u64;
            if number >= request.seeds {
                break;
            }
            let result = if stop.load(Ordering::Relaxed) {
                Err(CostError::Interrupted)
            } else {
                measure(request, model, processes, request.first_seed.wrapping_add(number), request.again)
            };
            results.lock().expect("no thread panics while it holds the lock").insert(number, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().expect("no thread panics while it holds the lock").into_values().collect()
}

/// What came of one run.
struct Measured {
    statistics: Statistics,
    leader: Option<u64>,
}

/// Which part of its life a run shows. The leader is that of a calm run; the best, if nobody knows who leads.
#[derive(Clone, Copy)]
enum Course {
    /// The first election, on no detector.
    Once,
    /// On the oracle, and nothing happens until the leader would crash.
    Calm,
    /// Its leader has crashed, and has not come back.
    Crashed { leader: Option<u64>, until: Until },
    /// It has come back.
    Recovered { leader: Option<u64> },
}

/// One run; of an election that is held again what it adds to the run without it.
fn measure(
    request: &CostRequest,
    model: &CostModel,
    processes: usize,
    seed: u64,
    again: Option<Again>,
) -> Result<Statistics, CostError> {
    let run = |course| measure_course(request, model, processes, seed, course);
    let Some(again) = again else { return run(Course::Once).map(|measured| measured.statistics) };
    let calm = run(Course::Calm)?;
    let leader = calm.leader;
    let (before, after) = match again {
        Again::Crash => (calm, run(Course::Crashed { leader, until: Until::Agree })?),
        Again::Recovery => {
            let until = Until::Time(before(recovery(seed)));
            (run(Course::Crashed { leader, until })?, run(Course::Recovered { leader })?)
        }
    };
    let (before, after) = (before.statistics, after.statistics);
    let mut by_kind = after.by_kind;
    for (kind, count) in &before.by_kind {
        by_kind.entry(kind.clone()).and_modify(|all| *all -= count);
    }
    Ok(Statistics { messages: after.messages - before.messages, by_kind, ..after })
}

/// When the leader crashes, where an election is held again: long after the one before, and at any moment
/// between two heartbeats.
fn crash(seed: u64) -> Duration {
    Duration::from_secs(60) + Duration::from_millis(seed.wrapping_mul(37) % 1000)
}

/// When it comes back: long after that, and again at any moment.
fn recovery(seed: u64) -> Duration {
    crash(seed) + Duration::from_secs(60) + Duration::from_millis(seed.wrapping_mul(53) % 1000)
}

/// The last moment before a time.
fn before(time: Duration) -> Duration {
    time.saturating_sub(Duration::from_nanos(1))
}

/// One run. If it comes to rest, it goes on until then; if it never does, until everything asked for was
/// done, or until the leader crashes or comes back in the run that it is compared with.
fn measure_course(
    request: &CostRequest,
    model: &CostModel,
    processes: usize,
    seed: u64,
    course: Course,
) -> Result<Measured, CostError> {
    let mut layout = Stream::new(seed, Use::Layout);
    let arranged = (model.arrange)(request.arrangement, request.start, processes, &mut layout);
    let ids = |ids: &[habemus::Id]| ids.iter().map(|id| id.0).collect::<Vec<u64>>();
    let at = |time, action| Cue { occasion: Occasion::At(time), action };
    let mut script = Vec::new();
    if !arranged.down.is_empty() {
        script.push(at(Duration::ZERO, Action::Crash(ids(&arranged.down))));
    }
    let is_service = !matches!(course, Course::Once);
    if let Course::Crashed { leader, .. } | Course::Recovered { leader } = course {
        let best = arranged.ids.iter().map(|id| id.0).max();
        let processes: Vec<u64> = leader.or(best).into_iter().collect();
        script.push(at(crash(seed), Action::Crash(processes.clone())));
        if let Course::Recovered { .. } = course {
            script.push(at(recovery(seed), Action::Recover { processes, amnesia: false }));
        }
    }
    let scenario = Scenario {
        algorithm: request.algorithm.clone(),
        ids: ids(&arranged.ids),
        options: request.options.clone(),
        seed,
        network: request.network.clone(),
        script,
        ..Scenario::default()
    };
    let asked = Request {
        algorithm: &scenario.algorithm,
        ids: arranged.ids.clone(),
        shape: request.topology.clone(),
        // The processes that start are told to; nothing is to be detected but what makes them elect again.
        detector: catalogue::entry(&request.algorithm).ok().and_then(|entry| {
            let wanted = if is_service { "oracle" } else { "none" };
            entry.detectors.contains(&wanted).then_some(wanted)
        }),
        options: &scenario.options,
        pulse: pulse(request.network.model),
        seed,
        signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
    };
    let start = ids(&arranged.start);
    let unfinished =
        |why: &str| CostError::Unfinished { processes: scenario.ids.len(), seed, why: why.to_owned() };
    let prepared = prepare(&asked, &scenario, Purpose::Measure { start: &start, leader: is_service });
    let mut prepared = prepared.map_err(|error| match error {
        RunError::Setup(error) => CostError::Setup(error),
        other => unfinished(&other.to_string()),
    })?;
    if prepared.detector != "none" && !is_service {
        let (what, name) = ("detector", prepared.detector.to_owned());
        let reason = "what is measured is an algorithm alone; leave the detector out".to_owned();
        return Err(CostError::Setup(SetupError::Unfit { what, name, reason }));
    }
    let mut limits = Limits { events: scenario.event_limit, ..Limits::quiet() };
    if prepared.perpetual {
        let until = match course {
            Course::Once | Course::Recovered { .. } => Until::Agree,
            Course::Calm => Until::Time(before(crash(seed))),
            Course::Crashed { until, .. } => until,
        };
        limits = Limits { until, time: PATIENCE, ..limits };
    }
    match prepared.simulation.run(limits) {
        Stop::Quiet | Stop::Agreed | Stop::Time => {}
        Stop::TimeLimit => return Err(unfinished("what was asked for took too long")),
        _ => return Err(unfinished("the limit of events was reached")),
    }
    let observed = prepared.simulation.finish(End::Quiet, &|_| Claim::NotPromised);
    let leads = |address: u32| observed.standing.status(Address(address)) == Some(Status::Leading);
    let done =
        observed.done > 0 || observed.statistics.entries > 0 || (0..scenario.ids.len() as u32).any(leads);
    if !done {
        return Err(unfinished("nobody was elected, nobody entered, nobody decided"));
    }
    let leader = observed.standing.agreed_leader(&prepared.population).map(|id| id.0);
    Ok(Measured { statistics: observed.statistics, leader })
}

/// How much virtual time a system that never comes to rest has to do what was asked for.
const PATIENCE: Time = 3_600_000_000_000;

impl CostPoint {
    fn new(processes: usize, runs: &[Statistics], bound: Option<&Bound>) -> Self {
        let count = runs.len().max(1) as f64;
        let mean = runs.iter().map(|run| run.messages).sum::<u64>() as f64 / count;
        let mut by_kind: BTreeMap<String, f64> = BTreeMap::new();
        for (kind, messages) in runs.iter().flat_map(|run| &run.by_kind) {
            *by_kind.entry(kind.clone()).or_default() += *messages as f64 / count;
        }
        let min = runs.iter().map(|run| run.messages).min().unwrap_or(0);
        let max = runs.iter().map(|run| run.messages).max().unwrap_or(0);
        let messages: Vec<u64> = runs.iter().map(|run| run.messages).collect();
        CostPoint {
            processes,
            runs: runs.len() as u64,
            min,
            mean,
            max,
            by_kind,
            longest_chain: runs.iter().map(|run| f64::from(run.longest_chain)).sum::<f64>() / count,
            theory: bound.map(|bound| bound.messages),
            theory_kind: bound.map(|bound| bound.kind.words()),
            formula: bound.map(|bound| bound.formula),
            ratio: bound.filter(|bound| bound.messages > 0.0).map(|bound| mean / bound.messages),
            broken: bound.and_then(|bound| bound.broken_by(&messages)),
        }
    }
}
