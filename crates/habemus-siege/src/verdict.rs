//! Whether what the clients saw is what was promised.

use std::collections::BTreeMap;

use habemus_dst::{Clocks, judge_keys, judge_locks};
use habemus_store::{Revised, Revision};

use crate::record::Record;

/// Whether each promise was kept.
pub(crate) struct Verdict {
    /// A promise, and how it was broken.
    pub(crate) promises: Vec<(&'static str, Result<(), String>)>,
    /// Everything that ever happened has so many revisions.
    pub(crate) revisions: usize,
}

impl Verdict {
    pub(crate) fn holds(&self) -> bool {
        self.promises.iter().all(|(_, kept)| kept.is_ok())
    }
}

/// Judges what was written down, beside what the members remember, and a member that did not come back.
pub(crate) fn of(record: &Record, revised: &BTreeMap<Revision, Revised>, lost: Option<String>) -> Verdict {
    let mut parts = record.parts();
    let keys = judge_keys(revised, &parts.calls);
    let locks = judge_locks(&mut parts.inside, Clocks::Right);
    let watch = parts.watch.first().map_or(Ok(()), |first| Err(first.clone()));
    let gaps = revised.keys().zip(revised.keys().skip(1)).find(|(one, next)| one.0 + 1 != next.0);
    let gaps = gaps.map_or(Ok(()), |(one, next)| Err(format!("after revision {one} comes {next}")));
    Verdict {
        promises: vec![
            ("keys are linearizable, and nothing answered is lost", keys),
            ("one holder at a time, by the clients' own clocks; tokens grow", locks),
            ("a watch is told each revision once and in order", watch),
            ("no revision is missing", gaps),
            ("every member works again", lost.map_or(Ok(()), Err)),
        ],
        revisions: revised.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus_dst::{Inside, KeyAct, KeyCall, KeyResult};
    use habemus_store::Mode;

    fn put() -> KeyCall {
        let act = KeyAct::Put { key: "k".into(), value: "1".into() };
        let result = KeyResult::Put { revision: Revision(2), before: None };
        KeyCall { client: 0, act, invoked: 1, responded: Some(2), result }
    }

    fn inside(client: usize, from: u64, until: u64) -> Inside {
        let (mode, token) = (Mode::Exclusive, Revision(2 + client as u64));
        Inside { client, name: "a".into(), mode, token, from, until }
    }

    #[test]
    fn a_write_that_nobody_remembers_is_a_broken_promise() {
        let record = Record::new();
        assert!(of(&record, &BTreeMap::new(), None).holds());
        record.note(|parts| parts.calls.push(put()));
        assert!(!of(&record, &BTreeMap::new(), None).holds());
    }

    #[test]
    fn two_who_believe_to_be_inside_together_are_a_broken_promise() {
        let record = Record::new();
        record.note(|parts| parts.inside.extend([inside(0, 1, 5), inside(1, 5, 9)]));
        assert!(of(&record, &BTreeMap::new(), None).holds());
        record.note(|parts| parts.inside.push(inside(2, 8, 12)));
        assert!(!of(&record, &BTreeMap::new(), None).holds());
    }

    #[test]
    fn a_watch_that_was_told_too_much_is_a_broken_promise() {
        let record = Record::new();
        record.note(|parts| parts.watch.push("a watch that waits for 3 was told of 5".to_owned()));
        assert!(!of(&record, &BTreeMap::new(), None).holds());
    }
}
