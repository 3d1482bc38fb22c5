//! Deliveries that can wait until their receiver does something that others notice.
//!
//! A process that takes an item and neither sends nor shows anything (a reply is counted, a request is noted) has
//! changed nothing for the others. Whatever they do next, they could do before as well: such a delivery is a *right
//! mover* (R. Lipton, *Reduction: a method of proving properties of parallel programs*, 1975). Each can be moved to
//! just before the next step of the same process, and those that no step follows to the very end, without any change
//! to what is seen or to where the run ends. So it is enough to explore runs in which a process takes such items only
//! in one go with a step that others notice: a *block*. In between nothing is kept; the states in which items were
//! taken and nothing came of it yet need never be visited. An item that might as well be taken after that step is not
//! part of the block: it waits on, until it makes a difference.
//!
//! Where a fault may still strike, or links are cut, every step is taken by itself.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Hop, Successors, Worker};
use crate::environment::Environment;
use crate::memo::Memo;
use crate::protocol::{Label, Trouble};
use crate::row::{Situation, put, situation};
use crate::setting::Timers;

/// What a process can do in one go, in a situation.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The steps that others notice: `hops[first..last]` of the table.
    first: u32,
    last: u32,
    /// Where the process can come to rest: `ends[..]` of the table, from one to the other.
    ends: (u32, u32),
    /// Whether it can take anything unnoticed.
    takes: bool,
}

/// What processes can do by themselves and in one go, by situation.
#[derive(Debug, Default)]
pub(super) struct BlockTable {
    /// Where in `blocks`.
    known: Memo,
    blocks: Vec<Block>,
    /// From where to where in `hops`.
    moves: Memo,
    pub(super) hops: Vec<Hop>,
    ends: Vec<Situation>,
}

/// A list that is short, nearly always.
type Few<T> = SmallVec<[T; 8]>;

/// Where steps lead, and the steps.
type Way = (Vec<u32>, Vec<Label>);

/// What a worker found in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Whether nothing can happen.
    pub(crate) quiet: bool,
    /// Whether anything was taken in one go with something else.
    pub(crate) joined: bool,
}

impl Worker<'_> {
    /// Collects the blocks out of a state in which no fault can strike.
    pub(crate) fn expand_blocks(&mut self, state: &[u32], out: &mut Successors) -> Result<Blocks, Trouble> {
        out.clear();
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        let (mut joined, mut can_rest) = (false, true);
        for place in 0..n {
            let block = self.block(situation(state, place))?;
            for index in block.first..block.last {
                self.hop(out.begin(state), place, self.blocks.hops[index as usize], environment);
            }
            joined |= block.takes;
            can_rest &= block.ends.0 < block.ends.1;
        }
        if joined && can_rest {
            self.come_to_rest(state, out)?;
        }
        let mut quiet = out.states.is_empty();
        if quiet && self.world.setting.timers == Timers::MessagesFirst {
            quiet = self.let_time_pass(state, out)? == 0;
        }
        self.settle_all(out);
        Ok(Blocks { quiet, joined })
    }

    /// Every way in which all processes take what is left, and nothing comes of it.
    fn come_to_rest(&mut self, state: &[u32], out: &mut Successors) -> Result<(), Trouble> {
        let n = self.world.processes;
        let mut resting = vec![state.to_vec()];
        for place in 0..n {
            let (from, to) = self.block(situation(state, place))?.ends;
            let ends = &self.blocks.ends[from as usize..to as usize];
            let with = |row: &Vec<u32>, &end: &Situation| {
                let mut row = row.clone();
                put(&mut row, place, end);
                row
            };
            resting = resting.iter().flat_map(|row| ends.iter().map(move |end| with(row, end))).collect();
        }
        resting.iter().for_each(|row| out.states.extend_from_slice(row));
        Ok(())
    }

    #[inline]
    fn block(&mut self, situation: Situation) -> Result<Block, Trouble> {
        if let Some((index, _)) = self.blocks.known.get(situation) {
            return Ok(self.blocks.blocks[index as usize]);
        }
        let block = self.find_block(situation)?;
        self.blocks.known.keep(situation, (self.blocks.blocks.len() as u32, 0));
        self.blocks.blocks.push(block);
        Ok(block)
    }

    fn find_block(&mut self, start: Situation) -> Result<Block, Trouble> {
        let (mut noticed, mut ends) = (Few::new(), Few::new());
        let mut situations: Few<Situation> = Few::from_elem(start, 1);
        let mut places: FxHashMap<Situation, usize> = FxHashMap::default();
        places.insert(start, 0);
        // To which situation, from which, and by which hop, without anybody noticing.
        let mut ways: Few<(usize, Situation, u32)> = Few::new();
        let mut next = 0;
        while let Some(&situation) = situations.get(next) {
            let moves = self.ordinary_moves_of(situation)?;
            if moves.is_empty() {
                ends.push(situation);
            }
            for index in moves {
                let hop = self.blocks.hops[index as usize];
                if !hop.is_unnoticed() {
                    noticed.push((next, index));
                    continue;
                }
                let place = *places.entry(hop.situation()).or_insert_with(|| {
                    situations.push(hop.situation());
                    situations.len() - 1
                });
                ways.push((place, situation, index));
            }
            next += 1;
        }
        ways.sort_unstable_by_key(|(to, ..)| *to);
        let mut kept = Few::new();
        for (place, index) in noticed {
            let mut waits = false;
            let first = ways.partition_point(|(to, ..)| *to < place);
            for &(_, before, taken) in ways[first..].iter().take_while(|(to, ..)| *to == place) {
                waits = waits || self.might_wait(before, taken, index)?;
            }
            if !waits {
                kept.push(self.blocks.hops[index as usize]);
            }
        }
        let table = &mut self.blocks;
        let (first, from) = (table.hops.len() as u32, table.ends.len() as u32);
        table.hops.extend(kept);
        table.ends.extend(ends);
        Ok(Block {
            first,
            last: table.hops.len() as u32,
            ends: (from, table.ends.len() as u32),
            takes: situations.len() > 1,
        })
    }

    /// Whether the item that the hop `taken` takes, before the step `noticed`, might as well be taken after it: nobody
    /// could tell, nor the process itself.
    fn might_wait(&mut self, before: Situation, taken: u32, noticed: u32) -> Result<bool, Trouble> {
        let Some(early) = self.same_step(before, noticed)? else { return Ok(false) };
        let whole = self.blocks.hops[noticed as usize];
        let sent = |hop: Hop| self.reflexes.sends_of(hop.reflex);
        let same_words = early.reflex.observations == whole.reflex.observations && sent(early) == sent(whole);
        if !same_words {
            return Ok(false);
        }
        let late = self.same_step(early.situation(), taken)?;
        Ok(late.is_some_and(|late| late.is_unnoticed() && late.situation() == whole.situation()))
    }

    /// The hop by which a process does in this situation what it does by another hop in another.
    fn same_step(&mut self, situation: Situation, index: u32) -> Result<Option<Hop>, Trouble> {
        let moves = self.ordinary_moves_of(situation)?;
        let name = |hop: &Hop| (hop.kind, hop.subject, hop.choice);
        let sought = name(&self.blocks.hops[index as usize]);
        let hops = &self.blocks.hops[moves.start as usize..moves.end as usize];
        Ok(hops.iter().find(|hop| name(hop) == sought).copied())
    }

    /// The hops in a situation but for losses and doublings, of which none is left where steps are chosen: places in the
    /// table of blocks.
    pub(super) fn ordinary_moves_of(&mut self, situation: Situation) -> Result<Range<u32>, Trouble> {
        if let Some((first, last)) = self.blocks.moves.get(situation) {
            return Ok(first..last);
        }
        let first = self.blocks.hops.len() as u32;
        self.each_hop(situation, |worker, hop| {
            if hop.is_ordinary() {
                worker.blocks.hops.push(hop);
            }
        })?;
        let last = self.blocks.hops.len() as u32;
        self.blocks.moves.keep(situation, (first, last));
        Ok(first..last)
    }

    /// The single steps that [`expand_blocks`](Self::expand_blocks) took in one go from a state to the one that is kept
    /// as `kept`, if it did, and where they lead.
    pub(crate) fn unfold(&mut self, state: &[u32], kept: &[u32]) -> Result<Option<Way>, Trouble> {
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        for place in 0..n {
            let ways = self.ways(place, situation(state, place))?;
            for (situation, way) in &ways {
                let mut row = state.to_vec();
                put(&mut row, place, *situation);
                for index in self.ordinary_moves_of(*situation)? {
                    let hop = self.blocks.hops[index as usize];
                    let mut next = row.clone();
                    self.hop(&mut next, place, hop, environment);
                    if self.is_kept_as(&next, kept) {
                        let label = hop.label(place);
                        return Ok(Some((next, way.iter().copied().chain([label]).collect())));
                    }
                }
            }
        }
        // Or else all took what was left.
        let mut resting = vec![(state.to_vec(), Vec::new())];
        for place in 0..n {
            let mut ways = self.ways(place, situation(state, place))?;
            let (from, to) = self.block(situation(state, place))?.ends;
            ways.retain(|(end, _)| self.blocks.ends[from as usize..to as usize].contains(end));
            let with = |(row, steps): &Way, (end, way): &(Situation, Vec<Label>)| {
                let mut row = row.clone();
                put(&mut row, place, *end);
                (row, steps.iter().chain(way).copied().collect())
            };
            resting =
                resting.iter().flat_map(|so_far| ways.iter().map(move |way| with(so_far, way))).collect();
        }
        Ok(resting.into_iter().find(|(row, _)| self.is_kept_as(row, kept)))
    }

    /// Where a process can come by taking items unnoticed, and how.
    fn ways(&mut self, place: usize, start: Situation) -> Result<Vec<(Situation, Vec<Label>)>, Trouble> {
        let mut ways: Vec<(Situation, Vec<Label>)> = vec![(start, Vec::new())];
        let mut next = 0;
        while next < ways.len() {
            let (situation, way) = ways[next].clone();
            next += 1;
            for index in self.ordinary_moves_of(situation)? {
                let hop = self.blocks.hops[index as usize];
                let after = hop.situation();
                if hop.is_unnoticed() && ways.iter().all(|(known, _)| *known != after) {
                    ways.push((after, way.iter().copied().chain([hop.label(place)]).collect()));
                }
            }
        }
        Ok(ways)
    }
}
