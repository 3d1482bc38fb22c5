//! Whether what clients did to keys is linearizable.
//!
//! In general that is a search for an order. Here the service itself says in which order things happened, by
//! the revision in every answer, so it is enough to see that this order is one that explains every answer,
//! and that nothing comes in it before something that was answered before it was asked. If both hold, the
//! history is linearizable; if not, the service has lied about the order, which is as bad.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use habemus_store::{Revised, Revision};

use crate::clock::Micros;

/// What a client wanted of a key.
#[derive(Clone, Debug)]
pub enum KeyAct {
    /// Writes.
    Put {
        /// Which key.
        key: Bytes,
        /// A value that nobody else writes.
        value: Bytes,
    },
    /// Reads.
    Get {
        /// Which key.
        key: Bytes,
    },
    /// Writes if the key is what was expected.
    Swap {
        /// Which key.
        key: Bytes,
        /// What it must be.
        expected: Option<Bytes>,
        /// A value that nobody else writes.
        value: Bytes,
    },
    /// Deletes.
    Delete {
        /// Which key.
        key: Bytes,
    },
    /// Writes two keys at once if the first is what was expected.
    Both {
        /// The first key.
        key: Bytes,
        /// What it must be.
        expected: Option<Bytes>,
        /// The other key.
        other: Bytes,
        /// Values that nobody else writes.
        values: [Bytes; 2],
    },
    /// Reads all keys that begin like this at once.
    GetAll {
        /// What they begin with.
        key: Bytes,
    },
    /// What the first in a queue says, who leads.
    Leader {
        /// What the keys of the queue begin with.
        key: Bytes,
    },
}

impl KeyAct {
    pub(crate) fn key(&self) -> &Bytes {
        let (KeyAct::Put { key, .. }
        | KeyAct::Get { key }
        | KeyAct::Swap { key, .. }
        | KeyAct::Delete { key }
        | KeyAct::Both { key, .. }
        | KeyAct::GetAll { key }
        | KeyAct::Leader { key }) = self;
        key
    }

    /// What it would write.
    fn values(&self) -> &[Bytes] {
        match self {
            KeyAct::Put { value, .. } | KeyAct::Swap { value, .. } => std::slice::from_ref(value),
            KeyAct::Both { values, .. } => values,
            KeyAct::Get { .. } | KeyAct::Delete { .. } | KeyAct::GetAll { .. } | KeyAct::Leader { .. } => &[],
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyResult {
    /// It was written.
    Put {
        /// At this revision.
        revision: Revision,
        /// What it was before.
        before: Option<Bytes>,
    },
    /// It was read.
    Got {
        /// At this revision.
        revision: Revision,
        /// What it was.
        value: Option<Bytes>,
    },
    /// They were read.
    GotAll {
        /// At this revision.
        revision: Revision,
        /// What they were.
        values: Vec<(Bytes, Bytes)>,
    },
    /// It was compared, and written or not.
    Swapped {
        /// At this revision, or as of this one.
        revision: Revision,
        /// Whether it was what was expected.
        succeeded: bool,
    },
    /// It was deleted.
    Deleted {
        /// At this revision, or as of this one.
        revision: Revision,
        /// What it was before.
        before: Option<Bytes>,
    },
    /// Nothing was done.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// One call of a client, from beginning to end.
#[derive(Clone, Debug)]
pub struct KeyCall {
    /// Whose.
    pub client: usize,
    /// What it wanted.
    pub act: KeyAct,
    /// When it was sent, in microseconds.
    pub invoked: u64,
    /// When it was answered; `None` if it never was for sure.
    pub responded: Option<u64>,
    /// What came of it.
    pub result: KeyResult,
}

impl KeyCall {
    /// The revision that it left behind, and whether it made it.
    fn place(&self) -> Option<(Revision, bool)> {
        match &self.result {
            KeyResult::Put { revision, .. } => Some((*revision, true)),
            KeyResult::Got { revision, .. } | KeyResult::GotAll { revision, .. } => Some((*revision, false)),
            KeyResult::Swapped { revision, succeeded } => Some((*revision, *succeeded)),
            KeyResult::Deleted { revision, before } => Some((*revision, before.is_some())),
            KeyResult::Refused | KeyResult::Unknown => None,
        }
    }
}

/// Every value of one key: since which revision it has been so.
type Values = BTreeMap<Revision, Option<Bytes>>;

/// Why the key_calls are not linearizable, if they are not. `revised` says what each revision changed, from
/// the first on.
///
/// # Errors
/// If they are not.
pub fn judge(revised: &BTreeMap<Revision, Revised>, key_calls: &[KeyCall]) -> Result<(), String> {
    let mut values: BTreeMap<Bytes, Values> = BTreeMap::new();
    let wanted: BTreeSet<&Bytes> = key_calls.iter().flat_map(|call| call.act.values()).collect();
    let mut written = BTreeSet::new();
    for revised in revised.values() {
        for event in revised.events.iter() {
            let now = event.now.as_ref().map(|now| now.value.clone());
            // Every client writes a value once, and no two the same.
            if let Some(value) = now.clone().filter(|value| wanted.contains(value))
                && !written.insert(value.clone())
            {
                return Err(format!(
                    "{value:?} was asked for once and written twice, the second time at {revised:?}"
                ));
            }
            values.entry(event.key.clone()).or_default().insert(revised.revision, now);
        }
    }
    let heads = heads(revised, key_calls);
    for call in key_calls {
        explain(&values, &heads, call).map_err(|why| format!("client {}: {why}: {call:?}", call.client))?;
    }
    real_time(key_calls)
}

/// What the first in each queue said that somebody asked about, since which revision.
fn heads(revised: &BTreeMap<Revision, Revised>, key_calls: &[KeyCall]) -> BTreeMap<Bytes, Values> {
    let mut heads: BTreeMap<Bytes, Values> = BTreeMap::new();
    for call in key_calls {
        if let KeyAct::Leader { key } = &call.act {
            heads.entry(key.clone()).or_default();
        }
    }
    for (name, head) in &mut heads {
        let mut standing: BTreeMap<(Revision, Bytes), Bytes> = BTreeMap::new();
        for revised in revised.values() {
            for event in revised.events.iter().filter(|event| event.key.starts_with(name)) {
                if let Some(before) = &event.before {
                    standing.remove(&(before.created, event.key.clone()));
                }
                if let Some(now) = &event.now {
                    standing.insert((now.created, event.key.clone()), now.value.clone());
                }
            }
            head.insert(revised.revision, standing.first_key_value().map(|(_, value)| value.clone()));
        }
    }
    heads
}

/// Whether the order of revisions explains an answer.
fn explain(
    values: &BTreeMap<Bytes, Values>,
    heads: &BTreeMap<Bytes, Values>,
    call: &KeyCall,
) -> Result<(), &'static str> {
    let of_key = values.get(call.act.key());
    let at = |revision: Revision| {
        let last = of_key.and_then(|of_key| of_key.range(..=revision).next_back());
        last.and_then(|(_, value)| value.clone())
    };
    let before = |revision: Revision| at(Revision(revision.0.saturating_sub(1)));
    let wrote = |revision: Revision, value: Option<&Bytes>| {
        of_key.and_then(|of_key| of_key.get(&revision)).is_some_and(|it| it.as_ref() == value)
    };
    let holds = match (&call.act, &call.result) {
        (KeyAct::Put { value, .. }, KeyResult::Put { revision, before: told }) => {
            wrote(*revision, Some(value)) && before(*revision) == *told
        }
        (KeyAct::Get { .. }, KeyResult::Got { revision, value }) => at(*revision) == *value,
        (KeyAct::Swap { expected, value, .. }, KeyResult::Swapped { revision, succeeded: true }) => {
            wrote(*revision, Some(value)) && before(*revision) == *expected
        }
        (KeyAct::Swap { expected, .. }, KeyResult::Swapped { revision, succeeded: false }) => {
            at(*revision) != *expected
        }
        (KeyAct::Delete { .. }, KeyResult::Deleted { revision, before: Some(told) }) => {
            wrote(*revision, None) && before(*revision).as_ref() == Some(told)
        }
        (KeyAct::Delete { .. }, KeyResult::Deleted { revision, before: None }) => at(*revision).is_none(),
        (KeyAct::Both { expected, other, values: both, .. }, KeyResult::Swapped { revision, succeeded }) => {
            let other = values.get(other).and_then(|other| other.get(revision));
            if *succeeded {
                wrote(*revision, Some(&both[0]))
                    && other.is_some_and(|it| it.as_ref() == Some(&both[1]))
                    && before(*revision) == *expected
            } else {
                at(*revision) != *expected
            }
        }
        (KeyAct::GetAll { key }, KeyResult::GotAll { revision, values: told }) => {
            let all = values.range(key.clone()..).take_while(|(it, _)| it.starts_with(key));
            let then = all.filter_map(|(key, values)| {
                let (_, value) = values.range(..=revision).next_back()?;
                Some((key.clone(), value.clone()?))
            });
            then.eq(told.iter().cloned())
        }
        (KeyAct::Leader { key }, KeyResult::Got { revision, value }) => {
            let head = heads.get(key).and_then(|head| head.range(..=revision).next_back());
            head.and_then(|(_, head)| head.clone()) == *value
        }
        // What was refused has left nothing; every value is written once.
        (KeyAct::Put { value, .. } | KeyAct::Swap { value, .. }, KeyResult::Refused) => {
            !of_key.is_some_and(|of_key| of_key.values().any(|it| it.as_ref() == Some(value)))
        }
        (_, KeyResult::Refused | KeyResult::Unknown) => true,
        _ => false,
    };
    if holds { Ok(()) } else { Err("the order of revisions does not explain an answer") }
}

/// Whether nothing comes before what was answered before it was asked for.
fn real_time(key_calls: &[KeyCall]) -> Result<(), String> {
    let mut answers: Vec<(Micros, Revision)> = Vec::new();
    for call in key_calls {
        if let (Some(responded), Some((revision, _))) = (call.responded, call.place()) {
            answers.push((responded, revision));
        }
    }
    answers.sort_unstable();
    // From each answer on, the latest revision that anybody had been told of.
    let mut latest = Revision(0);
    for (_, revision) in &mut answers {
        latest = latest.max(*revision);
        *revision = latest;
    }
    for call in key_calls {
        let Some((revision, wrote)) = call.place() else { continue };
        let told = answers.partition_point(|(responded, _)| *responded < call.invoked);
        let Some((_, told)) = told.checked_sub(1).map(|last| answers[last]) else { continue };
        if revision < told || (wrote && revision == told) {
            return Err(format!("revision {told} had been told before this was asked: {call:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus_store::{ClusterTime, Command, Put, Store};

    fn put(at: Micros, value: &'static str, revision: u64, before: Option<&'static str>) -> KeyCall {
        let act = KeyAct::Put { key: "a".into(), value: value.into() };
        let result = KeyResult::Put { revision: Revision(revision), before: before.map(Bytes::from) };
        KeyCall { client: 0, act, invoked: at, responded: Some(at + 10), result }
    }

    fn got(at: Micros, revision: u64, value: Option<&'static str>) -> KeyCall {
        let result = KeyResult::Got { revision: Revision(revision), value: value.map(Bytes::from) };
        KeyCall {
            client: 1,
            act: KeyAct::Get { key: "a".into() },
            invoked: at,
            responded: Some(at + 10),
            result,
        }
    }

    /// A store in which "a" became "x" and then "y".
    fn revised() -> BTreeMap<Revision, Revised> {
        let mut store = Store::new();
        let mut all = BTreeMap::new();
        for value in ["x", "y"] {
            let applied = store.apply(ClusterTime::default(), Command::Put(Put::new("a", value)));
            all.extend(applied.revised.into_iter().map(|revised| (revised.revision, revised)));
        }
        all
    }

    #[test]
    fn what_happened_one_after_the_other_is_linearizable() {
        let key_calls =
            [put(0, "x", 2, None), got(20, 2, Some("x")), put(40, "y", 3, Some("x")), got(60, 3, Some("y"))];
        assert_eq!(judge(&revised(), &key_calls), Ok(()));
    }

    #[test]
    fn who_reads_what_was_before_an_answered_write_is_noticed() {
        let key_calls = [put(0, "x", 2, None), put(20, "y", 3, Some("x")), got(40, 2, Some("x"))];
        assert!(judge(&revised(), &key_calls).is_err());
        // While the write is under way, it may be so or so.
        let key_calls = [put(0, "x", 2, None), put(20, "y", 3, Some("x")), got(25, 2, Some("x"))];
        assert_eq!(judge(&revised(), &key_calls), Ok(()));
    }

    #[test]
    fn an_answered_write_that_is_lost_is_noticed() {
        assert!(judge(&revised(), &[put(0, "z", 3, Some("x"))]).is_err());
        assert!(judge(&revised(), &[put(0, "z", 4, Some("y"))]).is_err());
    }

    #[test]
    fn a_write_that_was_done_twice_is_noticed() {
        let mut twice = revised();
        let first = twice[&Revision(2)].clone();
        twice.insert(Revision(4), Revised { revision: Revision(4), ..first });
        let key_calls = [put(0, "x", 2, None), put(20, "y", 3, Some("x"))];
        assert_eq!(judge(&revised(), &key_calls), Ok(()));
        assert!(judge(&twice, &key_calls).is_err());
    }

    #[test]
    fn a_write_that_was_refused_and_done_is_noticed() {
        let call = |result| KeyCall { result, responded: Some(10), ..put(0, "y", 3, None) };
        assert!(judge(&revised(), &[call(KeyResult::Refused)]).is_err());
        assert_eq!(judge(&revised(), &[call(KeyResult::Unknown)]), Ok(()));
    }
}
