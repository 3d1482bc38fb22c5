//! What the script does to a message or a timer on a network where things happen by themselves.

use std::time::Duration;

use habemus::{Address, Process};
use habemus_scenario::{MessageFate, TimeModel};
use habemus_trace::Dropped;

use super::{Pending, Simulation};
use crate::network::Link;
use crate::observer::Observer;
use crate::queue::Queue;
use crate::time::{Time, nanos};

/// Why something cannot happen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such message.
    #[error("no such message was on its way")]
    NoMessage,
    /// There is no such timer.
    #[error("no such timer was running")]
    NoTimer,
    /// Another message was sent before it on the same link.
    #[error("the link keeps its messages in order, and another was sent before this one")]
    Order,
    /// The receiver is paused.
    #[error("the process is paused and takes nothing")]
    Paused,
    /// The network is synchronous, and this belongs to a later moment.
    #[error("the network is synchronous, and this belongs to a later moment of the pulse")]
    Pulse,
    /// The network's bound on delays holds, and this would break it.
    #[error("the network promises a bound on delays, which this would break")]
    Bound,
    /// The network is timely, and with it the clocks.
    #[error("the network is timely from here on, and with it the clocks: no timer runs out too early")]
    Clocks,
    /// It waits for the script, which calls everything.
    #[error("on a scripted network nothing arrives by itself that could be delayed")]
    Scripted,
    /// It comes by itself, when its time has come.
    #[error("it comes by itself when its time has come")]
    Itself,
}

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// Something happens to a message that is on its way.
    #[inline(never)]
    pub(super) fn call_queued_message(&mut self, fate: MessageFate, link: Link, nth: u32) {
        let mut events = self.take_queue();
        let found = nth_on_link(&events, link, nth);
        let refusal = match found {
            None => Some(Refusal::NoMessage),
            Some(place) => self.refuses_message(fate, link, nth, events[place].0, events[0].0),
        };
        let (Some(place), None) = (found, refusal) else {
            self.fill_queue(events);
            let (from, to) = (self.system.id_of(link.0), self.system.id_of(link.1));
            let why = refusal.unwrap_or(Refusal::NoMessage);
            return self.miss(&format!("the message from {from} to {to} cannot be had: {why}"));
        };
        if let MessageFate::Delay(by) = fate {
            self.put_off(&mut events, place, link, by);
            return self.fill_queue(events);
        }
        let (due, message) =
            if fate == MessageFate::Duplicate { events[place].clone() } else { events.remove(place) };
        self.fill_queue(events);
        if self.is_synchronous() {
            self.now = due;
        }
        if let (MessageFate::Duplicate, Pending::Deliver { stamp, .. }) = (fate, &message) {
            self.observer.duplicated(stamp);
        }
        match (fate, message) {
            (MessageFate::Lose, Pending::Deliver { from, to, stamp, .. }) => {
                self.observer.dropped(self.now, from, to, &stamp, Dropped::Loss);
            }
            (_, message) => {
                self.happen(message);
            }
        }
    }

    /// A timer runs out before its time.
    #[inline(never)]
    pub(super) fn call_queued_timer(&mut self, at: Address, label: &str) {
        let mut events = self.take_queue();
        let called = |pending: &Pending<P, O::Stamp>| match pending {
            Pending::Timer { at: other, timer, number } => {
                *other == at && format!("{timer:?}") == label && self.timers.runs(at, *number)
            }
            _ => false,
        };
        let found = events.iter().position(|(_, pending)| called(pending));
        let refusal = match found {
            None => Some(Refusal::NoTimer),
            Some(place) => self.refuses_timer(at, events[place].0, events[0].0),
        };
        let (Some(place), None) = (found, refusal) else {
            self.fill_queue(events);
            let (id, why) = (self.system.id_of(at), refusal.unwrap_or(Refusal::NoTimer));
            return self.miss(&format!("the timer {label} at {id} cannot be had: {why}"));
        };
        let (due, timer) = events.remove(place);
        self.fill_queue(events);
        if self.is_synchronous() {
            self.now = due;
        }
        self.happen(timer);
    }

    /// Why a message that arrives at `due`, where the next event comes at `next`, cannot be treated so now.
    pub(super) fn refuses_message(
        &self,
        fate: MessageFate,
        (_, to): Link,
        nth: u32,
        due: Time,
        next: Time,
    ) -> Option<Refusal> {
        let arrives = matches!(fate, MessageFate::Deliver | MessageFate::Duplicate);
        if arrives && self.held_back.contains(to) {
            return Some(Refusal::Paused);
        }
        if arrives && nth > 1 && self.network.is_fifo() {
            return Some(Refusal::Order);
        }
        match (self.network.model(), fate) {
            (TimeModel::Synchronous { .. }, MessageFate::Delay(_)) => Some(Refusal::Bound),
            (TimeModel::Synchronous { .. }, _) if arrives && due != next => Some(Refusal::Pulse),
            (TimeModel::PartiallySynchronous { gst, delta }, MessageFate::Delay(by)) => {
                let bound = nanos(gst).saturating_add(nanos(delta));
                let late = due.saturating_add(nanos(by)) > bound || self.now >= nanos(gst);
                late.then_some(Refusal::Bound)
            }
            _ => None,
        }
    }

    /// Why a timer that runs out at `due`, where the next event comes at `next`, cannot run out now.
    pub(super) fn refuses_timer(&self, at: Address, due: Time, next: Time) -> Option<Refusal> {
        if self.held_back.contains(at) {
            return Some(Refusal::Paused);
        }
        match self.network.model() {
            TimeModel::Synchronous { .. } if due != next => Some(Refusal::Pulse),
            TimeModel::PartiallySynchronous { gst, .. } if self.now >= nanos(gst) && due != next => {
                Some(Refusal::Clocks)
            }
            _ => None,
        }
    }

    fn is_synchronous(&self) -> bool {
        matches!(self.network.model(), TimeModel::Synchronous { .. })
    }

    /// A message arrives later, and whatever must not overtake it does.
    fn put_off(
        &mut self,
        events: &mut [(Time, Pending<P, O::Stamp>)],
        place: usize,
        link: Link,
        by: Duration,
    ) {
        let until = events[place].0.saturating_add(nanos(by));
        events[place].0 = until;
        if self.network.is_fifo() {
            for (due, _) in events[place + 1..].iter_mut().filter(|(_, other)| is_on(other, link)) {
                *due = until.max(*due);
            }
            self.network.put_off(link, until);
        }
        // Equals keep the order in which they were.
        events.sort_by_key(|(due, _)| *due);
    }

    /// Takes everything out of the queue, in the order in which it is to happen.
    fn take_queue(&mut self) -> Vec<(Time, Pending<P, O::Stamp>)> {
        in_order(std::mem::take(&mut self.queue))
    }

    fn fill_queue(&mut self, events: Vec<(Time, Pending<P, O::Stamp>)>) {
        for (due, pending) in events {
            self.queue.push(due, pending);
        }
    }
}

/// Everything in a queue, in the order in which it is to happen.
pub(super) fn in_order<T>(mut queue: Queue<T>) -> Vec<(Time, T)> {
    std::iter::from_fn(|| queue.pop(Time::MAX)).collect()
}

fn is_on<P: Process, S>(pending: &Pending<P, S>, link: Link) -> bool {
    matches!(pending, Pending::Deliver { from, to, .. } if (*from, *to) == link)
}

/// Where the message is that is the `nth` on its link, counted from 1 in the order of arrival.
fn nth_on_link<P: Process, S>(events: &[(Time, Pending<P, S>)], link: Link, nth: u32) -> Option<usize> {
    let on_link = events.iter().enumerate().filter(|(_, (_, pending))| is_on(pending, link));
    on_link.map(|(place, _)| place).nth(nth.max(1) as usize - 1)
}
