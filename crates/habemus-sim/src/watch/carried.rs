//! What messages on their way carry of their senders' knowledge. It lies apart from the messages: a large run
//! keeps no clocks, and every event of it would be longer by the place for one.

use habemus::clock::VectorClock;
use rustc_hash::FxHashMap;

/// The vector clocks of the messages on their way, by the number of the message.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried(FxHashMap<u64, Copies>);

#[derive(Clone, Debug)]
struct Copies {
    clock: VectorClock,
    /// How many copies of the message are on their way.
    count: u32,
}

impl Carried {
    /// A message leaves with this clock.
    pub(super) fn leave(&mut self, number: u64, clock: VectorClock) {
        self.0.insert(number, Copies { clock, count: 1 });
    }

    /// There is another copy of a message.
    pub(super) fn duplicate(&mut self, number: u64) {
        if let Some(copies) = self.0.get_mut(&number) {
            copies.count += 1;
        }
    }

    /// A copy of a message arrives or is lost; gives the clock that came with it.
    #[inline]
    pub(super) fn end(&mut self, number: u64) -> Option<VectorClock> {
        if self.0.is_empty() { None } else { self.end_one(number) }
    }

    fn end_one(&mut self, number: u64) -> Option<VectorClock> {
        let copies = self.0.get_mut(&number)?;
        copies.count -= 1;
        if copies.count > 0 {
            return Some(copies.clock.clone());
        }
        self.0.remove(&number).map(|copies| copies.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::Address;

    #[test]
    fn every_copy_of_a_message_brings_its_clock_and_the_last_leaves_nothing() {
        let clock: VectorClock = [(Address(1), 3)].into_iter().collect();
        let mut carried = Carried::default();
        carried.leave(7, clock.clone());
        carried.duplicate(7);
        assert_eq!((carried.end(7), carried.end(8)), (Some(clock.clone()), None));
        assert_eq!((carried.end(7), carried.end(7)), (Some(clock), None));
        assert!(carried.0.is_empty());
    }
}
