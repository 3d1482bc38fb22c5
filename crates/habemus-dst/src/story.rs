//! What happened, as a trace that can be drawn: machines and clients are its processes.

use std::collections::BTreeSet;

use habemus::{Address, Id, ProblemKind, Status};
use habemus_replica::{MemberId, PeerMessage, Role};
use habemus_trace::{Dropped, FORMAT, Happening, Header, Label, Trace, TraceWriter};
use serde_json::json;

use crate::client::{Ask, Reply};
use crate::clock::Micros;

/// Clients are numbered from here on, so that nobody takes them for machines.
const FIRST_CLIENT: u64 = 101;

/// Writes down what happens, if somebody wants to see it; else it costs nothing.
pub(crate) struct Story {
    writer: TraceWriter,
    machines: usize,
    seed: u64,
}

/// A message under way, as the story knows it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    number: u64,
    from: Address,
    kind: Label,
    background: bool,
}

impl Story {
    /// No more machines than this will ever be there.
    pub(crate) fn new(seed: u64, machines: usize, clients: usize) -> Story {
        let machine_ids = 1..=machines as u64;
        let client_ids = (0..clients as u64).map(|client| FIRST_CLIENT + client);
        let writer = TraceWriter::new(machine_ids.chain(client_ids).collect()).without_clocks();
        Story { writer, machines, seed }
    }

    fn machine(id: MemberId) -> Address {
        Address(id.0 as u32 - 1)
    }

    fn client(&self, client: usize) -> Address {
        Address((self.machines + client) as u32)
    }

    pub(crate) fn started(&mut self, at: Micros, id: MemberId, recovered: bool) {
        self.writer.event(at * 1000, Story::machine(id), Happening::Start { recovered });
    }

    pub(crate) fn crashed(&mut self, at: Micros, id: MemberId) {
        self.writer.event(at * 1000, Story::machine(id), Happening::Crash);
    }

    pub(crate) fn role(&mut self, at: Micros, id: MemberId, role: Role) {
        let (label, status) = match role.leader {
            Some(_) if role.leads => (format!("leads, term {}", role.term), Status::Leading),
            Some(leader) => (format!("follows {leader}"), Status::Following(Some(Id(leader.0)))),
            None => ("nobody leads".to_owned(), Status::Idle),
        };
        self.say(at, Story::machine(id), label, status);
    }

    /// A client believes to be inside of this with this token, or not any more.
    pub(crate) fn believes(&mut self, at: Micros, client: usize, inside: Option<(&[u8], u64)>) {
        let (label, status) = match inside {
            Some((name, token)) => (format!("inside {}, token {token}", name.escape_ascii()), Status::Inside),
            None => ("outside".to_owned(), Status::Idle),
        };
        self.say(at, self.client(client), label, status);
    }

    fn say(&mut self, at: Micros, process: Address, label: String, status: Status) {
        let value = json!(label);
        self.writer.event(
            at * 1000,
            process,
            Happening::Output { label: label.into(), value, status: Some(status) },
        );
    }

    /// Something went wrong that is no event of a machine, in words.
    pub(crate) fn cut(&mut self, at: Micros, links: Vec<(u64, u64)>) {
        self.writer.note(at * 1000, None, Happening::Cut { links });
    }

    pub(crate) fn healed(&mut self, at: Micros, links: Vec<(u64, u64)>) {
        if !links.is_empty() {
            self.writer.note(at * 1000, None, Happening::Heal { links });
        }
    }

    fn send(&mut self, at: Micros, from: Address, to: Address, kind: Label, background: bool) -> Told {
        let number = self.writer.number();
        let (label, to) = (kind.clone(), self.writer.id(to));
        let sent = Happening::Send { message: number, to, kind: kind.clone(), label, background };
        self.writer.event(at * 1000, from, sent);
        Told { number, from, kind, background }
    }

    pub(crate) fn sent(&mut self, at: Micros, from: MemberId, to: MemberId, message: &PeerMessage) -> Told {
        let kind = message.kind();
        let (from, to) = (Story::machine(from), Story::machine(to));
        self.send(at, from, to, Label::fixed(kind), kind.starts_with("Heartbeat"))
    }

    pub(crate) fn asked(&mut self, at: Micros, client: usize, machine: MemberId, ask: &Ask) -> Told {
        let background = matches!(ask, Ask::Command(habemus_store::Command::RenewSessions(_)));
        let (from, to) = (self.client(client), Story::machine(machine));
        self.send(at, from, to, Label::fixed(ask.kind()), background)
    }

    pub(crate) fn answered(&mut self, at: Micros, machine: MemberId, client: usize, reply: &Reply) -> Told {
        let (from, to) = (Story::machine(machine), self.client(client));
        let background = matches!(reply, Reply::Events(_));
        self.send(at, from, to, Label::fixed(reply.kind()), background)
    }

    fn deliver(&mut self, at: Micros, to: Address, told: &Told) {
        let from = self.writer.id(told.from);
        let Told { number, kind, background, .. } = told.clone();
        let label = kind.clone();
        self.writer.event(
            at * 1000,
            to,
            Happening::Deliver { message: number, from, kind, label, background },
        );
    }

    pub(crate) fn arrived_at_machine(&mut self, at: Micros, to: MemberId, told: &Told) {
        self.deliver(at, Story::machine(to), told);
    }

    pub(crate) fn arrived_at_client(&mut self, at: Micros, client: usize, told: &Told) {
        self.deliver(at, self.client(client), told);
    }

    pub(crate) fn lost(&mut self, at: Micros, to: MemberId, told: &Told, why: Dropped) {
        let from = self.writer.id(told.from);
        let dropped = Happening::Drop { message: told.number, from, why };
        self.writer.note(at * 1000, Some(Story::machine(to)), dropped);
    }

    /// The whole of it, with those who took part.
    pub(crate) fn end(mut self, at: Micros, violation: Option<&str>) -> Trace {
        if let Some(explanation) = violation {
            let (property, explanation) = ("promise".to_owned(), explanation.to_owned());
            self.writer.note(at * 1000, None, Happening::Violation { property, explanation });
        }
        let seed = self.seed;
        let records = self.writer.into_records();
        let mut processes: Vec<u64> = records.iter().filter_map(|record| record.process).collect();
        processes.sort_unstable();
        processes.dedup();
        let header = Header {
            format: FORMAT,
            algorithm: "habemusd".to_owned(),
            problem: ProblemKind::MutualExclusion,
            title: Some(format!("The service under fire, seed {seed}: clients from {FIRST_CLIENT} on")),
            processes,
            topology: "complete".to_owned(),
            seed: Some(seed),
            origin: None,
            cycle: None,
        };
        Trace { header, records }
    }
}

/// The end of a trace: so many records, without messages that were sent before, and without heartbeats and
/// renewals.
pub fn ending(trace: Trace, count: usize) -> Trace {
    let Trace { mut header, mut records } = trace;
    let is_background = |what: &Happening| match what {
        Happening::Send { background, .. } | Happening::Deliver { background, .. } => *background,
        _ => false,
    };
    records.retain(|record| !is_background(&record.what));
    records.drain(..records.len().saturating_sub(count));
    let mut sent = BTreeSet::new();
    records.retain(|record| match (&record.what, record.message()) {
        (Happening::Send { .. }, Some(message)) => sent.insert(message),
        (_, Some(message)) => sent.contains(&message),
        (_, None) => true,
    });
    let seen: BTreeSet<u64> = records.iter().filter_map(|record| record.process).collect();
    header.processes.retain(|process| seen.contains(process));
    Trace { header, records }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus_trace::draw;

    #[test]
    fn a_run_can_be_drawn_and_its_end_has_no_message_without_its_sending() {
        let outcome = crate::play(2);
        let trace = ending(crate::tell(2, outcome.script), 300);
        assert!(trace.records.len() > 100 && trace.records.len() <= 300);
        let drawn = draw::text(&trace, &draw::Options::default());
        assert!(drawn.lines().count() > 20);
        let mut bytes = Vec::new();
        trace.write(&mut bytes).expect("memory takes it");
        assert_eq!(Trace::read(&bytes[..]).expect("it was just written"), trace);
    }
}
