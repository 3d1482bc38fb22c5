//! Sets of keys that lie together.

use std::ops::Bound;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Where a range begins and ends, as ordered maps want it.
type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// A set of keys without a gap, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeyRange {
    /// One key.
    One(Bytes),
    /// From this key to before the other one; none if that is not later.
    Between(Bytes, Bytes),
    /// This key and all later ones.
    From(Bytes),
}

impl KeyRange {
    /// All keys that begin like this.
    pub fn prefix(prefix: impl Into<Bytes>) -> KeyRange {
        let prefix = prefix.into();
        match prefix.iter().rposition(|&byte| byte < u8::MAX) {
            // Nothing lies beyond a prefix of the highest bytes but what begins with it.
            None => KeyRange::From(prefix),
            Some(last) => {
                let mut end = prefix[..=last].to_vec();
                end[last] += 1;
                KeyRange::Between(prefix, end.into())
            }
        }
    }

    /// The range that etcd writes as a key and an end: no end for one key, a zero byte for all that follow.
    pub fn from_wire(key: Bytes, end: Bytes) -> KeyRange {
        match end.as_ref() {
            [] => KeyRange::One(key),
            [0] => KeyRange::From(key),
            _ => KeyRange::Between(key, end),
        }
    }

    /// The key and the end as which etcd writes it.
    pub fn to_wire(&self) -> (Bytes, Bytes) {
        match self {
            KeyRange::One(key) => (key.clone(), Bytes::new()),
            KeyRange::Between(first, end) => (first.clone(), end.clone()),
            KeyRange::From(first) => (first.clone(), Bytes::from_static(&[0])),
        }
    }

    /// Whether `key` is one of them.
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            KeyRange::One(one) => one == key,
            KeyRange::Between(first, end) => first.as_ref() <= key && key < end.as_ref(),
            KeyRange::From(first) => first.as_ref() <= key,
        }
    }

    /// The first key that may be in it.
    pub fn first(&self) -> &Bytes {
        match self {
            KeyRange::One(first) | KeyRange::Between(first, _) | KeyRange::From(first) => first,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            KeyRange::One(key) | KeyRange::From(key) => key.len(),
            KeyRange::Between(first, end) => first.len() + end.len(),
        }
    }

    /// What an ordered map is asked for; `None` where nothing can be in it.
    pub(crate) fn bounds(&self) -> Option<Bounds<'_>> {
        match self {
            KeyRange::One(one) => Some((Bound::Included(one), Bound::Included(one))),
            KeyRange::Between(first, end) if first < end => {
                Some((Bound::Included(first), Bound::Excluded(end)))
            }
            KeyRange::Between(..) => None,
            KeyRange::From(first) => Some((Bound::Included(first), Bound::Unbounded)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_holds_what_begins_with_it_and_nothing_else() {
        let range = KeyRange::prefix("ab");
        assert!(range.contains(b"ab") && range.contains(b"ab\xff\xff") && range.contains(b"abc"));
        assert!(!range.contains(b"a") && !range.contains(b"ac") && !range.contains(b"aa\xff"));
        assert!(KeyRange::prefix(&b"a\xff"[..]).contains(b"a\xff\xff"));
        assert!(!KeyRange::prefix(&b"a\xff"[..]).contains(b"b"));
        assert!(KeyRange::prefix(&b"\xff"[..]).contains(b"\xff\xff"));
        assert!(KeyRange::prefix("").contains(b"anything"));
    }

    #[test]
    fn an_end_before_the_beginning_holds_nothing() {
        let range = KeyRange::from_wire("b".into(), "a".into());
        assert!(!range.contains(b"a") && !range.contains(b"b"));
        assert_eq!(range.bounds(), None);
    }

    #[test]
    fn a_zero_byte_as_the_end_means_all_that_follow() {
        assert_eq!(KeyRange::from_wire("b".into(), Bytes::from_static(&[0])), KeyRange::From("b".into()));
        assert_eq!(KeyRange::from_wire("b".into(), Bytes::new()), KeyRange::One("b".into()));
    }
}
