//! Tells a run of the explorer as a trace, with every message, vector clock and output in it.

use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::{Address, Suspicion};
use habemus_trace::{Dropped, Happening, Header, Label, Trace, TraceWriter};

use crate::handlers::Effect;
use crate::local::{Body, Item, Local};
use crate::numbered::{Numbered, cut_short};
use crate::protocol::{Cause, Counterexample, TransitionKind};
use crate::watching::{Broken, Seen, Sight, Witness};

/// A step takes this long in the trace: the explorer knows no time, and pictures need some.
const STEP: u64 = 1_000_000;

/// Tells a run that breaks a property as a trace; says also how the property is broken.
pub(crate) fn narrate(system: &Numbered, run: &Counterexample<'_>) -> (Trace, Option<String>) {
    Narrator::new(system, run).tell()
}

/// A message on its way.
struct Flight {
    number: u64,
    from: Address,
    to: Address,
    message: u32,
    clock: VectorClock,
}

/// Repeats a run with the processes themselves and writes down what happens.
struct Narrator<'a> {
    system: &'a Numbered,
    run: &'a Counterexample<'a>,
    locals: Vec<Local>,
    flights: Vec<Flight>,
    /// The set of processes that are cut off from the others.
    group: u32,
    now: u64,
    witness: Box<dyn Witness + 'a>,
    explanation: Option<String>,
    /// Which messages of the present step are sent, as a set of bits, if it is cut short.
    kept: Option<u32>,
    /// From which record on it repeats itself.
    cycle: Option<usize>,
    writer: TraceWriter,
}

impl<'a> Narrator<'a> {
    fn new(system: &'a Numbered, run: &'a Counterexample<'a>) -> Self {
        let addresses = (0..).map(Address).zip(run.initial);
        Narrator {
            locals: addresses
                .map(|(address, begun)| Local::unborn(address, begun.wants, begun.rate))
                .collect(),
            flights: Vec::new(),
            group: 0,
            now: 0,
            witness: system.watching.witness(),
            explanation: None,
            kept: None,
            cycle: None,
            writer: TraceWriter::new(system.facts.population.ids.iter().map(|id| id.0).collect()),
            system,
            run,
        }
    }

    fn tell(mut self) -> (Trace, Option<String>) {
        for (address, beginning) in (0..).map(Address).zip(self.run.initial) {
            self.happen(address, Cause::Start, beginning.choice);
        }
        self.see(Address(0), &Seen::all_started());
        for (index, step) in self.run.steps.iter().enumerate() {
            match self.run.moments {
                Some(moments) => self.now = moments[index] as u64 / 1000,
                None => self.now += STEP,
            }
            let actor = Address(u32::from(step.process));
            if self.run.cycle == Some(index) {
                self.cycle = Some(self.writer.len());
            }
            match step.kind {
                TransitionKind::Deliver(item) => self.deliver(actor, item, true, step.choice),
                TransitionKind::Duplicate(item) => self.deliver(actor, item, false, step.choice),
                TransitionKind::Discard(item) => self.lose(actor, item, Dropped::Down),
                TransitionKind::Lose(item) => self.lose(actor, item, Dropped::Loss),
                TransitionKind::Client => self.happen(actor, Cause::Client, step.choice),
                TransitionKind::Timer { timer, elapsed } => {
                    self.now += elapsed;
                    self.happen(actor, Cause::Timer(timer), step.choice);
                }
                TransitionKind::WrongTimeout(timer) => self.happen(actor, Cause::Timer(timer), step.choice),
                TransitionKind::Halfway { timer, elapsed, kept } => {
                    self.now += elapsed;
                    self.kept = Some(kept);
                    self.happen(actor, Cause::Timer(timer), step.choice);
                    self.kept = None;
                    self.happen(actor, Cause::Crash { forever: true }, 0);
                }
                TransitionKind::Crash { forever } => {
                    self.happen(actor, Cause::Crash { forever }, step.choice);
                }
                TransitionKind::Recover => self.happen(actor, Cause::Recover, step.choice),
                TransitionKind::Suspect(suspect) => {
                    let suspicion = Suspicion::Suspect(Address(u32::from(suspect)));
                    self.happen(actor, Cause::Suspicion(suspicion), step.choice);
                }
                TransitionKind::Cut(group) => self.cut(group),
                TransitionKind::Heal => self.cut(0),
            }
        }
        self.end();
        let facts = &self.system.facts;
        let header = Header {
            format: habemus_trace::FORMAT,
            algorithm: facts.entry.name.to_owned(),
            problem: facts.entry.problem,
            title: Some(self.run.title.clone()),
            processes: facts.population.ids.iter().map(|id| id.0).collect(),
            topology: facts.topology.clone(),
            seed: None,
            origin: None,
            cycle: self.cycle,
        };
        (Trace { header, records: self.writer.drain().collect() }, self.explanation)
    }

    fn id(&self, address: Address) -> u64 {
        self.writer.id(address)
    }

    /// An item is delivered; if it is not taken away, it will be once more.
    fn deliver(&mut self, to: Address, item: u32, taken: bool, choice: u16) {
        if let Item::Message { from, message, .. } = *self.system.items.value(item) {
            let Some(at) = self.flight(from, to, message) else { return };
            let number = self.flights[at].number;
            let clock = self.flights[at].clock.clone();
            if taken {
                self.flights.remove(at);
            }
            self.writer.learn(to, clock.iter());
            let shown = self.system.handlers.message(message);
            let what = Happening::Deliver {
                message: number,
                from: self.id(from),
                kind: Label::fixed(shown.kind),
                label: shown.label.into(),
                background: shown.background,
            };
            self.event(to, what);
        }
        self.happen(to, Cause::Item(item), choice);
    }

    fn lose(&mut self, to: Address, item: u32, why: Dropped) {
        if let Item::Message { from, message, .. } = *self.system.items.value(item)
            && let Some(at) = self.flight(from, to, message)
        {
            let flight = self.flights.remove(at);
            self.dropped(flight.from, to, flight.number, why);
        }
    }

    /// The message on its way that is meant: the first of its kind, which FIFO links keep first.
    fn flight(&self, from: Address, to: Address, message: u32) -> Option<usize> {
        let same = |flight: &Flight| (flight.from, flight.to, flight.message) == (from, to, message);
        self.flights.iter().position(same)
    }

    /// A process reacts to something other than the delivery of a message, which is recorded before.
    fn happen(&mut self, address: Address, cause: Cause, choice: u16) {
        let local = self.locals[address.index()].clone();
        let Ok(outcomes) = self.system.outcomes(&local, cause) else { return };
        let Some(outcome) = outcomes.into_iter().nth(usize::from(choice)) else { return };
        let outcome = match self.kept {
            Some(kept) => outcome.map(|handled| cut_short(handled, kept)),
            None => outcome,
        };
        let (next, seen) = self.system.after(&local, cause, outcome.as_ref());
        match cause {
            Cause::Item(item) => {
                if let Item::Notice(suspicion) = *self.system.items.value(item) {
                    self.suspect(address, suspicion);
                }
            }
            Cause::Timer(timer) => {
                let shown = self.system.handlers.timer(timer);
                let what = Happening::Timer { label: shown.label.into(), background: shown.background };
                self.event(address, what);
            }
            Cause::Suspicion(suspicion) => self.suspect(address, suspicion),
            Cause::Start => self.event(address, Happening::Start { recovered: false }),
            Cause::Recover => self.event(address, Happening::Start { recovered: true }),
            Cause::Crash { .. } => self.event(address, Happening::Crash),
            Cause::Client => {}
        }
        let mut seen = seen.into_iter().peekable();
        // What comes from outside is seen before what the process makes of it.
        if let Some(first) = seen.next_if(|seen| !matches!(seen.what, Sight::Output(_))) {
            self.see(address, &first);
        }
        let mut unsent = self.kept.map_or(0, |kept| !kept);
        for effect in outcome.iter().flat_map(|handled| &handled.effects) {
            match *effect {
                Effect::Send { to, message } => {
                    self.send(address, to, message);
                    if unsent & 1 == 1 {
                        self.lose_last(to);
                    }
                    unsent >>= 1;
                }
                Effect::Output(_) => {
                    if let Some(output) = seen.next() {
                        self.see(address, &output);
                    }
                }
                _ => {}
            }
        }
        if let Body::Dead = next.body {
            let (lost, kept): (Vec<Flight>, Vec<Flight>) =
                std::mem::take(&mut self.flights).into_iter().partition(|flight| flight.to == address);
            self.flights = kept;
            for flight in lost {
                self.dropped(flight.from, address, flight.number, Dropped::Down);
            }
        }
        self.locals[address.index()] = next;
    }

    fn send(&mut self, from: Address, to: Address, message: u32) {
        let number = self.writer.number();
        let shown = self.system.handlers.message(message);
        let what = Happening::Send {
            message: number,
            to: self.id(to),
            kind: Label::fixed(shown.kind),
            label: shown.label.into(),
            background: shown.background,
        };
        self.event(from, what);
        if self.group >> from.0 & 1 != self.group >> to.0 & 1 {
            self.dropped(from, to, number, Dropped::Cut);
        } else if matches!(self.locals[to.index()].body, Body::Dead) {
            self.dropped(from, to, number, Dropped::Down);
        } else {
            let clock = self.writer.clock(from).cloned().unwrap_or_default();
            self.flights.push(Flight { number, from, to, message, clock });
        }
    }

    /// The crash of its sender takes a message along that was just sent, unless it is lost already.
    fn lose_last(&mut self, to: Address) {
        let numbered = self.writer.numbered();
        let is_last = |flight: &mut Flight| flight.number + 1 == numbered && flight.to == to;
        if let Some(flight) = self.flights.pop_if(is_last) {
            self.dropped(flight.from, to, flight.number, Dropped::Loss);
        }
    }

    fn dropped(&mut self, from: Address, to: Address, message: u64, why: Dropped) {
        let what = Happening::Drop { message, from: self.id(from), why };
        self.writer.note(self.now, Some(to), what);
    }

    fn suspect(&mut self, address: Address, suspicion: Suspicion) {
        let what = match suspicion {
            Suspicion::Suspect(suspect) => Happening::Suspect { suspect: self.id(suspect) },
            Suspicion::Restore(restored) => Happening::Restore { restored: self.id(restored) },
        };
        self.event(address, what);
    }

    fn cut(&mut self, group: u32) {
        let (before, count) = (std::mem::replace(&mut self.group, group), self.locals.len() as u32);
        let split = if group == 0 { before } else { group };
        let apart = |one: u32, other: u32| split >> one & 1 != split >> other & 1;
        let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
        let links = pairs.filter(|&(one, other)| apart(one, other));
        let links = links.map(|(one, other)| (self.id(Address(one)), self.id(Address(other)))).collect();
        let what = if group == 0 { Happening::Heal { links } } else { Happening::Cut { links } };
        self.writer.note(self.now, None, what);
    }

    /// Records an event of a process, with its vector clock.
    fn event(&mut self, address: Address, what: Happening) {
        self.writer.event(self.now, address, what);
    }

    /// Records what the application sees, and shows it to the monitors.
    fn see(&mut self, address: Address, seen: &Seen) {
        let words = self.system.handlers.words();
        match seen.what {
            Sight::Command(command) => {
                let word = words.command(command);
                let what =
                    Happening::Command { label: word.label.into(), value: word.value, status: word.status };
                self.event(address, what);
            }
            Sight::Output(output) => {
                let word = words.output(output);
                let what =
                    Happening::Output { label: word.label.into(), value: word.value, status: word.status };
                self.event(address, what);
            }
            Sight::Started | Sight::AllStarted | Sight::Crashed => {}
        }
        for broken in self.witness.see(seen, Duration::from_nanos(self.now)) {
            self.violation(address, broken);
        }
    }

    fn violation(&mut self, address: Address, Broken { property, name, explanation }: Broken) {
        if property == self.run.property {
            self.explanation = Some(explanation.clone());
        }
        let what = Happening::Violation { property: name.to_owned(), explanation };
        self.writer.note(self.now, Some(address), what);
    }

    /// What did not happen is a violation, too.
    fn end(&mut self) {
        if self.explanation.is_some() {
            return;
        }
        if let Some(mut broken) = self.witness.at_end(self.run.property) {
            if self.run.cycle.is_some() {
                broken.explanation.push_str(", and this can go on for ever");
            }
            self.now += STEP;
            self.violation(Address(0), broken);
        }
    }
}
