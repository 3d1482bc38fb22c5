//! The global states of a system, and the steps between them.
//!
//! A state is a short row of numbers: the situation of each process (its local state and its inbox), the
//! environment, the monitors. A step at a process depends on its situation alone, and is computed once for each;
//! afterwards exploring is looking up.

use std::sync::Arc;

use habemus::Address;
use rustc_hash::FxHashMap;

use crate::environment::{Environment, Fault};
use crate::inbox::{Inboxes, Mail};
use crate::protocol::{Act, Alarm, Cause, Judgement, Label, Life, Protocol, Reaction, Trouble};
use crate::reactions::Reactions;
use crate::reduction;
use crate::row::append;
use crate::setting::{Setting, Start, Timers};
use crate::situations::{Situation, Situations};

mod blocks;
mod faults;
mod moves;
mod time;
mod times;

use blocks::Block;
pub(crate) use blocks::Blocks;
use moves::{Hop, Kind, Own};

/// A system and the circumstances under which it is explored.
pub(crate) struct World {
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) setting: Setting,
    inboxes: Inboxes,
    situations: Situations,
    reactions: Reactions,
    /// Whether there is an oracle detector.
    oracle: bool,
    /// Whether clients begin once, as in an election, and not in a loop.
    pub(crate) one_shot: bool,
    processes: usize,
    /// Whether states that differ by a later time on all logical clocks are one.
    timeless: bool,
    /// The processes, as a set of bits, that each process may send to, itself aside.
    pub(crate) receivers: Vec<u32>,
}

/// An initial state, and how it came about: each client's wishes and each process's choice.
pub(crate) type Opening = (Vec<u32>, Vec<(u32, u16)>);

impl World {
    pub(crate) fn new(protocol: Box<dyn Protocol>, setting: Setting, oracle: bool, one_shot: bool) -> Self {
        let processes = protocol.len();
        let links = |from: usize| {
            let others = (0..processes).filter(|&to| to != from && protocol.linked(from as u8, to as u8));
            others.fold(0, |set, to| set | 1_u32 << to)
        };
        let receivers = (0..processes).map(links).collect();
        World {
            receivers,
            inboxes: Inboxes::new(),
            situations: Situations::default(),
            reactions: Reactions::default(),
            timeless: protocol.is_timeless(),
            protocol,
            setting,
            oracle,
            one_shot,
            processes,
        }
    }

    pub(crate) fn processes(&self) -> usize {
        self.processes
    }

    /// Whether the process at `place` is among those that may crash.
    fn may_crash(&self, place: usize) -> bool {
        self.setting.faulty.is_empty() || self.setting.faulty.contains(&Address(place as u32))
    }

    /// How many numbers make a state.
    pub(crate) fn width(&self) -> usize {
        self.processes + 2
    }

    pub(crate) fn environment_at(&self) -> usize {
        self.processes
    }

    pub(crate) fn monitors_at(&self) -> usize {
        self.processes + 1
    }

    /// Every state in which a run may begin, and the kinds of status that processes have from the start.
    pub(crate) fn openings(&self) -> Result<(Vec<Opening>, u32), Trouble> {
        let n = self.processes;
        let mut worker = Worker::new(self);
        let mut openings = Vec::new();
        for wants in self.wants() {
            // Who has not started may have mail already.
            let mut blank = vec![worker.number((0, 0)); self.width()];
            blank[self.environment_at()] = Environment::new(&self.setting.budget).0;
            blank[self.monitors_at()] = self.protocol.monitors();
            let mut partial: Vec<Opening> = vec![(blank, Vec::new())];
            for (place, &wants) in wants.iter().enumerate() {
                let reactions = self.protocol.start(place as u8, wants)?;
                let mut grown = Vec::new();
                for (state, story) in &partial {
                    for (choice, reaction) in reactions.iter().enumerate() {
                        let mut state = state.clone();
                        let (_, inbox) = worker.situation(state[place]);
                        state[place] = worker.number((reaction.local, inbox));
                        for &(to, item) in &reaction.sends {
                            let receiver = &mut state[to as usize];
                            *receiver = worker.add(*receiver, item);
                        }
                        let monitors = &mut state[n + 1];
                        *monitors = worker.watch(*monitors, reaction.observations);
                        let mut story = story.clone();
                        story.push((wants, choice as u16));
                        grown.push((state, story));
                    }
                }
                partial = grown;
            }
            openings.extend(partial);
        }
        Ok((openings, worker.reached))
    }

    /// How many things each client wants to begin, for every choice of those that start.
    fn wants(&self) -> Vec<Vec<u32>> {
        let places = 0..self.processes as u32;
        if !self.one_shot {
            let clients = &self.setting.clients;
            let asks = |place: u32| clients.is_empty() || clients.contains(&Address(place));
            return vec![places.map(|place| if asks(place) { self.setting.entries } else { 0 }).collect()];
        }
        match &self.setting.start {
            Start::These(those) => {
                vec![places.map(|place| u32::from(those.contains(&Address(place)))).collect()]
            }
            Start::EveryChoice => {
                let choice = |set: u32| places.clone().map(|place| (set >> place) & 1).collect();
                (1..1_u32 << self.processes).filter(|&set| self.is_chosen(set)).map(choice).collect()
            }
        }
    }

    /// Whether runs begun by this set of processes are to be explored. Where processes are interchangeable and the
    /// network looks the same from the next place on, one of the sets that differ by a turn stands for all: properties
    /// speak of processes as the runs do, and a turned run is a run.
    fn is_chosen(&self, set: u32) -> bool {
        let n = self.processes as u32;
        let turned = |set: u32, by: u32| (set << by | set >> (n - by)) & ((1 << n) - 1);
        !self.turns() || (1..n).all(|by| set <= turned(set, by))
    }

    /// Whether a turn of all processes by one place changes nothing.
    pub(crate) fn turns(&self) -> bool {
        let n = self.processes as u8;
        let next = |place: u8| (place + 1) % n;
        let places = || 0..n;
        let linked = |from: u8, to: u8| self.protocol.linked(from, to);
        let same = |from: u8| places().all(|to| linked(from, to) == linked(next(from), next(to)));
        self.setting.symmetry && self.one_shot && self.protocol.is_anonymous() && places().all(same)
    }
}

/// What a worker found in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expansion {
    /// Whether nothing but faults can happen.
    pub(crate) quiet: bool,
}

/// The steps out of a state.
#[derive(Debug, Default)]
pub(crate) struct Successors {
    /// The states, one after the other.
    pub(crate) states: Vec<u32>,
    /// What each step is, where that is asked for.
    pub(crate) labels: Option<Vec<Label>>,
}

impl Successors {
    pub(crate) fn labelled() -> Self {
        Successors { states: Vec::new(), labels: Some(Vec::new()) }
    }

    /// Begins another state, which is like this one so far.
    fn begin(&mut self, state: &[u32]) -> &mut [u32] {
        let start = self.states.len();
        append(&mut self.states, state);
        &mut self.states[start..]
    }

    pub(crate) fn clear(&mut self) {
        self.states.clear();
        if let Some(labels) = &mut self.labels {
            labels.clear();
        }
    }
}

/// One thread's way to look steps up: tables of its own in front of what all share.
pub(crate) struct Worker<'w> {
    world: &'w World,
    mail: Mail<'w>,
    /// The hops of a process, by situation: a range of `hops`.
    moves: Vec<Option<(u32, u32)>>,
    hops: Vec<Hop>,
    /// What a process can do in one go, by situation.
    blocks: Vec<Option<Block>>,
    ends: Vec<u32>,
    sends: Vec<(u8, u32)>,
    added: FxHashMap<u64, u32>,
    watched: FxHashMap<u64, u32>,
    judged: Vec<Option<Judgement>>,
    /// What processes are, by situation and by local state.
    lives: Vec<Option<Life>>,
    lives_by_local: Vec<Option<Life>>,
    /// What processes do by themselves, by local state.
    own: Vec<Option<Own>>,
    blocked: Vec<Option<u32>>,
    alarms: FxHashMap<u32, Vec<Alarm>>,
    elapsed: FxHashMap<(u32, u64), u32>,
    least_times: Vec<Option<u64>>,
    earlier: FxHashMap<(u32, u64), u32>,
    /// The kinds of status that some process came to.
    pub(crate) reached: u32,
    seen: Vec<bool>,
    scratch: Vec<u32>,
}

fn pair(one: u32, other: u32) -> u64 {
    u64::from(one) << 32 | u64::from(other)
}

impl<'w> Worker<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Worker {
            world,
            mail: Mail::new(&world.inboxes, &*world.protocol, world.setting.order),
            moves: Vec::new(),
            hops: Vec::new(),
            blocks: Vec::new(),
            ends: Vec::new(),
            sends: Vec::new(),
            added: FxHashMap::default(),
            watched: FxHashMap::default(),
            judged: Vec::new(),
            lives: Vec::new(),
            lives_by_local: Vec::new(),
            own: Vec::new(),
            blocked: Vec::new(),
            alarms: FxHashMap::default(),
            elapsed: FxHashMap::default(),
            least_times: Vec::new(),
            earlier: FxHashMap::default(),
            reached: 0,
            seen: Vec::new(),
            scratch: vec![0; world.width()],
        }
    }

    /// Looks at what the processes of these states can do. The first look at each place in memory is the slow one, and
    /// the processor can do many of them at a time if none waits for another.
    pub(crate) fn fetch(&self, states: &[u32]) {
        let n = self.world.processes;
        let situations = || states.chunks_exact(self.world.width()).flat_map(|state| &state[..n]);
        let first_move = |situation: &u32| self.moves.get(*situation as usize).copied().flatten();
        let moves: u64 = situations().filter_map(first_move).map(|(first, _)| u64::from(first)).sum();
        let first_hop = |(first, _): (u32, u32)| self.hops.get(first as usize);
        let hops = situations().filter_map(first_move).filter_map(first_hop);
        std::hint::black_box(moves + hops.map(|hop| u64::from(hop.situation)).sum::<u64>());
    }

    /// Collects every step out of `state`.
    pub(crate) fn expand(&mut self, state: &[u32], out: &mut Successors) -> Result<Expansion, Trouble> {
        let expansion = self.expand_in_time(state, out)?;
        self.set_clocks_back(out);
        Ok(expansion)
    }

    /// The same, with logical times as they become.
    pub(crate) fn expand_in_time(
        &mut self,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        out.clear();
        let n = self.world.processes;
        let environment = Environment(state[n]);
        let mut ordinary = 0;
        for place in 0..n {
            let (first, last) = self.moves_of(state[place])?;
            for index in first..last {
                let hop = self.hops[index as usize];
                let after = match hop.kind {
                    Kind::Loss if environment.left(Fault::Loss) > 0 => environment.after(Fault::Loss),
                    Kind::Duplication if environment.left(Fault::Duplication) > 0 => {
                        environment.after(Fault::Duplication)
                    }
                    Kind::Loss | Kind::Duplication => continue,
                    _ => {
                        ordinary += 1;
                        environment
                    }
                };
                self.hop(out.begin(state), place, hop, after);
                if let Some(labels) = &mut out.labels {
                    labels.push(hop.label(place));
                }
            }
        }
        if ordinary == 0 && self.world.setting.timers == Timers::MessagesFirst {
            ordinary += self.let_time_pass(state, out)?;
        }
        if environment.group() != 0 {
            ordinary += 1;
            self.begin(state);
            self.scratch[n] = environment.with_group(0).0;
            self.emit(out, 0, Act::Heal, 0);
        }
        if environment.0 != 0 {
            self.faults(state, environment, out)?;
        }
        Ok(Expansion { quiet: ordinary == 0 })
    }

    /// Collects the steps of one process alone.
    pub(crate) fn expand_alone(
        &mut self,
        state: &[u32],
        place: usize,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        out.clear();
        let n = self.world.processes;
        let (first, last) = self.moves_of(state[place])?;
        for index in first..last {
            let hop = self.hops[index as usize];
            if hop.is_ordinary() {
                self.hop(out.begin(state), place, hop, Environment(state[n]));
            }
        }
        self.set_clocks_back(out);
        Ok(())
    }

    /// A process whose steps may be taken alone, before those of all others, without losing a run that any
    /// property could tell apart: see the module [`reduction`](crate::reduction).
    pub(crate) fn choose_alone(&mut self, state: &[u32]) -> Result<Option<usize>, Trouble> {
        let n = self.world.processes;
        if state[n] != 0 {
            // Faults may strike anywhere.
            return Ok(None);
        }
        let mut active = 0_u32;
        let mut steps = [0_u32; u32::BITS as usize];
        let mut visible = 0_u32;
        for place in 0..n {
            let (first, last) = self.moves_of(state[place])?;
            let hops = &self.hops[first as usize..last as usize];
            steps[place] = last - first;
            active |= u32::from(last > first) << place;
            visible |= u32::from(hops.iter().any(|hop| hop.observations != 0)) << place;
        }
        if active.count_ones() < 2 {
            return Ok(None);
        }
        let mut best: Option<usize> = None;
        for place in 0..n {
            let bit = 1_u32 << place;
            if active & bit == 0 || visible & bit != 0 {
                continue;
            }
            if best.is_some_and(|best| steps[best] <= steps[place]) {
                continue;
            }
            let may_move = reduction::may_move(&self.world.receivers, active, place);
            let senders = reduction::senders(&self.world.receivers, may_move, place);
            if senders & !self.blocked(state[place]) == 0 {
                best = Some(place);
            }
        }
        Ok(best)
    }

    fn blocked(&mut self, situation: u32) -> u32 {
        if let Some(&Some(blocked)) = self.blocked.get(situation as usize) {
            return blocked;
        }
        let (_, inbox) = self.situation(situation);
        let blocked = self.mail.blocked(inbox);
        *entry(&mut self.blocked, situation) = Some(blocked);
        blocked
    }

    /// What is to be said of the monitors of a state.
    pub(crate) fn judge(&mut self, monitors: u32) -> Judgement {
        *entry(&mut self.judged, monitors).get_or_insert_with(|| self.world.protocol.judge(monitors))
    }

    fn begin(&mut self, state: &[u32]) {
        self.scratch.copy_from_slice(state);
    }

    fn emit(&self, out: &mut Successors, actor: usize, act: Act, choice: usize) {
        append(&mut out.states, &self.scratch);
        if let Some(labels) = &mut out.labels {
            labels.push(Label { actor: actor as u8, act, choice: choice as u16 });
        }
    }

    /// Applies a hop of the process at `place` to a state.
    #[inline]
    fn hop(&mut self, state: &mut [u32], place: usize, hop: Hop, environment: Environment) {
        let n = self.world.processes;
        state[place] = hop.situation;
        state[n] = environment.0;
        for index in hop.first..hop.first + u32::from(hop.count) {
            let (to, item) = self.sends[index as usize];
            self.send(state, environment, place as u8, to, item);
        }
        if hop.observations != 0 {
            state[n + 1] = self.watch(state[n + 1], hop.observations);
        }
    }

    /// Applies a reaction of the process at `place`, to `scratch`.
    fn apply(&mut self, place: usize, reaction: &Reaction, environment: Environment) {
        let n = self.world.processes;
        let (_, inbox) = self.situation(self.scratch[place]);
        self.scratch[place] = self.number((reaction.local, inbox));
        let mut state = std::mem::take(&mut self.scratch);
        for &(to, item) in &reaction.sends {
            self.send(&mut state, environment, place as u8, to, item);
        }
        self.scratch = state;
        self.scratch[n + 1] = self.watch(self.scratch[n + 1], reaction.observations);
    }

    #[inline]
    fn send(&mut self, state: &mut [u32], environment: Environment, from: u8, to: u8, item: u32) {
        let to = to as usize;
        if self.world.setting.budget.crashes > 0 && self.life(state[to]) == Life::Dead {
            return;
        }
        if environment.group() != 0 && !environment.links(from, to as u8) {
            return;
        }
        state[to] = self.add(state[to], item);
    }

    /// The situation of a process after one more item is on its way to it.
    #[inline]
    fn add(&mut self, situation: u32, item: u32) -> u32 {
        if let Some(&after) = self.added.get(&pair(situation, item)) {
            return after;
        }
        let (local, inbox) = self.situation(situation);
        let inbox = self.mail.add(inbox, item);
        let after = self.number((local, inbox));
        self.added.insert(pair(situation, item), after);
        after
    }

    fn number(&self, situation: Situation) -> u32 {
        self.world.situations.number(situation)
    }

    fn situation(&self, number: u32) -> Situation {
        self.world.situations.of(number)
    }

    /// Whether the client of a process in this situation waits for what it asked for.
    pub(crate) fn is_waiting(&self, situation: u32) -> bool {
        let local = self.local(situation);
        self.world.protocol.is_waiting(local)
    }

    /// Whether the client of a process in this situation may ask for something more, and may as well leave it at that.
    pub(crate) fn may_leave_it(&self, situation: u32) -> bool {
        let local = self.local(situation);
        self.world.protocol.may_leave_it(local)
    }

    fn local(&self, situation: u32) -> u32 {
        self.situation(situation).0
    }

    fn watch(&mut self, monitors: u32, observations: u32) -> u32 {
        if observations == 0 {
            return monitors;
        }
        let protocol = &self.world.protocol;
        if !std::mem::replace(entry(&mut self.seen, observations), true) {
            self.reached |= protocol.reached(observations);
        }
        *self
            .watched
            .entry(pair(monitors, observations))
            .or_insert_with(|| protocol.watch(monitors, observations))
    }

    fn react(&self, local: u32, cause: Cause) -> Result<Arc<[Reaction]>, Trouble> {
        self.world.reactions.of(&*self.world.protocol, local, cause)
    }
}

/// The entry of a table by number, which grows as it must.
fn entry<T: Clone + Default>(table: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
    &mut table[index]
}
