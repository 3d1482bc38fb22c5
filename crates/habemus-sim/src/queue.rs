//! The event queue: a hierarchical timing wheel over 64-bit time, eight levels of 256 slots.
//!
//! An event lies on the level of the highest byte in which its time differs from the present, in the slot that
//! this byte names. Time only grows, so when the present reaches a slot of a higher level, its events move to
//! lower levels; an event moves at most once per level, and to a slot's end: no comparison of events ever takes
//! place, memory is walked in order, and events of the same instant stay in the order in which they were
//! pushed, because a slot is emptied into lower levels before anything can be pushed there directly.

/// Slots of one level: one for each value of a byte.
const SLOTS: usize = 256;
/// Levels: one for each byte of the time.
const LEVELS: usize = 8;
/// A slot that once held more than this gives its memory back when it is emptied.
const KEEP: usize = 64;

/// Events ordered by time, first in first out among equals.
#[derive(Debug)]
pub struct Queue<T> {
    /// No event lies before this.
    now: u64,
    len: usize,
    /// The events of this very instant, last one first.
    current: Vec<T>,
    /// Those pushed for this very instant since `current` was filled.
    fresh: Vec<T>,
    levels: Vec<Level<T>>,
}

#[derive(Debug)]
struct Level<T> {
    /// A bit for each slot that holds something.
    occupied: [u64; SLOTS / 64],
    slots: Vec<Vec<(u64, T)>>,
}

impl<T> Level<T> {
    fn new() -> Self {
        Level { occupied: [0; SLOTS / 64], slots: (0..SLOTS).map(|_| Vec::new()).collect() }
    }

    #[inline]
    fn push(&mut self, slot: usize, time: u64, event: T) {
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.slots[slot].push((time, event));
    }

    /// The first occupied slot at or after `from`.
    #[inline]
    fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        if word >= self.occupied.len() {
            return None;
        }
        let mut bits = self.occupied[word] & (!0 << (from % 64));
        loop {
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            word += 1;
            bits = *self.occupied.get(word)?;
        }
    }

    #[inline]
    fn vacate(&mut self, slot: usize) {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            now: 0,
            len: 0,
            current: Vec::new(),
            fresh: Vec::new(),
            levels: (0..LEVELS).map(|_| Level::new()).collect(),
        }
    }
}

impl<T> Queue<T> {
    /// How many events there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event at `time`, which must not lie before the last event popped.
    #[inline]
    pub fn push(&mut self, time: u64, event: T) {
        debug_assert!(time >= self.now, "time only grows");
        self.len += 1;
        self.place(time, event);
    }

    #[inline]
    fn place(&mut self, time: u64, event: T) {
        let differing = time ^ self.now;
        if differing == 0 {
            self.fresh.push(event);
            return;
        }
        let level = (63 - differing.leading_zeros() as usize) / 8;
        let slot = (time >> (8 * level)) as usize % SLOTS;
        self.levels[level].push(slot, time, event);
    }

    /// Takes the next event out, with its time, unless it lies after `limit`.
    #[inline]
    pub fn pop(&mut self, limit: u64) -> Option<(u64, T)> {
        if self.current.is_empty() && !self.advance(limit) {
            return None;
        }
        if self.now > limit {
            return None;
        }
        self.len -= 1;
        self.current.pop().map(|event| (self.now, event))
    }

    /// Moves on to the next instant at which something happens, but not past `limit`.
    fn advance(&mut self, limit: u64) -> bool {
        loop {
            if !self.fresh.is_empty() {
                std::mem::swap(&mut self.current, &mut self.fresh);
                self.current.reverse();
                return true;
            }
            if self.len == 0 || !self.descend(limit) {
                return false;
            }
        }
    }

    /// Empties the next occupied slot of the lowest level that has one into the levels below.
    fn descend(&mut self, limit: u64) -> bool {
        for level in 0..LEVELS {
            let shift = 8 * level;
            let here = (self.now >> shift) as usize % SLOTS;
            let Some(slot) = self.levels[level].next(here + 1) else { continue };
            let above = if level + 1 == LEVELS { 0 } else { (self.now >> (shift + 8)) << (shift + 8) };
            let begin = above | ((slot as u64) << shift);
            if begin > limit {
                return false;
            }
            self.now = begin;
            self.levels[level].vacate(slot);
            let mut events = std::mem::take(&mut self.levels[level].slots[slot]);
            if level == 0 {
                self.fresh.extend(events.drain(..).map(|(_, event)| event));
            } else {
                for (time, event) in events.drain(..) {
                    self.place(time, event);
                }
            }
            if events.capacity() <= KEEP {
                self.levels[level].slots[slot] = events;
            }
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn events_come_out_by_time_and_equals_in_the_order_of_pushing() {
        let mut queue = Queue::default();
        for (time, event) in [(5, 'b'), (1_000_000, 'd'), (5, 'c'), (0, 'a'), (u64::MAX, 'e')] {
            queue.push(time, event);
        }
        let order: String = std::iter::from_fn(|| queue.pop(u64::MAX)).map(|(_, event)| event).collect();
        assert_eq!(order, "abcde");
    }

    #[test]
    fn nothing_is_taken_out_past_the_limit_and_pushing_before_it_still_works() {
        let mut queue = Queue::default();
        queue.push(70_000, 'z');
        assert_eq!(queue.pop(69_999), None);
        queue.push(69_999, 'y');
        assert_eq!(queue.pop(69_999), Some((69_999, 'y')));
        assert_eq!(queue.pop(70_000), Some((70_000, 'z')));
        assert!(queue.is_empty());
    }

    /// A million events drawn at random, against a heap ordered by time and number.
    #[test]
    fn it_agrees_with_a_heap() {
        let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
        let mut seed = 1_u64;
        let mut draw = |bits: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) & ((1 << bits) - 1)
        };
        let mut now = 0;
        for number in 0..200_000_u64 {
            let bits = [0, 4, 9, 17, 24, 40][draw(20) as usize % 6];
            let time = now + draw(bits);
            queue.push(time, number);
            heap.push(Reverse((time, number)));
            if draw(3) < 3 {
                let limit = now + draw(20);
                let expected = heap.peek().is_some_and(|Reverse((time, _))| *time <= limit);
                let popped = queue.pop(limit);
                assert_eq!(popped.is_some(), expected);
                if let Some((time, number)) = popped {
                    assert_eq!(heap.pop(), Some(Reverse((time, number))));
                    now = time;
                }
            }
            assert_eq!(queue.len(), heap.len());
        }
        while let Some(event) = queue.pop(u64::MAX) {
            assert_eq!(heap.pop(), Some(Reverse(event)));
        }
        assert!(heap.is_empty());
    }
}
