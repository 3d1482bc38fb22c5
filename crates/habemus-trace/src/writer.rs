//! Makes the records of a trace out of what happens to the processes of a system.

use std::collections::BTreeMap;

use habemus::Address;
use habemus::clock::VectorClock;

use crate::{Happening, Record};

/// Writes down what happens, in the order in which it is told.
///
/// Whoever runs processes knows them by address, and a trace names them by identifier. The writer translates,
/// keeps the vector clocks, and numbers the messages.
#[derive(Clone, Debug)]
pub struct TraceWriter {
    /// The identifiers, by address.
    ids: Vec<u64>,
    /// What each process knows of the events of the others, by address; empty if that is not kept.
    clocks: Vec<VectorClock>,
    next_message: u64,
    records: Vec<Record>,
    /// How many records it holds at most; what happens afterwards is not written down.
    max_records: usize,
}

impl TraceWriter {
    /// A writer for processes with these identifiers, before anything has happened.
    pub fn new(ids: Vec<u64>) -> Self {
        let clocks = vec![VectorClock::default(); ids.len()];
        TraceWriter { ids, clocks, next_message: 0, records: Vec::new(), max_records: usize::MAX }
    }

    /// The same with so many records at most; with none it only keeps clocks.
    #[must_use]
    pub fn at_most(self, max_records: usize) -> Self {
        TraceWriter { max_records, ..self }
    }

    /// The same without vector clocks: in a large system each event would copy a long one.
    #[must_use]
    pub fn without_clocks(self) -> Self {
        TraceWriter { clocks: Vec::new(), ..self }
    }

    /// Whether there is room for another record.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.records.len() < self.max_records
    }

    /// Whether nothing is kept of what it is told: neither clocks nor, from now on, records.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.clocks.is_empty() && !self.has_room()
    }

    /// The identifier of a process.
    pub fn id(&self, process: Address) -> u64 {
        self.ids[process.index()]
    }

    /// The address of a process, if there is one with this identifier.
    pub fn address(&self, id: u64) -> Option<Address> {
        self.ids.iter().position(|other| *other == id).map(|index| Address(index as u32))
    }

    /// The number of the next message to be sent; no other will have it.
    pub fn number(&mut self) -> u64 {
        self.next_message += 1;
        self.next_message - 1
    }

    /// How many messages have a number.
    pub fn numbered(&self) -> u64 {
        self.next_message
    }

    /// Goes on with the numbers of messages from here, if they have not come so far.
    pub fn number_from(&mut self, next: u64) {
        self.next_message = self.next_message.max(next);
    }

    /// What a process knows: the clock that goes with its messages, where clocks are kept.
    #[inline]
    pub fn clock(&self, process: Address) -> Option<&VectorClock> {
        self.clocks.get(process.index())
    }

    /// A process learns all that a message carries, of another process of the same system.
    pub fn merge(&mut self, process: Address, known: &VectorClock) {
        if let Some(clock) = self.clocks.get_mut(process.index()) {
            clock.merge(known);
        }
    }

    /// A process learns what somebody else knew, as from a message. Processes that do not exist are ignored:
    /// what comes over a network may name any.
    pub fn learn(&mut self, process: Address, known: impl IntoIterator<Item = (Address, u32)>) {
        let known = known.into_iter().filter(|(other, _)| other.index() < self.ids.len());
        let known: VectorClock = known.collect();
        self.merge(process, &known);
    }

    /// Counts an event of a process that somebody else writes down.
    #[inline]
    pub fn tick(&mut self, process: Address) {
        if let Some(clock) = self.clocks.get_mut(process.index()) {
            clock.tick(process);
        }
    }

    /// Writes down an event of a process: something that it does or notices.
    pub fn event(&mut self, at: u64, process: Address, what: Happening) {
        self.event_with(at, process, |_| what);
    }

    /// As [`event`](TraceWriter::event), with words that are made only if there is room for them; gives the
    /// number of the record, if there is one.
    #[inline]
    pub fn event_with(
        &mut self,
        at: u64,
        process: Address,
        what: impl FnOnce(&Self) -> Happening,
    ) -> Option<usize> {
        self.tick(process);
        if !self.has_room() {
            return None;
        }
        let what = what(self);
        Some(self.record(at, process, what))
    }

    /// Adds a record with a clock. It is compiled once, and not for each way to find words.
    fn record(&mut self, at: u64, process: Address, what: Happening) -> usize {
        let clock = match self.clock(process) {
            Some(known) => known.iter().map(|(other, ticks)| (self.id(other), ticks)).collect(),
            None => BTreeMap::new(),
        };
        self.records.push(Record { at, process: Some(self.id(process)), clock, what });
        self.records.len() - 1
    }

    /// Writes down something that is no event of a process, and so has no clock: it happens to the network,
    /// or concerns this process, which does not notice.
    pub fn note(&mut self, at: u64, process: Option<Address>, what: Happening) {
        self.note_with(at, process, |_| what);
    }

    /// As [`note`](TraceWriter::note), with words that are made only if there is room for them.
    pub fn note_with(&mut self, at: u64, process: Option<Address>, what: impl FnOnce(&Self) -> Happening) {
        if self.has_room() {
            let (what, process) = (what(self), process.map(|process| self.id(process)));
            self.records.push(Record { at, process, clock: BTreeMap::new(), what });
        }
    }

    /// The records so far.
    #[inline]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are no records, or all have been taken.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All records, when nothing more will happen.
    pub fn into_records(self) -> Vec<Record> {
        self.records
    }

    /// Takes the records that have been written since the last time.
    pub fn drain(&mut self) -> impl Iterator<Item = Record> {
        self.records.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);

    fn clocks(records: &[Record]) -> Vec<Vec<(u64, u32)>> {
        records.iter().map(|record| record.clock.iter().map(|(id, ticks)| (*id, *ticks)).collect()).collect()
    }

    #[test]
    fn an_event_knows_all_that_happened_before_it_and_a_note_knows_nothing() {
        let mut writer = TraceWriter::new(vec![10, 20]);
        writer.event(1, FIRST, Happening::Start { recovered: false });
        writer.event(2, SECOND, Happening::Start { recovered: false });
        let known = writer.clock(FIRST).cloned().expect("clocks are kept");
        writer.learn(SECOND, known.iter());
        writer.event(3, SECOND, Happening::Pause);
        writer.note(4, Some(FIRST), Happening::Violation { property: "E1".into(), explanation: "no".into() });
        writer.note(5, None, Happening::Heal { links: Vec::new() });
        let records: Vec<Record> = writer.drain().collect();
        assert_eq!(
            clocks(&records),
            [vec![(10, 1)], vec![(20, 1)], vec![(10, 1), (20, 2)], Vec::new(), Vec::new()]
        );
        let processes: Vec<_> = records.iter().map(|record| record.process).collect();
        assert_eq!(processes, [Some(10), Some(20), Some(20), Some(10), None]);
        assert!(writer.is_empty());
    }

    #[test]
    fn processes_that_do_not_exist_are_not_learned_of() {
        let mut writer = TraceWriter::new(vec![10]);
        writer.learn(FIRST, [(Address(u32::MAX), 3)]);
        writer.event(1, FIRST, Happening::Crash);
        assert_eq!(clocks(&writer.drain().collect::<Vec<_>>()), [[(10, 1)]]);
        assert_eq!((writer.address(10), writer.address(77)), (Some(FIRST), None));
    }

    #[test]
    fn without_room_clocks_go_on_and_without_clocks_records_do() {
        let mut writer = TraceWriter::new(vec![10]).at_most(1);
        let unneeded = |_: &TraceWriter| unreachable!("there is no room for it");
        assert_eq!(writer.event_with(1, FIRST, |_| Happening::Pause), Some(0));
        assert_eq!(writer.event_with(2, FIRST, unneeded), None);
        writer.note_with(3, None, unneeded);
        assert!(writer.clock(FIRST).is_some_and(|clock| clock.iter().eq([(FIRST, 2)])));
        assert_eq!(writer.records().len(), 1);
        let mut writer = TraceWriter::new(vec![10]).without_clocks();
        writer.event(1, FIRST, Happening::Pause);
        assert!(writer.clock(FIRST).is_none() && writer.records()[0].clock.is_empty());
    }

    #[test]
    fn no_two_messages_have_the_same_number() {
        let mut writer = TraceWriter::new(vec![10]);
        assert_eq!((writer.number(), writer.number()), (0, 1));
        writer.number_from(5);
        writer.number_from(3);
        assert_eq!(writer.number(), 5);
    }
}
