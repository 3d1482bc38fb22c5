//! What happened, as records: which belong to one event, what became of each message, and what stands out.

use std::collections::HashMap;

use habemus::Status;
use habemus_trace::{Happening, MessageId, Record};

use crate::frame::SlideMark;

/// No more marks than this are shown below the slider.
const MAX_MARKS: usize = 400;

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The processes, by column.
    ids: Vec<u64>,
    records: Vec<Record>,
    /// How many records there were after so many events.
    after: Vec<u32>,
    passages: Vec<Passage>,
    by_message: HashMap<MessageId, u32>,
    marks: Vec<SlideMark>,
    violations: Vec<(u64, u32)>,
}

/// What became of a message: the records that tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Which message.
    pub message: MessageId,
    /// Of its sending.
    pub sent: u32,
    /// Of its first arrival.
    pub delivered: Option<u32>,
    /// Of its loss.
    pub dropped: Option<u32>,
}

impl History {
    /// The beginning of a run among these processes: event 0.
    pub fn begin(ids: Vec<u64>, records: Vec<Record>) -> Self {
        let mut history = History { ids, ..History::default() };
        history.note(records);
        history
    }

    /// The same as it was after so many events.
    pub fn until(&self, events: u64) -> Self {
        let mut history = History { ids: self.ids.clone(), ..History::default() };
        let mut begin = 0;
        for end in self.after.iter().take(events as usize + 1).map(|end| *end as usize) {
            history.note(self.records[begin..end].to_vec());
            begin = end;
        }
        history
    }

    /// Takes note of the records of one more event.
    pub fn note(&mut self, records: Vec<Record>) {
        let event = self.after.len() as u64;
        for record in records {
            self.follow(event, &record);
            self.records.push(record);
        }
        self.after.push(self.records.len() as u32);
    }

    /// Takes note of a record that comes after the others: whatever a process does about an event belongs to
    /// it.
    pub fn add(&mut self, record: Record) {
        let is_effect = matches!(
            record.what,
            Happening::Send { .. } | Happening::Output { .. } | Happening::Violation { .. }
        );
        let same = self.records.last().is_some_and(|last| {
            last.process == record.process || matches!(record.what, Happening::Violation { .. })
        });
        if is_effect && same && self.known() > 0 {
            self.follow(self.known(), &record);
            self.records.push(record);
            if let Some(last) = self.after.last_mut() {
                *last += 1;
            }
        } else {
            self.note(vec![record]);
        }
    }

    fn follow(&mut self, event: u64, record: &Record) {
        let place = self.records.len() as u32;
        match (&record.what, record.message()) {
            (Happening::Send { .. }, Some(message)) => {
                self.by_message.insert(message, self.passages.len() as u32);
                self.passages.push(Passage { message, sent: place, delivered: None, dropped: None });
            }
            (Happening::Deliver { .. }, Some(message)) => {
                if let Some(passage) = self.passage_mut(message) {
                    passage.delivered = passage.delivered.or(Some(place));
                }
            }
            (Happening::Drop { .. }, Some(message)) => {
                if let Some(passage) = self.passage_mut(message) {
                    passage.dropped = passage.dropped.or(Some(place));
                }
            }
            (Happening::Violation { .. }, _) => self.violations.push((event, place)),
            _ => {}
        }
        self.mark(event, &record.what);
    }

    fn mark(&mut self, event: u64, what: &Happening) {
        let kind = match what {
            Happening::Crash | Happening::Pause | Happening::Cut { .. } => "fault",
            Happening::Start { recovered: true } => "fault",
            Happening::Violation { .. } => "violation",
            Happening::Output {
                status: Some(Status::Leading | Status::Inside | Status::Decided), ..
            } => "result",
            _ => return,
        };
        let mark = SlideMark { event, kind };
        if self.marks.len() < MAX_MARKS && self.marks.last() != Some(&mark) {
            self.marks.push(mark);
        }
    }

    fn passage_mut(&mut self, message: MessageId) -> Option<&mut Passage> {
        let place = *self.by_message.get(&message)?;
        self.passages.get_mut(place as usize)
    }

    /// What became of a message.
    pub fn passage(&self, message: MessageId) -> Option<&Passage> {
        let place = *self.by_message.get(&message)?;
        self.passages.get(place as usize)
    }

    /// What became of each message, in the order in which they were sent.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// The processes, by column.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// How many events there are, without the beginning.
    pub fn known(&self) -> u64 {
        self.after.len().saturating_sub(1) as u64
    }

    /// All records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many records there were after so many events.
    pub fn records_after(&self, events: u64) -> usize {
        let place = (events as usize).min(self.after.len().saturating_sub(1));
        self.after.get(place).copied().unwrap_or_default() as usize
    }

    /// The records of one event; those of event 0 are of the beginning.
    pub fn records_of(&self, event: u64) -> &[Record] {
        let begin = if event == 0 { 0 } else { self.records_after(event - 1) };
        &self.records[begin..self.records_after(event)]
    }

    /// With which event a record was written.
    pub fn event_of(&self, record: usize) -> u64 {
        self.after.partition_point(|after| *after as usize <= record) as u64
    }

    /// The first event after which this one and another differ, if they do.
    pub fn differs(&self, other: &History) -> Option<u64> {
        let same = self.records.iter().zip(&other.records).take_while(|(one, other)| one == other).count();
        if same == self.records.len() && same == other.records.len() {
            return None;
        }
        Some(self.event_of(same).min(other.event_of(same)))
    }

    /// When an event took place; one that nothing is recorded of, when the last before it did.
    pub fn time_of(&self, event: u64) -> u64 {
        let end = self.after.get(event as usize).map_or(self.records.len(), |end| *end as usize);
        self.records[..end].last().map_or(0, |record| record.at)
    }

    /// What stands out, for the slider.
    pub fn marks(&self) -> &[SlideMark] {
        &self.marks
    }

    /// When properties were broken: which, and with which event.
    pub fn violations(&self) -> impl Iterator<Item = (u64, &str)> {
        self.violations.iter().filter_map(|(event, place)| match &self.records[*place as usize].what {
            Happening::Violation { property, .. } => Some((*event, property.as_str())),
            _ => None,
        })
    }
}
