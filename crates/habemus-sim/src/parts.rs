//! A sweep in parts, played wherever there is a processor, and put together again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sweep::SweepReport;

/// One of several parts of a sweep: the `number`th, counted from 1, of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Which.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };
}

/// The seeds that are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// The first, over all parts.
    pub first: u64,
    /// How many, over all parts.
    pub count: u64,
    /// Which of them: every `of`th, so that all parts have as much to do.
    #[serde(skip, default = "whole")]
    pub shard: Shard,
}

fn whole() -> Shard {
    Shard::WHOLE
}

impl Seeds {
    /// All of these.
    pub fn whole(first: u64, count: u64) -> Self {
        Seeds { first, count, shard: Shard::WHOLE }
    }

    /// How many there are in this part.
    pub fn in_this_shard(&self) -> u64 {
        let Shard { number, of } = self.shard;
        (self.count + of).saturating_sub(number) / of
    }

    /// One of this part, counted from 0.
    pub(crate) fn nth(&self, index: u64) -> u64 {
        self.first.wrapping_add(index * self.shard.of + self.shard.number - 1)
    }
}

/// The form of the files in which parts are kept.
const FORMAT: u32 = 1;

/// What one part of a sweep came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepPart {
    format: u32,
    /// Which part.
    pub shard: Shard,
    /// What was swept, and what came of it.
    pub cases: Vec<PartCase>,
}

/// One scenario of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartCase {
    /// What it is called.
    pub name: String,
    /// What was played, as a scenario file.
    pub scenario: String,
    /// With which seeds, over all parts.
    pub seeds: Seeds,
    /// What came of it in this part.
    pub report: SweepReport,
}

/// What all parts together came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// As if it had been one.
    pub whole: SweepPart,
    /// The numbers of the parts that are not there.
    pub missing: Vec<u64>,
}

/// Why parts cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There are none.
    #[error("there is nothing to merge")]
    Nothing,
    /// It was written by another habemus.
    #[error("{file} has the format {found}, and this is habemus for format {FORMAT}")]
    Format {
        /// Which file.
        file: String,
        /// What it says.
        found: u32,
    },
    /// They are not of the same sweep.
    #[error("{one} and {other} are parts of different sweeps: they differ in {what}")]
    Different {
        /// A file,
        one: String,
        /// another,
        other: String,
        /// and what they differ in.
        what: String,
    },
    /// A part is there twice.
    #[error("{one} and {other} are both part {number}: its runs would count twice")]
    Twice {
        /// Which part.
        number: u64,
        /// A file,
        one: String,
        /// and the other.
        other: String,
    },
}

impl SweepPart {
    /// The part of a sweep in which this came of that.
    pub fn new(shard: Shard, cases: Vec<PartCase>) -> Self {
        SweepPart { format: FORMAT, shard, cases }
    }

    /// What it has in common with no part of another sweep, if it has not.
    fn differs(&self, other: &SweepPart) -> Option<String> {
        let differs = |what: &str| Some(what.to_owned());
        if self.shard.of != other.shard.of {
            return differs("the number of parts");
        }
        if !self.cases.iter().map(|case| &case.name).eq(other.cases.iter().map(|case| &case.name)) {
            return differs("what was swept");
        }
        self.cases.iter().zip(&other.cases).find_map(|(one, other)| {
            if one.scenario != other.scenario {
                Some(format!("the scenario of {}", one.name))
            } else if one.seeds != other.seeds {
                Some(format!("the seeds of {}", one.name))
            } else {
                None
            }
        })
    }
}

/// Puts parts together; each comes with the name of its file.
///
/// # Errors
/// If they are not parts of the same sweep, or one is there twice. One that is missing is no error, but said.
pub fn merge_parts(parts: Vec<(String, SweepPart)>) -> Result<Merged, MergeError> {
    if let Some((file, part)) = parts.iter().find(|(_, part)| part.format != FORMAT) {
        return Err(MergeError::Format { file: file.clone(), found: part.format });
    }
    let mut by_number: BTreeMap<u64, (String, SweepPart)> = BTreeMap::new();
    for (file, part) in parts {
        let number = part.shard.number;
        if let Some((first, other)) = by_number.values().next()
            && let Some(what) = other.differs(&part)
        {
            return Err(MergeError::Different { one: first.clone(), other: file, what });
        }
        if let Some((one, _)) = by_number.insert(number, (file.clone(), part)) {
            return Err(MergeError::Twice { number, one, other: file });
        }
    }
    let of = by_number.values().next().ok_or(MergeError::Nothing)?.1.shard.of;
    let missing = (1..=of).filter(|number| !by_number.contains_key(number)).collect();
    let mut parts = by_number.into_values().map(|(_, part)| part);
    let mut whole = parts.next().ok_or(MergeError::Nothing)?;
    whole.shard = Shard::WHOLE;
    for part in parts {
        for (case, other) in whole.cases.iter_mut().zip(part.cases) {
            case.report.merge(other.report);
        }
    }
    Ok(Merged { whole, missing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: u64, of: u64, scenario: &str) -> (String, SweepPart) {
        let shard = Shard { number, of };
        let seeds = Seeds { shard, ..Seeds::whole(1, 10) };
        let report = SweepReport { asked: seeds.in_this_shard(), runs: number, ..SweepReport::default() };
        let case = PartCase { name: "bully".to_owned(), scenario: scenario.to_owned(), seeds, report };
        let case = PartCase { seeds: Seeds::whole(1, 10), ..case };
        (format!("{number}.json"), SweepPart::new(shard, vec![case]))
    }

    #[test]
    fn every_seed_is_in_exactly_one_shard() {
        for (count, of) in [(10, 3), (3, 10), (0, 2), (7, 1), (8, 4)] {
            let mut all: Vec<u64> = (1..=of)
                .flat_map(|number| {
                    let seeds = Seeds { first: 5, count, shard: Shard { number, of } };
                    (0..seeds.in_this_shard()).map(move |index| seeds.nth(index))
                })
                .collect();
            all.sort_unstable();
            assert_eq!(all, (5..5 + count).collect::<Vec<_>>(), "{count} in {of}");
        }
    }

    #[test]
    fn parts_are_added_up_in_any_order_and_what_is_missing_is_said() {
        let merged = merge_parts(vec![part(3, 4, "a"), part(1, 4, "a"), part(2, 4, "a")]).unwrap();
        assert_eq!((merged.whole.cases[0].report.runs, merged.missing), (6, vec![4]));
        assert_eq!(merged.whole.cases[0].report.asked, 3 + 3 + 2);
    }

    #[test]
    fn parts_of_different_sweeps_and_parts_that_are_there_twice_are_refused() {
        let of_another = merge_parts(vec![part(1, 2, "a"), part(2, 2, "b")]);
        assert!(matches!(of_another, Err(MergeError::Different { .. })), "{of_another:?}");
        let otherwise_cut = merge_parts(vec![part(1, 2, "a"), part(2, 3, "a")]);
        assert!(matches!(otherwise_cut, Err(MergeError::Different { .. })), "{otherwise_cut:?}");
        let twice = merge_parts(vec![part(1, 2, "a"), part(1, 2, "a")]);
        assert!(matches!(twice, Err(MergeError::Twice { number: 1, .. })), "{twice:?}");
        let mut old = part(1, 1, "a");
        old.1.format = 0;
        assert!(matches!(merge_parts(vec![old]), Err(MergeError::Format { found: 0, .. })));
        assert_eq!(merge_parts(Vec::new()), Err(MergeError::Nothing));
    }
}
