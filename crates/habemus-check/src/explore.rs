//! Breadth first through all states, on any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::handle::CheckHandle;
use crate::protocol::Trouble;
use crate::search::Search;
use crate::visited::{SHARDS, StateId, Visited, parts};
use crate::world::{InitialState, World};

mod explorer;
use explorer::Explorer;
pub(crate) use explorer::memory;

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
    /// All states were explored, but runs without end were not looked for.
    Cycles,
}

/// Where a property was first seen to be broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstViolation {
    pub(crate) property: usize,
    pub(crate) state: StateId,
}

/// What was explored.
pub(crate) struct Explored {
    /// What was left out.
    pub(crate) search: Search,
    pub(crate) visited: Visited,
    /// How many states each shard had after so many steps.
    levels: Vec<Vec<usize>>,
    pub(crate) initial: Vec<InitialState>,
    pub(crate) violations: Vec<FirstViolation>,
    pub(crate) stop: Stop,
    /// Steps to the farthest state.
    pub(crate) depth: u32,
    /// The kinds of status that some process came to.
    pub(crate) reached: u32,
    pub(crate) counts: Counts,
}

/// What is counted and noted in every state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) transitions: u64,
    /// States in which nothing is owed: a run may end there.
    pub(crate) quiet: u64,
    /// States of which only an ample set was expanded: the steps of one process.
    pub(crate) reduced: u64,
    /// States in which invisible deliveries were merged with a visible step.
    pub(crate) merged: u64,
    /// The properties, as a set of bits, that would be broken if nothing more happened in some state.
    pub(crate) lacking: u32,
    /// The properties, as a set of bits, whose antecedent is met in some state.
    pub(crate) at_stake: u32,
    /// Whether a step leads to a state that is no further from the beginning. Every cycle has such a step.
    leads_back: bool,
}

impl Counts {
    fn and(self, other: Self) -> Self {
        Counts {
            transitions: self.transitions + other.transitions,
            quiet: self.quiet + other.quiet,
            reduced: self.reduced + other.reduced,
            merged: self.merged + other.merged,
            lacking: self.lacking | other.lacking,
            at_stake: self.at_stake | other.at_stake,
            leads_back: self.leads_back || other.leads_back,
        }
    }
}

impl Explored {
    /// Whether not every order of events was explored.
    pub(crate) fn is_reduced(&self) -> bool {
        self.counts.reduced > 0 || self.counts.merged > 0
    }

    /// Whether cycles are of interest: some may be there, and somebody may wait in them for ever.
    pub(crate) fn may_have_cycles(&self) -> bool {
        // What was left out makes no difference: a run without end can be taken in the chosen order, step by
        // step, and never comes to its end that way either.
        self.counts.lacking != 0 && self.counts.leads_back
    }

    /// How many steps a state is from the beginning, on the shortest way.
    pub(crate) fn depth_of(&self, state: StateId) -> usize {
        let (shard, index) = parts(state);
        self.levels.partition_point(|lens| lens[shard] <= index)
    }
}

/// A thread takes this many states at a time.
const PIECE: usize = 256;
/// A level of fewer states is explored by one thread: there is little to share.
const NARROW: usize = 1024;

/// Explores every state, as far as the search goes, or until so many properties are broken.
pub(crate) fn explore(
    world: &World,
    search: Search,
    enough: usize,
    handle: &CheckHandle,
) -> Result<Explored, Trouble> {
    let directory = world.setting.spill.as_ref().map(|spill| &*spill.directory);
    let visited = Visited::new(world.width(), directory);
    let (initial, mut reached) = world.initial_states()?;
    let threads = world.setting.threads.max(1);
    let mut explorers: Vec<Explorer<'_>> = (0..threads)
        .map(|index| Explorer::new(world, search, &visited, handle, index * SHARDS / threads))
        .collect();
    let mut violations: Vec<FirstViolation> = Vec::new();
    for state in &initial {
        explorers[0].begin(&state.row);
    }
    let mut depth = 0;
    let mut lows = vec![0; SHARDS];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let stop = loop {
        collect(&mut explorers, &visited, &mut violations)?;
        if violations.len() >= enough {
            break Stop::Decided;
        }
        let highs = visited.lens();
        levels.push(highs.clone());
        let pieces = pieces(&lows, &highs);
        if pieces.is_empty() {
            break Stop::Exhausted;
        }
        let is_last = search.max_depth.is_some_and(|max| depth >= max);
        explorers.iter_mut().for_each(|explorer| explorer.is_last = is_last);
        handle.depth.store(depth, Ordering::Relaxed);
        let halted = Mutex::new(None);
        let next = AtomicUsize::new(0);
        let total: usize = pieces.iter().map(|piece| piece.states.len()).sum();
        handle.level.store(total as u64, Ordering::Relaxed);
        if threads == 1 || total < NARROW {
            explorers[0].level(&pieces, &next, &halted, &highs)?;
        } else {
            let (first, others) = explorers.split_first_mut().expect("there is one thread at least");
            std::thread::scope(|scope| {
                let threads: Vec<_> = others
                    .iter_mut()
                    .map(|explorer| scope.spawn(|| explorer.level(&pieces, &next, &halted, &highs)))
                    .collect();
                let own = first.level(&pieces, &next, &halted, &highs);
                let results = threads.into_iter().map(|thread| match thread.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                results.fold(own, Result::and)
            })?;
        }
        intact(&visited)?;
        if let Some(stop) = halted.into_inner().unwrap_or_else(PoisonError::into_inner) {
            break stop;
        }
        lows = highs;
        depth += 1;
        if is_last {
            // So many steps were taken; what can follow was only looked at to see whether a run ends here.
            collect(&mut explorers, &visited, &mut violations)?;
            break match explorers.iter().any(|explorer| explorer.leads_beyond) {
                _ if violations.len() >= enough => Stop::Decided,
                true => Stop::Depth,
                false => Stop::Exhausted,
            };
        }
    };
    reached |= explorers.iter().fold(0, |all, explorer| all | explorer.worker.reached);
    let counts = explorers.iter().fold(Counts::default(), |all, explorer| all.and(explorer.counts));
    drop(explorers);
    let depth = depth.saturating_sub(1);
    Ok(Explored { search, visited, levels, initial, violations, stop, depth, reached, counts })
}

/// Whether nothing was wrong with files so far.
pub(crate) fn intact(visited: &Visited) -> Result<(), Trouble> {
    visited.failure().map_or(Ok(()), |reason| Err(Trouble::Files { reason: reason.to_owned() }))
}

/// Takes note of the properties that explorers found to be broken first.
fn collect(
    explorers: &mut [Explorer<'_>],
    visited: &Visited,
    violations: &mut Vec<FirstViolation>,
) -> Result<(), Trouble> {
    for (property, state) in explorers.iter_mut().flat_map(|explorer| explorer.found.drain(..)) {
        if violations.iter().all(|violation| violation.property != property) {
            let state = visited.find(&state);
            intact(visited)?;
            let state = state.expect("what was found was reached");
            violations.push(FirstViolation { property, state });
        }
    }
    Ok(())
}

/// A piece of a level: some states of a shard.
struct Piece {
    shard: usize,
    states: Range<usize>,
}

/// The states of a level, in pieces.
fn pieces(lows: &[usize], highs: &[usize]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (shard, (&low, &high)) in lows.iter().zip(highs).enumerate() {
        let starts = (low..high).step_by(PIECE);
        pieces.extend(starts.map(|from| Piece { shard, states: from..high.min(from + PIECE) }));
    }
    pieces
}
