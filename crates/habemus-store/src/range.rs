//! Reading keys.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::event::{KeyValue, Revision};
use crate::key_range::KeyRange;
use crate::keyspace::Keyspace;

/// Which keys are asked for, and how they are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Which keys.
    pub keys: KeyRange,
    /// As they were then; `None` for now.
    pub at: Option<Revision>,
    /// No more than so many.
    pub limit: Option<usize>,
    /// In which order, by what.
    pub sort: Option<(SortBy, SortOrder)>,
    /// Only those created at or after this one.
    pub min_created: Option<Revision>,
    /// Only those created at or before this one.
    pub max_created: Option<Revision>,
    /// Only those last written at or after this one.
    pub min_modified: Option<Revision>,
    /// Only those last written at or before this one.
    pub max_modified: Option<Revision>,
    /// Only how many there are.
    pub count_only: bool,
}

/// What keys are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortBy {
    /// The key.
    Key,
    /// How often it was written.
    Version,
    /// When it was created.
    Created,
    /// When it was last written.
    Modified,
    /// Its value.
    Value,
}

/// Which of two comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortOrder {
    /// The smaller one.
    Ascending,
    /// The larger one.
    Descending,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The keys, sorted and limited as was asked for.
    pub keys: Vec<Arc<KeyValue>>,
    /// Whether the limit left any out.
    pub more: bool,
    /// How many keys there are, whatever limit and filters left out.
    pub count: usize,
}

impl Range {
    /// All of `keys` as they are now.
    pub fn of(keys: KeyRange) -> Range {
        Range {
            keys,
            at: None,
            limit: None,
            sort: None,
            min_created: None,
            max_created: None,
            min_modified: None,
            max_modified: None,
            count_only: false,
        }
    }

    /// Whether it can be answered when the latest revision is the keyspace's.
    pub(crate) fn check(&self, keyspace: &Keyspace) -> Result<(), StoreError> {
        if self.keys.first().is_empty() {
            return Err(StoreError::EmptyKey);
        }
        self.at.map_or(Ok(()), |at| keyspace.known(at))
    }

    /// What it finds; `visible` is the revision that counts as now.
    pub(crate) fn find(&self, keyspace: &Keyspace, visible: Revision) -> Found {
        let at = self.at.unwrap_or(visible);
        let all = keyspace.range(&self.keys, at);
        if self.count_only {
            return Found { keys: Vec::new(), more: false, count: all.count() };
        }
        let mut count = 0;
        let counted = all.inspect(|_| count += 1);
        let mut keys: Vec<Arc<KeyValue>> = counted.filter(|key| self.wants(key)).cloned().collect();
        if let Some((by, order)) = self.sort {
            sort(&mut keys, by, order);
        }
        let limit = self.limit.unwrap_or(usize::MAX);
        let more = keys.len() > limit;
        keys.truncate(limit);
        Found { keys, more, count }
    }

    fn wants(&self, key: &KeyValue) -> bool {
        self.min_created.is_none_or(|min| key.created >= min)
            && self.max_created.is_none_or(|max| key.created <= max)
            && self.min_modified.is_none_or(|min| key.modified >= min)
            && self.max_modified.is_none_or(|max| key.modified <= max)
    }
}

/// Sorts, and leaves those that are equal in the order of their keys.
fn sort(keys: &mut [Arc<KeyValue>], by: SortBy, order: SortOrder) {
    fn sort_by<T: Ord>(keys: &mut [Arc<KeyValue>], order: SortOrder, by: impl Fn(&KeyValue) -> T) {
        match order {
            SortOrder::Ascending => keys.sort_by_key(|key| by(key)),
            SortOrder::Descending => keys.sort_by_key(|key| Reverse(by(key))),
        }
    }
    match by {
        SortBy::Key => sort_by(keys, order, |key| key.key.clone()),
        SortBy::Version => sort_by(keys, order, |key| key.version),
        SortBy::Created => sort_by(keys, order, |key| key.created),
        SortBy::Modified => sort_by(keys, order, |key| key.modified),
        SortBy::Value => sort_by(keys, order, |key| key.value.clone()),
    }
}
