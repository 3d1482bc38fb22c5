//! Values by number: each distinct value is kept once, and a state holds its number.

use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// Gives every distinct value a number, counted from 0. Threads share it.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    inner: RwLock<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    numbers: FxHashMap<Arc<T>, u32>,
    values: Vec<Arc<T>>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { inner: RwLock::new(Inner { numbers: FxHashMap::default(), values: Vec::new() }) }
    }

    /// The number of `value`; a new one if it was never seen.
    pub(crate) fn number(&self, value: T) -> u32 {
        if let Some(number) = self.inner.read().unwrap_or_else(PoisonError::into_inner).numbers.get(&value) {
            return *number;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = inner.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(inner.values.len()).expect("fewer than 2³² values fit into memory");
        let value = Arc::new(value);
        inner.numbers.insert(Arc::clone(&value), number);
        inner.values.push(value);
        number
    }

    /// The value behind a number that [`number`](Interner::number) gave.
    pub(crate) fn value(&self, number: u32) -> Arc<T> {
        Arc::clone(&self.inner.read().unwrap_or_else(PoisonError::into_inner).values[number as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number() {
        let interner = Interner::new();
        let numbers = ["a", "b", "a"].map(|value| interner.number(value.to_owned()));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(*interner.value(1), "b");
    }
}
