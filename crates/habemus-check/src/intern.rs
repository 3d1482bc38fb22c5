//! Values by number: each distinct value is kept once, and a state holds its number.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Gives every distinct value a number, counted from 0. Threads share it.
#[derive(Debug)]
pub(crate) struct Interner<T: ?Sized> {
    inner: RwLock<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T: ?Sized> {
    /// Half of each value's hash, so that a table that grows need not look at the values, and its number.
    numbers: HashTable<(u32, u32)>,
    values: Vec<Arc<T>>,
}

impl<T: ?Sized + Eq + Hash> Inner<T> {
    fn find(&self, half: u32, value: &T) -> Option<u32> {
        let is_it = |&(other, number): &(u32, u32)| other == half && *self.values[number as usize] == *value;
        self.numbers.find(spread(half), is_it).map(|(_, number)| *number)
    }
}

impl<T: ?Sized + Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { inner: RwLock::new(Inner { numbers: HashTable::new(), values: Vec::new() }) }
    }

    /// The number of `value`; a new one if it was never seen.
    pub(crate) fn number<V: Borrow<T> + Into<Arc<T>>>(&self, value: V) -> u32 {
        let half = half_of_hash(value.borrow());
        let known = self.inner.read().unwrap_or_else(PoisonError::into_inner).find(half, value.borrow());
        if let Some(number) = known {
            return number;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = inner.find(half, value.borrow()) {
            return number;
        }
        let number = u32::try_from(inner.values.len()).expect("fewer than 2³² values fit into memory");
        inner.values.push(value.into());
        inner.numbers.insert_unique(spread(half), (half, number), |(half, _)| spread(*half));
        number
    }

    /// The value behind a number that [`number`](Interner::number) gave.
    pub(crate) fn value(&self, number: u32) -> Arc<T> {
        Arc::clone(&self.inner.read().unwrap_or_else(PoisonError::into_inner).values[number as usize])
    }
}

fn half_of_hash<T: ?Sized + Hash>(value: &T) -> u32 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    (hasher.finish() >> 32) as u32
}

/// The table wants bits everywhere.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number() {
        let interner: Interner<str> = Interner::new();
        let numbers = ["a", "b", "a"].map(|value| interner.number(value));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(*interner.value(1), *"b");
    }

    #[test]
    fn many_values_are_found_again() {
        let interner = Interner::new();
        for _ in 0..2 {
            for value in 0..10_000_u32 {
                assert_eq!(interner.number(value.wrapping_mul(0x0100_0001)), value);
            }
        }
    }
}
