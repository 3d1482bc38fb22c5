//! Reads that must see everything that was answered before: they wait until the leader has shown that it
//! still leads.

use std::collections::BTreeMap;

use crate::batch::RequestId;

/// Reads on their way.
pub(crate) struct Reads {
    /// Nobody was asked about these yet.
    waiting: Vec<Read>,
    /// The leader was asked about these together, by the number of the question.
    asked: BTreeMap<u64, Asked>,
    /// These may be answered when everything up to an index is applied.
    confirmed: BTreeMap<u64, Vec<RequestId>>,
    /// Who asks, so that nobody takes the answer to another's question.
    asker: [u8; 16],
    next: u64,
}

#[derive(Clone, Copy)]
struct Read {
    request: RequestId,
    since: u64,
}

struct Asked {
    reads: Vec<Read>,
    at: u64,
}

impl Reads {
    pub(crate) fn new(member: u64, life: u64) -> Reads {
        let mut asker = [0; 16];
        asker[..8].copy_from_slice(&member.to_le_bytes());
        asker[8..].copy_from_slice(&life.to_le_bytes());
        Reads { waiting: Vec::new(), asked: BTreeMap::new(), confirmed: BTreeMap::new(), asker, next: 0 }
    }

    pub(crate) fn add(&mut self, request: RequestId, tick: u64) {
        self.waiting.push(Read { request, since: tick });
    }

    /// Whether nobody waits for an answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty() && self.confirmed.is_empty()
    }

    /// The question about all that wait, if any do.
    pub(crate) fn question(&mut self, tick: u64) -> Option<Vec<u8>> {
        if self.waiting.is_empty() {
            return None;
        }
        self.next += 1;
        self.asked.insert(self.next, Asked { reads: std::mem::take(&mut self.waiting), at: tick });
        Some([&self.asker[..], &self.next.to_le_bytes()].concat())
    }

    /// The leader has shown that it led after `question` was asked, when it had committed everything up to
    /// `index`.
    pub(crate) fn confirm(&mut self, question: &[u8], index: u64) {
        let Some(number) = question.strip_prefix(&self.asker) else { return };
        let Ok(number) = number.try_into().map(u64::from_le_bytes) else { return };
        if let Some(asked) = self.asked.remove(&number) {
            let requests = asked.reads.iter().map(|read| read.request);
            self.confirmed.entry(index).or_default().extend(requests);
        }
    }

    /// What may be read when everything up to `applied` is.
    pub(crate) fn readable(&mut self, applied: u64) -> Vec<RequestId> {
        let later = self.confirmed.split_off(&(applied + 1));
        std::mem::replace(&mut self.confirmed, later).into_values().flatten().collect()
    }

    /// Asks again about what was asked `retry` ticks ago, for a question may be lost; and gives up what has
    /// waited for `patience` ticks.
    pub(crate) fn tick(&mut self, tick: u64, retry: u64, patience: u64) -> Vec<RequestId> {
        let late: Vec<u64> =
            self.asked.iter().filter(|(_, it)| tick >= it.at + retry).map(|(number, _)| *number).collect();
        for number in late {
            self.waiting.extend(self.asked.remove(&number).into_iter().flat_map(|it| it.reads));
        }
        let given_up = self.waiting.extract_if(.., |read| tick >= read.since + patience);
        given_up.map(|read| read.request).collect()
    }
}
