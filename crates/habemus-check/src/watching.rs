//! The monitors of the chosen properties, as one value that a state holds by number.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::property::{End, Monitor, Observation, Population, Verdict, Violation, What};
use habemus::{Address, Problem, Status};
use rustc_hash::FxHashMap;

use crate::intern::Interner;
use crate::protocol::Judgement;

/// What monitors see of a step, as a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen<Q: Problem> {
    pub(crate) process: Address,
    pub(crate) clock: Option<VectorClock>,
    pub(crate) what: Sight<Q>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sight<Q: Problem> {
    Started,
    Crashed,
    Command(Q::Command),
    Output(Q::Output),
}

impl<Q: Problem> Seen<Q> {
    pub(crate) fn observation(&self, at: Duration) -> Observation<'_, Q> {
        let what = match &self.what {
            Sight::Started => What::Started,
            Sight::Crashed => What::Crashed,
            Sight::Command(command) => What::Command(command),
            Sight::Output(output) => What::Output(output),
        };
        Observation { at, process: self.process, clock: self.clock.as_ref(), what }
    }
}

/// One property: watched, or broken for good. A broken one has no state, so that it adds none.
type Watched<M> = Option<M>;

/// The monitors and their numbers.
#[derive(Debug)]
pub(crate) struct Watching<Q: Problem> {
    population: Population,
    monitors: Interner<Vec<Watched<Q::Monitor>>>,
    observations: Interner<Vec<Seen<Q>>>,
    /// From which monitors, and by which observations, each came about first.
    origins: Mutex<FxHashMap<u32, (u32, u32)>>,
    first: u32,
}

impl<Q: Problem> Watching<Q> {
    pub(crate) fn new(population: Population, chosen: Vec<Q::Monitor>) -> Self {
        let (monitors, observations) = (Interner::new(), Interner::new());
        let first = monitors.number(chosen.into_iter().map(Some).collect::<Vec<_>>());
        let nothing = observations.number(Vec::new());
        debug_assert_eq!(nothing, 0, "to see nothing has number 0");
        Watching { population, monitors, observations, origins: Mutex::default(), first }
    }

    pub(crate) fn population(&self) -> &Population {
        &self.population
    }

    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    pub(crate) fn monitors(&self, number: u32) -> Vec<Watched<Q::Monitor>> {
        self.monitors.value(number).clone()
    }

    pub(crate) fn number(&self, seen: Vec<Seen<Q>>) -> u32 {
        if seen.is_empty() { 0 } else { self.observations.number(seen) }
    }

    /// The number of these observations and further ones behind them.
    pub(crate) fn number_after(&self, observations: u32, more: Vec<Seen<Q>>) -> u32 {
        let mut all = self.observations.value(observations).clone();
        all.extend(more);
        self.number(all)
    }

    pub(crate) fn watch(&self, before: u32, observations: u32) -> u32 {
        let mut after = self.monitors(before);
        for seen in self.observations.value(observations).iter() {
            for watched in &mut after {
                feed(watched, &seen.observation(Duration::ZERO), &self.population);
            }
        }
        let after = self.monitors.number(after);
        if after != before && after != self.first {
            let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            origins.entry(after).or_insert((before, observations));
        }
        after
    }

    /// The monitors after all that these have seen was seen otherwise. Monitors need not know how to rename anybody: what
    /// they saw is renamed, and shown again.
    pub(crate) fn turned(&self, monitors: u32, rename: impl Fn(&mut Seen<Q>)) -> u32 {
        let mut story = Vec::new();
        let mut at = monitors;
        while at != self.first {
            let origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            let &(before, observations) = origins.get(&at).expect("whatever is not the first came about");
            story.push(observations);
            at = before;
        }
        let mut turned = self.first;
        for observations in story.into_iter().rev() {
            let mut seen = self.observations.value(observations).clone();
            seen.iter_mut().for_each(&rename);
            turned = self.watch(turned, self.number(seen));
        }
        turned
    }

    pub(crate) fn judge(&self, monitors: u32) -> Judgement {
        let mut judgement = Judgement::default();
        for (index, watched) in self.monitors.value(monitors).iter().enumerate() {
            match watched {
                None => judgement.broken |= 1 << index,
                Some(monitor) => {
                    if let Verdict::Violated(_) = monitor.at_end(End::Quiet, &self.population) {
                        judgement.lacking |= 1 << index;
                    }
                }
            }
        }
        judgement
    }

    pub(crate) fn reached(&self, observations: u32) -> u32 {
        let mut reached = 0;
        for seen in self.observations.value(observations).iter() {
            if let Sight::Output(output) = &seen.what
                && let Some(status) = Q::status_after_output(output)
            {
                reached |= status_bit(status);
            }
        }
        reached
    }
}

/// Shows a monitor something; what breaks its property is returned, and the monitor is gone.
pub(crate) fn feed<Q: Problem>(
    watched: &mut Watched<Q::Monitor>,
    seen: &Observation<'_, Q>,
    population: &Population,
) -> Option<Violation> {
    let violation = watched.as_mut()?.observe(seen, population).err()?;
    *watched = None;
    Some(violation)
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
