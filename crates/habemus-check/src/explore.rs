//! Breadth first through all states, on any number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use crate::protocol::{Judgement, Trouble};
use crate::visited::{Batch, NO_PARENT, SHARDS, StateId, Visited, hash, parts, shard_of};
use crate::world::{Blocks, Opening, Successors, Worker, World};

/// A hand on a check, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to stop the check.
    pub stop: Arc<AtomicBool>,
    /// How many states were reached so far.
    pub states: AtomicU64,
    /// How many steps from the beginning exploration is.
    pub depth: AtomicU32,
    /// How many states of this depth are to be explored.
    pub level: AtomicU64,
    /// How many states were looked at so far in search of runs without end.
    pub circling: AtomicU64,
}

impl Control {
    /// Whether the check is to be stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes note of another state that was looked at in search of runs without end; says whether to go on.
    pub(crate) fn circles(&self) -> bool {
        self.circling.fetch_add(1, Ordering::Relaxed);
        !self.is_stopped()
    }
}

/// Why exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Everything was explored.
    Exhausted,
    /// A property is broken, and that was enough.
    Decided,
    Depth,
    States,
    Memory,
    Interrupted,
}

/// How a property was first seen to be broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) property: usize,
    pub(crate) state: StateId,
    /// Whether by something that did not happen before all came to rest.
    pub(crate) at_rest: bool,
}

/// What was explored.
pub(crate) struct Explored {
    pub(crate) visited: Visited,
    /// How many states each shard had after so many steps.
    levels: Vec<Vec<usize>>,
    pub(crate) openings: Vec<Opening>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) stop: Stop,
    /// Steps to the farthest state.
    pub(crate) depth: u32,
    pub(crate) transitions: u64,
    /// States in which nothing but faults can happen.
    pub(crate) quiet: u64,
    /// The kinds of status that some process came to.
    pub(crate) reached: u32,
    /// States of which only the steps of one process were explored.
    pub(crate) reduced: u64,
    /// States in which something was taken in one go with something else.
    pub(crate) joined: u64,
    /// The properties, as a set of bits, that would be broken if nothing more happened in some state.
    pub(crate) lacking: u32,
    /// Whether a step leads to a state that is no further from the beginning. Every circle has such a step.
    leads_back: bool,
}

impl Explored {
    /// Whether not every order of events was explored.
    pub(crate) fn is_reduced(&self) -> bool {
        self.reduced > 0 || self.joined > 0
    }

    /// Whether runs without end are of interest: some may be there, and somebody may wait in them for ever.
    pub(crate) fn may_be_endless(&self) -> bool {
        // What was left out makes no difference: a run without end can be taken in the chosen order, step by step, and
        // never comes to its end that way either.
        self.lacking != 0 && self.leads_back
    }

    /// How many steps a state is from the beginning, on the shortest way.
    pub(crate) fn depth_of(&self, state: StateId) -> usize {
        let (shard, place) = parts(state);
        self.levels.partition_point(|lens| lens[shard] <= place)
    }
}

/// A thread takes this many states at a time.
const BLOCK: usize = 256;
/// A level of fewer states is explored by one thread: there is little to share.
const NARROW: usize = 1024;
/// States wait for their shard until there are this many, and if the shard is busy, for a while longer.
const BATCH: usize = 128;
const MOST_BATCHED: usize = 512;

/// Explores every state, as far as the limits of the setting allow.
pub(crate) fn explore(world: &World, properties: usize, control: &Control) -> Result<Explored, Trouble> {
    let visited = Visited::new(world.width());
    let (openings, mut reached) = world.openings()?;
    let threads = world.setting.threads.max(1);
    let mut explorers: Vec<Explorer<'_>> =
        (0..threads).map(|index| Explorer::new(world, &visited, control, index * SHARDS / threads)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for (state, _) in &openings {
        explorers[0].open(state);
    }
    let mut depth = 0;
    let mut lows = vec![0; SHARDS];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let stop = loop {
        for explorer in &mut explorers {
            for (property, at_rest, state) in explorer.found.drain(..) {
                if findings.iter().all(|finding| finding.property != property) {
                    let state = visited.find(&state).expect("what was found was reached");
                    findings.push(Finding { property, state, at_rest });
                }
            }
        }
        let enough = if world.setting.keep_going { properties.max(1) } else { 1 };
        if findings.len() >= enough {
            break Stop::Decided;
        }
        let highs = visited.lens();
        levels.push(highs.clone());
        let blocks = blocks(&lows, &highs);
        if blocks.is_empty() {
            break Stop::Exhausted;
        }
        if world.setting.most_depth.is_some_and(|most| depth > most) {
            break Stop::Depth;
        }
        control.depth.store(depth, Ordering::Relaxed);
        let halted = Mutex::new(None);
        let next = AtomicUsize::new(0);
        let total: usize = blocks.iter().map(|(_, low, high)| high - low).sum();
        control.level.store(total as u64, Ordering::Relaxed);
        if threads == 1 || total < NARROW {
            explorers[0].level(&blocks, &next, &halted, &highs)?;
        } else {
            let (first, others) = explorers.split_first_mut().expect("there is one thread at least");
            std::thread::scope(|scope| {
                let threads: Vec<_> = others
                    .iter_mut()
                    .map(|explorer| scope.spawn(|| explorer.level(&blocks, &next, &halted, &highs)))
                    .collect();
                let own = first.level(&blocks, &next, &halted, &highs);
                let results = threads.into_iter().map(|thread| match thread.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                results.fold(own, Result::and)
            })?;
        }
        if let Some(stop) = halted.into_inner().unwrap_or_else(PoisonError::into_inner) {
            break stop;
        }
        lows = highs;
        depth += 1;
    };
    let (mut transitions, mut quiet, mut reduced, mut joined) = (0, 0, 0, 0);
    let (mut lacking, mut leads_back) = (0, false);
    for explorer in &mut explorers {
        transitions += explorer.transitions;
        quiet += explorer.quiet;
        reduced += explorer.reduced;
        joined += explorer.joined;
        lacking |= explorer.lacking;
        leads_back |= explorer.leads_back;
        reached |= explorer.worker.reached;
    }
    drop(explorers);
    let depth = depth.saturating_sub(1);
    Ok(Explored {
        visited,
        levels,
        openings,
        findings,
        stop,
        depth,
        transitions,
        quiet,
        reached,
        reduced,
        joined,
        lacking,
        leads_back,
    })
}

/// The states of a level, in pieces: a shard, and places in it.
fn blocks(lows: &[usize], highs: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut blocks = Vec::new();
    for (shard, (&low, &high)) in lows.iter().zip(highs).enumerate() {
        blocks.extend((low..high).step_by(BLOCK).map(|from| (shard, from, high.min(from + BLOCK))));
    }
    blocks
}

/// One thread's part.
struct Explorer<'w> {
    world: &'w World,
    visited: &'w Visited,
    control: &'w Control,
    worker: Worker<'w>,
    batches: Vec<Batch>,
    /// Where to begin when all batches are to be emptied: threads that begin at the same shard wait for each other.
    first_shard: usize,
    states: Vec<u32>,
    successors: Successors,
    /// Broken properties: which, whether at rest, and in which state.
    found: Vec<(usize, bool, Vec<u32>)>,
    transitions: u64,
    quiet: u64,
    reduced: u64,
    joined: u64,
    lacking: u32,
    leads_back: bool,
}

impl<'w> Explorer<'w> {
    fn new(world: &'w World, visited: &'w Visited, control: &'w Control, first_shard: usize) -> Self {
        Explorer {
            world,
            visited,
            control,
            worker: Worker::new(world),
            batches: (0..SHARDS).map(|_| Batch::default()).collect(),
            first_shard,
            states: Vec::new(),
            successors: Successors::default(),
            found: Vec::new(),
            transitions: 0,
            quiet: 0,
            reduced: 0,
            joined: 0,
            lacking: 0,
            leads_back: false,
        }
    }

    /// Begins with a state.
    fn open(&mut self, state: &[u32]) {
        let mut state = state.to_vec();
        self.worker.settle(&mut state);
        let state = &*state;
        let hash = hash(state);
        let shard = shard_of(hash);
        self.batches[shard].push(hash, NO_PARENT, state);
        self.visited.add(shard, &mut self.batches[shard], 0);
        let Judgement { broken, lacking } = self.worker.judge(state[self.world.monitors_at()]);
        self.lacking |= lacking;
        self.note(broken, false, state);
    }

    /// Explores blocks of a level until there are no more.
    fn level(
        &mut self,
        blocks: &[(usize, usize, usize)],
        next: &AtomicUsize,
        halted: &Mutex<Option<Stop>>,
        highs: &[usize],
    ) -> Result<(), Trouble> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(shard, low, high)) = blocks.get(number) else { break };
            self.control.states.store(self.visited.len(), Ordering::Relaxed);
            if let Some(stop) = self.halt(number) {
                next.store(blocks.len(), Ordering::Relaxed);
                *halted.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
                break;
            }
            let mut states = std::mem::take(&mut self.states);
            states.clear();
            self.visited.copy(shard, low..high, &mut states);
            for (index, state) in states.chunks_exact(self.world.width()).enumerate() {
                self.state(StateId(((low + index) * SHARDS + shard) as u32), state, highs)?;
            }
            self.states = states;
        }
        for shard in (self.first_shard..SHARDS).chain(0..self.first_shard) {
            if self.batches[shard].len() > 0 {
                self.leads_back |= self.visited.add(shard, &mut self.batches[shard], highs[shard]);
            }
        }
        Ok(())
    }

    fn state(&mut self, id: StateId, state: &[u32], highs: &[usize]) -> Result<(), Trouble> {
        let monitors_at = self.world.monitors_at();
        let mut successors = std::mem::take(&mut self.successors);
        let reduced = self.world.setting.reduction && self.reduce(state, &mut successors, highs)?;
        let in_blocks = self.world.setting.reduction && state[self.world.environment_at()] == 0;
        let quiet = if reduced {
            false
        } else if in_blocks {
            let Blocks { quiet, joined } = self.worker.expand_blocks(state, &mut successors)?;
            self.joined += u64::from(joined);
            quiet
        } else {
            self.worker.expand(state, &mut successors)?.quiet
        };
        self.reduced += u64::from(reduced);
        let monitors = state[monitors_at];
        if quiet {
            self.quiet += 1;
            let lacking = self.worker.judge(monitors).lacking;
            self.note(lacking, true, state);
        }
        for next in successors.states.chunks_exact(self.world.width()) {
            self.transitions += 1;
            let hash = hash(next);
            let shard = shard_of(hash);
            self.batches[shard].push(hash, id, next);
            if next[monitors_at] != monitors {
                let before = self.worker.judge(monitors).broken;
                let after = self.worker.judge(next[monitors_at]);
                self.lacking |= after.lacking;
                self.note(after.broken & !before, false, next);
            }
            // A shard that is busy can be tried again with the next state.
            let batch = &mut self.batches[shard];
            if batch.len() >= MOST_BATCHED {
                self.leads_back |= self.visited.add(shard, batch, highs[shard]);
            } else if batch.len() >= BATCH {
                self.leads_back |= self.visited.try_add(shard, batch, highs[shard]);
            }
        }
        self.successors = successors;
        Ok(())
    }

    /// Tries to go on with the steps of one process alone; says whether that is enough.
    fn reduce(&mut self, state: &[u32], to: &mut Successors, highs: &[usize]) -> Result<bool, Trouble> {
        let Some(place) = self.worker.choose_alone(state)? else { return Ok(false) };
        self.worker.expand_alone(state, place, to)?;
        // The others must not be put off for ever: one step has to lead to where nobody has been.
        let is_new = |next: &[u32]| match self.visited.find(next) {
            Some(id) => {
                let (shard, place) = parts(id);
                place >= highs[shard]
            }
            None => true,
        };
        Ok(to.states.chunks_exact(self.world.width()).any(is_new))
    }

    fn note(&mut self, broken: u32, at_rest: bool, state: &[u32]) {
        for property in (0..u32::BITS as usize).filter(|&bit| broken >> bit & 1 == 1) {
            if self.found.iter().all(|(other, ..)| *other != property) {
                self.found.push((property, at_rest, state.to_vec()));
            }
        }
    }

    /// Why to stop here, if there is a reason.
    fn halt(&self, block: usize) -> Option<Stop> {
        let setting = &self.world.setting;
        if self.control.is_stopped() {
            return Some(Stop::Interrupted);
        }
        if setting.most_states.is_some_and(|most| self.visited.len() >= most) {
            return Some(Stop::States);
        }
        let look = block.is_multiple_of(64);
        if look && setting.most_memory.is_some_and(|most| memory(self.visited) >= most) {
            return Some(Stop::Memory);
        }
        None
    }
}

/// The memory in use: what the system says of this process, or else what the states take.
pub(crate) fn memory(visited: &Visited) -> u64 {
    const PAGE: u64 = 4096;
    let resident = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()));
    resident.map_or_else(|| visited.bytes(), |pages| pages * PAGE)
}
