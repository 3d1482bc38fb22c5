//! Invisible deliveries, which are merged with the receiver's next visible step.
//!
//! A delivery is *invisible* if its receiver sends nothing and no monitor sees anything (a reply is counted,
//! a request is noted): it has changed nothing for the others. Whatever they do next, they could do before as
//! well: such a delivery is a *right mover* (R. Lipton, *Reduction: a method of proving properties of
//! parallel programs*, 1975). Each can be moved to just before the next step of the same process, and those
//! that no step follows to the very end, without any change to what is seen or to where the run ends. So it
//! is enough to explore runs in which a process takes such items only merged with a visible step: a *block*.
//! In between nothing is kept; the states in which items were taken and nothing came of it yet need never be
//! visited. An item that might as well be taken after that step is not part of the block: it waits on, until
//! it makes a difference.
//!
//! Faults that may still strike change little. Links that fail or heal, and whoever else crashes or comes
//! back, have nothing to do with such a delivery. To lose an item, or to deliver it twice, is a step of the
//! receiver like any other. A receiver that crashes after it might as well crash before: the item is gone
//! with it, or discarded while it is down, unless what it keeps of its life would be different. What the
//! oracle says is no such item as long as anybody may crash or come back, for the oracle may take it back;
//! nor is what reaches a process that is down, for it may be back before. Where timers may run out too early,
//! or the oracle may err, every step is taken by itself.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::local_transition::{LocalKind, LocalTransition};
use super::{Expansion, Successors, Worker};
use crate::environment::{Environment, Fault};
use crate::memo::Memo;
use crate::protocol::{Cause, Transition, TransitionKind, Trouble};
use crate::row::{Situation, put, situation};

/// What a process can do in one block, in a situation.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The visible steps: `transitions[first..last]` of the table.
    first: u32,
    last: u32,
    /// Where the process can come to rest, so that the run may end or time may pass: `ends[..]` of the table,
    /// from one to the other.
    ends: (u32, u32),
    /// Whether there is an invisible delivery.
    takes: bool,
    /// Whether the run may end here, as far as this process goes: it owes no step.
    rests: bool,
    /// Whether time may pass here, as far as this process goes: nothing is under way.
    is_still: bool,
}

/// What processes can do by themselves and in blocks, by situation.
#[derive(Debug, Default)]
pub(super) struct BlockTable {
    /// Where in `blocks`, for each [`Threat`].
    known: [Memo; Threat::COUNT],
    blocks: Vec<Block>,
    /// From where to where in `transitions`, for each [`Threat::to_items`].
    by_situation: [Memo; Threat::TO_ITEMS],
    pub(super) transitions: Vec<LocalTransition>,
    ends: Vec<Situation>,
}

/// Which faults may still strike, as far as it makes a difference to blocks: a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Threat(usize);

impl Threat {
    /// An item may be lost.
    const LOSS: usize = 1;
    /// An item may be delivered twice.
    const DUPLICATION: usize = 2;
    /// The oracle may take back what it said, and who is down may be back.
    const LIFE: usize = 4;
    /// Who crashes may come back, with what it has kept.
    const LEGACY: usize = 8;
    const COUNT: usize = 16;
    const TO_ITEMS: usize = 4;

    /// What threatens in this environment; `None` if every step must be taken by itself.
    fn of(environment: Environment) -> Option<Threat> {
        let may_be = |fault| environment.left(fault) > 0;
        if may_be(Fault::Suspicion) || may_be(Fault::WrongTimeout) {
            return None;
        }
        let (crash, recovery) = (may_be(Fault::Crash), may_be(Fault::Recovery));
        let bits = [
            (may_be(Fault::Loss), Self::LOSS),
            (may_be(Fault::Duplication), Self::DUPLICATION),
            (crash || recovery, Self::LIFE),
            (crash && recovery, Self::LEGACY),
        ];
        Some(Threat(bits.into_iter().filter(|(is_so, _)| *is_so).map(|(_, bit)| bit).sum()))
    }

    fn has(self, bit: usize) -> bool {
        self.0 & bit != 0
    }

    /// Those to single items.
    fn to_items(self) -> usize {
        self.0 & (Self::TO_ITEMS - 1)
    }

    /// Whether a transition may be taken.
    fn allows(self, transition: &LocalTransition) -> bool {
        match transition.kind {
            LocalKind::Loss => self.has(Self::LOSS),
            LocalKind::Duplication => self.has(Self::DUPLICATION),
            _ => true,
        }
    }
}

/// The environment after a transition of one process.
fn after(environment: Environment, transition: &LocalTransition) -> Environment {
    match transition.kind {
        LocalKind::Loss => environment.after(Fault::Loss),
        LocalKind::Duplication => environment.after(Fault::Duplication),
        _ => environment,
    }
}

/// A list that is short, nearly always.
type Few<T> = SmallVec<[T; 8]>;

/// Where steps lead, and the steps.
type Way = (Vec<u32>, Vec<Transition>);

impl Worker<'_> {
    /// Collects the blocks out of a state and the faults that may strike in it, or else every step by itself.
    pub(crate) fn expand_blocks(
        &mut self,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        let Some(threat) = Threat::of(environment) else { return self.expand(state, out) };
        out.clear();
        let (mut merged, mut can_rest) = (false, true);
        let (mut quiet, mut is_still) = (true, true);
        for address in 0..n {
            let block = self.block(situation(state, address), threat)?;
            for index in block.first..block.last {
                let transition = self.blocks.transitions[index as usize];
                self.take(out.begin(state), address, transition, after(environment, &transition));
            }
            merged |= block.takes;
            quiet &= block.rests;
            is_still &= block.is_still;
            can_rest &= block.ends.0 < block.ends.1;
        }
        if merged && can_rest {
            self.come_to_rest(state, threat, out)?;
        }
        if is_still && self.world.setting.timers.have_order() {
            quiet &= self.let_time_pass(state, out)? == 0;
        }
        if environment.group() != 0 {
            quiet = false;
            self.begin_in(state, environment.with_group(0));
            self.emit(out, 0, TransitionKind::Heal, 0);
        }
        quiet &= !self.owes_recovery(state, environment);
        if environment.0 != 0 {
            self.faults(state, environment, out)?;
        }
        self.canonicalize_all(out);
        debug_assert!(!quiet || !merged, "what can be delivered is no end");
        Ok(match (quiet, merged) {
            (true, _) => Expansion::Quiet,
            (false, true) => Expansion::Merged,
            (false, false) => Expansion::Single,
        })
    }

    /// Every way in which all processes take what is left, and nothing comes of it.
    fn come_to_rest(&mut self, state: &[u32], threat: Threat, out: &mut Successors) -> Result<(), Trouble> {
        let n = self.world.processes;
        let mut resting = vec![state.to_vec()];
        for address in 0..n {
            let (from, to) = self.block(situation(state, address), threat)?.ends;
            let ends = &self.blocks.ends[from as usize..to as usize];
            let with = |row: &Vec<u32>, &end: &Situation| {
                let mut row = row.clone();
                put(&mut row, address, end);
                row
            };
            resting = resting.iter().flat_map(|row| ends.iter().map(move |end| with(row, end))).collect();
        }
        resting.iter().for_each(|row| out.states.extend_from_slice(row));
        Ok(())
    }

    /// Whether a transition may be merged with the next visible step. One that makes a term is taken by
    /// itself: how far that is from others is open.
    fn is_mergeable(
        &mut self,
        before: Situation,
        transition: &LocalTransition,
        threat: Threat,
    ) -> Result<bool, Trouble> {
        let has_terms = self.world.system.is_term_invariant;
        if !transition.is_invisible() || has_terms && self.makes_term(before, transition) {
            return Ok(false);
        }
        if threat.has(Threat::LIFE) {
            let is_delivery = transition.kind == LocalKind::Delivery;
            if !is_delivery || !self.mail.is_message(transition.subject) {
                return Ok(false);
            }
        }
        if threat.has(Threat::LEGACY) {
            let [early, late] = [before.0, transition.reflex.local].map(|local| self.legacy(local));
            return Ok(early? == late?);
        }
        Ok(true)
    }

    /// What is left of a process in this local state if it crashes, and may come back.
    fn legacy(&mut self, local: u32) -> Result<Option<u32>, Trouble> {
        let mut crashes = self.reflexes.of(local, Cause::Crash { forever: false })?;
        Ok(crashes.next().map(|index| self.reflexes.at(index).local))
    }

    #[inline]
    fn block(&mut self, situation: Situation, threat: Threat) -> Result<Block, Trouble> {
        if let Some((index, _)) = self.blocks.known[threat.0].get(situation) {
            return Ok(self.blocks.blocks[index as usize]);
        }
        let block = self.find_block(situation, threat)?;
        self.blocks.known[threat.0].keep(situation, (self.blocks.blocks.len() as u32, 0));
        self.blocks.blocks.push(block);
        Ok(block)
    }

    fn find_block(&mut self, start: Situation, threat: Threat) -> Result<Block, Trouble> {
        let (mut visible, mut ends) = (Few::new(), Few::new());
        let mut situations: Few<Situation> = Few::from_elem(start, 1);
        let mut indices: FxHashMap<Situation, usize> = FxHashMap::default();
        indices.insert(start, 0);
        // To which situation, from which, and by which invisible delivery.
        let mut ways: Few<(usize, Situation, u32)> = Few::new();
        let mut next = 0;
        let (mut rests, mut is_still) = (true, true);
        while let Some(&situation) = situations.get(next) {
            let transitions = self.transitions_of(situation, threat)?;
            let range = transitions.start as usize..transitions.end as usize;
            let transitions_here = &self.blocks.transitions[range];
            // Who stays inside ends nothing, but lets time pass.
            if !transitions_here.iter().any(LocalTransition::is_under_way) {
                ends.push(situation);
            }
            if next == 0 {
                rests = !transitions_here.iter().any(LocalTransition::is_owed);
                is_still = !transitions_here.iter().any(LocalTransition::is_under_way);
            }
            for index in transitions {
                let transition = self.blocks.transitions[index as usize];
                if !self.is_mergeable(situation, &transition, threat)? {
                    visible.push((next, index));
                    continue;
                }
                let to = *indices.entry(transition.situation()).or_insert_with(|| {
                    situations.push(transition.situation());
                    situations.len() - 1
                });
                ways.push((to, situation, index));
            }
            next += 1;
        }
        ways.sort_unstable_by_key(|(to, ..)| *to);
        let mut kept = Few::new();
        for (at, index) in visible {
            let mut waits = false;
            let first = ways.partition_point(|(to, ..)| *to < at);
            for &(_, before, taken) in ways[first..].iter().take_while(|(to, ..)| *to == at) {
                waits = waits || self.might_wait(before, (taken, index), threat)?;
            }
            if !waits {
                kept.push(self.blocks.transitions[index as usize]);
            }
        }
        let table = &mut self.blocks;
        let (first, from) = (table.transitions.len() as u32, table.ends.len() as u32);
        table.transitions.extend(kept);
        table.ends.extend(ends);
        Ok(Block {
            first,
            last: table.transitions.len() as u32,
            ends: (from, table.ends.len() as u32),
            takes: situations.len() > 1,
            rests,
            is_still,
        })
    }

    /// Whether the item that the transition `taken` takes, before the step `visible`, might as well be taken
    /// after it: nobody could tell, nor the process itself.
    fn might_wait(
        &mut self,
        before: Situation,
        (taken, visible): (u32, u32),
        threat: Threat,
    ) -> Result<bool, Trouble> {
        let Some(early) = self.same_step(before, visible, threat)? else { return Ok(false) };
        let whole = self.blocks.transitions[visible as usize];
        let sent = |transition: LocalTransition| self.reflexes.sends_of(transition.reflex);
        let same_words = early.reflex.observations == whole.reflex.observations && sent(early) == sent(whole);
        if !same_words {
            return Ok(false);
        }
        let late = self.same_step(early.situation(), taken, threat)?;
        Ok(late.is_some_and(|late| late.is_invisible() && late.situation() == whole.situation()))
    }

    /// The transition by which a process does in this situation what it does by another transition in
    /// another.
    fn same_step(
        &mut self,
        situation: Situation,
        index: u32,
        threat: Threat,
    ) -> Result<Option<LocalTransition>, Trouble> {
        let range = self.transitions_of(situation, threat)?;
        let name = |transition: &LocalTransition| (transition.kind, transition.subject, transition.choice);
        let sought = name(&self.blocks.transitions[index as usize]);
        let transitions = &self.blocks.transitions[range.start as usize..range.end as usize];
        Ok(transitions.iter().find(|transition| name(transition) == sought).copied())
    }

    /// The transitions in a situation where no fault can strike: indices in the table of blocks.
    pub(super) fn ordinary_transitions_of(&mut self, situation: Situation) -> Result<Range<u32>, Trouble> {
        self.transitions_of(situation, Threat::default())
    }

    /// The transitions in a situation: indices in the table of blocks.
    fn transitions_of(&mut self, situation: Situation, threat: Threat) -> Result<Range<u32>, Trouble> {
        if let Some((first, last)) = self.blocks.by_situation[threat.to_items()].get(situation) {
            return Ok(first..last);
        }
        let first = self.blocks.transitions.len() as u32;
        self.each_transition(situation, |worker, transition| {
            if threat.allows(&transition) {
                worker.blocks.transitions.push(transition);
            }
        })?;
        let last = self.blocks.transitions.len() as u32;
        self.blocks.by_situation[threat.to_items()].keep(situation, (first, last));
        Ok(first..last)
    }

    /// The single steps that [`expand_blocks`](Self::expand_blocks) merged, from a state to the one whose
    /// canonical form is `canonical`, if it did, and where they lead.
    pub(crate) fn unfold(&mut self, state: &[u32], canonical: &[u32]) -> Result<Option<Way>, Trouble> {
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        let Some(threat) = Threat::of(environment) else { return Ok(None) };
        for address in 0..n {
            let ways = self.ways(address, situation(state, address), threat)?;
            for (situation, way) in &ways {
                let mut row = state.to_vec();
                put(&mut row, address, *situation);
                for index in self.transitions_of(*situation, threat)? {
                    let transition = self.blocks.transitions[index as usize];
                    let mut next = row.clone();
                    self.take(&mut next, address, transition, after(environment, &transition));
                    if let Some(next) = self.becoming(&next, canonical) {
                        let label = transition.at(address);
                        return Ok(Some((next, way.iter().copied().chain([label]).collect())));
                    }
                }
            }
        }
        // Or else all took what was left.
        let mut resting = vec![(state.to_vec(), Vec::new())];
        for address in 0..n {
            let mut ways = self.ways(address, situation(state, address), threat)?;
            let (from, to) = self.block(situation(state, address), threat)?.ends;
            ways.retain(|(end, _)| self.blocks.ends[from as usize..to as usize].contains(end));
            let with = |(row, steps): &Way, (end, way): &(Situation, Vec<Transition>)| {
                let mut row = row.clone();
                put(&mut row, address, *end);
                (row, steps.iter().chain(way).copied().collect())
            };
            resting =
                resting.iter().flat_map(|so_far| ways.iter().map(move |way| with(so_far, way))).collect();
        }
        let mut resting = resting.into_iter();
        Ok(resting.find_map(|(row, way)| self.becoming(&row, canonical).map(|row| (row, way))))
    }

    /// Where a process can come by invisible deliveries, and how.
    fn ways(
        &mut self,
        address: usize,
        start: Situation,
        threat: Threat,
    ) -> Result<Vec<(Situation, Vec<Transition>)>, Trouble> {
        let mut ways: Vec<(Situation, Vec<Transition>)> = vec![(start, Vec::new())];
        let mut next = 0;
        while next < ways.len() {
            let (situation, way) = ways[next].clone();
            next += 1;
            for index in self.transitions_of(situation, threat)? {
                let transition = self.blocks.transitions[index as usize];
                let after = transition.situation();
                let is_new = ways.iter().all(|(known, _)| *known != after);
                if is_new && self.is_mergeable(situation, &transition, threat)? {
                    ways.push((after, way.iter().copied().chain([transition.at(address)]).collect()));
                }
            }
        }
        Ok(ways)
    }
}
