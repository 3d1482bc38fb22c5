//! One thread's part of an exploration.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Counts, Piece, Stop};
use crate::handle::CheckHandle;
use crate::protocol::{Judgement, Trouble};
use crate::search::Search;
use crate::visited::{Batch, NO_PARENT, SHARDS, StateId, Visited, hash, parts, shard_of};
use crate::world::{Expansion, Successors, Worker, World};

/// States wait for their shard until there are this many, and if the shard is busy, for a while longer.
const BATCH: usize = 128;
const MAX_BATCHED: usize = 512;

/// A smaller part of the memory than this is not worth going to disk for: hashes there are merged anew each
/// time.
const MIN_SPILLED: u64 = 32;

/// Where states may go to disk, they do so when all but so small a part of the memory is in use: what is
/// given back is used again, but it stays with the program, and so it must be given back before memory ends.
const MARGIN: u64 = 8;

/// How much of a state was expanded.
enum Expanded {
    /// An ample set: the steps of one process.
    Ample,
    /// Whatever can happen.
    Wholly(Expansion),
}

/// A thread that explores.
pub(super) struct Explorer<'w> {
    world: &'w World,
    visited: &'w Visited,
    handle: &'w CheckHandle,
    pub(super) worker: Worker<'w>,
    batches: Vec<Batch>,
    /// Where to begin when all batches are to be emptied: threads that begin at the same shard wait for each
    /// other.
    first_shard: usize,
    states: Vec<u32>,
    successors: Successors,
    /// The memory that was in use after room was made: as long as no more is, what was given back is not used
    /// up again.
    after_room_was_made: u64,
    /// Broken properties: which, and in which state.
    pub(super) found: Vec<(usize, Vec<u32>)>,
    pub(super) counts: Counts,
    /// Whether these are the last states to look at: where their steps lead is not explored any more.
    pub(super) is_last: bool,
    /// Whether a step out of a last state leads to where nobody has been.
    pub(super) leads_beyond: bool,
}

impl<'w> Explorer<'w> {
    pub(super) fn new(
        world: &'w World,
        search: Search,
        visited: &'w Visited,
        handle: &'w CheckHandle,
        first_shard: usize,
    ) -> Self {
        Explorer {
            world,
            visited,
            handle,
            worker: Worker::new(world, search),
            batches: (0..SHARDS).map(|_| Batch::default()).collect(),
            first_shard,
            states: Vec::new(),
            successors: Successors::default(),
            after_room_was_made: 0,
            found: Vec::new(),
            counts: Counts::default(),
            is_last: false,
            leads_beyond: false,
        }
    }

    /// Begins with an initial state.
    pub(super) fn begin(&mut self, state: &[u32]) {
        let forms = self.worker.canonical_forms(state);
        forms.chunks_exact(self.world.width()).for_each(|state| self.begin_canonically(state));
    }

    fn begin_canonically(&mut self, state: &[u32]) {
        let hash = hash(state);
        let shard = shard_of(hash);
        self.batches[shard].push(hash, NO_PARENT, state);
        self.visited.add(shard, &mut self.batches[shard], 0);
        let Judgement { broken, lacking, at_stake } = self.worker.judge(state[self.world.monitors_at()]);
        self.counts.lacking |= lacking;
        self.counts.at_stake |= at_stake;
        self.note(broken, state);
    }

    /// Explores pieces of a level until there are no more.
    pub(super) fn level(
        &mut self,
        pieces: &[Piece],
        next: &AtomicUsize,
        halted: &Mutex<Option<Stop>>,
        highs: &[usize],
    ) -> Result<(), Trouble> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(Piece { shard, states: range }) = pieces.get(number) else { break };
            self.handle.states.store(self.visited.len(), Ordering::Relaxed);
            if let Some(stop) = self.halt(number) {
                next.store(pieces.len(), Ordering::Relaxed);
                *halted.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
                break;
            }
            let mut states = std::mem::take(&mut self.states);
            states.clear();
            self.visited.copy(*shard, range.clone(), &mut states);
            for (index, state) in states.chunks_exact(self.world.width()).enumerate() {
                self.state(StateId(((range.start + index) * SHARDS + shard) as u32), state, highs)?;
            }
            self.states = states;
        }
        for shard in (self.first_shard..SHARDS).chain(0..self.first_shard) {
            if self.batches[shard].len() > 0 {
                self.counts.leads_back |= self.visited.add(shard, &mut self.batches[shard], highs[shard]);
            }
        }
        Ok(())
    }

    fn state(&mut self, id: StateId, state: &[u32], highs: &[usize]) -> Result<(), Trouble> {
        let monitors_at = self.world.monitors_at();
        let mut successors = std::mem::take(&mut self.successors);
        let expansion = self.expand(state, &mut successors, highs)?;
        let monitors = state[monitors_at];
        match expansion {
            Expanded::Ample => self.counts.reduced += 1,
            Expanded::Wholly(Expansion::Merged) => self.counts.merged += 1,
            Expanded::Wholly(Expansion::Single) => {}
            Expanded::Wholly(Expansion::Quiet) => {
                self.counts.quiet += 1;
                let lacking = self.worker.judge(monitors).lacking;
                self.note(lacking, state);
            }
        }
        if self.is_last {
            self.look_beyond(&successors);
            self.successors = successors;
            return Ok(());
        }
        for next in successors.states.chunks_exact(self.world.width()) {
            self.counts.transitions += 1;
            let hash = hash(next);
            let shard = shard_of(hash);
            self.batches[shard].push(hash, id, next);
            if next[monitors_at] != monitors {
                let before = self.worker.judge(monitors).broken;
                let after = self.worker.judge(next[monitors_at]);
                self.counts.lacking |= after.lacking;
                self.counts.at_stake |= after.at_stake;
                self.note(after.broken & !before, next);
            }
            // A shard that is busy can be tried again with the next state.
            let batch = &mut self.batches[shard];
            if batch.len() >= MAX_BATCHED {
                self.counts.leads_back |= self.visited.add(shard, batch, highs[shard]);
            } else if batch.len() >= BATCH {
                self.counts.leads_back |= self.visited.try_add(shard, batch, highs[shard]);
            }
        }
        self.successors = successors;
        Ok(())
    }

    /// Looks where the steps out of a last state lead.
    fn look_beyond(&mut self, successors: &Successors) {
        for next in successors.states.chunks_exact(self.world.width()) {
            let was_reached = self.visited.find(next).is_some();
            self.counts.transitions += u64::from(was_reached);
            self.counts.leads_back |= was_reached;
            self.leads_beyond |= !was_reached;
        }
    }

    /// Collects the successors of a state that are to be explored.
    fn expand(&mut self, state: &[u32], to: &mut Successors, highs: &[usize]) -> Result<Expanded, Trouble> {
        let Search { ample_sets, blocks, .. } = self.worker.search;
        if ample_sets && self.reduce(state, to, highs)? {
            return Ok(Expanded::Ample);
        }
        let expansion =
            if blocks { self.worker.expand_blocks(state, to) } else { self.worker.expand(state, to) };
        expansion.map(Expanded::Wholly)
    }

    /// Tries to go on with an ample set, the steps of one process; says whether that is enough.
    fn reduce(&mut self, state: &[u32], to: &mut Successors, highs: &[usize]) -> Result<bool, Trouble> {
        let Some(process) = self.worker.ample_process(state)? else { return Ok(false) };
        if !self.worker.expand_ample(state, process, to)? {
            return Ok(false);
        }
        // The others must not be put off for ever: one step has to lead to where nobody has been.
        let is_new = |next: &[u32]| match self.visited.find(next) {
            Some(id) => {
                let (shard, index) = parts(id);
                index >= highs[shard]
            }
            None => true,
        };
        Ok(to.states.chunks_exact(self.world.width()).any(is_new))
    }

    fn note(&mut self, broken: u32, state: &[u32]) {
        for property in (0..u32::BITS as usize).filter(|&bit| broken >> bit & 1 == 1) {
            if self.found.iter().all(|(other, _)| *other != property) {
                self.found.push((property, state.to_vec()));
            }
        }
    }

    /// Why to stop here, if there is a reason.
    fn halt(&mut self, piece: usize) -> Option<Stop> {
        let setting = &self.world.setting;
        if self.handle.is_stopped() || self.visited.failure().is_some() {
            return Some(Stop::Interrupted);
        }
        if self.worker.search.max_states.is_some_and(|max| self.visited.len() >= max) {
            return Some(Stop::States);
        }
        let look = piece.is_multiple_of(64);
        if look && setting.spill.as_ref().is_some_and(|spill| self.visited.bytes() >= spill.after) {
            self.visited.spill();
        }
        if look && setting.max_memory.is_some_and(|max| !self.has_room(max)) {
            return Some(Stop::Memory);
        }
        None
    }

    /// Whether less than `max` bytes are in use. Where states may go to disk, room is made before: all of
    /// them go there, though they take less than was allowed them; if they take next to nothing, what can be
    /// worked out again is forgotten.
    fn has_room(&mut self, max: u64) -> bool {
        let in_use = memory(self.visited);
        if self.world.setting.spill.is_none() {
            return in_use < max;
        }
        if in_use <= self.after_room_was_made.max(max - max / MARGIN) {
            return true;
        }
        if self.visited.bytes() >= max / MIN_SPILLED {
            self.visited.spill();
        } else {
            let Worker { search, reached, .. } = self.worker;
            self.worker = Worker::new(self.world, search);
            self.worker.reached = reached;
        }
        self.after_room_was_made = memory(self.visited);
        self.after_room_was_made < max
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
