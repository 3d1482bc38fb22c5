//! A process's local state and what is on its way to it, as one number.
//!
//! What a process can do depends on these two alone, so a state holds one number for each process: half the room, and
//! what it can do is looked up by place, not by search.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// A local state and an inbox, by their numbers.
pub(crate) type Situation = (u32, u32);

/// All situations that were ever met. Threads share them.
#[derive(Debug, Default)]
pub(crate) struct Situations {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    numbers: FxHashMap<Situation, u32>,
    situations: Vec<Situation>,
}

impl Situations {
    /// The number of a situation; a new one if it was never met.
    pub(crate) fn number(&self, situation: Situation) -> u32 {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let Inner { numbers, situations } = &mut *inner;
        *numbers.entry(situation).or_insert_with(|| {
            situations.push(situation);
            u32::try_from(situations.len() - 1).expect("fewer than 2³² situations fit into memory")
        })
    }

    /// The situation behind a number that [`number`](Situations::number) gave.
    pub(crate) fn of(&self, number: u32) -> Situation {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).situations[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_situation_has_one_number() {
        let situations = Situations::default();
        let numbers = [(3, 4), (4, 3), (3, 4)].map(|situation| situations.number(situation));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(situations.of(1), (4, 3));
    }
}
