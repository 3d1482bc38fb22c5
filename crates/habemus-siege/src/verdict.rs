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

/// Judges what was written down, beside what the members remember.
pub(crate) fn of(record: &Record, revised: &BTreeMap<Revision, Revised>) -> Verdict {
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
        ],
        revisions: revised.len(),
    }
}
