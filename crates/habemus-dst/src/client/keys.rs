//! A client that writes, reads, swaps and deletes keys.

use std::collections::BTreeMap;

use bytes::Bytes;
use habemus_store::{
    Answer, Command, Compare, Delete, KeyRange, Operand, Operation, Put, Relation, Revision, Txn,
};

use super::{Ask, Hands, Reply};
use crate::clock::Micros;
use crate::history::Judge;
use crate::linearizability::{KeyAct, KeyCall, KeyResult};

/// So many keys are fought for.
const KEYS: u64 = 4;
/// A call that is not answered by then is given up.
const PATIENCE: Micros = 3_000_000;

/// A client that writes, reads, swaps and deletes keys.
#[derive(Default)]
pub(crate) struct KeyClient {
    /// What it waits for.
    present: Option<(u64, KeyAct, Micros)>,
    /// When it goes on.
    rests_until: Micros,
    /// What it last knew of each key.
    known: BTreeMap<Bytes, Option<Bytes>>,
    /// How many calls were answered.
    pub(crate) answered: u64,
}

/// Long after everything is over.
const NEVER: Micros = Micros::MAX / 4;

impl KeyClient {
    pub(super) fn next_wake(&self, is_ending: bool) -> Micros {
        match &self.present {
            Some((_, _, invoked)) => invoked + PATIENCE + 1,
            None if is_ending => NEVER,
            None => self.rests_until,
        }
    }

    pub(super) fn begin_anew(&mut self) {
        self.present = None;
        self.known.clear();
    }

    pub(crate) fn wake(&mut self, hands: &mut Hands<'_>) {
        if let Some((_, act, invoked)) = self.present.take_if(|(_, _, at)| hands.now > *at + PATIENCE) {
            self.conclude(act, invoked, KeyResult::Unknown, hands);
            hands.switches = true;
        }
        if self.present.is_none() && hands.now >= self.rests_until && !hands.is_ending {
            let act = self.draw(hands);
            let call = hands.ask(ask_for(&act));
            self.present = Some((call, act, hands.now));
        }
    }

    pub(crate) fn hear(&mut self, call: u64, reply: Reply, hands: &mut Hands<'_>) {
        let Some((_, act, invoked)) = self.present.take_if(|(present, ..)| *present == call) else { return };
        let result = match (&act, reply) {
            (KeyAct::Put { .. }, Reply::Applied { answer: Ok(Answer::Put { before }), revision }) => {
                KeyResult::Put { revision, before: before.map(|before| before.value.clone()) }
            }
            (KeyAct::Get { .. }, Reply::Found { revision, value }) => KeyResult::Got { revision, value },
            (KeyAct::Leader { .. }, Reply::Found { revision, value }) => KeyResult::Got { revision, value },
            (KeyAct::GetAll { .. }, Reply::FoundAll { revision, values }) => {
                KeyResult::GotAll { revision, values }
            }
            (
                KeyAct::Swap { .. } | KeyAct::Both { .. },
                Reply::Applied { answer: Ok(Answer::Txn(answer)), revision },
            ) => KeyResult::Swapped { revision, succeeded: answer.succeeded },
            (KeyAct::Delete { .. }, Reply::Applied { answer: Ok(Answer::Deleted(before)), revision }) => {
                KeyResult::Deleted { revision, before: before.first().map(|before| before.value.clone()) }
            }
            (_, Reply::Refused) => KeyResult::Refused,
            (_, Reply::Unknown) => KeyResult::Unknown,
            (act, reply) => {
                hands.history.violated(Judge::Keys, format!("{act:?} was answered by {reply:?}"));
                KeyResult::Unknown
            }
        };
        hands.switches |= matches!(result, KeyResult::Refused | KeyResult::Unknown);
        self.conclude(act, invoked, result, hands);
    }

    fn conclude(&mut self, act: KeyAct, invoked: Micros, result: KeyResult, hands: &mut Hands<'_>) {
        let known = match (&act, &result) {
            (_, KeyResult::Refused | KeyResult::Unknown) => None,
            (_, KeyResult::Got { value, .. }) => Some(value.clone()),
            (KeyAct::Put { value, .. } | KeyAct::Swap { value, .. }, _) => Some(Some(value.clone())),
            (KeyAct::Both { values, .. }, _) => Some(Some(values[0].clone())),
            _ => Some(None),
        };
        if let Some(known) = known {
            self.known.insert(act.key().clone(), known);
            self.answered += 1;
        }
        self.rests_until = hands.now + hands.random.between(1_000, hands.think);
        let answered = !matches!(result, KeyResult::Unknown);
        let responded = if answered { Some(hands.now) } else { None };
        hands.history.key_calls.push(KeyCall { client: hands.client, act, invoked, responded, result });
    }

    fn draw(&self, hands: &mut Hands<'_>) -> KeyAct {
        let key = Bytes::from(format!("k{}", hands.random.below(KEYS)));
        let value = Bytes::from(format!("{}.{}", hands.client, *hands.calls));
        match hands.random.below(14) {
            0..4 => KeyAct::Put { key, value },
            4..7 => KeyAct::Get { key },
            7..9 => {
                let expected = self.known.get(&key).cloned().flatten();
                KeyAct::Swap { key, expected, value }
            }
            9 => KeyAct::Delete { key },
            10 => KeyAct::GetAll { key: Bytes::from_static(b"k") },
            11 => KeyAct::Leader { key: Bytes::from_static(b"leader/") },
            _ => {
                let other = Bytes::from(format!("p{}", hands.random.below(KEYS)));
                let expected = self.known.get(&key).cloned().flatten();
                let second = Bytes::from([&value[..], b"'"].concat());
                KeyAct::Both { key, expected, other, values: [value, second] }
            }
        }
    }
}

fn ask_for(act: &KeyAct) -> Ask {
    match act {
        KeyAct::Put { key, value } => Ask::Command(Command::Put(Put::new(key.clone(), value.clone()))),
        KeyAct::Get { key } => Ask::Read(key.clone()),
        KeyAct::Delete { key } => Ask::Command(Command::Delete(Delete { keys: KeyRange::One(key.clone()) })),
        KeyAct::Swap { key, expected, value } => swap(key, expected.as_ref(), [(key, value)]),
        KeyAct::Both { key, expected, other, values: [first, second] } => {
            swap(key, expected.as_ref(), [(key, first), (other, second)])
        }
        KeyAct::GetAll { key } => Ask::ReadAll(key.clone()),
        KeyAct::Leader { key } => Ask::Leader(key.clone()),
    }
}

/// Writes some keys if one is what was expected.
fn swap<'a>(
    key: &Bytes,
    expected: Option<&Bytes>,
    writes: impl IntoIterator<Item = (&'a Bytes, &'a Bytes)>,
) -> Ask {
    let operand = match expected {
        Some(value) => Operand::Value(value.clone()),
        None => Operand::Modified(Revision(0)),
    };
    let compare = vec![Compare { keys: KeyRange::One(key.clone()), relation: Relation::Equal, operand }];
    let writes = writes.into_iter().map(|(key, value)| Operation::Put(Put::new(key.clone(), value.clone())));
    Ask::Command(Command::Txn(Txn { compare, then: writes.collect(), otherwise: Vec::new() }))
}
