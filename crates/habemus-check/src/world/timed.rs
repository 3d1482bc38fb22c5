//! Steps in time: which of them can be taken now, and what the clocks show afterwards. See
//! [`zone`](crate::zone).
//!
//! What can happen at all is found as elsewhere; here each step is looked at once more. A timer runs out when
//! its clock has come into its window, a message arrives when its clock has, and time passes no further than
//! the end of any window. Whatever has no window, a client or a fault, comes at any time. The clocks of a
//! state are, process by process, those of its timers and those of what is on its way to it, in the order in
//! which these are kept.

use habemus::{Address, Suspicion};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Expansion, Successors, Worker, World};
use crate::intern::Interner;
use crate::protocol::{Cause, Transition, TransitionKind, Trouble};
use crate::row::situation;
use crate::setting::{Setting, Speed};
use crate::zone::{Clock, Picos, Rewinding, Zone};

/// What all threads share about time.
#[derive(Debug)]
pub(crate) struct Timetable {
    zones: Interner<Zone>,
    /// How long a message takes, at least and at most.
    delay: (Picos, Picos),
}

impl Timetable {
    pub(super) fn new(setting: &Setting) -> Option<Self> {
        let Speed { delay: (min, max), .. } = setting.timers.speed()?;
        Some(Timetable { zones: Interner::new(), delay: (crate::rate::picos(min), crate::rate::picos(max)) })
    }
}

/// One thread's own tables about time.
#[derive(Debug, Default)]
pub(super) struct Diary {
    /// What can happen in a state, whenever.
    untimed: Option<Successors>,
    /// The timers, as a set of bits, that a process set in a step: by its local state before, the cause and
    /// the choice.
    set: FxHashMap<(u32, Cause, u16), u32>,
    /// Zones after a step; `None`: it is impossible.
    after: FxHashMap<(u32, Rewinding), Option<u32>>,
}

impl World {
    /// Where the number of the zone is, if there are clocks.
    pub(super) fn zone_at(&self) -> usize {
        self.monitors_at() + 1
    }
}

impl Worker<'_> {
    /// Collects every step out of a state that can be taken in time.
    pub(super) fn expand_timed(
        &mut self,
        timetable: &Timetable,
        state: &[u32],
        out: &mut Successors,
    ) -> Result<Expansion, Trouble> {
        out.clear();
        let mut untimed = self.diary.untimed.take().unwrap_or_else(Successors::labelled);
        let expansion = self.expand_untimed(state, &mut untimed)?;
        let width = self.world.width();
        let transitions = untimed.transitions.as_deref().unwrap_or_default();
        for (row, transition) in untimed.states.chunks_exact_mut(width).zip(transitions) {
            let rewinding = self.rewinding(timetable, state, row, transition)?;
            let Some(zone) = self.zone_after(timetable, state[self.world.zone_at()], rewinding) else {
                continue;
            };
            row[self.world.zone_at()] = zone;
            out.states.extend_from_slice(row);
            if let Some(transitions) = &mut out.transitions {
                transitions.push(*transition);
            }
        }
        self.diary.untimed = Some(untimed);
        Ok(expansion)
    }

    /// Sets all clocks of an initial state, if there are any.
    pub(super) fn begin_time(&mut self, row: &mut [u32]) {
        let Some(timetable) = &self.world.timetable else { return };
        let first = timetable.zones.number(Zone::new());
        let rewinding = self.beginning(timetable, row);
        let zone = self.zone_after(timetable, first, rewinding).expect("nothing is asked of a beginning");
        row[self.world.zone_at()] = zone;
    }

    /// The earliest moments of the steps of a run, the beginning first: its states and the transitions
    /// between them.
    pub(crate) fn moments(
        &mut self,
        states: &[&[u32]],
        transitions: &[Transition],
    ) -> Result<Option<Vec<Picos>>, Trouble> {
        let Some(timetable) = &self.world.timetable else { return Ok(None) };
        let mut steps = vec![self.beginning(timetable, states[0])];
        for (pair, transition) in states.windows(2).zip(transitions) {
            steps.push(self.rewinding(timetable, pair[0], pair[1], transition)?);
        }
        Ok(Some(crate::zone::earliest(&steps)))
    }

    fn zone_after(&mut self, timetable: &Timetable, zone: u32, rewinding: Rewinding) -> Option<u32> {
        let known = self.diary.after.entry((zone, rewinding));
        let find = |(zone, rewinding): &(u32, Rewinding)| {
            let after = timetable.zones.value(*zone).after(rewinding)?;
            Some(timetable.zones.number(after))
        };
        *known.or_insert_with_key(find)
    }

    /// All clocks begin.
    fn beginning(&self, timetable: &Timetable, row: &[u32]) -> Rewinding {
        let mut clocks = SmallVec::new();
        for address in 0..self.world.processes {
            let (local, inbox) = situation(row, address);
            let timers = self.world.system.timers(local).iter().map(|running| running.max as Picos);
            let items = self.mail.items(inbox).iter().map(|_| timetable.delay.1);
            clocks.extend(timers.chain(items).map(|max| Clock { before: None, max }));
        }
        Rewinding { guard: None, clocks }
    }

    /// What a transition does to the clocks.
    fn rewinding(
        &mut self,
        timetable: &Timetable,
        before: &[u32],
        after: &[u32],
        transition: &Transition,
    ) -> Result<Rewinding, Trouble> {
        let system = &self.world.system;
        let actor = usize::from(transition.process);
        let mut rewinding = Rewinding::default();
        // The first clock of the present process before the step.
        let mut first = 0;
        for address in 0..self.world.processes {
            let (situation_before, situation_after) = (situation(before, address), situation(after, address));
            let timers = system.timers(situation_before.0);
            let items = self.mail.items(situation_before.1);
            let first_item = first + timers.len();
            let mut taken = None;
            let mut set = 0;
            if address == actor {
                let item = |item: u32, mail: &mut crate::inbox::Mail<'_>| {
                    mail.eldest(situation_before.1, item).expect("what arrives was on its way")
                };
                match transition.kind {
                    TransitionKind::Timer { timer, .. } => {
                        let index = timers.iter().position(|running| running.timer == timer);
                        let index = index.expect("what runs out was running");
                        rewinding.guard = Some((first + index, timers[index].min as Picos));
                    }
                    TransitionKind::Deliver(number) | TransitionKind::Discard(number) => {
                        let index = item(number, &mut self.mail);
                        rewinding.guard = Some((first_item + index, timetable.delay.0));
                        taken = Some(index);
                    }
                    TransitionKind::Duplicate(number) => {
                        let index = item(number, &mut self.mail);
                        rewinding.guard = Some((first_item + index, timetable.delay.0));
                    }
                    TransitionKind::Lose(number) => taken = Some(item(number, &mut self.mail)),
                    _ => {}
                }
                set = self.set_timers(situation_before.0, transition)?;
            }
            for (index, running) in system.timers(situation_after.0).iter().enumerate() {
                let same = || timers.iter().position(|other| other.timer == running.timer);
                let before = if set >> index & 1 == 1 { None } else { same() };
                let before = before.map(|index| (first + index) as u16);
                rewinding.clocks.push(Clock { before, max: running.max as Picos });
            }
            if taken.is_none() && situation_before.1 == situation_after.1 {
                let same =
                    |index| Clock { before: Some((first_item + index) as u16), max: timetable.delay.1 };
                rewinding.clocks.extend((0..items.len()).map(same));
            } else {
                for source in self.mail.sources(situation_before.1, taken, situation_after.1) {
                    let before = source.map(|index| (first_item + index) as u16);
                    rewinding.clocks.push(Clock { before, max: timetable.delay.1 });
                }
            }
            first = first_item + items.len();
        }
        Ok(rewinding)
    }

    /// The timers, as a set of bits, that a process sets in a transition, in the order in which they run
    /// afterwards.
    fn set_timers(&mut self, local: u32, transition: &Transition) -> Result<u32, Trouble> {
        let cause = match transition.kind {
            TransitionKind::Deliver(item) | TransitionKind::Duplicate(item) => Cause::Item(item),
            TransitionKind::Client => Cause::Client,
            TransitionKind::Timer { timer, .. } => Cause::Timer(timer),
            TransitionKind::Recover => Cause::Recover,
            TransitionKind::Suspect(about) => Cause::Suspicion(Suspicion::Suspect(Address(u32::from(about)))),
            _ => return Ok(0),
        };
        let key = (local, cause, transition.choice);
        if let Some(&known) = self.diary.set.get(&key) {
            return Ok(known);
        }
        let set = self.world.system.set_timers(local, cause, transition.choice)?;
        self.diary.set.insert(key, set);
        Ok(set)
    }
}
