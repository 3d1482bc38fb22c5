//! Tells a run of the explorer as a trace, with every message, vector clock and output in it.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::property::{End, Monitor, Verdict};
use habemus::{Address, Effect, Message, Problem, Process, Suspicion};
use habemus_trace::{Dropped, Happening, Header, Record, Trace};

use crate::local::{Body, Item, Local};
use crate::numbered::{Numbered, cut_short};
use crate::protocol::{Act, Cause, Story};
use crate::watching::{Seen, Sight, feed};

/// A step takes this long in the trace: the explorer knows no time, and pictures need some.
const STEP: u64 = 1_000_000;

/// A message on its way.
struct Flight<M> {
    number: u64,
    from: Address,
    to: Address,
    message: M,
    clock: VectorClock,
}

/// Repeats a run with the processes themselves and writes down what happens.
pub(crate) struct Narrator<'a, P: Process> {
    system: &'a Numbered<P>,
    story: &'a Story<'a>,
    locals: Vec<Local<P>>,
    clocks: Vec<VectorClock>,
    flights: Vec<Flight<P::Message>>,
    /// The set of processes that are cut off from the others.
    group: u32,
    sent: u64,
    now: u64,
    monitors: Vec<Option<<P::Problem as Problem>::Monitor>>,
    explanation: Option<String>,
    /// After how many messages the present step is cut short, if it is.
    kept: Option<usize>,
    /// From which record on it goes round in a circle.
    circle: Option<usize>,
    records: Vec<Record>,
}

impl<'a, P: Process> Narrator<'a, P> {
    pub(crate) fn new(system: &'a Numbered<P>, story: &'a Story<'a>) -> Self {
        let places = (0..).map(Address).zip(story.opening);
        Narrator {
            locals: places.map(|(place, (wants, _))| Numbered::unborn(place, *wants)).collect(),
            clocks: vec![VectorClock::default(); story.opening.len()],
            flights: Vec::new(),
            group: 0,
            sent: 0,
            now: 0,
            monitors: system.watching.monitors(system.watching.first()),
            explanation: None,
            kept: None,
            circle: None,
            records: Vec::new(),
            system,
            story,
        }
    }

    /// The trace, and how the story's property is broken.
    pub(crate) fn tell(mut self) -> (Trace, Option<String>) {
        for place in 0..self.locals.len() {
            let choice = self.story.opening[place].1;
            self.happen(Address(place as u32), &Cause::Start, choice);
        }
        for (index, step) in self.story.steps.iter().enumerate() {
            self.now += STEP;
            let actor = Address(u32::from(step.actor));
            if self.story.cycle == Some(index) {
                self.circle = Some(self.records.len());
            }
            match step.act {
                Act::Deliver(item) => self.deliver(actor, item, true, step.choice),
                Act::Duplicate(item) => self.deliver(actor, item, false, step.choice),
                Act::Discard(item) => self.lose(actor, item, Dropped::Down),
                Act::Lose(item) => self.lose(actor, item, Dropped::Loss),
                Act::Client => self.happen(actor, &Cause::Client, step.choice),
                Act::Timer { timer, elapsed } => {
                    self.now += elapsed;
                    self.happen(actor, &Cause::Timer(timer), step.choice);
                }
                Act::Halfway { timer, elapsed, kept } => {
                    self.now += elapsed;
                    self.kept = Some(usize::from(kept));
                    self.happen(actor, &Cause::Timer(timer), step.choice);
                    self.kept = None;
                    self.happen(actor, &Cause::Crash { forever: true }, 0);
                }
                Act::Crash { forever } => self.happen(actor, &Cause::Crash { forever }, step.choice),
                Act::Recover => self.happen(actor, &Cause::Recover, step.choice),
                Act::Suspect(suspect) => {
                    let suspicion = Suspicion::Suspect(Address(u32::from(suspect)));
                    self.happen(actor, &Cause::Suspicion(suspicion), step.choice);
                }
                Act::Cut(group) => self.cut(group),
                Act::Heal => self.cut(0),
            }
        }
        self.end();
        let setup = &self.system.setup;
        let header = Header {
            format: habemus_trace::FORMAT,
            algorithm: setup.entry.name.to_owned(),
            problem: setup.entry.problem.to_owned(),
            title: Some(self.story.title.clone()),
            processes: setup.population.ids.iter().map(|id| id.0).collect(),
            topology: setup.topology.clone(),
            seed: None,
            origin: None,
            circle: self.circle,
        };
        (Trace { header, records: self.records }, self.explanation)
    }

    fn id(&self, address: Address) -> u64 {
        self.system.watching.population().id(address).0
    }

    /// An item is delivered; if it is not taken away, it will be once more.
    fn deliver(&mut self, to: Address, item: u32, taken: bool, choice: u16) {
        if let Item::Message { from, message, .. } = self.system.items.value(item) {
            let Some(at) = self.flight(*from, to, message) else { return };
            let number = self.flights[at].number;
            let clock = self.flights[at].clock.clone();
            if taken {
                self.flights.remove(at);
            }
            self.clocks[to.index()].merge(&clock);
            let what = Happening::Deliver {
                message: number,
                from: self.id(*from),
                kind: message.kind().to_owned(),
                label: format!("{message:?}"),
                background: message.is_background(),
            };
            self.event(to, what);
        }
        self.happen(to, &Cause::Item(item), choice);
    }

    fn lose(&mut self, to: Address, item: u32, why: Dropped) {
        if let Item::Message { from, message, .. } = self.system.items.value(item)
            && let Some(at) = self.flight(*from, to, message)
        {
            let flight = self.flights.remove(at);
            self.dropped(flight.from, to, flight.number, why);
        }
    }

    /// The message on its way that is meant: the first of its kind, which FIFO links keep first.
    fn flight(&self, from: Address, to: Address, message: &P::Message) -> Option<usize> {
        let same = |flight: &Flight<P::Message>| {
            flight.from == from && flight.to == to && flight.message == *message
        };
        self.flights.iter().position(same)
    }

    /// A process reacts to something other than the delivery of a message, which is recorded before.
    fn happen(&mut self, place: Address, cause: &Cause, choice: u16) {
        let local = self.locals[place.index()].clone();
        let Ok(deeds) = self.system.deeds(&local, cause) else { return };
        let Some(deed) = deeds.get(usize::from(choice)) else { return };
        let deed = &self.kept.map_or_else(|| deed.clone(), |kept| cut_short(deed.clone(), kept));
        let (next, seen) = self.system.after(&local, cause, deed.0.clone(), &deed.1);
        match cause {
            Cause::Item(item) => {
                if let Item::Notice(suspicion) = self.system.items.value(*item) {
                    self.suspect(place, *suspicion);
                }
            }
            Cause::Timer(timer) => {
                let timer = self.system.timers.value(*timer);
                let what =
                    Happening::Timer { label: format!("{timer:?}"), background: P::is_background(timer) };
                self.event(place, what);
            }
            Cause::Suspicion(suspicion) => self.suspect(place, *suspicion),
            Cause::Start => self.event(place, Happening::Start { recovered: false }),
            Cause::Recover => self.event(place, Happening::Start { recovered: true }),
            Cause::Crash { .. } => self.event(place, Happening::Crash),
            Cause::Client => {}
        }
        let mut seen = seen.into_iter().peekable();
        // What comes from outside is seen before what the process makes of it.
        if let Some(first) = seen.next_if(|seen| !matches!(seen.what, Sight::Output(_))) {
            self.see(place, &first);
        }
        for effect in &deed.1.effects {
            match effect {
                Effect::Send { to, message } => self.send(place, *to, message),
                Effect::Output(_) => {
                    if let Some(output) = seen.next() {
                        self.see(place, &output);
                    }
                }
                _ => {}
            }
        }
        if let Body::Dead = next.body {
            let (lost, kept) =
                std::mem::take(&mut self.flights).into_iter().partition(|flight| flight.to == place);
            self.flights = kept;
            let lost: Vec<Flight<P::Message>> = lost;
            for flight in lost {
                self.dropped(flight.from, place, flight.number, Dropped::Down);
            }
        }
        self.locals[place.index()] = next;
    }

    fn send(&mut self, from: Address, to: Address, message: &P::Message) {
        let number = self.sent;
        self.sent += 1;
        let what = Happening::Send {
            message: number,
            to: self.id(to),
            kind: message.kind().to_owned(),
            label: format!("{message:?}"),
            background: message.is_background(),
        };
        self.event(from, what);
        if self.group >> from.0 & 1 != self.group >> to.0 & 1 {
            self.dropped(from, to, number, Dropped::Cut);
        } else if matches!(self.locals[to.index()].body, Body::Dead) {
            self.dropped(from, to, number, Dropped::Down);
        } else {
            let clock = self.clocks[from.index()].clone();
            self.flights.push(Flight { number, from, to, message: message.clone(), clock });
        }
    }

    fn dropped(&mut self, from: Address, to: Address, message: u64, why: Dropped) {
        let what = Happening::Drop { message, from: self.id(from), why };
        self.records.push(Record { at: self.now, process: Some(self.id(to)), clock: BTreeMap::new(), what });
    }

    fn suspect(&mut self, place: Address, suspicion: Suspicion) {
        let what = match suspicion {
            Suspicion::Suspect(suspect) => Happening::Suspect { suspect: self.id(suspect) },
            Suspicion::Restore(restored) => Happening::Restore { restored: self.id(restored) },
        };
        self.event(place, what);
    }

    fn cut(&mut self, group: u32) {
        let (before, count) = (std::mem::replace(&mut self.group, group), self.locals.len() as u32);
        let split = if group == 0 { before } else { group };
        let apart = |one: u32, other: u32| split >> one & 1 != split >> other & 1;
        let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
        let links = pairs.filter(|&(one, other)| apart(one, other));
        let links = links.map(|(one, other)| (self.id(Address(one)), self.id(Address(other)))).collect();
        let what = if group == 0 { Happening::Heal { links } } else { Happening::Cut { links } };
        self.records.push(Record { at: self.now, process: None, clock: BTreeMap::new(), what });
    }

    /// Records an event of a process, with its vector clock.
    fn event(&mut self, place: Address, what: Happening) {
        self.clocks[place.index()].tick(place);
        let clock = self.clocks[place.index()].iter().map(|(other, ticks)| (self.id(other), ticks)).collect();
        self.records.push(Record { at: self.now, process: Some(self.id(place)), clock, what });
    }

    /// Records what the application sees, and shows it to the monitors.
    fn see(&mut self, place: Address, seen: &Seen<P::Problem>) {
        match &seen.what {
            Sight::Command(command) => self.event(
                place,
                Happening::Command {
                    label: command.to_string(),
                    value: serde_json::to_value(command).unwrap_or_default(),
                    status: P::Problem::status_after_command(command),
                },
            ),
            Sight::Output(output) => self.event(
                place,
                Happening::Output {
                    label: output.to_string(),
                    value: serde_json::to_value(output).unwrap_or_default(),
                    status: P::Problem::status_after_output(output),
                },
            ),
            Sight::Started | Sight::Crashed => {}
        }
        let observation = seen.observation(Duration::from_nanos(self.now));
        let mut broken = Vec::new();
        for (index, watched) in self.monitors.iter_mut().enumerate() {
            let name = watched.as_ref().map(Monitor::name);
            if let (Some(violation), Some(name)) =
                (feed(watched, &observation, self.system.watching.population()), name)
            {
                broken.push((index, name, violation.0));
            }
        }
        for (index, name, explanation) in broken {
            self.violation(place, index, name, explanation);
        }
    }

    fn violation(&mut self, place: Address, index: usize, name: &str, explanation: String) {
        if index == self.story.property {
            self.explanation = Some(explanation.clone());
        }
        let what = Happening::Violation { property: name.to_owned(), explanation };
        self.records.push(Record {
            at: self.now,
            process: Some(self.id(place)),
            clock: BTreeMap::new(),
            what,
        });
    }

    /// What did not happen is a violation, too.
    fn end(&mut self) {
        let index = self.story.property;
        let population = self.system.watching.population();
        if self.explanation.is_some() {
            return;
        }
        if let Some(Some(monitor)) = self.monitors.get(index)
            && let Verdict::Violated(violation) = monitor.at_end(End::Quiet, population)
        {
            let (name, text) = (monitor.name(), violation.0);
            let text = match self.story.cycle {
                Some(_) => format!("{text}, and this can go on for ever"),
                None => text,
            };
            self.now += STEP;
            self.violation(Address(0), index, name, text);
        }
    }
}
