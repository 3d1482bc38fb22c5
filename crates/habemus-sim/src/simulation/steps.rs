//! One event at a time, and a look at what may come next.

use habemus::{Address, Command, Message, Problem, Process, Status, Suspicion, Topology};
use habemus_scenario::{Action, MessageFate, Until};

use super::calls::in_order;
use super::{Limits, Pending, RareEvent, Refusal, Simulation, Stop};
use crate::observer::Observer;
use crate::plan::{Deed, Surroundings};
use crate::stepper::{ActError, Links, PendingEvent, PendingKind, ProcessState};
use crate::time::{Time, nanos};
use crate::watch::{Stamp, Watch};

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// Lets the next event take place, as [`run`](Simulation::run) would; says why the run is over, if it is.
    pub(crate) fn step(&mut self, limits: &Limits<'_>) -> Option<Stop> {
        let (end, stop) = match limits.until {
            Until::Time(time) if nanos(time) <= limits.time => (nanos(time), Stop::Time),
            _ => (limits.time, Stop::TimeLimit),
        };
        let (last, stop_events) = match limits.until {
            Until::Events(events) if events <= limits.events => (events, Stop::Events),
            _ => (limits.events, Stop::EventLimit),
        };
        if self.events >= last {
            return Some(stop_events);
        }
        if self.play_one_counted() {
            return None;
        }
        let scripted = self.plan.timed.get(self.played).map(|(time, _)| *time).filter(|time| *time <= end);
        if self.script_is_played() && self.stage.is_some() {
            self.leave_stage();
        }
        let horizon = match scripted {
            // What is scripted for an instant comes before what happens at it.
            Some(0) => {
                self.play_next(0);
                return None;
            }
            Some(time) => time - 1,
            None => end,
        };
        while let Some((time, pending)) = self.queue.pop(horizon) {
            let before = std::mem::replace(&mut self.now, time);
            if self.happen(pending) {
                self.events += 1;
                return None;
            }
            self.now = before;
        }
        match scripted {
            Some(time) => {
                self.play_next(time);
                None
            }
            None if !self.queue.is_empty() => Some(stop),
            None if matches!(limits.until, Until::Time(_)) => Some(stop),
            None if limits.until == Until::Agree && self.observer.agreed() => Some(Stop::Agreed),
            None => Some(Stop::Quiet),
        }
    }

    fn script_is_played(&self) -> bool {
        self.played == self.plan.timed.len()
    }

    /// Whether the run is over after an event because all agree, and that was to be its end.
    pub(crate) fn is_over(&self, limits: &Limits<'_>) -> bool {
        limits.until == Until::Agree && self.script_is_over() && self.observer.agreed()
    }

    /// The time at which the run is over, if nothing else ends it.
    pub(crate) fn come_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Does something to the system now.
    pub(crate) fn act(&mut self, action: &Action) -> Result<(), ActError> {
        let neighbours = |of: Address| self.system.topology.neighbours(of).collect();
        let deed = Surroundings::of(&self.system, &neighbours).deed(0, action)?;
        if let Some(refusal) = self.refuses(&deed) {
            return Err(ActError::Refused(refusal));
        }
        self.events += 1;
        self.perform(deed);
        Ok(())
    }

    /// Why something cannot be done now.
    fn refuses(&self, deed: &Deed) -> Option<Refusal> {
        match deed {
            Deed::Message { fate, link, nth } => self.refuses_call(*fate, *link, *nth),
            Deed::Fire { at, timer } => {
                let mut of = self.running_timers().into_iter().filter(|(other, ..)| other == at);
                let Some((.., due)) = of.find(|(_, label, _)| label == timer) else {
                    return Some(Refusal::NoTimer);
                };
                let next = self.next_due();
                due.and_then(|due| self.refuses_timer(*at, due, next.unwrap_or(due)))
            }
            _ => None,
        }
    }

    fn refuses_call(&self, fate: MessageFate, link: (Address, Address), nth: u32) -> Option<Refusal> {
        if let Some(stage) = &self.stage {
            let delays = matches!(fate, MessageFate::Delay(_));
            return match stage.find(link, nth) {
                _ if delays => Some(Refusal::Scripted),
                None => Some(Refusal::NoMessage),
                Some(_) => None,
            };
        }
        let events = in_order(self.queue.clone());
        let on_link = |pending: &Pending<P, O::Stamp>| match pending {
            Pending::Deliver { from, to, .. } => (*from, *to) == link,
            _ => false,
        };
        let mut found = events.iter().filter(|(_, pending)| on_link(pending));
        let Some((due, _)) = found.nth(nth.max(1) as usize - 1) else { return Some(Refusal::NoMessage) };
        self.refuses_message(fate, link, nth, *due, events[0].0)
    }

    fn next_due(&self) -> Option<Time> {
        self.queue.clone().pop(Time::MAX).map(|(due, _)| due)
    }

    /// The timers that run: whose, which, and until when, unless it is the script that ends them.
    fn running_timers(&self) -> Vec<(Address, String, Option<Time>)> {
        let shown = |at: Address, timer: &P::Timer, due| (at, format!("{timer:?}"), due);
        if let Some(stage) = &self.stage {
            let held = stage.timers().iter().filter(|(at, _, number, _)| self.timers.runs(*at, *number));
            return held.map(|(at, timer, ..)| shown(*at, timer, None)).collect();
        }
        let events = in_order(self.queue.clone());
        let timers = events.iter().filter_map(|(due, pending)| match pending {
            Pending::Timer { at, timer, number } if self.timers.runs(*at, *number) => {
                Some(shown(*at, timer, Some(*due)))
            }
            _ => None,
        });
        timers.collect()
    }
}

impl<P: Process> Simulation<P, Watch<P::Problem>> {
    /// Whatever may come next, in the order in which it would come by itself.
    pub(crate) fn pending(&self) -> Vec<PendingEvent> {
        let mut listing = Vec::new();
        for (at, waiting) in self.system.addresses().filter_map(|at| Some((at, self.held_back.get(at)?))) {
            for pending in waiting {
                let refusal = Some(Refusal::Paused);
                listing.extend(self.shown(at, pending, None, refusal, 0));
            }
        }
        if let Some(stage) = &self.stage {
            self.list_stage(stage, &mut listing);
        }
        let events = in_order(self.queue.clone());
        let next = events.first().map_or(0, |(due, _)| *due);
        let mut on_links = std::collections::BTreeMap::new();
        for (due, pending) in &events {
            let (refusal, nth) = match pending {
                Pending::Deliver { from, to, .. } => {
                    let nth: &mut u32 = on_links.entry((*from, *to)).or_default();
                    *nth += 1;
                    (self.refuses_message(MessageFate::Deliver, (*from, *to), *nth, *due, next), *nth)
                }
                Pending::Timer { at, .. } => (self.refuses_timer(*at, *due, next), 0),
                Pending::Rare(_) => (Some(Refusal::Itself), 0),
            };
            listing.extend(self.shown(pending.at(), pending, Some(*due), refusal, nth));
        }
        listing
    }

    fn list_stage(&self, stage: &super::Stage<P, Stamp>, listing: &mut Vec<PendingEvent>) {
        let mut on_links = std::collections::BTreeMap::new();
        for ((from, to), message, stamp) in stage.messages() {
            let nth: &mut u32 = on_links.entry((from, to)).or_default();
            *nth += 1;
            let pending = Pending::Deliver { from, to, message: message.clone(), stamp: *stamp };
            let refusal = self.held_back.contains(to).then_some(Refusal::Paused);
            listing.extend(self.shown(to, &pending, None, refusal, *nth));
        }
        for (at, timer, number, _) in stage.timers() {
            let pending = Pending::Timer { at: *at, timer: timer.clone(), number: *number };
            listing.extend(self.shown(*at, &pending, None, None, 0));
        }
    }

    /// One of those that may come, unless it will turn out to be nothing.
    fn shown(
        &self,
        at: Address,
        pending: &Pending<P, Stamp>,
        due: Option<Time>,
        refusal: Option<Refusal>,
        nth: u32,
    ) -> Option<PendingEvent> {
        let id = |address: Address| self.system.id_of(address).0;
        let what = match pending {
            Pending::Deliver { from, message, stamp, .. } => PendingKind::Message {
                from: id(*from),
                number: stamp.number(),
                nth,
                kind: message.kind().to_owned(),
                label: format!("{message:?}"),
                background: message.is_background(),
            },
            Pending::Timer { at, timer, number } if self.timers.runs(*at, *number) => {
                PendingKind::Timer { label: format!("{timer:?}"), background: P::is_background(timer) }
            }
            Pending::Rare(rare) if self.slots[rare.at.index()].life == rare.life => match &rare.what {
                RareEvent::Client(command) => PendingKind::Command { label: words::<P>(command) },
                RareEvent::Truth(Suspicion::Suspect(about))
                | RareEvent::Suspicion(Suspicion::Suspect(about)) => {
                    PendingKind::Suspicion { suspect: id(*about) }
                }
                RareEvent::Truth(Suspicion::Restore(about))
                | RareEvent::Suspicion(Suspicion::Restore(about)) => {
                    PendingKind::Trust { restored: id(*about) }
                }
            },
            Pending::Timer { .. } | Pending::Rare(_) => return None,
        };
        Some(PendingEvent { process: id(at), due, what, refusal })
    }

    /// What each process is at present.
    pub(crate) fn processes(&self) -> Vec<ProcessState> {
        let state = |at: Address| ProcessState {
            id: self.system.id_of(at).0,
            is_up: self.is_up(at),
            is_paused: self.held_back.contains(at),
            status: self.status(at),
        };
        self.system.addresses().map(state).collect()
    }

    /// The variables of a process as derived `Debug` shows them, and what its stable storage holds.
    pub(crate) fn variables(&self, at: Address) -> (Option<String>, Option<String>) {
        let variables = self.process(at).map(|process| format!("{process:?}"));
        let stable = (size_of::<P::Stable>() > 0).then(|| self.stable.get(at)).flatten();
        (variables, stable.map(|stable| format!("{stable:?}")))
    }

    /// The links, and those of them that carry nothing.
    pub(crate) fn links(&self) -> Links {
        let named = |(from, to): (Address, Address)| (self.system.id_of(from).0, self.system.id_of(to).0);
        let all = self.system.addresses().flat_map(|from| {
            self.system.topology.neighbours(from).map(move |to| (from, to)).collect::<Vec<_>>()
        });
        Links {
            all: all.map(named).collect(),
            cut: self.network.cut_links().into_iter().map(named).collect(),
        }
    }

    /// The words of the problem that make sense for a process in this state.
    pub(crate) fn commands(&self, at: Address) -> Vec<&'static str> {
        let makes_sense = |word: &&&str| match P::Problem::command(word) {
            Some(command) => match P::Problem::status_after_command(&command) {
                Some(_) => self.status(at) == Status::Idle,
                None => true,
            },
            None => false,
        };
        P::Problem::COMMANDS.iter().filter(makes_sense).copied().collect()
    }
}

fn words<P: Process>(command: &Command<P>) -> String {
    command.to_string()
}
