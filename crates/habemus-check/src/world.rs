//! The global states of a system, and the steps between them.
//!
//! A state is a short row of numbers: the local state and the inbox of each process, the environment, the monitors.
//! What a process does depends on its local state and on the cause alone, and is computed once for each pair; what
//! becomes of an inbox, once for each inbox and item. Afterwards exploring is looking up.

use habemus::Address;
use rustc_hash::FxHashMap;

use crate::environment::{Environment, Fault};
use crate::inbox::{Inboxes, Mail};
use crate::memo::{Memo, entry};
use crate::protocol::{Act, Alarm, Judgement, Label, Life, Protocol, Trouble};
use crate::reactions::{Reactions, Reflex, Reflexes};
use crate::reduction;
use crate::row::{self, append, put, situation};
use crate::setting::{Order, Setting, Start, Timers};

mod blocks;
mod faults;
mod moves;
mod time;
mod times;
mod turns;

use blocks::BlockTable;
pub(crate) use blocks::Blocks;
use moves::{Habits, Hop, Kind};
use times::TimeTable;
use turns::TurnTable;

/// A system and the circumstances under which it is explored.
pub(crate) struct World {
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) setting: Setting,
    inboxes: Inboxes,
    reactions: Reactions,
    /// Whether there is an oracle detector.
    oracle: bool,
    /// Whether clients begin once, as in an election, and not in a loop.
    pub(crate) one_shot: bool,
    processes: usize,
    /// Whether states that differ by a later time on all logical clocks are one.
    timeless: bool,
    /// Whether states that differ by a turn of all processes are one.
    pub(crate) turns: bool,
    /// The processes, as a set of bits, that each process may send to, itself aside.
    pub(crate) receivers: Vec<u32>,
    /// Whether everybody may send to everybody at any time: then nobody is ever alone.
    crowded: bool,
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
        let receivers: Vec<u32> = (0..processes).map(links).collect();
        let to_all = |to: &u32| to.count_ones() as usize + 1 == processes;
        World {
            crowded: setting.order == Order::Any && receivers.iter().all(to_all),
            receivers,
            inboxes: Inboxes::new(),
            reactions: Reactions::default(),
            timeless: protocol.is_timeless(),
            turns: protocol.turns(),
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
        row::width(self.processes)
    }

    pub(crate) fn environment_at(&self) -> usize {
        row::environment_at(self.processes)
    }

    pub(crate) fn monitors_at(&self) -> usize {
        row::monitors_at(self.processes)
    }

    /// Every state in which a run may begin, and the kinds of status that processes have from the start.
    pub(crate) fn openings(&self) -> Result<(Vec<Opening>, u32), Trouble> {
        let mut worker = Worker::new(self);
        let mut openings = Vec::new();
        for wants in self.wants() {
            // Who has not started may have mail already.
            let mut blank = vec![0; self.width()];
            blank[self.environment_at()] = Environment::new(&self.setting.budget).0;
            blank[self.monitors_at()] = self.protocol.monitors();
            let mut partial: Vec<Opening> = vec![(blank, Vec::new())];
            for (place, &wants) in wants.iter().enumerate() {
                let reactions = self.protocol.start(place as u8, wants)?;
                let mut grown = Vec::new();
                for (state, story) in &partial {
                    for (choice, reaction) in reactions.iter().enumerate() {
                        let mut state = state.clone();
                        let (_, inbox) = situation(&state, place);
                        put(&mut state, place, (reaction.local, inbox));
                        for &(to, item) in &reaction.sends {
                            worker.add(&mut state, to as usize, item);
                        }
                        let monitors = &mut state[self.monitors_at()];
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
                (1..1_u32 << self.processes).map(choice).collect()
            }
        }
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
    reflexes: Reflexes<'w>,
    /// Whether messages may be lost or doubled.
    lossy: bool,
    /// What processes are and do by themselves, by local state.
    habits: Vec<Option<Habits>>,
    own: Vec<Hop>,
    lives: Vec<Option<Life>>,
    blocks: BlockTable,
    watched: Memo,
    judged: Vec<Option<Judgement>>,
    alarms: FxHashMap<u32, Vec<Alarm>>,
    elapsed: FxHashMap<(u32, u64), u32>,
    times: TimeTable,
    turned: TurnTable,
    /// The kinds of status that some process came to.
    pub(crate) reached: u32,
    seen: Vec<bool>,
    scratch: Vec<u32>,
}

impl<'w> Worker<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        let shared = (world.setting.threads > 1).then_some(&world.reactions);
        Worker {
            world,
            mail: Mail::new(&world.inboxes, &*world.protocol, world.setting.order),
            reflexes: Reflexes::new(shared, &*world.protocol),
            lossy: world.setting.budget.losses > 0 || world.setting.budget.duplications > 0,
            habits: Vec::new(),
            own: Vec::new(),
            lives: Vec::new(),
            blocks: BlockTable::default(),
            watched: Memo::default(),
            judged: Vec::new(),
            alarms: FxHashMap::default(),
            elapsed: FxHashMap::default(),
            times: TimeTable::default(),
            turned: TurnTable::default(),
            reached: 0,
            seen: Vec::new(),
            scratch: vec![0; world.width()],
        }
    }

    /// Collects every step out of `state`.
    pub(crate) fn expand(&mut self, state: &[u32], out: &mut Successors) -> Result<Expansion, Trouble> {
        let expansion = self.expand_as_they_are(state, out)?;
        self.settle_all(out);
        Ok(expansion)
    }

    /// The same, with logical times and places as they become.
    pub(crate) fn expand_as_they_are(
        &mut self,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        out.clear();
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        let mut ordinary = 0;
        for place in 0..n {
            self.each_hop(situation(state, place), |worker, hop| {
                let after = match hop.kind {
                    Kind::Loss if environment.left(Fault::Loss) > 0 => environment.after(Fault::Loss),
                    Kind::Duplication if environment.left(Fault::Duplication) > 0 => {
                        environment.after(Fault::Duplication)
                    }
                    Kind::Loss | Kind::Duplication => return,
                    _ => {
                        ordinary += 1;
                        environment
                    }
                };
                worker.hop(out.begin(state), place, hop, after);
                if let Some(labels) = &mut out.labels {
                    labels.push(hop.label(place));
                }
            })?;
        }
        if ordinary == 0 && self.world.setting.timers == Timers::MessagesFirst {
            ordinary += self.let_time_pass(state, out)?;
        }
        if environment.group() != 0 {
            ordinary += 1;
            self.begin_in(state, environment.with_group(0));
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
        let environment = Environment(state[self.world.environment_at()]);
        for index in self.ordinary_moves_of(situation(state, place))? {
            let hop = self.blocks.hops[index as usize];
            self.hop(out.begin(state), place, hop, environment);
        }
        self.settle_all(out);
        Ok(())
    }

    /// A process whose steps may be taken alone, before those of all others, without losing a run that any
    /// property could tell apart: see the module [`reduction`](crate::reduction).
    pub(crate) fn choose_alone(&mut self, state: &[u32]) -> Result<Option<usize>, Trouble> {
        let n = self.world.processes;
        // Faults may strike anywhere.
        if self.world.crowded || state[self.world.environment_at()] != 0 {
            return Ok(None);
        }
        let mut active = 0_u32;
        let mut steps = [0_u32; u32::BITS as usize];
        let mut visible = 0_u32;
        for (place, steps) in steps.iter_mut().enumerate().take(n) {
            let moves = self.ordinary_moves_of(situation(state, place))?;
            let hops = &self.blocks.hops[moves.start as usize..moves.end as usize];
            *steps = moves.len() as u32;
            active |= u32::from(!moves.is_empty()) << place;
            visible |= u32::from(hops.iter().any(|hop| hop.reflex.observations != 0)) << place;
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
            if senders & !self.mail.blocked(situation(state, place).1) == 0 {
                best = Some(place);
            }
        }
        Ok(best)
    }

    /// What is to be said of the monitors of a state.
    pub(crate) fn judge(&mut self, monitors: u32) -> Judgement {
        *entry(&mut self.judged, monitors).get_or_insert_with(|| self.world.protocol.judge(monitors))
    }

    /// Begins another state in `scratch`, which is like this one but for the environment.
    fn begin_in(&mut self, state: &[u32], environment: Environment) {
        self.scratch.copy_from_slice(state);
        self.scratch[self.world.environment_at()] = environment.0;
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
        state[self.world.environment_at()] = environment.0;
        self.react(state, place, hop.inbox, hop.reflex, environment);
    }

    /// Applies a reaction of the process at `place` to a state; the process is left with this inbox.
    #[inline]
    fn react(
        &mut self,
        state: &mut [u32],
        place: usize,
        inbox: u32,
        reflex: Reflex,
        environment: Environment,
    ) {
        put(state, place, (reflex.local, inbox));
        for index in reflex.sends() {
            let (to, item) = self.reflexes.send(index);
            self.send(state, environment, place as u8, to, item);
        }
        if reflex.observations != 0 {
            let monitors = &mut state[self.world.monitors_at()];
            *monitors = self.watch(*monitors, reflex.observations);
        }
    }

    /// The same, to `scratch`.
    fn apply(&mut self, place: usize, inbox: u32, reflex: Reflex, environment: Environment) {
        let mut state = std::mem::take(&mut self.scratch);
        self.react(&mut state, place, inbox, reflex, environment);
        self.scratch = state;
    }

    #[inline]
    fn send(&mut self, state: &mut [u32], environment: Environment, from: u8, to: u8, item: u32) {
        if environment.group() != 0 && !environment.links(from, to) {
            return;
        }
        self.add(state, to as usize, item);
    }

    /// One more item is on its way to the process at `place`.
    #[inline]
    fn add(&mut self, state: &mut [u32], place: usize, item: u32) {
        let (local, inbox) = situation(state, place);
        if self.world.setting.budget.crashes > 0 && self.life(local) == Life::Dead {
            return;
        }
        put(state, place, (local, self.mail.add(inbox, item)));
    }

    /// Whether the client of a process in this local state waits for what it asked for.
    pub(crate) fn is_waiting(&self, local: u32) -> bool {
        self.world.protocol.is_waiting(local)
    }

    /// Whether the client of a process in this local state may ask for something more, and may as well leave it at that.
    pub(crate) fn may_leave_it(&self, local: u32) -> bool {
        self.world.protocol.may_leave_it(local)
    }

    fn watch(&mut self, monitors: u32, observations: u32) -> u32 {
        if observations == 0 {
            return monitors;
        }
        let protocol = &self.world.protocol;
        if !std::mem::replace(entry(&mut self.seen, observations), true) {
            self.reached |= protocol.reached(observations);
        }
        if let Some((after, _)) = self.watched.get((monitors, observations)) {
            return after;
        }
        let after = protocol.watch(monitors, observations);
        self.watched.keep((monitors, observations), (after, 0));
        after
    }
}
