//! Handlers of which one breaks a rule, and what handlers do at all.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use habemus::term::Sort;
use habemus::{Address, Suspicion};
use smallvec::SmallVec;

use super::mutant::{Change, Mutant, Trigger};
use crate::branch::Branch;
use crate::handlers::{
    Described, Effect, Event, Handled, Handlers, Interchange, Never, Part, Storage, TermPart,
};
use crate::terms::Terms;
use crate::watching::Watch;
use crate::words::Words;

/// What the processes of a system were seen to do.
#[derive(Debug, Default)]
pub(super) struct Habits {
    /// Changes that would have made a difference to some step.
    mutants: BTreeSet<Mutant>,
    /// The process at each address when it had started.
    newborn: BTreeMap<Address, u32>,
    /// The first message of each kind.
    messages: BTreeMap<&'static str, u32>,
    /// The first output of each word.
    outputs: BTreeMap<String, u32>,
}

impl Habits {
    pub(super) fn mutants(&self) -> impl Iterator<Item = &Mutant> {
        self.mutants.iter()
    }

    /// Whether the algorithm was ever in a place where the mutant would do otherwise. Where it never was, the
    /// mutant takes the same steps as the algorithm.
    pub(super) fn give_occasion_to(&self, mutant: &Mutant) -> bool {
        match mutant.change {
            // The other kind may be sent at another event.
            Change::SendOther(kind, other) => {
                let sends = Mutant { trigger: mutant.trigger.clone(), change: Change::Drop(kind) };
                self.mutants.contains(&sends) && self.messages.contains_key(other)
            }
            _ => self.mutants.contains(mutant),
        }
    }
}

/// Handlers that are watched, or changed.
pub(super) struct Mutated {
    pub(super) inner: Arc<dyn Handlers>,
    pub(super) habits: Arc<Mutex<Habits>>,
    /// How many processes there are.
    pub(super) processes: u32,
    /// Who breaks the rules; without one, habits are noted.
    pub(super) mutant: Option<Mutant>,
    /// Whether a step was ever another than the algorithm's.
    pub(super) changed: Arc<AtomicBool>,
}

impl Mutated {
    fn trigger(&self, event: Event) -> Trigger {
        match event {
            Event::Start(Storage::Lost) => Trigger::Start,
            Event::Start(Storage::Blank | Storage::Holds(_)) => Trigger::Recovery,
            Event::Message { message, .. } => Trigger::Message(self.inner.message(message).kind),
            Event::Timer { timer, .. } => Trigger::Timer(self.timer_name(timer)),
            Event::Command { command, .. } => Trigger::Command(self.inner.words().command(command).label),
            Event::Suspicion { suspicion: Suspicion::Suspect(_), .. } => Trigger::Suspicion,
            Event::Suspicion { suspicion: Suspicion::Restore(_), .. } => Trigger::Restoration,
        }
    }

    /// The name of a timer, without what it is about.
    fn timer_name(&self, timer: u32) -> String {
        first_word(&self.inner.timer(timer).label)
    }

    fn word(&self, output: u32) -> String {
        first_word(&self.inner.words().output(output).label)
    }

    fn kind(&self, message: u32) -> &'static str {
        self.inner.message(message).kind
    }

    fn habits<T>(&self, use_them: impl FnOnce(&mut Habits) -> T) -> T {
        use_them(&mut self.habits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next neighbour of a process after one of its neighbours.
    fn after(&self, me: Address, other: Address) -> Address {
        let others = (1..self.processes).map(|step| Address((other.0 + step) % self.processes));
        let mut others = others.filter(|&to| to != me && self.inner.linked(me, to));
        others.next().unwrap_or(other)
    }

    fn note(&self, at: Address, event: Event, handled: &Handled) {
        let trigger = self.trigger(event);
        let mut changes = Vec::new();
        let before = state_before(event);
        if before.is_some() {
            changes.push(Change::Twice);
            if before != Some(handled.process) {
                changes.extend([Change::KeepState, Change::Forget]);
            }
            if before != Some(handled.process) || !handled.effects.is_empty() || handled.persist.is_some() {
                changes.push(Change::Ignore);
            }
        }
        if matches!(event, Event::Message { .. }) {
            changes.extend([Change::TakeOld, Change::TakeForAnother]);
        }
        if handled.persist.is_some() {
            changes.push(Change::NotStored);
        }
        let mut sent: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut receivers = BTreeSet::new();
        for effect in &handled.effects {
            match *effect {
                Effect::Send { to, message } => {
                    *sent.entry(self.kind(message)).or_default() += 1;
                    if !receivers.insert(to) {
                        changes.push(Change::Reverse);
                    }
                    self.habits(|habits| *habits.messages.entry(self.kind(message)).or_insert(message));
                }
                Effect::SetTimer { timer, .. } => changes.push(Change::NotSet(self.timer_name(timer))),
                Effect::CancelTimer(timer) => changes.push(Change::NotCancelled(self.timer_name(timer))),
                Effect::Output(output) => {
                    let word = self.word(output);
                    self.habits(|habits| *habits.outputs.entry(word.clone()).or_insert(output));
                    changes.push(Change::NotSaid(word.clone()));
                    changes.push(Change::SaidTwice(word.clone()));
                    changes.push(Change::SaidAsBefore(word));
                }
                Effect::Suspicion(_) => {}
            }
        }
        for (kind, count) in sent {
            changes.extend([Change::Drop(kind), Change::Misdirect(kind), Change::SendTwice(kind)]);
            changes.push(Change::SendOld(kind));
            if count > 1 {
                changes.push(Change::DropLast(kind));
            }
        }
        self.habits(|habits| {
            if matches!(event, Event::Start(Storage::Lost)) {
                habits.newborn.entry(at).or_insert(handled.process);
            }
            let others: Vec<Change> = changes
                .iter()
                .filter_map(|change| if let Change::Drop(kind) = change { Some(*kind) } else { None })
                .flat_map(|kind| {
                    let known = habits.mutants.iter().filter(|known| known.trigger == trigger);
                    let kinds = known.filter_map(|known| match known.change {
                        Change::Drop(other) if other != kind => Some(other),
                        _ => None,
                    });
                    let both = |other| [Change::SendOther(kind, other), Change::SendOther(other, kind)];
                    kinds.flat_map(both).collect::<Vec<_>>()
                })
                .collect();
            let all = changes.into_iter().chain(others);
            habits.mutants.extend(all.map(|change| Mutant { trigger: trigger.clone(), change }));
        });
    }

    /// What is handled instead of an event.
    fn mistaken(&self, at: Address, event: Event, change: &Change) -> Event {
        match (event, change) {
            (Event::Message { process, from, message }, Change::TakeOld) => {
                let first = self.habits(|habits| habits.messages.get(self.kind(message)).copied());
                Event::Message { process, from, message: first.unwrap_or(message) }
            }
            (Event::Message { process, from, message }, Change::TakeForAnother) => {
                Event::Message { process, from: self.after(at, from), message }
            }
            _ => event,
        }
    }

    fn change(&self, at: Address, event: Event, handled: &mut Handled, change: &Change) {
        let sends = |effect: &Effect, kind: &'static str| match *effect {
            Effect::Send { message, .. } => self.kind(message) == kind,
            _ => false,
        };
        let says = |effect: &Effect, word: &str| match *effect {
            Effect::Output(output) => self.word(output) == word,
            _ => false,
        };
        match change {
            Change::Ignore => {
                handled.process = state_before(event).unwrap_or(handled.process);
                handled.effects.clear();
                handled.persist = None;
            }
            Change::KeepState => handled.process = state_before(event).unwrap_or(handled.process),
            Change::Forget => {
                let newborn = self.habits(|habits| habits.newborn.get(&at).copied());
                handled.process = newborn.unwrap_or(handled.process);
            }
            // The event was changed, or it is handled a second time.
            Change::Twice | Change::TakeOld | Change::TakeForAnother => {}
            Change::Drop(kind) => handled.effects.retain(|effect| !sends(effect, kind)),
            Change::DropLast(kind) => {
                if handled.effects.iter().filter(|effect| sends(effect, kind)).count() > 1 {
                    let last = handled.effects.iter().rposition(|effect| sends(effect, kind));
                    if let Some(last) = last {
                        handled.effects.remove(last);
                    }
                }
            }
            Change::Misdirect(kind) => {
                for effect in handled.effects.iter_mut().filter(|effect| sends(effect, kind)) {
                    if let Effect::Send { to, .. } = effect {
                        *to = self.after(at, *to);
                    }
                }
            }
            Change::SendTwice(kind) => double(&mut handled.effects, |effect| sends(effect, kind)),
            Change::SendOld(kind) => self.replace(handled, kind, kind),
            Change::SendOther(kind, other) => self.replace(handled, kind, other),
            Change::Reverse => handled.effects.reverse(),
            Change::NotSet(name) => handled.effects.retain(|effect| match *effect {
                Effect::SetTimer { timer, .. } => self.timer_name(timer) != *name,
                _ => true,
            }),
            Change::NotCancelled(name) => handled.effects.retain(
                |effect| !matches!(*effect, Effect::CancelTimer(timer) if self.timer_name(timer) == *name),
            ),
            Change::NotSaid(word) => handled.effects.retain(|effect| !says(effect, word)),
            Change::SaidTwice(word) => double(&mut handled.effects, |effect| says(effect, word)),
            Change::SaidAsBefore(word) => {
                let Some(first) = self.habits(|habits| habits.outputs.get(word).copied()) else { return };
                for effect in handled.effects.iter_mut().filter(|effect| says(effect, word)) {
                    *effect = Effect::Output(first);
                }
            }
            Change::NotStored => handled.persist = None,
        }
    }

    /// Replaces messages of one kind by the first message of another.
    fn replace(&self, handled: &mut Handled, kind: &'static str, other: &'static str) {
        let Some(first) = self.habits(|habits| habits.messages.get(other).copied()) else { return };
        for effect in &mut handled.effects {
            if let Effect::Send { message, .. } = effect
                && self.kind(*message) == kind
            {
                *message = first;
            }
        }
    }
}

fn state_before(event: Event) -> Option<u32> {
    match event {
        Event::Start(_) => None,
        Event::Message { process, .. }
        | Event::Timer { process, .. }
        | Event::Command { process, .. }
        | Event::Suspicion { process, .. } => Some(process),
    }
}

/// The same event in another state.
fn again(event: Event, state: u32) -> Event {
    let mut event = event;
    match &mut event {
        Event::Start(_) => {}
        Event::Message { process, .. }
        | Event::Timer { process, .. }
        | Event::Command { process, .. }
        | Event::Suspicion { process, .. } => *process = state,
    }
    event
}

/// What a handler does, however it orders messages to different receivers: nobody sees that order. Of what
/// it does to one timer the last counts, and one that has just run out, or was never set, need not be
/// cancelled.
fn regular(event: Event, mut handled: Handled) -> Handled {
    let timer_of = |effect: &Effect| match *effect {
        Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer) => Some(timer),
        _ => None,
    };
    let mut seen = BTreeSet::new();
    let mut effects: SmallVec<[Effect; 4]> = SmallVec::new();
    for effect in handled.effects.iter().rev() {
        let is_void = match (effect, event) {
            (Effect::CancelTimer(timer), Event::Timer { timer: over, .. }) => *timer == over,
            (Effect::CancelTimer(_), Event::Start(_)) => true,
            _ => false,
        };
        if timer_of(effect).is_none_or(|timer| seen.insert(timer)) && !is_void {
            effects.push(*effect);
        }
    }
    effects.reverse();
    effects.sort_by_key(|effect| match *effect {
        Effect::Send { to, .. } => (Some(to), None),
        _ => (None, timer_of(effect)),
    });
    handled.effects = effects;
    handled
}

fn double(effects: &mut SmallVec<[Effect; 4]>, is_it: impl Fn(&Effect) -> bool) {
    let twice = |effect: &Effect| std::iter::repeat_n(*effect, 1 + usize::from(is_it(effect)));
    *effects = effects.iter().flat_map(twice).collect();
}

fn first_word(label: &str) -> String {
    label.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

impl Handlers for Mutated {
    fn handle(&self, at: Address, event: Event, now: Duration, branch: &mut Branch) -> Option<Handled> {
        let Some(mutant) = self.mutant.as_ref().filter(|mutant| mutant.trigger == self.trigger(event)) else {
            let handled = self.inner.handle(at, event, now, branch)?;
            if self.mutant.is_none() {
                self.note(at, event, &handled);
            }
            return Some(handled);
        };
        let start = branch.position();
        let rightly = self.inner.handle(at, event, now, branch)?;
        let mistaken = self.mistaken(at, event, &mutant.change);
        let mut handled = if mistaken == event {
            rightly.clone()
        } else {
            branch.rewind(start);
            self.inner.handle(at, mistaken, now, branch)?
        };
        self.change(at, event, &mut handled, &mutant.change);
        if mutant.change == Change::Twice {
            let second = self.inner.handle(at, again(event, handled.process), now, branch)?;
            handled.process = second.process;
            handled.persist = second.persist.or(handled.persist);
            handled.effects.extend(second.effects);
        }
        if regular(event, handled.clone()) != regular(event, rightly) {
            self.changed.store(true, atomic::Ordering::Relaxed);
        }
        Some(handled)
    }

    fn linked(&self, from: Address, to: Address) -> bool {
        self.inner.linked(from, to)
    }

    fn words(&self) -> &dyn Words {
        self.inner.words()
    }

    fn watch(&self, properties: &[&'static str], is_sure_to_start: bool) -> Box<dyn Watch> {
        self.inner.watch(properties, is_sure_to_start)
    }

    fn message(&self, message: u32) -> Described {
        self.inner.message(message)
    }

    fn variables(&self, process: u32) -> String {
        self.inner.variables(process)
    }

    fn timer(&self, timer: u32) -> Described {
        self.inner.timer(timer)
    }

    fn never(&self) -> Vec<Never> {
        self.inner.never()
    }

    fn compare_timers(&self, one: u32, other: u32) -> Ordering {
        self.inner.compare_timers(one, other)
    }

    fn is_shift_invariant(&self) -> bool {
        self.inner.is_shift_invariant()
    }

    fn min_time(&self, part: Part) -> Option<u64> {
        self.inner.min_time(part)
    }

    fn shifted(&self, part: Part, by: u64) -> u32 {
        self.inner.shifted(part, by)
    }

    /// A mutant that takes the next process for another is not symmetric any more.
    fn interchange(&self) -> Interchange {
        match self.inner.interchange() {
            Interchange::Permutation => Interchange::RotationWhoeverFails,
            other => other,
        }
    }

    fn moved(&self, part: TermPart, to: &[u32]) -> u32 {
        self.inner.moved(part, to)
    }

    fn is_term_invariant(&self) -> bool {
        self.inner.is_term_invariant()
    }

    fn terms(&self, part: TermPart) -> Terms {
        self.inner.terms(part)
    }

    fn with_terms(&self, part: TermPart, rename: &dyn Fn(Sort, u64) -> u64) -> u32 {
        self.inner.with_terms(part, rename)
    }
}
