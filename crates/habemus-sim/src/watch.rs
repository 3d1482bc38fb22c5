//! The observer of ordinary runs: statistics, properties, a fingerprint, and the trace if one is wanted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation};
use habemus::{Address, Id, Message, Problem, Process, Status, Suspicion};
use habemus_report::{Standing, Statistics};
use habemus_trace::{Dropped, Happening, Header, Record, Trace};
use serde::Serialize;

use crate::digest::Digest;
use crate::observer::{NetworkChange, Notice, Observer};
use crate::time::Time;

/// Vector clocks are kept in systems of at most this many processes: each event copies one.
pub const CLOCK_LIMIT: usize = 512;

/// A trace holds at most this many records; what happens afterwards is not recorded, and the report says so.
pub const TRACE_LIMIT: usize = 2_000_000;

/// What is attached to a message on its way.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// How long the chain of messages is that led to this one, itself included.
    depth: u32,
    number: u64,
    clock: Option<Arc<VectorClock>>,
}

/// Watches a run.
#[derive(Debug)]
pub struct Watch<P: Process> {
    population: Population,
    statistics: Statistics,
    by_kind: Vec<(&'static str, u64)>,
    /// The longest chain that ends at each process.
    depth: Vec<u32>,
    standing: Standing,
    /// What the processes that are up have decided.
    decided: BTreeMap<Address, String>,
    monitors: Vec<Watched<P::Problem>>,
    clocks: Option<Vec<VectorClock>>,
    digest: Digest,
    buffer: Vec<u8>,
    trace: Option<Trace>,
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

impl<P: Process> Watch<P> {
    /// Watches a system; `trace` is the header of the trace to write, if one is wanted.
    pub fn new(population: Population, trace: Option<Header>) -> Self {
        let count = population.len();
        let monitors = P::Problem::monitors(&population);
        let monitors = monitors.into_iter().map(|monitor| Watched { monitor, violation: None }).collect();
        Watch {
            statistics: Statistics::default(),
            by_kind: Vec::new(),
            depth: vec![0; count],
            standing: Standing::new(count),
            decided: BTreeMap::new(),
            monitors,
            clocks: (count <= CLOCK_LIMIT).then(|| vec![VectorClock::default(); count]),
            digest: Digest::default(),
            buffer: Vec::new(),
            trace: trace.map(|header| Trace { header, records: Vec::new() }),
            population,
        }
    }

    /// The figures so far.
    pub fn statistics(&self) -> Statistics {
        let by_kind = self.by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        let (min_entries, max_entries) = self.standing.min_and_max_entries();
        Statistics { by_kind, min_entries, max_entries, ..self.statistics.clone() }
    }

    /// What became of each property, if the run ends like this.
    pub fn properties(&self, end: End) -> Vec<PropertyReport> {
        let report = |watched: &Watched<P::Problem>| PropertyReport {
            name: watched.monitor.name(),
            demand: watched.monitor.demand(),
            verdict: match &watched.violation {
                Some(violation) => Verdict::Violated(violation.clone()),
                None => watched.monitor.at_end(end, &self.population),
            },
        };
        self.monitors.iter().map(report).collect()
    }

    /// The monitors themselves, for what else they know.
    pub fn monitors(&self) -> impl Iterator<Item = &<P::Problem as Problem>::Monitor> {
        self.monitors.iter().map(|watched| &watched.monitor)
    }

    /// What each process is; `None` while it is down.
    pub fn status(&self, address: Address) -> Option<Status> {
        self.standing.status(address)
    }

    /// Who entered, in order (the first ten thousand entries).
    pub fn entered(&self) -> &[Address] {
        self.standing.entered()
    }

    /// What each process is, and what follows from it.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// What the processes that are up have decided, of those that have.
    pub fn decided(&self) -> impl Iterator<Item = (Address, &str)> {
        self.decided.iter().map(|(address, decision)| (*address, decision.as_str()))
    }

    /// The leader that every live process names, if it is alive and knows it.
    pub fn agreed_leader(&self) -> Option<Id> {
        self.standing.agreed_leader(&self.population)
    }

    /// The fingerprint of everything that happened so far.
    pub fn fingerprint(&self) -> u64 {
        self.digest.value()
    }

    /// Whether the trace became too long to hold everything.
    pub fn trace_is_cut(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.records.len() >= TRACE_LIMIT)
    }

    fn is_recording(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.records.len() < TRACE_LIMIT)
    }

    /// Takes the trace out, if one was written.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    fn id(&self, address: Address) -> u64 {
        self.population.id(address).0
    }

    /// Counts an event of `process` on its vector clock.
    fn tick(&mut self, process: Address) {
        if let Some(clocks) = &mut self.clocks {
            clocks[process.index()].tick(process);
        }
    }

    fn record(&mut self, at: Time, process: Option<Address>, what: impl FnOnce(&Self) -> Happening) {
        if !self.is_recording() {
            return;
        }
        let what = what(self);
        let clock = match (&self.clocks, process) {
            (Some(clocks), Some(process)) => clock_record(&clocks[process.index()], &self.population),
            _ => BTreeMap::new(),
        };
        let process = process.map(|process| self.id(process));
        if let Some(trace) = &mut self.trace {
            trace.records.push(Record { at, process, clock, what });
        }
    }

    /// Records something about a process that is no event of its own, and so has no clock.
    fn note(&mut self, at: Time, process: Address, what: impl FnOnce(&Self) -> Happening) {
        if !self.is_recording() {
            return;
        }
        let (what, process) = (what(self), Some(self.id(process)));
        if let Some(trace) = &mut self.trace {
            trace.records.push(Record { at, process, clock: BTreeMap::new(), what });
        }
    }

    /// Adds an event to the fingerprint.
    fn digest(&mut self, tag: u64, at: Time, one: Address, other: Address, value: &impl Serialize) {
        self.serialise(value);
        self.digest.number(tag | (u64::from(one.0) << 8));
        self.digest.number(at);
        self.digest.number(u64::from(other.0));
        self.digest.bytes(&self.buffer);
    }

    fn serialise(&mut self, value: &impl Serialize) {
        self.buffer.clear();
        let buffer = std::mem::take(&mut self.buffer);
        self.buffer = postcard::to_extend(value, buffer).expect("a plain value can always be serialised");
    }

    fn observe(&mut self, at: Time, process: Address, what: ObservedEvent<'_, P::Problem>) {
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
}

impl<P: Process> Observer<P> for Watch<P> {
    type Stamp = Stamp;

    fn sent(&mut self, at: Time, from: Address, to: Address, message: &P::Message) -> Stamp {
        let kind = message.kind();
        match self.by_kind.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.by_kind.push((kind, 1)),
        }
        let number = self.statistics.messages;
        self.statistics.messages += 1;
        self.statistics.background += u64::from(message.is_background());
        self.digest(1, at, from, to, message);
        self.statistics.bytes += self.buffer.len() as u64;
        self.statistics.largest = self.statistics.largest.max(self.buffer.len() as u64);
        self.tick(from);
        self.record(at, Some(from), |watch| Happening::Send {
            message: number,
            to: watch.id(to),
            kind: kind.to_owned(),
            label: format!("{message:?}"),
            background: message.is_background(),
        });
        let clock = self.clocks.as_ref().map(|clocks| Arc::new(clocks[from.index()].clone()));
        Stamp { depth: self.depth[from.index()] + 1, number, clock }
    }

    fn delivered(&mut self, at: Time, from: Address, to: Address, message: &P::Message, stamp: &Stamp) {
        self.statistics.delivered += 1;
        let depth = &mut self.depth[to.index()];
        *depth = stamp.depth.max(*depth);
        self.statistics.longest_chain = self.statistics.longest_chain.max(stamp.depth);
        self.digest(2, at, to, from, &stamp.number);
        if let (Some(clocks), Some(sent)) = (&mut self.clocks, &stamp.clock) {
            clocks[to.index()].merge(sent);
        }
        self.tick(to);
        self.record(at, Some(to), |watch| Happening::Deliver {
            message: stamp.number,
            from: watch.id(from),
            kind: message.kind().to_owned(),
            label: format!("{message:?}"),
            background: message.is_background(),
        });
    }

    fn dropped(&mut self, at: Time, from: Address, to: Address, stamp: &Stamp, why: Dropped) {
        self.statistics.dropped += 1;
        self.digest(3, at, to, from, &stamp.number);
        self.note(at, to, |watch| Happening::Drop { message: stamp.number, from: watch.id(from), why });
    }

    fn noticed(&mut self, at: Time, process: Address, notice: Notice<'_, P>) {
        self.tick(process);
        match notice {
            Notice::Started { recovered } => {
                self.statistics.recoveries += u64::from(recovered);
                self.depth[process.index()] = 0;
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
            Notice::Timer(timer) => {
                self.statistics.timers += 1;
                self.digest(8, at, process, process, timer);
                self.record(at, Some(process), |_| Happening::Timer {
                    label: format!("{timer:?}"),
                    background: P::is_background(timer),
                });
            }
            Notice::Command(command) => {
                self.digest(9, at, process, process, command);
                let status = P::Problem::status_after_command(command);
                let idle = self.standing.status(process) == Some(Status::Idle);
                if let (Some(status), true) = (status, idle) {
                    self.become_status(at, process, Some(status));
                }
                self.record(at, Some(process), |_| Happening::Command {
                    label: command.to_string(),
                    value: serde_json::to_value(command).unwrap_or_default(),
                    status,
                });
                self.observe(at, process, ObservedEvent::Command(command));
            }
            Notice::Output(output) => {
                self.digest(10, at, process, process, output);
                if let Some(decision) = P::Problem::decision(output) {
                    self.decided.insert(process, decision);
                }
                let status = P::Problem::status_after_output(output);
                if let Some(status) = status {
                    self.become_status(at, process, Some(status));
                }
                self.record(at, Some(process), |_| Happening::Output {
                    label: output.to_string(),
                    value: serde_json::to_value(output).unwrap_or_default(),
                    status,
                });
                self.observe(at, process, ObservedEvent::Output(output));
            }
            Notice::Suspicion(suspicion) => {
                self.digest(11, at, process, process, &suspicion);
                self.record(at, Some(process), |watch| match suspicion {
                    Suspicion::Suspect(suspect) => Happening::Suspect { suspect: watch.id(suspect) },
                    Suspicion::Restore(restored) => Happening::Restore { restored: watch.id(restored) },
                });
            }
        }
    }

    fn network_changed(&mut self, at: Time, change: NetworkChange<'_>) {
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

    fn agreed(&self) -> bool {
        self.agreed_leader().is_some()
    }
}
/// A vector clock as a trace writes it. It stands apart from [`Watch`], which is compiled for every process.
fn clock_record(clock: &VectorClock, population: &Population) -> BTreeMap<u64, u32> {
    clock.iter().map(|(other, ticks)| (population.id(other).0, ticks)).collect()
}
