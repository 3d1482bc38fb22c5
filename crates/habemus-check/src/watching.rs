//! The monitors of the chosen properties, as one value that a state holds by number.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation};
use habemus::term::Sort;
use habemus::{Address, Problem, Status};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::intern::Interner;
use crate::protocol::Judgement;
use crate::terms::Terms;
use crate::words::Dictionary;

/// The monitors of a problem, by number: compiled for each problem, not for each algorithm.
pub(crate) trait Watch: Send + Sync {
    /// The monitors before anything has happened.
    fn initial(&self) -> u32;

    /// The number of these observations; of none, it is 0.
    fn number(&self, seen: Vec<Seen>) -> u32;

    /// The number of these observations and further ones behind them.
    fn number_after(&self, observations: u32, more: Vec<Seen>) -> u32;

    /// The monitors after these observations.
    fn watch(&self, monitors: u32, observations: u32) -> u32;

    /// The monitors after all that these have seen was seen otherwise; `None` if it is not known what that
    /// was.
    fn renamed(&self, monitors: u32, rename: &dyn Fn(&mut Seen)) -> Option<u32>;

    /// The terms that the monitors remember.
    fn terms(&self, monitors: u32) -> Terms;

    /// The monitors with their terms renamed.
    fn with_terms(&self, monitors: u32, rename: &dyn Fn(u64) -> u64) -> u32;

    /// The monitors, each of which remembers one term at most, that are together as good as these.
    fn split(&self, monitors: u32) -> SmallVec<[u32; 1]>;

    /// Which properties are broken, and which would be if nothing more happened.
    fn judge(&self, monitors: u32) -> Judgement;

    /// The kinds of status, as a set of bits, that these observations bring a process to.
    fn reached(&self, observations: u32) -> u32;

    /// Monitors that say how a property is broken, and when.
    fn witness(&self) -> Box<dyn Witness + '_>;
}

/// Monitors of a single run.
pub(crate) trait Witness {
    /// Shows them something; returns what is broken by it.
    fn see(&mut self, seen: &Seen, at: Duration) -> Vec<Broken>;

    /// How a property is broken if nothing more happens.
    fn at_end(&self, property: usize) -> Option<Broken>;
}

/// A property that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) property: usize,
    pub(crate) name: &'static str,
    pub(crate) explanation: String,
}

/// What monitors see of a step, as a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    pub(crate) process: Address,
    pub(crate) clock: Option<VectorClock>,
    pub(crate) what: Sight,
}

/// What is seen; words are there by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sight {
    Started,
    /// All processes have started; it is seen at none in particular.
    AllStarted,
    Crashed,
    Command(u32),
    Output(u32),
}

impl Seen {
    /// All processes have started.
    pub(crate) fn all_started() -> Self {
        Seen { process: Address(0), clock: None, what: Sight::AllStarted }
    }
}

/// The monitors of these properties.
pub(crate) fn watch<Q: Problem>(
    dictionary: &Arc<Dictionary<Q>>,
    population: &Population,
    properties: &[&'static str],
) -> Box<dyn Watch> {
    let mut monitors = Q::monitors(population);
    monitors.retain(|monitor| properties.contains(&monitor.name()));
    Box::new(Watching::new(Arc::clone(dictionary), population.clone(), monitors))
}

/// One property: watched, or broken for good. A broken one has no state, so that it adds none.
type Watched<M> = Option<M>;

/// The monitors and their numbers.
#[derive(Debug)]
struct Watching<Q: Problem> {
    dictionary: Arc<Dictionary<Q>>,
    population: Population,
    monitors: Interner<Vec<Watched<Q::Monitor>>>,
    observations: Interner<Vec<Seen>>,
    /// From which monitors, and how, each came about first.
    origins: Mutex<FxHashMap<u32, (u32, Origin)>>,
    initial: u32,
}

/// How monitors came about.
#[derive(Clone, Debug)]
enum Origin {
    /// They saw this.
    Saw(u32),
    /// Terms were renamed, each as it says.
    Renamed(Vec<(u64, u64)>),
    /// They were split, and are this part.
    Part(usize),
}

impl<Q: Problem> Watching<Q> {
    fn new(dictionary: Arc<Dictionary<Q>>, population: Population, chosen: Vec<Q::Monitor>) -> Self {
        let (monitors, observations) = (Interner::new(), Interner::new());
        let initial = monitors.number(chosen.into_iter().map(Some).collect::<Vec<_>>());
        let nothing = observations.number(Vec::new());
        debug_assert_eq!(nothing, 0, "to see nothing has number 0");
        Watching { dictionary, population, monitors, observations, origins: Mutex::default(), initial }
    }

    /// Takes note of how monitors came about, if it is the first time.
    fn note(&self, after: u32, before: u32, origin: impl FnOnce() -> Origin) {
        if after != before && after != self.initial {
            let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            origins.entry(after).or_insert_with(|| (before, origin()));
        }
    }

    /// Shows a monitor something; what breaks its property is returned, and the monitor is gone.
    fn feed(&self, watched: &mut Watched<Q::Monitor>, seen: &Seen, at: Duration) -> Option<Violation> {
        let what = match seen.what {
            Sight::Started => Some(ObservedEvent::Started),
            Sight::AllStarted => None,
            Sight::Crashed => Some(ObservedEvent::Crashed),
            Sight::Command(command) => Some(ObservedEvent::Command(self.dictionary.commands.value(command))),
            Sight::Output(output) => Some(ObservedEvent::Output(self.dictionary.outputs.value(output))),
        };
        let monitor = watched.as_mut()?;
        let said = match what {
            Some(what) => {
                let seen = Observation { at, process: seen.process, clock: seen.clock.as_ref(), what };
                monitor.observe(&seen, &self.population)
            }
            None => monitor.all_started(at, &self.population),
        };
        let violation = said.err()?;
        *watched = None;
        Some(violation)
    }
}

impl<Q: Problem> Watch for Watching<Q> {
    fn initial(&self) -> u32 {
        self.initial
    }

    fn number(&self, seen: Vec<Seen>) -> u32 {
        if seen.is_empty() { 0 } else { self.observations.number(seen) }
    }

    fn number_after(&self, observations: u32, more: Vec<Seen>) -> u32 {
        let mut all = self.observations.value(observations).clone();
        all.extend(more);
        self.number(all)
    }

    fn watch(&self, before: u32, observations: u32) -> u32 {
        let mut after = self.monitors.value(before).clone();
        for seen in self.observations.value(observations) {
            for watched in &mut after {
                self.feed(watched, seen, Duration::ZERO);
            }
        }
        let after = self.monitors.number(after);
        self.note(after, before, || Origin::Saw(observations));
        after
    }

    /// Monitors need not know how to rename anybody: what they saw is renamed, and shown again.
    fn renamed(&self, monitors: u32, rename: &dyn Fn(&mut Seen)) -> Option<u32> {
        let mut story = Vec::new();
        let mut at = monitors;
        while at != self.initial {
            let origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            let (before, origin) = origins.get(&at)?.clone();
            story.push(origin);
            at = before;
        }
        let mut renamed = self.initial;
        for origin in story.into_iter().rev() {
            renamed = match origin {
                Origin::Saw(observations) => {
                    let mut seen = self.observations.value(observations).clone();
                    seen.iter_mut().for_each(rename);
                    self.watch(renamed, self.number(seen))
                }
                // Terms have nothing to do with who is who.
                Origin::Renamed(terms) => {
                    let other =
                        |term| terms.iter().find(|(from, _)| *from == term).map_or(term, |(_, to)| *to);
                    self.with_terms(renamed, &other)
                }
                Origin::Part(part) => *self.split(renamed).get(part)?,
            };
        }
        Some(renamed)
    }

    fn terms(&self, monitors: u32) -> Terms {
        let mut terms = Terms::new();
        for mut monitor in self.monitors.value(monitors).clone().into_iter().flatten() {
            monitor.visit_terms(&mut |term| terms.push((Sort::TERM, *term)));
        }
        terms
    }

    fn with_terms(&self, monitors: u32, rename: &dyn Fn(u64) -> u64) -> u32 {
        let mut renamed = self.monitors.value(monitors).clone();
        let mut names = Vec::new();
        for monitor in renamed.iter_mut().flatten() {
            monitor.visit_terms(&mut |term| {
                names.push((*term, rename(*term)));
                *term = rename(*term);
            });
        }
        let renamed = self.monitors.number(renamed);
        self.note(renamed, monitors, || Origin::Renamed(names));
        renamed
    }

    fn split(&self, monitors: u32) -> SmallVec<[u32; 1]> {
        let mut rest = self.monitors.value(monitors).clone();
        let mut parts: SmallVec<[Vec<Watched<Q::Monitor>>; 1]> = SmallVec::new();
        for index in 0..rest.len() {
            while let Some(one) = rest[index].as_mut().and_then(Monitor::split_off) {
                let with = |all: &Vec<Watched<Q::Monitor>>| {
                    let mut all = all.clone();
                    all[index] = Some(one.clone());
                    all
                };
                parts.push(with(&rest));
            }
        }
        parts.push(rest);
        let parts: SmallVec<[u32; 1]> = parts.into_iter().map(|part| self.monitors.number(part)).collect();
        for (index, &part) in parts.iter().enumerate() {
            self.note(part, monitors, || Origin::Part(index));
        }
        parts
    }

    fn judge(&self, monitors: u32) -> Judgement {
        let mut judgement = Judgement::default();
        for (index, watched) in self.monitors.value(monitors).iter().enumerate() {
            match watched {
                None => judgement.broken |= 1 << index,
                Some(monitor) => {
                    judgement.at_stake |= u32::from(monitor.is_at_stake(&self.population)) << index;
                    if let Verdict::Violated(_) = monitor.at_end(End::Quiet, &self.population) {
                        judgement.lacking |= 1 << index;
                    }
                }
            }
        }
        judgement
    }

    fn reached(&self, observations: u32) -> u32 {
        let mut reached = 0;
        for seen in self.observations.value(observations).iter() {
            if let Sight::Output(output) = seen.what
                && let Some(status) = Q::status_after_output(self.dictionary.outputs.value(output))
            {
                reached |= status_bit(status);
            }
        }
        reached
    }

    fn witness(&self) -> Box<dyn Witness + '_> {
        Box::new(Witnessing { watching: self, monitors: self.monitors.value(self.initial).clone() })
    }
}

/// The monitors of a single run.
struct Witnessing<'a, Q: Problem> {
    watching: &'a Watching<Q>,
    monitors: Vec<Watched<Q::Monitor>>,
}

impl<Q: Problem> Witness for Witnessing<'_, Q> {
    fn see(&mut self, seen: &Seen, at: Duration) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (property, watched) in self.monitors.iter_mut().enumerate() {
            let name = watched.as_ref().map(Monitor::name);
            let violation = self.watching.feed(watched, seen, at);
            if let (Some(Violation(explanation)), Some(name)) = (violation, name) {
                broken.push(Broken { property, name, explanation });
            }
        }
        broken
    }

    fn at_end(&self, property: usize) -> Option<Broken> {
        let monitor = self.monitors.get(property)?.as_ref()?;
        match monitor.at_end(End::Quiet, &self.watching.population) {
            Verdict::Violated(Violation(explanation)) => {
                Some(Broken { property, name: monitor.name(), explanation })
            }
            _ => None,
        }
    }
}

/// The bit that stands for a kind of status.
pub(crate) fn status_bit(status: Status) -> u32 {
    match status {
        Status::Idle => 0,
        Status::Waiting => 1,
        Status::Inside => 2,
        Status::Leading => 4,
        Status::Following(_) => 8,
        Status::Decided => 16,
    }
}
