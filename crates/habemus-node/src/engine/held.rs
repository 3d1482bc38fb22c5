//! Messages that are held back because they pretend to be on their way.

use std::collections::BTreeMap;

use habemus::Address;

use crate::clock::BootInstant as Instant;
use crate::transport::frame::Body;

/// So many messages are held back at most.
pub const MAX_HELD: usize = 4096;

/// So many bytes of messages are held back at most.
pub const MAX_HELD_BYTES: usize = 16 << 20;

/// Messages by the time at which they arrive.
#[derive(Debug)]
pub(super) struct HeldMessages {
    /// By time, then by sender, then in the order in which they came.
    messages: BTreeMap<(Instant, Address, u64), Body>,
    bytes: usize,
    next_number: u64,
    /// When the last message of each sender is due, which the next may not overtake.
    last_due: Vec<Option<Instant>>,
    fifo: bool,
}

impl HeldMessages {
    pub(super) fn new(senders: usize) -> Self {
        let (messages, last_due) = (BTreeMap::new(), vec![None; senders]);
        HeldMessages { messages, bytes: 0, next_number: 0, last_due, fifo: true }
    }

    /// Whether messages of one sender stay in order, whatever latency they pretend.
    pub(super) fn keep_order(&mut self, fifo: bool) {
        self.fifo = fifo;
    }

    /// Whether a message that pretends no latency can be taken at once: almost always nothing is held back.
    pub(super) fn lets_pass(&self, from: Address) -> bool {
        !self.fifo || self.last_due[from.index()].is_none()
    }

    /// Whether one more can be held back.
    pub(super) fn has_room(&self) -> bool {
        self.messages.len() < MAX_HELD && self.bytes < MAX_HELD_BYTES
    }

    /// Holds a message back until it is due, and until all before it from the same sender are.
    pub(super) fn hold_in_order(&mut self, due: Instant, from: Address, body: Body) {
        let last = self.last_due[from.index()].filter(|_| self.fifo);
        let due = last.map_or(due, |last| last.max(due));
        self.last_due[from.index()] = Some(due);
        self.hold(due, from, body);
    }

    /// Holds a message back until it is due.
    pub(super) fn hold(&mut self, due: Instant, from: Address, body: Body) {
        self.next_number += 1;
        self.bytes += body.size();
        self.messages.insert((due, from, self.next_number), body);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.messages.first_key_value().map(|((due, ..), _)| *due)
    }

    /// Takes the next one out.
    pub(super) fn pop(&mut self) -> Option<(Address, Body)> {
        let ((_, from, _), body) = self.messages.pop_first()?;
        self.bytes -= body.size();
        Some((from, body))
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ONE: Address = Address(0);
    const TWO: Address = Address(1);

    fn body(name: &str) -> Body {
        Body::Open { name: name.to_owned() }
    }

    fn names(held: &mut HeldMessages) -> Vec<String> {
        let popped = std::iter::from_fn(|| held.pop());
        popped.map(|(_, body)| if let Body::Open { name } = body { name } else { String::new() }).collect()
    }

    #[test]
    fn messages_arrive_by_time_then_by_sender_then_as_they_came() {
        let (mut held, now) = (HeldMessages::new(2), Instant::now());
        held.hold(now + Duration::from_millis(9), ONE, body("late"));
        held.hold(now, TWO, body("two"));
        held.hold(now, ONE, body("one"));
        held.hold(now, ONE, body("one again"));
        assert_eq!((held.len(), held.next_due()), (4, Some(now)));
        assert_eq!(names(&mut held), ["one", "one again", "two", "late"]);
    }

    #[test]
    fn there_is_room_for_so_many_and_for_so_many_bytes() {
        let (mut held, now) = (HeldMessages::new(2), Instant::now());
        let fill = |held: &mut HeldMessages, name: &str| {
            while held.has_room() {
                held.hold(now, ONE, body(name));
            }
            held.len()
        };
        assert_eq!(fill(&mut held, "x"), MAX_HELD);
        names(&mut held);
        assert!(held.has_room());
        assert_eq!(fill(&mut held, &"x".repeat(1 << 20)), MAX_HELD_BYTES >> 20);
    }

    #[test]
    fn a_message_does_not_overtake_its_forerunner_unless_order_is_given_up() {
        let (mut held, now) = (HeldMessages::new(2), Instant::now());
        let later = now + Duration::from_millis(9);
        assert!(held.lets_pass(ONE));
        held.hold_in_order(later, ONE, body("first"));
        assert!(!held.lets_pass(ONE) && held.lets_pass(TWO));
        held.hold_in_order(now, ONE, body("second"));
        assert_eq!(names(&mut held), ["first", "second"]);
        held.keep_order(false);
        assert!(held.lets_pass(ONE));
        held.hold_in_order(later, ONE, body("third"));
        held.hold_in_order(now, ONE, body("fourth"));
        assert_eq!(names(&mut held), ["fourth", "third"]);
    }
}
