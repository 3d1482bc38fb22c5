//! The event queue: a hierarchical timing wheel over 64-bit time, eight levels of 256 slots.
//!
//! An event lies on the level of the highest byte in which its time differs from the present, in the slot
//! that this byte names. Time only grows. When it reaches a slot, the slot becomes the present: if its events
//! are few, or came in order, they are lined up as they are to happen; otherwise they move to lower levels,
//! at most once per level. What is pushed into the present finds its place in the line. Events of the same
//! instant stay in the order in which they were pushed, because a slot is emptied before anything can be
//! pushed directly to the levels below it.
//!
//! Of few events no wheel is made: then the present is all of time, and everything stands in the line, as
//! does what is pushed in order, however much it is.

use std::collections::VecDeque;

/// Slots of one level: one for each value of a byte.
const SLOTS: usize = 256;
/// Levels: one for each byte of the time.
const LEVELS: usize = 8;
/// So many events are rather sorted than spread over lower levels.
const FEW: usize = 64;
/// A slot that once held more than this gives its memory back when it is emptied.
const KEEP: usize = 64;

/// Events ordered by time, first in first out among equals.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// No event lies before this.
    now: u64,
    len: usize,
    /// The level of the present slot: it holds all times that agree with `now` in this byte and those above.
    /// Above the last level that is any time.
    present: usize,
    /// The bits in which a time differs from `now` that is not in the present slot.
    beyond: u64,
    /// The events of the present slot, as they are to happen; they lie nowhere else.
    line: VecDeque<(u64, T)>,
    /// Level by level, a bit for each slot that holds something.
    occupied: [[u64; SLOTS / 64]; LEVELS],
    /// The slots of all levels.
    slots: Vec<Vec<(u64, T)>>,
    /// Times and indices of the events that are being sorted.
    order: Vec<(u64, u32)>,
}

/// Sorts by time and index. It is compiled once, and moves less than sorting the events themselves would.
fn sort_times(order: &mut [(u64, u32)]) {
    order.sort_unstable();
}

/// Where the last of several events belongs among the others, which are in order, if it is not before them
/// all. It is looked for from the end: what is sent last arrives late.
fn place_of_last<T>(events: &[(u64, T)]) -> Option<usize> {
    let ((last, _), others) = events.split_last()?;
    let before = others.iter().rposition(|(time, _)| time <= last)?;
    Some(before + 1)
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            now: 0,
            len: 0,
            present: LEVELS,
            beyond: 0,
            line: VecDeque::new(),
            occupied: [[0; SLOTS / 64]; LEVELS],
            slots: std::iter::repeat_with(Vec::new).take(LEVELS * SLOTS).collect(),
            order: Vec::new(),
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

    /// Adds an event at `time`, which must not lie before the last event popped, nor before the limit of a
    /// [`pop`](Queue::pop) that gave nothing. Like taking out, it belongs into the loop, whatever a compiler
    /// thinks of its length: a call would move the event once more.
    #[inline(always)]
    pub fn push(&mut self, time: u64, event: T) {
        debug_assert!(time >= self.now, "time only grows");
        self.len += 1;
        if (time ^ self.now) & self.beyond != 0 {
            self.place(time, event);
            return;
        }
        let in_order = self.line.back().is_none_or(|(last, _)| *last <= time);
        // It is added in any case: to hand it over to somebody else, it would have to lie in memory before.
        self.line.push_back((time, event));
        if !in_order {
            self.move_last();
        }
    }

    /// Moves what was added to the line last to where it belongs.
    #[inline(never)]
    fn move_last(&mut self) {
        if self.line.len() > 2 * FEW {
            let events = std::mem::take(&mut self.line);
            self.spread(events);
            return;
        }
        // The line lies in memory in one piece or in two, and mostly the place is in the piece of the last.
        let (front, back) = self.line.as_mut_slices();
        let piece = if back.is_empty() { front } else { back };
        if let Some(place) = place_of_last(piece) {
            piece[place..].rotate_right(1);
        } else if let Some((time, event)) = self.line.pop_back() {
            let place = self.line.partition_point(|(other, _)| *other <= time);
            self.line.insert(place, (time, event));
        }
    }

    /// Adds an event to its slot, which lies beyond the present one.
    #[inline]
    fn place(&mut self, time: u64, event: T) {
        let differing = time ^ self.now;
        let level = differing.ilog2() as usize / 8;
        let slot = (time >> (8 * level)) as usize % SLOTS;
        self.occupied[level][slot / 64] |= 1 << (slot % 64);
        self.slots[level * SLOTS + slot].push((time, event));
    }

    fn set_present(&mut self, level: usize) {
        self.present = level;
        self.beyond = if level == LEVELS { 0 } else { !0 << (8 * level) };
    }

    /// Spreads the events of the present slot over lower levels.
    fn spread(&mut self, events: impl IntoIterator<Item = (u64, T)>) {
        self.set_present(0);
        for (time, event) in events {
            if time == self.now {
                self.line.push_back((time, event));
            } else {
                self.place(time, event);
            }
        }
    }

    /// Events that come next, as far as their order is already known; there may be more.
    #[inline]
    pub fn upcoming(&self) -> impl Iterator<Item = &T> {
        self.line.iter().map(|(_, event)| event)
    }

    /// Takes the next event out, with its time, unless it lies after `limit`.
    #[inline(always)]
    pub fn pop(&mut self, limit: u64) -> Option<(u64, T)> {
        while self.line.is_empty() {
            if !self.descend(limit) {
                return None;
            }
        }
        let (time, event) = self.line.pop_front_if(|(time, _)| *time <= limit)?;
        self.len -= 1;
        self.now = time;
        Some((time, event))
    }

    /// Moves on to the next slot that holds something, unless it begins after `limit`.
    fn descend(&mut self, limit: u64) -> bool {
        if self.len <= FEW && self.present < LEVELS {
            self.line_up();
            return self.len > 0;
        }
        for level in self.present..LEVELS {
            let shift = 8 * level;
            let here = (self.now >> shift) as usize % SLOTS;
            let Some(slot) = self.occupied_after(level, here) else { continue };
            let above = if level + 1 == LEVELS { 0 } else { (self.now >> (shift + 8)) << (shift + 8) };
            let begin = above | ((slot as u64) << shift);
            if begin > limit {
                return false;
            }
            self.now = begin;
            self.occupied[level][slot / 64] &= !(1 << (slot % 64));
            let mut events = std::mem::take(&mut self.slots[level * SLOTS + slot]);
            if events.len() <= FEW {
                self.sort(&mut events);
            }
            let emptied = if events.is_sorted_by_key(|(time, _)| *time) {
                self.set_present(level);
                std::mem::replace(&mut self.line, events.into()).into()
            } else {
                self.spread(events.drain(..));
                events
            };
            if emptied.capacity() <= KEEP {
                self.slots[level * SLOTS + slot] = emptied;
            }
            return true;
        }
        false
    }

    /// Brings all events into the line; they are few.
    fn line_up(&mut self) {
        let mut events = Vec::with_capacity(self.len);
        for level in 0..LEVELS {
            // Equals are in one slot, so the order of slots is of no importance.
            for word in 0..SLOTS / 64 {
                let mut bits = std::mem::take(&mut self.occupied[level][word]);
                while bits != 0 {
                    let slot = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    events.append(&mut self.slots[level * SLOTS + slot]);
                }
            }
        }
        self.sort(&mut events);
        self.line.extend(events);
        self.set_present(LEVELS);
    }

    /// Sorts few events by time, equals in their order.
    fn sort(&mut self, events: &mut [(u64, T)]) {
        self.order.clear();
        self.order.extend(events.iter().zip(0..).map(|((time, _), index)| (*time, index)));
        sort_times(&mut self.order);
        for target in 0..events.len() {
            // Whatever stood before the target has been moved on, to where its own index says.
            let mut source = self.order[target].1 as usize;
            while source < target {
                source = self.order[source].1 as usize;
            }
            events.swap(target, source);
        }
    }

    /// The first slot of a level after `slot` that holds something.
    fn occupied_after(&self, level: usize, slot: usize) -> Option<usize> {
        let words = &self.occupied[level];
        let (mut word, from) = (slot / 64, slot % 64);
        // Two shifts, because one by 64 bits would be one by none.
        let mut bits = words[word] & (!0 << from << 1);
        while bits == 0 {
            word += 1;
            bits = *words.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
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

    /// More events are pushed between those that wait than are kept in a line.
    #[test]
    fn a_present_that_becomes_crowded_is_spread() {
        let mut queue = Queue::default();
        queue.push(1 << 20, 0);
        assert_eq!(queue.pop(u64::MAX), Some((1 << 20, 0)));
        let times = (0..10 * FEW as u64).map(|number| (1 << 20) + number * 7919 % 60_000);
        let mut expected: Vec<(u64, usize)> = times.zip(0..).collect();
        queue.push((1 << 20) + 60_000, expected.len());
        for (time, number) in &expected {
            queue.push(*time, *number);
        }
        expected.push(((1 << 20) + 60_000, expected.len()));
        expected.sort();
        let popped: Vec<(u64, usize)> = std::iter::from_fn(|| queue.pop(u64::MAX)).collect();
        assert_eq!(popped, expected);
    }

    #[test]
    fn what_comes_next_can_be_seen_before() {
        let mut queue = Queue::default();
        for (time, event) in [(900, 'c'), (500, 'a'), (800, 'b')] {
            queue.push(time, event);
        }
        assert_eq!(queue.pop(500), Some((500, 'a')));
        queue.push(850, 'x');
        assert_eq!(queue.pop(800), Some((800, 'b')));
        assert!(queue.upcoming().eq(&['x', 'c']));
    }

    /// Numbers of so many bits, the same every time.
    fn draws() -> impl FnMut(u32) -> u64 {
        let mut seed = 1_u64;
        move |bits| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) & ((1 << bits) - 1)
        }
    }

    /// Few events stand in a line, many lie in the wheel, and again and again the ones become the others.
    #[test]
    fn it_agrees_with_a_heap_while_it_fills_and_empties() {
        let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
        let mut draw = draws();
        let (mut now, mut changes, mut was_wheel) = (0, 0, false);
        for number in 0..40_000_u64 {
            let time = now + draw([2, 12, 22][number as usize % 3]);
            queue.push(time, number);
            heap.push(Reverse((time, number)));
            let fills = number / 1000 % 2 == 0;
            for _ in 0..if fills { number % 2 } else { 1 + number % 2 } {
                let popped = queue.pop(u64::MAX);
                assert_eq!(popped.map(Reverse), heap.pop());
                now = popped.map_or(now, |(time, _)| time);
            }
            let is_wheel = queue.present < LEVELS;
            changes += u32::from(is_wheel != was_wheel);
            was_wheel = is_wheel;
        }
        assert_eq!(changes, 40, "it is a wheel whenever it is full");
    }

    /// Events drawn at random, against a heap ordered by time and number.
    #[test]
    fn it_agrees_with_a_heap() {
        let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
        let mut draw = draws();
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
                now = popped.map_or(limit, |(time, _)| time);
                if let Some(event) = popped {
                    assert_eq!(heap.pop(), Some(Reverse(event)));
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
