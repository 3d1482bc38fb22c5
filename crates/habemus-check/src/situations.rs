//! A process's local state and what is on its way to it, as one number.
//!
//! What a process can do depends on these two alone, so a state holds one number for each process: half the room, and
//! what it can do is looked up by place, not by search.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

/// A local state and an inbox, by their numbers.
pub(crate) type Situation = (u32, u32);

/// Threads lock a part at a time. A power of two.
const PARTS: usize = 16;

/// All situations that were ever met. Threads share them.
#[derive(Debug, Default)]
pub(crate) struct Situations {
    parts: [Mutex<Part>; PARTS],
}

#[derive(Debug, Default)]
struct Part {
    numbers: FxHashMap<Situation, u32>,
    situations: Vec<Situation>,
}

impl Situations {
    /// The number of a situation; a new one if it was never met.
    pub(crate) fn number(&self, situation: Situation) -> u32 {
        let index = (situation.0 ^ situation.1.wrapping_mul(5)) as usize % PARTS;
        let mut part = self.part(index);
        let Part { numbers, situations } = &mut *part;
        *numbers.entry(situation).or_insert_with(|| {
            situations.push(situation);
            let number = (situations.len() - 1) * PARTS + index;
            u32::try_from(number).expect("fewer than 2³² situations fit into memory")
        })
    }

    /// The situation behind a number that [`number`](Situations::number) gave.
    pub(crate) fn of(&self, number: u32) -> Situation {
        let number = number as usize;
        self.part(number % PARTS).situations[number / PARTS]
    }

    fn part(&self, index: usize) -> MutexGuard<'_, Part> {
        self.parts[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_situation_has_one_number() {
        let situations = Situations::default();
        let all: Vec<Situation> = (0..1000).map(|number| (number % 30, number / 7)).collect();
        let numbers: Vec<u32> = all.iter().map(|&situation| situations.number(situation)).collect();
        for (&situation, &number) in all.iter().zip(&numbers) {
            assert_eq!((situations.of(number), situations.number(situation)), (situation, number));
        }
    }
}
