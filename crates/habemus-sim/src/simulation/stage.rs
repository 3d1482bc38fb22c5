//! A scripted network: what would happen by itself waits until the script calls it.

use habemus::{Address, Process};
use habemus_scenario::MessageFate;
use habemus_trace::Dropped;

use super::{Pending, Simulation};
use crate::network::Link;
use crate::observer::Observer;
use crate::time::Time;

/// Between two messages that arrive when the script is over.
const PAUSE: Time = 1_000_000;

/// What waits for its cue.
#[derive(Clone)]
pub(super) struct Stage<P: Process, S> {
    /// Messages on their way, in the order in which they were sent.
    messages: Vec<Waiting<P, S>>,
    /// Timers, and when each would have run out.
    timers: Vec<(Address, P::Timer, u32, Time)>,
}

#[derive(Clone)]
struct Waiting<P: Process, S> {
    link: Link,
    message: P::Message,
    stamp: S,
}

impl<P: Process, S> Stage<P, S> {
    pub(super) fn new() -> Self {
        Stage { messages: Vec::new(), timers: Vec::new() }
    }

    pub(super) fn hold_message(&mut self, link: Link, message: P::Message, stamp: S) {
        self.messages.push(Waiting { link, message, stamp });
    }

    pub(super) fn hold_timer(&mut self, at: Address, timer: P::Timer, number: u32, due: Time) {
        // A timer that is set again is not there twice.
        self.timers.retain(|(other, running, ..)| *other != at || *running != timer);
        self.timers.push((at, timer, number, due));
    }

    /// The messages that wait, in the order in which they were sent.
    #[cfg(feature = "stepper")]
    pub(super) fn messages(&self) -> impl Iterator<Item = (Link, &P::Message, &S)> {
        self.messages.iter().map(|waiting| (waiting.link, &waiting.message, &waiting.stamp))
    }

    /// The timers that wait.
    #[cfg(feature = "stepper")]
    pub(super) fn timers(&self) -> &[(Address, P::Timer, u32, Time)] {
        &self.timers
    }

    /// Where the message is that is the `nth` of its link, counted from 1.
    pub(super) fn find(&self, link: Link, nth: u32) -> Option<usize> {
        let on_link = self.messages.iter().enumerate().filter(|(_, waiting)| waiting.link == link);
        on_link.map(|(index, _)| index).nth(nth.max(1) as usize - 1)
    }
}

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// The script calls a message.
    pub(super) fn call_message(&mut self, fate: MessageFate, link: Link, nth: u32) {
        let Some(stage) = &mut self.stage else { return self.call_queued_message(fate, link, nth) };
        if let MessageFate::Delay(_) = fate {
            return self.miss("on a scripted network nothing arrives by itself that could be delayed");
        }
        let Some(index) = stage.find(link, nth) else {
            let (from, to) = (self.system.id_of(link.0), self.system.id_of(link.1));
            return self.miss(&format!("no such message was on its way from {from} to {to}"));
        };
        let Waiting { link: (from, to), message, stamp } = stage.messages.remove(index);
        if fate == MessageFate::Duplicate {
            let copy = Waiting { link, message: message.clone(), stamp: stamp.clone() };
            stage.messages.insert(index, copy);
            self.observer.duplicated(&stamp);
        }
        if fate == MessageFate::Lose {
            self.observer.dropped(self.now, from, to, &stamp, Dropped::Loss);
        } else {
            self.happen(Pending::Deliver { from, to, message, stamp });
        }
    }

    /// The script calls a timer.
    pub(super) fn call_timer(&mut self, at: Address, label: &str) {
        let Some(stage) = &mut self.stage else { return self.call_queued_timer(at, label) };
        let called = |(other, timer, ..): &(Address, P::Timer, u32, Time)| {
            *other == at && format!("{timer:?}") == label
        };
        let called = stage.timers.iter().position(called).map(|index| stage.timers.remove(index));
        let fired =
            called.is_some_and(|(at, timer, number, _)| self.happen(Pending::Timer { at, timer, number }));
        if !fired {
            self.miss(&format!("the timer {label} did not run at {}", self.system.id_of(at)));
        }
    }

    /// The script is over: whatever still waits happens by itself.
    pub(super) fn leave_stage(&mut self) {
        let Some(stage) = self.stage.take() else { return };
        let mut due = self.now;
        for Waiting { link: (from, to), message, stamp } in stage.messages {
            due += PAUSE;
            self.queue.push(due, Pending::Deliver { from, to, message, stamp });
        }
        for (at, timer, number, would) in stage.timers {
            self.queue.push(would.max(self.now + PAUSE), Pending::Timer { at, timer, number });
        }
    }

    pub(super) fn miss(&mut self, what: &str) {
        let at = habemus_scenario::units::show_duration(std::time::Duration::from_nanos(self.now));
        self.missed.push(format!("the script calls at {at}, but {what}"));
    }
}
