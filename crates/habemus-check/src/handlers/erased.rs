//! The one part of the checker that is compiled for each algorithm.

use std::cmp;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use habemus::catalogue::Setup;
use habemus::clock::LamportClock;
use habemus::property::Population;
use habemus::symmetry::{self, Permutation, Rotation, Symmetries};
use habemus::term::{self, Sort, Term};
use habemus::{Address, Context, Message, Problem, Process, Step, System, Topology};
use smallvec::SmallVec;

use super::ran::Ran;
use super::{Described, Effect, Event, Handled, Handlers, Interchange, Never, Part, Storage, TermPart};
use crate::branch::Branch;
use crate::intern::Interner;
use crate::terms::Terms;
use crate::watching::{self, Watch};
use crate::words::{Dictionary, Words};

/// A system of processes behind numbers.
pub(crate) struct Erased<P: Process> {
    system: System<P>,
    population: Population,
    symmetries: Symmetries<P>,
    dictionary: Arc<Dictionary<P::Problem>>,
    processes: Interner<P>,
    messages: Interner<P::Message>,
    timers: Interner<P::Timer>,
    stored: Interner<P::Stable>,
    ran: Ran,
}

impl<P: Process> Erased<P> {
    pub(crate) fn new(setup: &Setup<P>) -> Self {
        Erased {
            system: setup.system.clone(),
            population: setup.population.clone(),
            symmetries: setup.symmetries,
            dictionary: Arc::new(Dictionary::new()),
            processes: Interner::new(),
            messages: Interner::new(),
            timers: Interner::new(),
            stored: Interner::new(),
            ran: Ran::default(),
        }
    }

    /// Takes note of an event and of what came of it.
    fn note(&self, event: Event, effects: &[Effect]) {
        let all_kinds = P::Message::kinds();
        let kind_of = |message: u32| self.messages.value(message).kind();
        match event {
            Event::Start(_) => {}
            Event::Message { message, .. } => {
                let kind = kind_of(message);
                match all_kinds.iter().position(|known| *known == kind) {
                    Some(index) => self.ran.delivered.note(index as u32),
                    None => _ = self.kinds().1.insert(kind),
                }
            }
            Event::Timer { timer, .. } => self.ran.timers.note(timer),
            Event::Command { .. } => self.ran.command.store(true, Ordering::Relaxed),
            Event::Suspicion { .. } => self.ran.suspicion.store(true, Ordering::Relaxed),
        }
        for effect in effects {
            match *effect {
                // Where all kinds are known, it is of no interest which were sent.
                Effect::Send { message, .. } if all_kinds.is_empty() => {
                    self.kinds().0.insert(kind_of(message));
                }
                Effect::SetTimer { timer, .. } => self.ran.set.note(timer),
                _ => {}
            }
        }
    }

    /// The kinds that were sent and delivered, where not all are known.
    fn kinds(&self) -> MutexGuard<'_, (BTreeSet<&'static str>, BTreeSet<&'static str>)> {
        self.ran.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, at: Address, event: Event, now: Duration, branch: &mut Branch) -> (P, Step<P>) {
        let mut step = Step::default();
        let mut cx = Context::new(at, &self.system, now, &mut step, branch);
        let (Event::Message { process, .. }
        | Event::Timer { process, .. }
        | Event::Command { process, .. }
        | Event::Suspicion { process, .. }) = event
        else {
            let recovered = match event {
                Event::Start(Storage::Holds(stored)) => Some(self.stored.value(stored).clone()),
                Event::Start(Storage::Blank) => Some(P::Stable::default()),
                _ => None,
            };
            return (P::on_start(recovered, &mut cx), step);
        };
        let mut process = self.processes.value(process).clone();
        match event {
            Event::Start(_) => {}
            Event::Message { from, message, .. } => {
                process.on_message(from, self.messages.value(message).clone(), &mut cx);
            }
            Event::Timer { timer, .. } => process.on_timer(self.timers.value(timer).clone(), &mut cx),
            Event::Command { command, .. } => {
                process.on_command(self.dictionary.commands.value(command).clone(), &mut cx);
            }
            Event::Suspicion { suspicion, .. } => process.on_suspicion(suspicion, &mut cx),
        }
        (process, step)
    }

    /// Visits the terms of a part of the system; says which number it has afterwards.
    fn visit_terms(&self, part: TermPart, visit: &mut dyn FnMut(Sort, &mut Term)) -> u32 {
        let Some(visit_terms) = self.symmetries.terms else { return part.number() };
        if let TermPart::Output(output) = part {
            let mut output = self.dictionary.outputs.value(output).clone();
            P::Problem::visit_terms(&mut output, &mut |number| {
                let mut term = Term::of(*number);
                visit(Sort::TERM, &mut term);
                *number = term.number();
            });
            return self.dictionary.outputs.number(output);
        }
        self.with(part, &mut |part| visit_terms(part, visit))
    }

    /// Changes a part of the system, which is no output; says which number it has afterwards.
    fn with(&self, part: TermPart, change: &mut dyn FnMut(term::TermPart<'_, P>)) -> u32 {
        match part {
            TermPart::Process(process) => {
                let mut process = self.processes.value(process).clone();
                change(term::TermPart::Process(&mut process));
                self.processes.number(process)
            }
            TermPart::Message(message) => {
                let mut message = self.messages.value(message).clone();
                change(term::TermPart::Message(&mut message));
                self.messages.number(message)
            }
            TermPart::Timer(timer) => {
                let mut timer = self.timers.value(timer).clone();
                change(term::TermPart::Timer(&mut timer));
                self.timers.number(timer)
            }
            TermPart::Stored(stored) => {
                let mut stored = self.stored.value(stored).clone();
                change(term::TermPart::Stable(&mut stored));
                self.stored.number(stored)
            }
            TermPart::Output(output) => output,
        }
    }

    /// A part of the system with everybody so many addresses further on.
    fn rotated(&self, part: TermPart, by: u32) -> u32 {
        let Some(rotate) = self.symmetries.rotation else { return part.number() };
        let rotation = Rotation::new(&self.system.ids);
        self.with(part, &mut |part| match part {
            term::TermPart::Process(process) => {
                (0..by).for_each(|_| rotate(symmetry::Part::Process(process), &rotation));
            }
            term::TermPart::Message(message) => {
                (0..by).for_each(|_| rotate(symmetry::Part::Message(message), &rotation));
            }
            term::TermPart::Timer(_) | term::TermPart::Stable(_) => {}
        })
    }

    /// Changes a part of the system; it has another number afterwards.
    fn changed(&self, part: Part, change: &dyn Fn(symmetry::Part<'_, P>)) -> u32 {
        match part {
            Part::Process(process) => {
                let mut process = self.processes.value(process).clone();
                change(symmetry::Part::Process(&mut process));
                self.processes.number(process)
            }
            Part::Message(message) => {
                let mut message = self.messages.value(message).clone();
                change(symmetry::Part::Message(&mut message));
                self.messages.number(message)
            }
        }
    }
}

impl<P: Process> Handlers for Erased<P> {
    fn handle(&self, at: Address, event: Event, now: Duration, branch: &mut Branch) -> Option<Handled> {
        let before = branch.position();
        symmetry::has_peeked();
        let (process, step) = self.run(at, event, now, branch);
        let peeked = symmetry::has_peeked();
        branch.rewind(before);
        // Pure handlers give the same again; one that does not would make every result here worthless.
        let (again, same_step) = self.run(at, event, now, branch);
        if again != process || same_step != step {
            return None;
        }
        let effects = step.effects.into_iter().map(|effect| match effect {
            habemus::Effect::Send { to, message } => {
                Effect::Send { to, message: self.messages.number(message) }
            }
            habemus::Effect::SetTimer { timer, after } => {
                Effect::SetTimer { timer: self.timers.number(timer), after }
            }
            habemus::Effect::CancelTimer(timer) => Effect::CancelTimer(self.timers.number(timer)),
            habemus::Effect::Output(output) => Effect::Output(self.dictionary.outputs.number(output)),
            habemus::Effect::Suspicion(suspicion) => Effect::Suspicion(suspicion),
        });
        let effects: SmallVec<_> = effects.collect();
        self.note(event, &effects);
        Some(Handled {
            effects,
            process: self.processes.number(process),
            persist: step.persist.map(|stored| self.stored.number(stored)),
            peeked,
        })
    }

    fn linked(&self, from: Address, to: Address) -> bool {
        self.system.topology.linked(from, to)
    }

    fn words(&self) -> &dyn Words {
        &*self.dictionary
    }

    fn watch(&self, properties: &[&'static str], is_sure_to_start: bool) -> Box<dyn Watch> {
        let is_sure_to_start = is_sure_to_start || self.population.is_sure_to_start;
        let population = Population { is_sure_to_start, ..self.population.clone() };
        watching::watch(&self.dictionary, &population, properties)
    }

    fn message(&self, message: u32) -> Described {
        let message = self.messages.value(message);
        Described { kind: message.kind(), label: format!("{message:?}"), background: message.is_background() }
    }

    fn variables(&self, process: u32) -> String {
        format!("{:?}", self.processes.value(process))
    }

    fn timer(&self, timer: u32) -> Described {
        let timer = self.timers.value(timer);
        Described { kind: "", label: format!("{timer:?}"), background: P::is_background(timer) }
    }

    fn never(&self) -> Vec<Never> {
        let all_kinds = P::Message::kinds();
        let (sent, mut delivered) = self.kinds().clone();
        delivered.extend(self.ran.delivered.all().into_iter().map(|index| all_kinds[index as usize]));
        let kinds: BTreeSet<&'static str> = all_kinds.iter().copied().collect();
        let kinds = kinds.union(&sent).filter(|kind| !delivered.contains(**kind));
        let names = |timers: BTreeSet<u32>| -> BTreeSet<String> {
            timers.iter().map(|&timer| variant(&format!("{:?}", self.timers.value(timer)))).collect()
        };
        let (set, timers) = (names(self.ran.set.all()), names(self.ran.timers.all()));
        let timers = set.difference(&timers).cloned();
        let ran = |handler: &AtomicBool| handler.load(Ordering::Relaxed);
        let mut never: Vec<Never> = kinds.map(|&kind| Never::Message(kind)).collect();
        never.extend(timers.map(Never::Timer));
        never.extend((!ran(&self.ran.command)).then_some(Never::Command));
        never.extend((!ran(&self.ran.suspicion)).then_some(Never::Suspicion));
        never
    }

    fn compare_timers(&self, one: u32, other: u32) -> cmp::Ordering {
        self.timers.value(one).cmp(self.timers.value(other))
    }

    fn is_shift_invariant(&self) -> bool {
        self.symmetries.clock_shift.is_some()
    }

    fn min_time(&self, part: Part) -> Option<u64> {
        let visit_times = self.symmetries.clock_shift?;
        let mut min: Option<u64> = None;
        let visit = &mut |time: &mut LamportClock| {
            let time = symmetry::time_of(*time);
            min = Some(min.map_or(time, |min| min.min(time)));
        };
        match part {
            Part::Process(process) => {
                let mut process = self.processes.value(process).clone();
                visit_times(symmetry::Part::Process(&mut process), &self.system.config, visit);
            }
            Part::Message(message) => {
                let mut message = self.messages.value(message).clone();
                visit_times(symmetry::Part::Message(&mut message), &self.system.config, visit);
            }
        }
        min
    }

    fn shifted(&self, part: Part, by: u64) -> u32 {
        self.changed(part, &|part| {
            if let Some(visit_times) = self.symmetries.clock_shift {
                let shift = &mut |time: &mut LamportClock| symmetry::shift(time, by);
                visit_times(part, &self.system.config, shift);
            }
        })
    }

    fn interchange(&self) -> Interchange {
        match (self.symmetries.permutation, self.symmetries.rotation) {
            (Some((_, true)), _) => Interchange::RotationWhoeverFails,
            (Some((_, false)), _) => Interchange::Permutation,
            (None, Some(_)) => Interchange::Rotation,
            (None, None) => Interchange::None,
        }
    }

    fn moved(&self, part: TermPart, to: &[u32]) -> u32 {
        let Some((permute, _)) = self.symmetries.permutation else { return self.rotated(part, to[0]) };
        let permutation = Permutation::new(&self.system.ids, to);
        match part {
            TermPart::Output(output) => {
                let mut output = self.dictionary.outputs.value(output).clone();
                P::Problem::visit_ids(&mut output, &mut |id| *id = permutation.id(*id));
                self.dictionary.outputs.number(output)
            }
            part => self.with(part, &mut |part| permute(part, &permutation)),
        }
    }

    fn is_term_invariant(&self) -> bool {
        self.symmetries.terms.is_some()
    }

    fn terms(&self, part: TermPart) -> Terms {
        let mut terms = Terms::new();
        self.visit_terms(part, &mut |sort, term| terms.push((sort, term.number())));
        terms
    }

    fn with_terms(&self, part: TermPart, rename: &dyn Fn(Sort, u64) -> u64) -> u32 {
        self.visit_terms(part, &mut |sort, term| *term = Term::of(rename(sort, term.number())))
    }
}

/// The name of a variant, of which this is the description.
fn variant(description: &str) -> String {
    description.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}
