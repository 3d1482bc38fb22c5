//! The observer of ordinary runs: statistics, properties, a fingerprint, the trace.
//!
//! Whatever need not know the process is generic over its problem only, or over nothing: an algorithm more costs little.

mod messages;
mod settled;

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation};
use habemus::{Address, Id, Message, Problem, Process, Status, Suspicion};
use habemus_report::{Standing, Statistics};
use habemus_trace::{Dropped, Happening, Header, Label, Record, Trace};
use serde::Serialize;

use crate::digest::Digest;
use crate::observer::{NetworkChange, Notice, Observer};
use crate::time::Time;
use messages::Messages;
use settled::Settled;

/// Vector clocks are kept in systems of at most this many processes: each event copies one.
pub const CLOCK_LIMIT: usize = 512;

/// A trace holds at most this many records; what happens afterwards is not recorded, and the report says so.
pub const TRACE_LIMIT: usize = 2_000_000;

/// What is attached to a message on its way.
#[derive(Clone, Debug)]
pub struct Stamp {
    number: u64,
    /// How long the chain of messages is that led to this one, itself included.
    depth: u32,
    /// Which record of the trace tells of its sending, if one does.
    record: u32,
    clock: Option<Arc<VectorClock>>,
}

/// No record of the trace tells of it.
const UNRECORDED: u32 = u32::MAX;

/// How closely to look.
#[derive(Clone, Debug)]
pub enum Attention {
    /// Messages are counted, and it is noted when everything asked for is done. Nothing is judged.
    Count,
    /// Statistics, properties, a fingerprint.
    Judge,
    /// These and a trace, whose header this is.
    Record(Header),
}

/// Watches a run.
#[derive(Debug)]
pub struct Watch<Q: Problem> {
    population: Population,
    statistics: Statistics,
    messages: Messages,
    standing: Standing,
    /// What the processes that are up have decided.
    decided: BTreeMap<Address, String>,
    /// Whether everything asked for is done, if nothing but that is of interest.
    settled: Option<Settled>,
    monitors: Vec<Watched<Q>>,
    clocks: Option<Vec<VectorClock>>,
    digest: Digest,
    trace: Option<Trace>,
    /// Where labels are written.
    words: String,
}

#[derive(Debug)]
struct Watched<Q: Problem> {
    monitor: Q::Monitor,
    violation: Option<Violation>,
}

/// What became of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyReport {
    /// Its name.
    pub name: &'static str,
    /// What it demands.
    pub demand: &'static str,
    /// Whether it held.
    pub verdict: Verdict,
}

/// What was seen of a run, when it is over.
#[derive(Debug)]
pub struct Observed {
    /// What each process is, and what follows from it.
    pub standing: Standing,
    /// What the processes that are up have decided.
    pub decided: BTreeMap<Address, String>,
    /// The figures.
    pub statistics: Statistics,
    /// Leaders elected, entries made, decisions taken, if nothing else was looked at.
    pub done: u64,
    /// Writes of holders of the past that the protected resource refused.
    pub refused_writes: u64,
    /// What became of each property.
    pub properties: Vec<PropertyReport>,
    /// Of everything that happened.
    pub fingerprint: u64,
    /// The trace, if one was written.
    pub trace: Option<Trace>,
    /// Whether the trace became too long to hold everything.
    pub trace_is_cut: bool,
}

impl<Q: Problem> Watch<Q> {
    /// Watches a system.
    pub fn new(population: Population, attention: Attention) -> Self {
        let count = population.len();
        let counting = matches!(attention, Attention::Count);
        let monitors = if counting { Vec::new() } else { Q::monitors(&population) };
        let waits_idly = Q::next_command(&Status::Idle).is_none();
        let trace = match attention {
            Attention::Record(header) => Some(Trace { header, records: Vec::new() }),
            _ => None,
        };
        Watch {
            statistics: Statistics::default(),
            messages: Messages::new(count),
            standing: Standing::new(count),
            decided: BTreeMap::new(),
            settled: counting.then(|| Settled::new(count, waits_idly)),
            monitors: monitors.into_iter().map(|monitor| Watched { monitor, violation: None }).collect(),
            clocks: (count <= CLOCK_LIMIT && !counting).then(|| vec![VectorClock::default(); count]),
            digest: Digest::default(),
            trace,
            words: String::new(),
            population,
        }
    }

    /// What was seen, if the run ends like this.
    pub fn finish(self, end: End) -> Observed {
        let report = |watched: &Watched<Q>| PropertyReport {
            name: watched.monitor.name(),
            demand: watched.monitor.demand(),
            verdict: match &watched.violation {
                Some(violation) => Verdict::Violated(violation.clone()),
                None => watched.monitor.at_end(end, &self.population),
            },
        };
        let properties = self.monitors.iter().map(report).collect();
        let (min_entries, max_entries) = self.standing.min_and_max_entries();
        Observed {
            properties,
            refused_writes: self.monitors.iter().map(|watched| watched.monitor.refused_writes()).sum(),
            statistics: self.messages.fold_into(Statistics { min_entries, max_entries, ..self.statistics }),
            done: self.settled.map_or(0, |settled| settled.done),
            standing: self.standing,
            decided: self.decided,
            fingerprint: self.digest.value(),
            trace_is_cut: self.trace.as_ref().is_some_and(|trace| trace.records.len() >= TRACE_LIMIT),
            trace: self.trace,
        }
    }

    /// The leader that every live process names, if it is alive and knows it.
    pub fn agreed_leader(&self) -> Option<Id> {
        self.standing.agreed_leader(&self.population)
    }

    fn is_recording(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.records.len() < TRACE_LIMIT)
    }

    fn id(&self, address: Address) -> u64 {
        self.population.id(address).0
    }

    /// Counts an event of `process` on its vector clock.
    #[inline]
    fn tick(&mut self, process: Address) {
        if let Some(clocks) = &mut self.clocks {
            clocks[process.index()].tick(process);
        }
    }

    /// Records an event; gives its number, if there is room for it.
    fn record(&mut self, at: Time, process: Option<Address>, what: impl FnOnce(&Self) -> Happening) -> u32 {
        if !self.is_recording() {
            return UNRECORDED;
        }
        let clock = match (&self.clocks, process) {
            (Some(clocks), Some(process)) => {
                let clock = clocks[process.index()].iter();
                clock.map(|(other, ticks)| (self.id(other), ticks)).collect()
            }
            _ => BTreeMap::new(),
        };
        self.write(at, process, clock, what)
    }

    /// Records something about a process that is no event of its own, and so has no clock.
    fn note(&mut self, at: Time, process: Address, what: impl FnOnce(&Self) -> Happening) {
        if self.is_recording() {
            self.write(at, Some(process), BTreeMap::new(), what);
        }
    }

    fn write(
        &mut self,
        at: Time,
        process: Option<Address>,
        clock: BTreeMap<u64, u32>,
        what: impl FnOnce(&Self) -> Happening,
    ) -> u32 {
        let (what, process) = (what(self), process.map(|process| self.id(process)));
        let Some(trace) = &mut self.trace else { return UNRECORDED };
        trace.records.push(Record { at, process, clock, what });
        trace.records.len() as u32 - 1
    }

    /// Adds an event and a value that belongs to it to the fingerprint; gives the size of the value in bytes.
    #[inline]
    fn digest(&mut self, tag: u64, at: Time, one: Address, other: Address, value: &impl Serialize) -> usize {
        self.digest.event(tag, at, one, other);
        self.digest.serialised(value)
    }

    /// A value in words. The buffer is used again, so that only the words themselves need memory.
    fn label(&mut self, value: &dyn Debug) -> Label {
        self.words.clear();
        // Writing to a text cannot fail.
        let _ = write!(self.words, "{value:?}");
        Label::from(self.words.as_str())
    }

    fn observe(&mut self, at: Time, process: Address, what: ObservedEvent<'_, Q>) {
        let clock = self.clocks.as_ref().map(|clocks| &clocks[process.index()]);
        let seen = Observation { at: Duration::from_nanos(at), process, clock, what };
        let mut broken = Vec::new();
        for watched in self.monitors.iter_mut().filter(|watched| watched.violation.is_none()) {
            if let Err(violation) = watched.monitor.observe(&seen, &self.population) {
                broken.push((watched.monitor.name(), violation.clone()));
                watched.violation = Some(violation);
            }
        }
        for (property, violation) in broken {
            self.note(at, process, |_| Happening::Violation {
                property: property.to_owned(),
                explanation: violation.0,
            });
        }
    }

    fn become_status(&mut self, at: Time, process: Address, status: Option<Status>) {
        let id = self.population.id(process);
        self.standing.become_status(at, process, id, status, &mut self.statistics);
    }

    /// A message of `size` bytes leaves.
    fn has_sent(&mut self, at: Time, link: (Address, Address), message: Shown<'_>, size: usize) -> Stamp {
        let (from, to) = link;
        let (number, depth) = self.messages.sent(from, message.kind, message.background, size as u64);
        self.tick(from);
        let mut record = UNRECORDED;
        if self.is_recording() {
            let label = self.label(message.value);
            record = self.record(at, Some(from), |watch| Happening::Send {
                message: number,
                to: watch.id(to),
                kind: Label::fixed(message.kind),
                label,
                background: message.background,
            });
        }
        let clock = self.clocks.as_ref().map(|clocks| Arc::new(clocks[from.index()].clone()));
        Stamp { number, depth, record, clock }
    }

    /// A message arrives.
    fn has_delivered(&mut self, at: Time, link: (Address, Address), message: Shown<'_>, stamp: &Stamp) {
        let (from, to) = link;
        self.messages.delivered(to, stamp.depth);
        self.digest.event(2, at, to, from);
        self.digest.varint(stamp.number);
        if let (Some(clocks), Some(sent)) = (&mut self.clocks, &stamp.clock) {
            clocks[to.index()].merge(sent);
        }
        self.tick(to);
        self.record(at, Some(to), |watch| {
            // It has the words of its sending; they are written only once.
            let sent = watch.trace.as_ref().and_then(|trace| trace.records.get(stamp.record as usize));
            let label = match sent.map(|sent| &sent.what) {
                Some(Happening::Send { label, .. }) => label.clone(),
                _ => format!("{:?}", message.value).into(),
            };
            Happening::Deliver {
                message: stamp.number,
                from: watch.id(from),
                kind: Label::fixed(message.kind),
                label,
                background: message.background,
            }
        });
    }
}

/// What a trace and the statistics say of a message.
#[derive(Clone, Copy)]
struct Shown<'a> {
    kind: &'static str,
    background: bool,
    value: &'a dyn Debug,
}

impl<'a> Shown<'a> {
    fn of(message: &'a impl Message) -> Self {
        Shown { kind: message.kind(), background: message.is_background(), value: message }
    }
}

impl<P: Process> Observer<P> for Watch<P::Problem> {
    type Stamp = Stamp;

    fn sent(&mut self, at: Time, from: Address, to: Address, message: &P::Message) -> Stamp {
        let size = if self.settled.is_some() { 0 } else { self.digest(1, at, from, to, message) };
        self.has_sent(at, (from, to), Shown::of(message), size)
    }

    fn delivered(&mut self, at: Time, from: Address, to: Address, message: &P::Message, stamp: &Stamp) {
        if self.settled.is_some() {
            self.messages.delivered(to, stamp.depth);
        } else {
            self.has_delivered(at, (from, to), Shown::of(message), stamp);
        }
    }

    fn dropped(&mut self, at: Time, from: Address, to: Address, stamp: &Stamp, why: Dropped) {
        self.has_dropped(at, (from, to), stamp.number, why);
    }

    fn timer(&mut self, at: Time, process: Address, timer: &P::Timer) {
        self.digest(8, at, process, process, timer);
        self.has_fired(at, process, timer, P::is_background(timer));
    }

    fn noticed(&mut self, at: Time, process: Address, notice: Notice<'_, P::Problem>) {
        self.has_noticed(at, process, notice);
    }

    fn network_changed(&mut self, at: Time, change: NetworkChange<'_>) {
        self.network_has_changed(at, change);
    }

    fn agreed(&self) -> bool {
        match &self.settled {
            Some(settled) => settled.is_settled(),
            None => self.agreed_leader().is_some(),
        }
    }
}

impl<Q: Problem> Watch<Q> {
    fn has_dropped(&mut self, at: Time, (from, to): (Address, Address), number: u64, why: Dropped) {
        self.statistics.dropped += 1;
        self.digest(3, at, to, from, &number);
        self.note(at, to, |watch| Happening::Drop { message: number, from: watch.id(from), why });
    }

    fn has_fired(&mut self, at: Time, process: Address, timer: &dyn Debug, background: bool) {
        self.statistics.timers += 1;
        self.tick(process);
        self.record(at, Some(process), |_| Happening::Timer {
            label: format!("{timer:?}").into(),
            background,
        });
    }

    fn has_noticed(&mut self, at: Time, process: Address, notice: Notice<'_, Q>) {
        if let Some(settled) = &mut self.settled {
            settled.noticed(process, notice);
            return;
        }
        self.tick(process);
        match notice {
            Notice::Started { recovered } => {
                self.statistics.recoveries += u64::from(recovered);
                self.messages.begin_again(process);
                self.digest(4, at, process, process, &recovered);
                self.become_status(at, process, Some(Status::Idle));
                self.record(at, Some(process), |_| Happening::Start { recovered });
                self.observe(at, process, ObservedEvent::Started);
            }
            Notice::Crashed => {
                self.statistics.crashes += 1;
                self.decided.remove(&process);
                self.digest(5, at, process, process, &());
                self.become_status(at, process, None);
                self.record(at, Some(process), |_| Happening::Crash);
                self.observe(at, process, ObservedEvent::Crashed);
            }
            Notice::Paused => {
                self.digest(6, at, process, process, &());
                self.record(at, Some(process), |_| Happening::Pause);
            }
            Notice::Resumed => {
                self.digest(7, at, process, process, &());
                self.record(at, Some(process), |_| Happening::Resume);
            }
            Notice::Command(command) => self.has_commanded(at, process, command),
            Notice::Output(output) => self.has_told(at, process, output),
            Notice::Suspicion(suspicion) => {
                self.digest(11, at, process, process, &suspicion);
                self.record(at, Some(process), |watch| match suspicion {
                    Suspicion::Suspect(suspect) => Happening::Suspect { suspect: watch.id(suspect) },
                    Suspicion::Restore(restored) => Happening::Restore { restored: watch.id(restored) },
                });
            }
        }
    }

    fn has_commanded(&mut self, at: Time, process: Address, command: &Q::Command) {
        self.digest(9, at, process, process, command);
        let status = Q::status_after_command(command);
        let idle = self.standing.status(process) == Some(Status::Idle);
        if let (Some(status), true) = (status, idle) {
            self.become_status(at, process, Some(status));
        }
        self.record(at, Some(process), |_| Happening::Command {
            label: command.to_string().into(),
            value: serde_json::to_value(command).unwrap_or_default(),
            status,
        });
        self.observe(at, process, ObservedEvent::Command(command));
    }

    fn has_told(&mut self, at: Time, process: Address, output: &Q::Output) {
        self.digest(10, at, process, process, output);
        if let Some(decision) = Q::decision(output) {
            self.decided.insert(process, decision);
        }
        let status = Q::status_after_output(output);
        if let Some(status) = status {
            self.become_status(at, process, Some(status));
        }
        self.record(at, Some(process), |_| Happening::Output {
            label: output.to_string().into(),
            value: serde_json::to_value(output).unwrap_or_default(),
            status,
        });
        self.observe(at, process, ObservedEvent::Output(output));
    }

    fn network_has_changed(&mut self, at: Time, change: NetworkChange<'_>) {
        let named = |watch: &Self, links: &[(Address, Address)]| {
            links.iter().map(|(from, to)| (watch.id(*from), watch.id(*to))).collect()
        };
        match change {
            NetworkChange::Cut(links) => {
                self.digest(12, at, Address(0), Address(0), &links);
                self.record(at, None, |watch| Happening::Cut { links: named(watch, links) });
            }
            NetworkChange::Healed(links) => {
                self.digest(13, at, Address(0), Address(0), &links);
                self.record(at, None, |watch| Happening::Heal { links: named(watch, links) });
            }
        }
    }
}
