//! How good failure detectors are: all of them over the same network, with the same crashes.
//!
//! The measures are those of W. Chen, S. Toueg and M. K. Aguilera, *On the quality of service of failure
//! detectors*, 2002, for each pair of a process that watches and one that is watched: how long it takes from
//! a crash until the watched one is suspected for good (detection time), how often one that is up becomes
//! suspected (mistake rate), how long that lasts (mistake duration), and how likely the detector is right
//! about one that is up at any moment (query accuracy). Theirs is a world without recovery. Here a crashed
//! process may come back: the suspicion that stands then ends with the detector's noticing, and is no
//! mistake.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use habemus::catalogue::{self, DetectorSetup, SetupError};
use habemus::detector::any::AnyDetector;
use habemus::detector::heartbeat::Message;
use habemus::{Address, Id, Process, Suspicion};
use habemus_report::{RunError, Spread, Stream, Use, with_drawn_faults};
use habemus_scenario::{Action, Cue, Occasion, Scenario, Until};
use serde::{Serialize, Serializer};

use crate::observer::{Notice, Observer};
use crate::simulation::{Control, Limits, Simulation, Stop};
use crate::sweep::Sweeping;
use crate::time::{Time, nanos};

/// Pairs are watched one by one, so that there cannot be too many processes.
pub const MAX_WATCHED: usize = 200;

/// What to measure.
#[derive(Clone, Debug)]
pub struct QualityRequest {
    /// The processes, the network, the options, and what goes wrong. It names no algorithm.
    pub scenario: Scenario,
    /// The detectors.
    pub detectors: Vec<String>,
    /// How long a run lasts.
    pub until: Duration,
    /// Whether in each run one process more crashes for good, drawn by the seed, in the third quarter.
    pub one_crash: bool,
    /// How many runs of each detector; the first has the scenario's seed.
    pub seeds: u64,
}

/// How good a detector was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Its name.
    pub detector: String,
    /// How many runs were measured.
    pub runs: u64,
    /// From each crash until each process that was up suspected for good, in nanoseconds.
    pub detection: Spread,
    /// Crashes that a process had not noticed when the crashed one came back, or the run ended.
    pub undetected: u64,
    /// From each recovery until each process that had suspected took it back, in nanoseconds.
    pub recovery: Spread,
    /// How often a process that was up became suspected.
    pub mistakes: u64,
    /// How long the mistakes lasted, in seconds: all together.
    #[serde(serialize_with = "in_seconds")]
    pub mistaken: u128,
    /// The longest, in nanoseconds.
    pub longest_mistake: Time,
    /// How long a process that was up watched one that was up, in seconds: all together.
    #[serde(serialize_with = "in_seconds")]
    pub watched: u128,
    /// Messages sent.
    pub messages: u64,
    /// How long the runs lasted, in seconds: all together.
    #[serde(serialize_with = "in_seconds")]
    pub time: u128,
}

fn in_seconds<S: Serializer>(nanos: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*nanos as f64 / 1e9)
}

impl Quality {
    /// Mistakes per second that one process watches another, both up: λ_M.
    pub fn mistake_rate(&self) -> Option<f64> {
        (self.watched > 0).then(|| self.mistakes as f64 / (self.watched as f64 / 1e9))
    }

    /// How long a mistake lasts on average, in nanoseconds: E(T_M). Those that a crash or the end of the run
    /// cut off count as far as they went.
    pub fn mistake_duration(&self) -> Option<f64> {
        (self.mistakes > 0).then(|| self.mistaken as f64 / self.mistakes as f64)
    }

    /// The probability that a process that is up is not suspected, at any moment: P_A = 1 − λ_M · E(T_M).
    pub fn accuracy(&self) -> Option<f64> {
        (self.watched > 0).then(|| 1.0 - self.mistaken as f64 / self.watched as f64)
    }

    fn add(&mut self, other: &Quality) {
        self.runs += other.runs;
        self.detection.merge(&other.detection);
        self.undetected += other.undetected;
        self.recovery.merge(&other.recovery);
        self.mistakes += other.mistakes;
        self.mistaken += other.mistaken;
        self.longest_mistake = self.longest_mistake.max(other.longest_mistake);
        self.watched += other.watched;
        self.messages += other.messages;
        self.time += other.time;
    }
}

/// Measures the detectors, on so many threads; seed by seed, so that what is measured when it is stopped
/// early can be compared.
///
/// # Errors
/// If the request makes no sense.
pub fn quality(
    request: &QualityRequest,
    threads: usize,
    progress: &Sweeping,
) -> Result<Vec<Quality>, RunError> {
    let of = |name: &String| Quality { detector: name.clone(), ..Quality::default() };
    let empty: Vec<Quality> = request.detectors.iter().map(of).collect();
    let kinds = request.detectors.len() as u64;
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ok(empty));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let stopped = progress.stop.load(Ordering::Relaxed);
            if kinds == 0 || number / kinds >= request.seeds || stopped {
                break;
            }
            let kind = (number % kinds) as usize;
            let seed = request.scenario.seed.wrapping_add(number / kinds);
            let measured = measure(request, &request.detectors[kind], seed, progress);
            let mut total = total.lock().expect("no thread panics while it holds the lock");
            match (measured, &mut *total) {
                (Ok(Some(measured)), Ok(all)) => all[kind].add(&measured),
                (Ok(None), _) => break,
                (Err(error), total) => {
                    progress.stop.store(true, Ordering::Relaxed);
                    *total = Err(error);
                }
                (_, Err(_)) => {}
            }
            progress.done.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner().expect("no thread panics while it holds the lock")
}

/// One run; `None` if it was stopped.
fn measure(
    request: &QualityRequest,
    detector: &str,
    seed: u64,
    progress: &Sweeping,
) -> Result<Option<Quality>, RunError> {
    let scenario = Scenario { seed, ..request.scenario.clone() };
    let mut scenario = with_drawn_faults(&scenario)?.unwrap_or(scenario);
    if request.one_crash {
        scenario.script.extend(draw_crash(&scenario.ids, request.until, seed));
    }
    let ids: Vec<Id> = scenario.ids.iter().copied().map(Id).collect();
    if ids.len() > MAX_WATCHED {
        let reason = format!("every pair is watched, so there can be at most {MAX_WATCHED} processes");
        let name = ids.len().to_string();
        return Err(SetupError::Unfit { what: "number of processes", name, reason }.into());
    }
    let DetectorSetup { system, oracle } = catalogue::detector(detector, &ids, &scenario.options)?;
    if oracle.is_none() {
        // Only the oracle can be made to say something false.
        scenario.script.retain(|cue| !matches!(cue.action, Action::Suspect { .. }));
    }
    let control = Control { stop: progress.stop.clone(), ..Control::default() };
    let limits = Limits {
        until: Until::Time(request.until),
        time: nanos(request.until),
        events: scenario.event_limit,
        control: Some(&control),
    };
    let gauge = Gauge::new(ids.len());
    let mut simulation = Simulation::new(system, &scenario, oracle, gauge)?;
    simulation.start();
    if simulation.run(limits) != Stop::Time {
        return Ok(None);
    }
    Ok(Some(simulation.into_observer().finish(nanos(request.until))))
}

/// One process crashes in the third quarter of the run: there is time for mistakes before, and for detection
/// after.
fn draw_crash(ids: &[u64], until: Duration, seed: u64) -> Option<Cue> {
    let mut stream = Stream::new(seed, Use::Faults);
    let who = *ids.get(stream.below(ids.len() as u64) as usize)?;
    let (half, quarter) = (nanos(until) / 2, nanos(until) / 4);
    let when = Duration::from_nanos(stream.between(half, half + quarter));
    Some(Cue { occasion: Occasion::At(when), action: Action::Crash(vec![who]) })
}

/// What one process thinks of another, and how that came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opinion {
    /// It is down itself.
    None,
    /// The other is up, and not suspected.
    Trusts { since: Time },
    /// The other is up, and suspected: a mistake.
    Mistaken { since: Time },
    /// The other is up again, and still suspected.
    Outdated { since: Time },
    /// The other is down: since when, if that was seen, and suspected since when, if it is.
    Down { crash: Option<Time>, suspected: Option<Time> },
}

/// The observer that measures.
struct Gauge {
    up: Vec<bool>,
    /// What each thinks of each: by the one that watches, then by the one that is watched.
    opinions: Vec<Opinion>,
    quality: Quality,
}

impl Gauge {
    fn new(processes: usize) -> Self {
        Gauge {
            up: vec![false; processes],
            opinions: vec![Opinion::None; processes * processes],
            quality: Quality::default(),
        }
    }

    /// Replaces what `watcher` thinks of `watched`.
    fn change(
        &mut self,
        watcher: usize,
        watched: usize,
        change: impl FnOnce(&mut Quality, Opinion) -> Opinion,
    ) {
        let opinion = &mut self.opinions[watcher * self.up.len() + watched];
        *opinion = change(&mut self.quality, *opinion);
    }

    fn others(&self, process: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.up.len()).filter(move |other| *other != process)
    }

    fn started(&mut self, at: Time, process: usize) {
        self.up[process] = true;
        for other in self.others(process) {
            let other_up = self.up[other];
            self.change(process, other, |_, _| match other_up {
                true => Opinion::Trusts { since: at },
                false => Opinion::Down { crash: None, suspected: None },
            });
            if other_up {
                self.change(other, process, |quality, before| quality.over(before, at, true));
            }
        }
    }

    fn crashed(&mut self, at: Time, process: usize) {
        self.up[process] = false;
        for other in self.others(process) {
            self.change(process, other, |quality, before| {
                // Whoever crashes itself can no longer notice another's crash.
                if !matches!(before, Opinion::Down { .. }) {
                    quality.over(before, at, false);
                }
                Opinion::None
            });
            if self.up[other] {
                self.change(other, process, |quality, before| quality.over(before, at, false));
            }
        }
    }

    fn suspicion(&mut self, at: Time, watcher: usize, suspicion: Suspicion) {
        match suspicion {
            Suspicion::Suspect(watched) => {
                self.change(watcher, watched.index(), |quality, before| match before {
                    Opinion::Trusts { since } => {
                        quality.mistakes += 1;
                        quality.watched += u128::from(at - since);
                        Opinion::Mistaken { since: at }
                    }
                    Opinion::Down { crash, suspected: None } => Opinion::Down { crash, suspected: Some(at) },
                    same => same,
                });
            }
            Suspicion::Restore(watched) => {
                self.change(watcher, watched.index(), |quality, before| match before {
                    Opinion::Mistaken { since } => {
                        quality.mistaken(at - since);
                        Opinion::Trusts { since: at }
                    }
                    Opinion::Outdated { since } => {
                        quality.recovery.add(at - since);
                        Opinion::Trusts { since: at }
                    }
                    // A late message of the dead: it was not suspected for good.
                    Opinion::Down { crash, .. } => Opinion::Down { crash, suspected: None },
                    same => same,
                });
            }
        }
    }

    fn finish(mut self, at: Time) -> Quality {
        for opinion in std::mem::take(&mut self.opinions) {
            self.quality.over(opinion, at, true);
        }
        self.quality.runs = 1;
        self.quality.time = u128::from(at);
        self.quality
    }
}

impl Quality {
    /// Counts a time that is over because the watched one comes up or goes down; gives what follows.
    fn over(&mut self, before: Opinion, at: Time, up: bool) -> Opinion {
        let suspected = match before {
            Opinion::None => return Opinion::None,
            Opinion::Trusts { since } => {
                self.watched += u128::from(at - since);
                None
            }
            Opinion::Mistaken { since } => {
                self.mistaken(at - since);
                Some(at)
            }
            Opinion::Outdated { .. } => Some(at),
            Opinion::Down { crash, suspected } => {
                match (crash, suspected) {
                    (Some(crash), Some(suspected)) => self.detection.add(suspected - crash),
                    (Some(_), None) => self.undetected += 1,
                    (None, _) => {}
                }
                suspected
            }
        };
        match (up, suspected) {
            (true, Some(_)) => Opinion::Outdated { since: at },
            (true, None) => Opinion::Trusts { since: at },
            // Who was suspected already is detected at once.
            (false, suspected) => Opinion::Down { crash: Some(at), suspected: suspected.map(|_| at) },
        }
    }

    fn mistaken(&mut self, lasted: Time) {
        self.watched += u128::from(lasted);
        self.mistaken += u128::from(lasted);
        self.longest_mistake = self.longest_mistake.max(lasted);
    }
}

impl Observer<AnyDetector> for Gauge {
    type Stamp = ();

    fn sent(&mut self, _: Time, _: Address, _: Address, _: &Message) {
        self.quality.messages += 1;
    }

    fn noticed(&mut self, at: Time, process: Address, notice: Notice<'_, <AnyDetector as Process>::Problem>) {
        match notice {
            Notice::Started { .. } => self.started(at, process.index()),
            Notice::Crashed => self.crashed(at, process.index()),
            Notice::Suspicion(suspicion) => self.suspicion(at, process.index(), suspicion),
            _ => {}
        }
    }
}
