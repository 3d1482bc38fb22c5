//! The observer of ordinary runs: statistics, properties, a fingerprint, the trace.
//!
//! Whatever need not know the process is generic over its problem only, or over nothing: an algorithm more
//! costs little.

mod carried;
mod messages;
mod settled;
#[cfg(feature = "stepper")]
mod so_far;

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::time::Duration;

use habemus::catalogue::Claim;
use habemus::property::{End, Observation, ObservedEvent, Population, Violation};
use habemus::{Address, Id, Message, Problem, Process, Status, Suspicion};
use habemus_report::{Monitors, PropertyLine, Standing, Statistics};
use habemus_trace::{Dropped, Happening, Header, Label, Trace, TraceWriter};
use serde::Serialize;

use crate::digest::Digest;
use crate::observer::{NetworkChange, Notice, Observer};
use crate::time::Time;
use carried::Carried;
use messages::Messages;
use settled::Settled;

/// Vector clocks are kept in systems of at most this many processes: each event copies one.
pub const CLOCK_LIMIT: usize = 512;

/// A trace holds at most this many records; what happens afterwards is not recorded, and the report says so.
pub const TRACE_LIMIT: usize = 2_000_000;

/// What is attached to a message on its way.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    number: u64,
    /// How long the chain of messages is that led to this one, itself included.
    depth: u32,
    /// Which record of the trace tells of its sending, if one does.
    record: u32,
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
    Record(Box<Header>),
}

/// Watches a run.
#[derive(Clone, Debug)]
pub struct Watch<Q: Problem> {
    population: Population,
    statistics: Statistics,
    messages: Messages,
    carried: Carried,
    standing: Standing,
    /// What the processes that are up have decided.
    decided: BTreeMap<Address, String>,
    /// Whether everything asked for is done, if nothing but that is of interest.
    settled: Option<Settled>,
    monitors: Monitors<Q>,
    digest: Digest,
    /// Keeps the vector clocks, and the records if there is to be a trace,
    writer: TraceWriter,
    /// whose header this is.
    header: Option<Header>,
    /// Where labels are written.
    words: String,
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
    pub properties: Vec<PropertyLine>,
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
        let monitors = if counting { Monitors::none() } else { Monitors::new(&population) };
        let waits_idly = Q::next_command(&Status::Idle).is_none();
        let header = match attention {
            Attention::Record(header) => Some(*header),
            Attention::Count | Attention::Judge => None,
        };
        let mut writer = match &header {
            Some(header) => TraceWriter::new(header.processes.clone()).at_most(TRACE_LIMIT),
            None if counting || count > CLOCK_LIMIT => TraceWriter::new(Vec::new()).at_most(0),
            None => TraceWriter::new(population.ids.iter().map(|id| id.0).collect()).at_most(0),
        };
        if count > CLOCK_LIMIT {
            writer = writer.without_clocks();
        }
        Watch {
            statistics: Statistics::default(),
            messages: Messages::new(count),
            carried: Carried::default(),
            standing: Standing::new(count),
            decided: BTreeMap::new(),
            settled: counting.then(|| Settled::new(count, waits_idly)),
            monitors,
            digest: Digest::default(),
            writer,
            header,
            words: String::new(),
            population,
        }
    }

    /// What was seen, if the run ends like this; `claim` says what the algorithm claims of a property.
    pub fn finish(self, end: End, claim: &dyn Fn(&str) -> Claim) -> Observed {
        let properties = self.monitors.lines(end, &self.population, claim);
        let mut statistics = self.statistics;
        self.messages.fill_in(&mut statistics);
        (statistics.min_entries, statistics.max_entries) = self.standing.min_and_max_entries();
        Observed {
            properties,
            refused_writes: self.monitors.refused_writes(),
            statistics,
            done: self.settled.map_or(0, |settled| settled.done),
            standing: self.standing,
            decided: self.decided,
            fingerprint: self.digest.value(),
            trace_is_cut: self.header.is_some() && !self.writer.has_room(),
            trace: self.header.map(|header| Trace { header, records: self.writer.into_records() }),
        }
    }

    /// The leader that every live process names, if it is alive and knows it.
    pub fn agreed_leader(&self) -> Option<Id> {
        self.standing.agreed_leader(&self.population)
    }

    /// Adds an event and a value that belongs to it to the fingerprint; gives the size of the value in bytes.
    #[inline]
    fn digest(&mut self, tag: u64, at: Time, one: Address, other: Address, value: &impl Serialize) -> usize {
        self.digest.event(tag, at, one, other);
        self.digest.serialised(value)
    }

    fn observe(&mut self, at: Time, process: Address, what: ObservedEvent<'_, Q>) {
        let clock = self.writer.clock(process);
        let seen = Observation { at: Duration::from_nanos(at), process, clock, what };
        let broken = self.monitors.observe(&seen, &self.population);
        self.note_violations(at, Some(process), broken);
    }

    fn note_violations(
        &mut self,
        at: Time,
        process: Option<Address>,
        broken: Vec<(&'static str, Violation)>,
    ) {
        for (property, violation) in broken {
            self.writer.note_with(at, process, |_| Happening::Violation {
                property: property.to_owned(),
                explanation: violation.0,
            });
        }
    }

    fn become_status(&mut self, at: Time, process: Address, status: Option<Status>) {
        let id = self.population.id(process);
        self.standing.become_status(at, process, id, status, &mut self.statistics);
    }

    /// The message with this number leaves; gives the record that tells of it, if one does.
    #[inline(never)]
    fn write_sending(
        &mut self,
        at: Time,
        (from, to): (Address, Address),
        number: u64,
        message: Shown<'_>,
    ) -> u32 {
        let words = &mut self.words;
        let record = self.writer.event_with(at, from, |writer| Happening::Send {
            message: number,
            to: writer.id(to),
            kind: Label::fixed(message.kind),
            label: label(message.value, words),
            background: message.background,
        });
        if let Some(clock) = self.writer.clock(from) {
            self.carried.leave(number, clock.clone());
        }
        record.map_or(UNRECORDED, |record| record as u32)
    }

    /// A message arrives.
    #[inline(never)]
    fn write_delivery(&mut self, at: Time, (from, to): (Address, Address), stamp: Stamp, message: Shown<'_>) {
        if let Some(sent) = self.carried.end(stamp.number) {
            self.writer.merge(to, &sent);
        }
        let words = &mut self.words;
        self.writer.event_with(at, to, |writer| {
            // It has the words of its sending; they are written only once.
            let sent = writer.records().get(stamp.record as usize);
            let label = match sent.map(|sent| &sent.what) {
                Some(Happening::Send { label, message, .. }) if *message == stamp.number => label.clone(),
                _ => label(message.value, words),
            };
            Happening::Deliver {
                message: stamp.number,
                from: writer.id(from),
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

/// A value in words. The buffer is used again, so that only the words themselves need memory.
fn label(value: &dyn Debug, buffer: &mut String) -> Label {
    buffer.clear();
    // Writing to a text cannot fail.
    let _ = write!(buffer, "{value:?}");
    Label::from(buffer.as_str())
}

impl<P: Process> Observer<P> for Watch<P::Problem> {
    type Stamp = Stamp;

    fn sent(&mut self, at: Time, from: Address, to: Address, message: &P::Message) -> Stamp {
        let size = if self.settled.is_some() { 0 } else { self.digest(1, at, from, to, message) };
        let (number, depth) = self.messages.sent(from, message.kind(), message.is_background(), size as u64);
        let idle = self.writer.is_idle();
        let record =
            if idle { UNRECORDED } else { self.write_sending(at, (from, to), number, Shown::of(message)) };
        Stamp { number, depth, record }
    }

    fn delivered(&mut self, at: Time, from: Address, to: Address, message: &P::Message, stamp: &Stamp) {
        self.messages.delivered(to, stamp.depth);
        if self.settled.is_none() {
            self.digest.event(2, at, to, from);
            self.digest.varint(stamp.number);
        }
        if !self.writer.is_idle() {
            self.write_delivery(at, (from, to), *stamp, Shown::of(message));
        }
    }

    fn duplicated(&mut self, stamp: &Stamp) {
        self.carried.duplicate(stamp.number);
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

    fn all_started(&mut self, at: Time) {
        let broken = self.monitors.all_started(Duration::from_nanos(at), &self.population);
        self.note_violations(at, None, broken);
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
        self.carried.end(number);
        self.digest(3, at, to, from, &number);
        self.writer.note_with(at, Some(to), |writer| Happening::Drop {
            message: number,
            from: writer.id(from),
            why,
        });
    }

    fn has_fired(&mut self, at: Time, process: Address, timer: &dyn Debug, background: bool) {
        self.statistics.timers += 1;
        let words = &mut self.words;
        self.writer.event_with(at, process, |_| Happening::Timer { label: label(timer, words), background });
    }

    fn has_noticed(&mut self, at: Time, process: Address, notice: Notice<'_, Q>) {
        if let Some(settled) = &mut self.settled {
            settled.noticed(process, notice);
            return;
        }
        match notice {
            Notice::Started { recovered } => {
                self.statistics.recoveries += u64::from(recovered);
                self.messages.begin_again(process);
                self.digest(4, at, process, process, &recovered);
                self.become_status(at, process, Some(Status::Idle));
                self.writer.event_with(at, process, |_| Happening::Start { recovered });
                self.observe(at, process, ObservedEvent::Started);
            }
            Notice::Crashed => {
                self.statistics.crashes += 1;
                self.decided.remove(&process);
                self.digest(5, at, process, process, &());
                self.become_status(at, process, None);
                self.writer.event_with(at, process, |_| Happening::Crash);
                self.observe(at, process, ObservedEvent::Crashed);
            }
            Notice::Paused => {
                self.digest(6, at, process, process, &());
                self.writer.event_with(at, process, |_| Happening::Pause);
            }
            Notice::Resumed => {
                self.digest(7, at, process, process, &());
                self.writer.event_with(at, process, |_| Happening::Resume);
            }
            Notice::Command(command) => self.has_commanded(at, process, command),
            Notice::Output(output) => self.has_told(at, process, output),
            Notice::Suspicion(suspicion) => {
                self.digest(11, at, process, process, &suspicion);
                self.writer.event_with(at, process, |writer| match suspicion {
                    Suspicion::Suspect(suspect) => Happening::Suspect { suspect: writer.id(suspect) },
                    Suspicion::Restore(restored) => Happening::Restore { restored: writer.id(restored) },
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
        self.writer.event_with(at, process, |_| Happening::Command {
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
        self.writer.event_with(at, process, |_| Happening::Output {
            label: output.to_string().into(),
            value: serde_json::to_value(output).unwrap_or_default(),
            status,
        });
        self.observe(at, process, ObservedEvent::Output(output));
    }

    fn network_has_changed(&mut self, at: Time, change: NetworkChange<'_>) {
        let named = |writer: &TraceWriter, links: &[(Address, Address)]| {
            links.iter().map(|(from, to)| (writer.id(*from), writer.id(*to))).collect()
        };
        match change {
            NetworkChange::Cut(links) => {
                self.digest(12, at, Address(0), Address(0), &links);
                self.writer.note_with(at, None, |writer| Happening::Cut { links: named(writer, links) });
            }
            NetworkChange::Healed(links) => {
                self.digest(13, at, Address(0), Address(0), &links);
                self.writer.note_with(at, None, |writer| Happening::Heal { links: named(writer, links) });
            }
        }
    }
}
