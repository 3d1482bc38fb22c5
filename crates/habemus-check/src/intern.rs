//! Values by number: each distinct value is kept once, and a state holds its number.

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Gives every distinct value a number, counted from 0. Threads share it. A value stays where it is, so that
/// to look at it needs no lock.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: boxcar::Vec<T>,
    /// Each value's hash, folded, so that a table that grows need not look at the values, and its number.
    numbers: Mutex<HashTable<(u32, u32)>>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { values: boxcar::Vec::new(), numbers: Mutex::default() }
    }

    /// The number of `value`; a new one if it was never seen.
    pub(crate) fn number(&self, value: T) -> u32 {
        let half = half_of_hash(&value);
        let is_it = |&(other, number): &(u32, u32)| other == half && *self.value(number) == value;
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, number)) = numbers.find(spread(half), is_it) {
            return number;
        }
        let number = self.values.push(value);
        insert(&mut numbers, half, number)
    }

    /// The value behind a number that [`number`](Interner::number) gave.
    pub(crate) fn value(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// Adds the number of a new value. This is compiled once and not for each type of values.
fn insert(numbers: &mut HashTable<(u32, u32)>, half: u32, number: usize) -> u32 {
    let number = u32::try_from(number).expect("fewer than 2³² values fit into memory");
    numbers.insert_unique(spread(half), (half, number), |(half, _)| spread(*half));
    number
}

fn half_of_hash<T: Hash>(value: &T) -> u32 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    folded(hasher.finish())
}

/// Both halves of a hash in one: on a 32-bit machine the upper half is empty.
fn folded(hash: u64) -> u32 {
    (hash >> 32) as u32 ^ hash as u32
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
        let interner: Interner<&str> = Interner::new();
        let numbers = ["a", "b", "a"].map(|value| interner.number(value));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(*interner.value(1), "b");
    }

    #[test]
    fn hashes_of_32_bits_are_told_apart() {
        assert_ne!(folded(1), folded(2));
        assert_ne!(folded(1 << 32), folded(2 << 32));
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
