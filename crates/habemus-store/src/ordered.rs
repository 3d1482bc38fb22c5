//! A sorted map whose copies share what neither has changed, so that a copy of a million keys is made in a
//! moment and can be looked through elsewhere while the original goes on.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

/// A run of keys that is longer is cut in two.
const LONG: usize = 256;

/// A run that is shorter is joined to the one before it, if there is room.
const SHORT: usize = LONG / 8;

/// Keys in a row.
type Run<V> = Vec<(Bytes, V)>;

/// A sorted map from keys to values. It is made of runs, each kept by a key that is not larger than its first
/// one and larger than all of the run before; the first run is kept by the empty key.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<V> {
    runs: BTreeMap<Bytes, Arc<Run<V>>>,
    length: usize,
}

impl<V: Clone> Ordered<V> {
    pub(crate) fn new() -> Ordered<V> {
        Ordered { runs: BTreeMap::from([(Bytes::new(), Arc::new(Run::new()))]), length: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        let (_, run) = self.runs.range::<[u8], _>(up_to(key)).next_back()?;
        let at = find(run, key).ok()?;
        Some(&run[at].1)
    }

    pub(crate) fn get_mut(&mut self, key: &[u8]) -> Option<&mut V> {
        let (_, run) = self.runs.range_mut::<[u8], _>(up_to(key)).next_back()?;
        let at = find(run, key).ok()?;
        Some(&mut Arc::make_mut(run)[at].1)
    }

    pub(crate) fn insert(&mut self, key: Bytes, value: V) {
        let (_, run) =
            self.runs.range_mut::<[u8], _>(up_to(&key)).next_back().expect("the first run is kept by no key");
        let run = Arc::make_mut(run);
        let at = match find(run, &key) {
            Ok(at) => {
                run[at].1 = value;
                return;
            }
            Err(at) => at,
        };
        self.length += 1;
        if run.len() < LONG {
            run.insert(at, (key, value));
            return;
        }
        // Keys that come in order leave full runs behind.
        let mut half = if at == LONG { Run::new() } else { run.split_off(LONG / 2) };
        match at.checked_sub(run.len()) {
            Some(at) => half.insert(at, (key, value)),
            None => run.insert(at, (key, value)),
        }
        self.runs.insert(half[0].0.clone(), Arc::new(half));
    }

    pub(crate) fn remove(&mut self, key: &[u8]) {
        let Some((begin, run)) = self.runs.range_mut::<[u8], _>(up_to(key)).next_back() else { return };
        let Ok(at) = find(run, key) else { return };
        let run = Arc::make_mut(run);
        run.remove(at);
        self.length -= 1;
        if run.len() < SHORT && !begin.is_empty() {
            let begin = begin.clone();
            self.join(&begin);
        }
    }

    /// Joins a run to the one before it, if there is room.
    fn join(&mut self, begin: &Bytes) {
        let Some(run) = self.runs.get(begin).cloned() else { return };
        let Some((_, before)) = self.runs.range_mut::<Bytes, _>(..begin).next_back() else { return };
        if before.len() + run.len() <= LONG {
            Arc::make_mut(before).extend(run.iter().cloned());
            self.runs.remove(begin);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &V)> {
        self.runs.values().flat_map(|run| run.iter()).map(|(key, value)| (key, value))
    }

    pub(crate) fn range<'a, 'b>(
        &'a self,
        (low, high): (Bound<&'b [u8]>, Bound<&'b [u8]>),
    ) -> impl Iterator<Item = (&'a Bytes, &'a V)> + use<'a, V> {
        let first = match low {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        };
        let begin = self.runs.range::<[u8], _>(up_to(first)).next_back().map(|(begin, _)| begin.clone());
        let runs = self.runs.range::<Bytes, _>(begin.unwrap_or_default()..);
        let (low, high) = (low.map(Bytes::copy_from_slice), high.map(Bytes::copy_from_slice));
        let from = runs.flat_map(move |(_, run)| {
            let skipped = run.partition_point(|(key, _)| match &low {
                Bound::Included(low) => key < low,
                Bound::Excluded(low) => key <= low,
                Bound::Unbounded => false,
            });
            run[skipped..].iter()
        });
        let within = from.take_while(move |(key, _)| match &high {
            Bound::Included(high) => key <= high,
            Bound::Excluded(high) => key < high,
            Bound::Unbounded => true,
        });
        within.map(|(key, value)| (key, value))
    }
}

impl<V: Clone + PartialEq> PartialEq for Ordered<V> {
    /// How it is cut into runs depends on what was there before, and means nothing.
    fn eq(&self, other: &Ordered<V>) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

impl<V: Clone + Eq> Eq for Ordered<V> {}

fn up_to(key: &[u8]) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Unbounded, Bound::Included(key))
}

fn find<V>(run: &Run<V>, key: &[u8]) -> Result<usize, usize> {
    run.binary_search_by(|(present, _)| present[..].cmp(key))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn key(number: u16) -> Bytes {
        Bytes::copy_from_slice(&number.to_be_bytes())
    }

    /// Writes or deletes a row of keys, so that runs grow and shrink.
    fn apply(
        map: &mut Ordered<u8>,
        plain: &mut BTreeMap<Bytes, u8>,
        first: u16,
        count: u16,
        value: Option<u8>,
    ) {
        for number in first..first.saturating_add(count) {
            match value {
                Some(value) => {
                    map.insert(key(number), value);
                    plain.insert(key(number), value);
                }
                None => {
                    map.remove(&key(number));
                    plain.remove(&key(number));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map_and_its_copies_stay_as_they_were(
            changes in vec((0_u16..3000, 0_u16..700, any::<Option<u8>>()), 1..12),
            copied in 0_usize..12,
            (low, high) in (0_u16..3500, 0_u16..3500),
        ) {
            let (mut map, mut plain) = (Ordered::new(), BTreeMap::new());
            let mut copy = (map.clone(), plain.clone());
            for (number, (first, count, value)) in changes.into_iter().enumerate() {
                if number == copied {
                    copy = (map.clone(), plain.clone());
                }
                apply(&mut map, &mut plain, first, count, value);
            }
            for (map, plain) in [(&map, &plain), (&copy.0, &copy.1)] {
                prop_assert_eq!(map.len(), plain.len());
                prop_assert!(map.iter().eq(plain.iter()));
                prop_assert!(map.runs.values().all(|run| run.len() <= LONG));
                let mut later = map.runs.iter().skip(1);
                prop_assert!(later.all(|(begin, run)| run.first().is_none_or(|it| *begin <= it.0)));
                for number in [low, high] {
                    prop_assert_eq!(map.get(&key(number)), plain.get(&key(number)));
                }
                let (low, high) = (key(low.min(high)), key(high.max(low)));
                for bounds in [
                    (Bound::Included(&low[..]), Bound::Excluded(&high[..])),
                    (Bound::Excluded(&low[..]), Bound::Unbounded),
                    (Bound::Unbounded, Bound::Included(&high[..])),
                ] {
                    let excludes_itself = matches!(bounds, (Bound::Included(_), _)) && low == high;
                    if !excludes_itself {
                        prop_assert!(map.range(bounds).eq(plain.range::<[u8], _>(bounds)));
                    }
                }
            }
        }
    }

    #[test]
    fn deleting_nearly_everything_leaves_few_runs() {
        let (mut map, mut plain) = (Ordered::new(), BTreeMap::new());
        apply(&mut map, &mut plain, 0, 20_000, Some(1));
        for number in (0..20_000).filter(|number| number % 100 != 0) {
            map.remove(&key(number));
        }
        assert_eq!(map.len(), 200);
        assert!(map.runs.len() <= 20, "{} runs", map.runs.len());
    }
}
