//! Traces made by hand, for the tests of the pictures.

use std::collections::BTreeMap;

use habemus::{ProblemKind, Status};
use habemus_trace::{Dropped, FORMAT, Happening, Header, Label, Record, Trace};
use serde_json::Value;

/// Writes a trace event by event and keeps the vector clocks. Time stands still until it is moved.
pub(crate) struct Recorder {
    trace: Trace,
    now: u64,
    clocks: BTreeMap<u64, BTreeMap<u64, u32>>,
    posted: Vec<Posted>,
}

/// A message that was sent.
struct Posted {
    from: u64,
    to: u64,
    label: Label,
    background: bool,
    clock: BTreeMap<u64, u32>,
}

impl Recorder {
    /// A run in which all processes start at once.
    pub(crate) fn new(algorithm: &str, problem: ProblemKind, topology: &str, processes: &[u64]) -> Recorder {
        let header = Header {
            format: FORMAT,
            algorithm: algorithm.into(),
            problem,
            title: None,
            processes: processes.into(),
            topology: topology.into(),
            seed: None,
            origin: None,
            cycle: None,
        };
        let trace = Trace { header, records: Vec::new() };
        let mut recorder = Recorder { trace, now: 0, clocks: BTreeMap::new(), posted: Vec::new() };
        for &process in processes {
            recorder.happens(process, Happening::Start { recovered: false });
        }
        recorder
    }

    pub(crate) fn titled(mut self, title: &str, seed: u64) -> Recorder {
        self.trace.header.title = Some(title.into());
        self.trace.header.seed = Some(seed);
        self
    }

    /// Moves the time to so many microseconds after the beginning.
    pub(crate) fn at(&mut self, microseconds: u64) -> &mut Recorder {
        self.now = microseconds * 1_000;
        self
    }

    /// Something happens at a process, and its clock counts it.
    pub(crate) fn happens(&mut self, process: u64, what: Happening) -> &mut Recorder {
        let clock = self.clocks.entry(process).or_default();
        *clock.entry(process).or_default() += 1;
        let record = Record { at: self.now, process: Some(process), clock: clock.clone(), what };
        self.trace.records.push(record);
        self
    }

    /// Something happens that no process notices.
    pub(crate) fn unnoticed(&mut self, process: Option<u64>, what: Happening) -> &mut Recorder {
        let record = Record { at: self.now, process, clock: BTreeMap::new(), what };
        self.trace.records.push(record);
        self
    }

    /// Sends a message and returns its number.
    pub(crate) fn send(&mut self, from: u64, to: u64, label: &str) -> u64 {
        self.post(from, to, label, false)
    }

    pub(crate) fn send_background(&mut self, from: u64, to: u64, label: &str) -> u64 {
        self.post(from, to, label, true)
    }

    fn post(&mut self, from: u64, to: u64, label: &str, background: bool) -> u64 {
        let message = self.posted.len() as u64;
        let (kind, label) = (kind(label), Label::from(label));
        self.happens(from, Happening::Send { message, to, kind, label: label.clone(), background });
        let clock = self.clocks[&from].clone();
        self.posted.push(Posted { from, to, label, background, clock });
        message
    }

    /// Sends the same to each of these, and returns the numbers.
    pub(crate) fn send_all(&mut self, from: u64, to: &[u64], label: &str) -> Vec<u64> {
        to.iter().map(|&to| self.send(from, to, label)).collect()
    }

    pub(crate) fn deliver(&mut self, message: u64) -> &mut Recorder {
        let posted = &self.posted[message as usize];
        let (from, to, background) = (posted.from, posted.to, posted.background);
        let (kind, label) = (kind(&posted.label), posted.label.clone());
        let clock = self.clocks.entry(to).or_default();
        for (&id, &count) in &posted.clock {
            let known = clock.entry(id).or_default();
            *known = count.max(*known);
        }
        self.happens(to, Happening::Deliver { message, from, kind, label, background })
    }

    /// Who a message is for.
    pub(crate) fn receiver(&self, message: u64) -> u64 {
        self.posted[message as usize].to
    }

    pub(crate) fn lose(&mut self, message: u64, why: Dropped) -> &mut Recorder {
        let posted = &self.posted[message as usize];
        let (from, to) = (posted.from, posted.to);
        self.unnoticed(Some(to), Happening::Drop { message, from, why })
    }

    pub(crate) fn command(&mut self, process: u64, label: &str, status: Option<Status>) -> &mut Recorder {
        let value = Value::from(label);
        self.happens(process, Happening::Command { label: label.into(), value, status })
    }

    pub(crate) fn output(&mut self, process: u64, label: &str, status: Option<Status>) -> &mut Recorder {
        let value = Value::from(label);
        self.happens(process, Happening::Output { label: label.into(), value, status })
    }

    pub(crate) fn timer(&mut self, process: u64, label: &str) -> &mut Recorder {
        self.happens(process, Happening::Timer { label: label.into(), background: false })
    }

    pub(crate) fn crash(&mut self, process: u64) -> &mut Recorder {
        self.happens(process, Happening::Crash)
    }

    pub(crate) fn recover(&mut self, process: u64) -> &mut Recorder {
        self.happens(process, Happening::Start { recovered: true })
    }

    pub(crate) fn suspect(&mut self, process: u64, suspect: u64) -> &mut Recorder {
        self.happens(process, Happening::Suspect { suspect })
    }

    pub(crate) fn restore(&mut self, process: u64, restored: u64) -> &mut Recorder {
        self.happens(process, Happening::Restore { restored })
    }

    /// Cuts all links between the two sides.
    pub(crate) fn cut(&mut self, left: &[u64], right: &[u64]) -> &mut Recorder {
        self.unnoticed(None, Happening::Cut { links: between(left, right) })
    }

    pub(crate) fn heal(&mut self, left: &[u64], right: &[u64]) -> &mut Recorder {
        self.unnoticed(None, Happening::Heal { links: between(left, right) })
    }

    pub(crate) fn violation(&mut self, property: &str, explanation: &str) -> &mut Recorder {
        let (property, explanation) = (property.into(), explanation.into());
        self.unnoticed(None, Happening::Violation { property, explanation })
    }

    pub(crate) fn finish(self) -> Trace {
        self.trace
    }
}

fn kind(label: &str) -> Label {
    label.split('(').next().unwrap_or_default().into()
}

fn between(left: &[u64], right: &[u64]) -> Vec<(u64, u64)> {
    let pairs = left.iter().flat_map(|&l| right.iter().map(move |&r| (l, r)));
    pairs.flat_map(|(l, r)| [(l, r), (r, l)]).collect()
}
