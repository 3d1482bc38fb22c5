//! One thread's way from a state to its successors.

use rustc_hash::FxHashMap;

use super::blocks::BlockTable;
use super::canonical::SymmetryTable;
use super::local_transition::{Habits, LocalKind, LocalTransition};
use super::terms::TermTable;
use super::timed::Diary;
use super::{Expansion, Successors, World};
use crate::environment::{Environment, Fault};
use crate::inbox::Mail;
use crate::memo::{Memo, entry};
use crate::protocol::{Judgement, Life, Transition, TransitionKind, Trouble};
use crate::reactions::{Reflex, Reflexes};
use crate::row::{append, put, situation};
use crate::search::Search;

/// One thread's way to look steps up: tables of its own in front of what all share.
pub(crate) struct Worker<'w> {
    pub(super) world: &'w World,
    /// What is left out.
    pub(crate) search: Search,
    pub(super) mail: Mail<'w>,
    pub(super) reflexes: Reflexes<'w>,
    /// Whether messages may be lost or doubled.
    pub(super) lossy: bool,
    /// What processes are and do by themselves, by local state.
    pub(super) habits: Vec<Option<Habits>>,
    pub(super) own: Vec<LocalTransition>,
    pub(super) lives: Vec<Option<Life>>,
    pub(super) blocks: BlockTable,
    pub(super) watched: Memo,
    judged: Vec<Option<Judgement>>,
    pub(super) elapsed: FxHashMap<(u32, u64), u32>,
    pub(super) symmetries: SymmetryTable,
    pub(super) diary: Diary,
    pub(super) terms: TermTable,
    /// Room for the states whose terms are renamed.
    pub(super) renamed: Vec<u32>,
    /// The kinds of status that some process came to.
    pub(crate) reached: u32,
    seen: Vec<bool>,
    pub(super) scratch: Vec<u32>,
}

impl<'w> Worker<'w> {
    pub(crate) fn new(world: &'w World, search: Search) -> Self {
        let shared = (world.setting.threads > 1).then_some(&world.reactions);
        Worker {
            world,
            search,
            mail: Mail::new(&world.inboxes, &world.system, world.setting.order),
            reflexes: Reflexes::new(shared, &world.system),
            lossy: world.setting.budget.losses > 0 || world.setting.budget.duplications > 0,
            habits: Vec::new(),
            own: Vec::new(),
            lives: Vec::new(),
            blocks: BlockTable::default(),
            watched: Memo::default(),
            judged: Vec::new(),
            elapsed: FxHashMap::default(),
            symmetries: SymmetryTable::default(),
            diary: Diary::default(),
            terms: TermTable::default(),
            renamed: Vec::new(),
            reached: 0,
            seen: Vec::new(),
            scratch: vec![0; world.width()],
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    /// Collects every step out of `state`.
    pub(crate) fn expand(&mut self, state: &[u32], out: &mut Successors) -> Result<Expansion, Trouble> {
        let expansion = self.expand_plainly(state, out)?;
        self.canonicalize_all(out);
        Ok(expansion)
    }

    /// The same, without bringing the states into their canonical form.
    pub(crate) fn expand_plainly(
        &mut self,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        match &self.world.timetable {
            Some(timetable) => self.expand_timed(timetable, state, out),
            None => self.expand_untimed(state, out),
        }
    }

    /// The same, as far as it is no matter of clocks.
    pub(super) fn expand_untimed(
        &mut self,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        out.clear();
        let n = self.world.processes;
        let environment = Environment(state[self.world.environment_at()]);
        let mut kinds = 0;
        for address in 0..n {
            self.each_transition(situation(state, address), |worker, transition| {
                let after = match transition.kind {
                    LocalKind::Loss if environment.left(Fault::Loss) > 0 => environment.after(Fault::Loss),
                    LocalKind::Duplication if environment.left(Fault::Duplication) > 0 => {
                        environment.after(Fault::Duplication)
                    }
                    LocalKind::Loss | LocalKind::Duplication => return,
                    _ => {
                        kinds |= transition.kind.bit();
                        environment
                    }
                };
                worker.take(out.begin(state), address, transition, after);
                if let Some(transitions) = &mut out.transitions {
                    transitions.push(transition.at(address));
                }
            })?;
        }
        let mut owed = kinds & !LocalKind::not_owed();
        let under_way = owed & !LocalKind::Leisure.bit();
        if under_way == 0 && self.world.setting.timers.have_order() {
            owed |= u32::from(self.let_time_pass(state, out)? > 0);
        }
        if environment.group() != 0 {
            owed |= 1;
            self.begin_in(state, environment.with_group(0));
            self.emit(out, 0, TransitionKind::Heal, 0);
        }
        owed |= u32::from(self.owes_recovery(state, environment));
        if environment.0 != 0 {
            self.faults(state, environment, out)?;
        }
        Ok(if owed == 0 { Expansion::Quiet } else { Expansion::Single })
    }

    /// Collects the steps of one process, whose steps are an ample set; says whether they may be: where a
    /// step makes a term whose distance to others is open, a run may have to take the form that leads to
    /// nothing new.
    pub(crate) fn expand_ample(
        &mut self,
        state: &[u32],
        address: usize,
        out: &mut Successors,
    ) -> Result<bool, Trouble> {
        out.clear();
        self.terms.has_forked = false;
        let environment = Environment(state[self.world.environment_at()]);
        for index in self.ordinary_transitions_of(situation(state, address))? {
            let transition = self.blocks.transitions[index as usize];
            self.take(out.begin(state), address, transition, environment);
        }
        self.canonicalize_all(out);
        Ok(!self.terms.has_forked)
    }

    /// What is to be said of the monitors of a state.
    pub(crate) fn judge(&mut self, monitors: u32) -> Judgement {
        *entry(&mut self.judged, monitors).get_or_insert_with(|| self.world.system.judge(monitors))
    }

    /// Begins another state in `scratch`, which is like this one but for the environment.
    pub(super) fn begin_in(&mut self, state: &[u32], environment: Environment) {
        self.scratch.copy_from_slice(state);
        self.scratch[self.world.environment_at()] = environment.0;
    }

    pub(super) fn emit(&self, out: &mut Successors, process: usize, kind: TransitionKind, choice: usize) {
        append(&mut out.states, &self.scratch);
        if let Some(transitions) = &mut out.transitions {
            transitions.push(Transition { process: process as u8, kind, choice: choice as u16 });
        }
    }

    /// Applies a transition of the process at `address` to a state.
    #[inline]
    pub(super) fn take(
        &mut self,
        state: &mut [u32],
        address: usize,
        transition: LocalTransition,
        environment: Environment,
    ) {
        state[self.world.environment_at()] = environment.0;
        self.react(state, address, transition.inbox, transition.reflex, environment);
    }

    /// Applies a reaction of the process at `address` to a state; the process is left with this inbox.
    #[inline]
    fn react(
        &mut self,
        state: &mut [u32],
        address: usize,
        inbox: u32,
        reflex: Reflex,
        environment: Environment,
    ) {
        put(state, address, (reflex.local, inbox));
        for index in reflex.sends() {
            let (to, item) = self.reflexes.send(index);
            self.send(state, environment, address as u8, to, item);
        }
        if reflex.observations != 0 {
            let monitors = &mut state[self.world.monitors_at()];
            *monitors = self.watch(*monitors, reflex.observations);
        }
    }

    /// The same, to `scratch`.
    pub(super) fn apply(&mut self, address: usize, inbox: u32, reflex: Reflex, environment: Environment) {
        let mut state = std::mem::take(&mut self.scratch);
        self.react(&mut state, address, inbox, reflex, environment);
        self.scratch = state;
    }

    #[inline]
    fn send(&mut self, state: &mut [u32], environment: Environment, from: u8, to: u8, item: u32) {
        if environment.group() != 0 && !environment.links(from, to) {
            return;
        }
        self.add(state, to as usize, item);
    }

    /// One more item is on its way to the process at `address`.
    #[inline]
    pub(super) fn add(&mut self, state: &mut [u32], address: usize, item: u32) {
        let (local, inbox) = situation(state, address);
        if self.world.setting.budget.crashes > 0 && self.life(local) == Life::Dead {
            return;
        }
        put(state, address, (local, self.mail.add(inbox, item)));
    }

    /// Whether the client of a process in this local state waits for what it asked for.
    pub(crate) fn is_waiting(&self, local: u32) -> bool {
        self.world.system.is_waiting(local)
    }

    /// Whether the client of a process in this local state may ask for something more, and may as well leave
    /// it at that.
    pub(crate) fn may_leave_it(&self, local: u32) -> bool {
        self.world.system.may_leave_it(local)
    }

    pub(super) fn watch(&mut self, monitors: u32, observations: u32) -> u32 {
        if observations == 0 {
            return monitors;
        }
        let watching = &self.world.system.watching;
        if !std::mem::replace(entry(&mut self.seen, observations), true) {
            self.reached |= watching.reached(observations);
        }
        if let Some((after, _)) = self.watched.get((monitors, observations)) {
            return after;
        }
        let after = watching.watch(monitors, observations);
        self.watched.keep((monitors, observations), (after, 0));
        after
    }
}
