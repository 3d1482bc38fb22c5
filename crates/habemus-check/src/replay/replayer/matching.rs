//! What a record of a trace comes to, or in which way it does not fit.

use std::time::Duration;

use habemus::{Address, Chooser, Suspicion};
use habemus_scenario::{Action, MessageFate, Trigger, TriggerKind};
use habemus_trace::{Dropped, Happening, Record};

use super::{Change, Flight, Match, Replayer, Spent};
use crate::branch::Branch;
use crate::handlers::{Effect, Event, Handled, Storage};

impl Replayer<'_> {
    /// What this record comes to, or in which way it does not fit. `again` tells that the message of the
    /// record will be heard of once more.
    pub(in crate::replay) fn enact(
        &self,
        record: &Record,
        again: bool,
        branch: &mut Branch,
    ) -> Result<Match, String> {
        let Some(id) = record.process else { return Ok(self.enact_outside(&record.what)) };
        if let Happening::Violation { .. } = record.what {
            return Ok(Match::new(Change::Nothing));
        }
        let at = self.address(id)?;
        let actor = &self.actors[at.index()];
        match &record.what {
            Happening::Drop { message, from, why } => {
                return self.drop_message(at, *message, *from, *why, again);
            }
            Happening::Crash => return self.crash(at, branch),
            Happening::Pause | Happening::Resume | Happening::State { .. } => {
                return Ok(Match::new(Change::Nothing));
            }
            _ => {}
        }
        if let Some(&due) = actor.due.front() {
            return self.carry(at, due, &record.what);
        }
        let now = Duration::from_nanos(record.at);
        match &record.what {
            Happening::Start { recovered } => self.start(at, *recovered, now, branch),
            _ if actor.process.is_none() => Err(format!("process {id} is down and can do nothing")),
            Happening::Deliver { message, from, label, .. } => {
                let index = self.flight(*from, at, *message)?;
                let message = self.flights[index].message;
                let sent = self.handlers.message(message).label;
                if *label != *sent {
                    return Err(format!("{id} receives {label} from {from}, but {sent} was sent"));
                }
                let fate = if again { MessageFate::Duplicate } else { MessageFate::Deliver };
                let from = self.flights[index].from;
                let event = |process| Event::Message { process, from, message };
                let mut matched = self.react(at, now, branch, Spent::Nothing, event)?;
                matched.cue = Some(self.call(fate, index));
                matched.landed = (!again).then_some(index);
                Ok(matched)
            }
            Happening::Timer { label, .. } => {
                let is_it = |timer: &&u32| self.handlers.timer(**timer).label == label.as_str();
                let Some(&timer) = actor.timers.iter().find(is_it) else {
                    return Err(format!("no timer {label} runs at {id}"));
                };
                let event = |process| Event::Timer { process, timer };
                let mut matched = self.react(at, now, branch, Spent::Timer(timer), event)?;
                matched.cue = Some(Action::Fire { process: id, timer: label.to_string() });
                Ok(matched)
            }
            Happening::Command { value, .. } => {
                let words = self.handlers.words();
                let command = words
                    .read_command(value)
                    .map_err(|why| format!("{id} is given a command that makes no sense: {why}"))?;
                let event = |process| Event::Command { process, command };
                let mut matched = self.react(at, now, branch, Spent::Idleness { command }, event)?;
                let word = words.command(command).label;
                matched.cue = Some(Action::Command { word, processes: vec![id] });
                Ok(matched)
            }
            Happening::Suspect { suspect } => {
                let cue = Action::Suspect { by: id, suspect: *suspect };
                self.notice(at, now, branch, Suspicion::Suspect(self.address(*suspect)?), cue)
            }
            Happening::Restore { restored } => {
                let cue = Action::Restore { by: id, restored: *restored };
                self.notice(at, now, branch, Suspicion::Restore(self.address(*restored)?), cue)
            }
            Happening::Send { label, to, .. } => {
                Err(format!("{id} sends {label} to {to}, but it has nothing more to do"))
            }
            Happening::Output { label, .. } => {
                Err(format!("{id} says '{label}', but it has nothing more to say"))
            }
            _ => Err(format!("nothing of this kind happens at process {id}")),
        }
    }

    /// What happens to the network.
    fn enact_outside(&self, what: &Happening) -> Match {
        let tidy = |links: &[(u64, u64)]| {
            let mut links = links.to_vec();
            links.sort_by_key(|&(one, other)| (one.min(other), one.max(other), one));
            links
        };
        let cue = match what {
            Happening::Cut { links } => Some(Action::Cut(tidy(links))),
            Happening::Heal { links } => Some(Action::Heal(tidy(links))),
            _ => None,
        };
        Match { cue, ..Match::new(Change::Nothing) }
    }

    fn drop_message(
        &self,
        at: Address,
        number: u64,
        from: u64,
        why: Dropped,
        again: bool,
    ) -> Result<Match, String> {
        let index = self.flight(from, at, number)?;
        let cue = match why {
            // It never was on its way.
            Dropped::Cut => None,
            Dropped::Down => Some(self.call(MessageFate::Deliver, index)),
            Dropped::Loss => Some(self.call(MessageFate::Lose, index)),
        };
        Ok(Match { cue, landed: (!again).then_some(index), ..Match::new(Change::Nothing) })
    }

    fn crash(&self, at: Address, branch: &mut Branch) -> Result<Match, String> {
        let actor = &self.actors[at.index()];
        if actor.process.is_none() && actor.has_lived {
            return Err(format!("process {} crashes, but it is down already", self.id(at)));
        }
        // Who crashes in the midst of a step of which nothing is seen may not even have stored anything.
        let saved = actor.stored != actor.stored_before;
        let unsaved = actor.is_fresh && saved && branch.choose(2) == 1;
        let cue = Some(Action::Crash(vec![self.id(at)]));
        // In the midst of a step no time can be named, but the message after which it happens can.
        let amid = actor.last_sent.filter(|_| !actor.due.is_empty() && !actor.is_fresh);
        let trigger = amid.map(|kind| Trigger {
            process: Some(self.id(at)),
            what: TriggerKind::Sends(kind.to_owned()),
            nth: actor.sent.get(kind).copied().unwrap_or(1),
        });
        Ok(Match { cue, trigger, ..Match::new(Change::Crash { at, unsaved }) })
    }

    fn start(
        &self,
        at: Address,
        recovered: bool,
        now: Duration,
        branch: &mut Branch,
    ) -> Result<Match, String> {
        let (actor, id) = (&self.actors[at.index()], self.id(at));
        if actor.process.is_some() {
            return Err(format!("process {id} starts, but it is up already"));
        }
        if recovered != actor.has_lived {
            let how =
                if recovered { "recovers, but it has not lived yet" } else { "starts for a second time" };
            return Err(format!("process {id} {how}"));
        }
        let amnesia = recovered && branch.choose(2) == 1;
        let storage = match actor.stored {
            Some(stored) if recovered && !amnesia => Storage::Holds(stored),
            None if recovered && !amnesia => Storage::Blank,
            _ => Storage::Lost,
        };
        let skip = branch.position();
        let handled = self.handle(at, Event::Start(storage), now, branch)?;
        let cue = recovered.then(|| Action::Recover { processes: vec![id], amnesia });
        let change = Change::React { at, spent: Spent::Life { amnesia }, handled };
        Ok(Match { cue, choices: branch.chosen().skip(skip).collect(), ..Match::new(change) })
    }

    fn notice(
        &self,
        at: Address,
        now: Duration,
        branch: &mut Branch,
        suspicion: Suspicion,
        cue: Action,
    ) -> Result<Match, String> {
        if !self.facts.oracle {
            return Err(format!("there is no detector that could tell {} anything", self.id(at)));
        }
        let event = |process| Event::Suspicion { process, suspicion };
        let mut matched = self.react(at, now, branch, Spent::Notice(suspicion), event)?;
        matched.cue = Some(cue);
        Ok(matched)
    }

    fn react(
        &self,
        at: Address,
        now: Duration,
        branch: &mut Branch,
        spent: Spent,
        event: impl FnOnce(u32) -> Event,
    ) -> Result<Match, String> {
        let Some(process) = self.actors[at.index()].process else {
            return Err(format!("process {} is down and can do nothing", self.id(at)));
        };
        let handled = self.handle(at, event(process), now, branch)?;
        let strays = |effect: &Effect| match *effect {
            Effect::Send { to, .. } => !self.handlers.linked(at, to),
            _ => false,
        };
        if handled.effects.iter().any(strays) {
            return Err(format!("process {} sends where it has no link", self.id(at)));
        }
        let choices = branch.chosen().collect();
        Ok(Match { choices, ..Match::new(Change::React { at, spent, handled }) })
    }

    fn handle(
        &self,
        at: Address,
        event: Event,
        now: Duration,
        branch: &mut Branch,
    ) -> Result<Handled, String> {
        let handled = self.handlers.handle(at, event, now, branch);
        handled.ok_or_else(|| format!("process {} does not do the same twice at the same event", self.id(at)))
    }

    /// The trace must say what is due.
    fn carry(&self, at: Address, due: Effect, what: &Happening) -> Result<Match, String> {
        let number = match (due, what) {
            (Effect::Send { to, message }, Happening::Send { message: number, to: said, label, .. })
                if self.id(to) == *said && self.handlers.message(message).label == label.as_str() =>
            {
                Some(*number)
            }
            (Effect::Output(output), Happening::Output { value, .. })
                if self.handlers.words().output(output).value == *value =>
            {
                None
            }
            (Effect::Suspicion(Suspicion::Suspect(one)), Happening::Suspect { suspect: said })
            | (Effect::Suspicion(Suspicion::Restore(one)), Happening::Restore { restored: said })
                if self.id(one) == *said =>
            {
                None
            }
            _ => {
                let said = crate::replay::scripted::describe(what);
                return Err(format!(
                    "process {} would now {}, but the trace says that it {said}",
                    self.id(at),
                    self.describe(due)
                ));
            }
        };
        Ok(Match::new(Change::Carry { at, number }))
    }

    /// The action that calls the message on its way at this index.
    fn call(&self, fate: MessageFate, index: usize) -> Action {
        let Flight { from, to, .. } = self.flights[index];
        let before = self.flights[..index].iter().filter(|other| (other.from, other.to) == (from, to));
        Action::Message { fate, from: self.id(from), to: self.id(to), nth: before.count() as u32 + 1 }
    }

    fn flight(&self, from: u64, to: Address, number: u64) -> Result<usize, String> {
        let sender = self.address(from)?;
        let same = |flight: &Flight| (flight.from, flight.to, flight.number) == (sender, to, number);
        self.flights.iter().position(same).ok_or_else(|| {
            format!("message {number} from {from} comes to {}, but it is not on its way", self.id(to))
        })
    }

    pub(super) fn describe(&self, effect: Effect) -> String {
        match effect {
            Effect::Send { to, message } => {
                format!("send {} to {}", self.handlers.message(message).label, self.id(to))
            }
            Effect::Output(output) => format!("say '{}'", self.handlers.words().output(output).label),
            Effect::Suspicion(Suspicion::Suspect(other)) => format!("suspect {}", self.id(other)),
            Effect::Suspicion(Suspicion::Restore(other)) => format!("trust {} again", self.id(other)),
            Effect::SetTimer { timer, .. } => format!("set the timer {}", self.handlers.timer(timer).label),
            Effect::CancelTimer(timer) => format!("take back the timer {}", self.handlers.timer(timer).label),
        }
    }
}
