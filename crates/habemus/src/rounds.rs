//! Synchronous algorithms: everything sent in pulse s has arrived before pulse s+1.
//!
//! A synchronous algorithm says in [`Round::on_pulse`] what it does with the messages of the last pulse, and
//! [`Synchronous`] makes a [`Process`] of it: a timer beats the pulses, and every message carries the pulse
//! it was sent in, so that one which comes too late (the network was not synchronous after all) is ignored
//! instead of being taken for a message of a later pulse.

use std::fmt::Debug;
use std::hash::Hash;

use crate::{Address, Command, Context, Message, Problem, Process, Topology};

/// A synchronous algorithm. Its variables are `self`.
pub trait Round: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// As in [`Process`].
    type Problem: Problem;
    /// As in [`Process`].
    type Topology: Topology;
    /// As in [`Process`].
    type Config: Clone + Debug + Send + Sync + 'static;
    /// As in [`Process`].
    type Message: Message;

    /// "On initialization"; messages may be sent from pulse 0 on, not here.
    fn start(cx: &mut Context<'_, Synchronous<Self>>) -> Self;

    /// The application asks for something; sends nothing before the next pulse.
    fn on_command(&mut self, command: <Self::Problem as Problem>::Command) {
        let _ = command;
    }

    /// Pulse `pulse` begins, and `arrived` is what was sent to this process in the pulse before.
    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Self::Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next;
}

/// What a process does after a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It takes part in the next pulse.
    Continue,
    /// It is done.
    Halt,
}

/// The context of one pulse: it tags what is sent.
pub struct Pulse<'a, 'b, R: Round> {
    cx: &'a mut Context<'b, Synchronous<R>>,
    pulse: u32,
}

impl<'a, 'b, R: Round> Pulse<'a, 'b, R> {
    /// The context of this pulse; [`Synchronous`] makes it.
    pub fn new(cx: &'a mut Context<'b, Synchronous<R>>, pulse: u32) -> Self {
        Pulse { cx, pulse }
    }

    /// Sends `message`; it arrives before the next pulse.
    pub fn send(&mut self, to: Address, message: R::Message) {
        self.cx.send(to, Pulsed { pulse: self.pulse, message });
    }

    /// Sends `message` to every neighbour.
    pub fn broadcast(&mut self, message: &R::Message) {
        for to in self.cx.neighbours() {
            self.send(to, message.clone());
        }
    }

    /// Everything else: identifiers, constants, outputs, choices.
    pub fn context(&mut self) -> &mut Context<'b, Synchronous<R>> {
        self.cx
    }

    /// Tells the application something.
    pub fn output(&mut self, output: <R::Problem as Problem>::Output) {
        self.cx.output(output);
    }
}

/// A message and the pulse in which it was sent.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pulsed<M> {
    pulse: u32,
    message: M,
}

impl<M: Debug> Debug for Pulsed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message.fmt(f)
    }
}

impl<M: Message> Message for Pulsed<M> {
    fn kind(&self) -> &'static str {
        self.message.kind()
    }

    fn vocabulary() -> Vec<&'static str> {
        M::vocabulary()
    }
}

/// So many messages wait for their pulses at most.
const MAX_INBOX: usize = 1 << 16;

/// When to begin the next pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Beat;

/// A synchronous algorithm as a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Synchronous<R: Round> {
    /// The algorithm's variables.
    pub round: R,
    /// The next pulse; `None` once the algorithm has halted.
    next: Option<u32>,
    /// What has arrived for pulses to come, kept in order so that arrival order leaves no mark.
    inbox: Vec<(u32, Address, R::Message)>,
}

impl<R: Round> Process for Synchronous<R> {
    type Problem = R::Problem;
    type Topology = R::Topology;
    type Config = R::Config;
    type Message = Pulsed<R::Message>;
    type Timer = Beat;
    type Stable = ();

    const SYNCHRONOUS: bool = true;

    /// Pulses beat without end; pictures show what is done in them.
    fn is_background(_: &Beat) -> bool {
        true
    }

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let round = R::start(cx);
        // Half a pulse of start-up, so that commands given at the very beginning count for pulse 0.
        cx.set_timer(Beat, cx.pulse() / 2);
        Synchronous { round, next: Some(0), inbox: Vec::new() }
    }

    fn on_message(&mut self, from: Address, message: Pulsed<R::Message>, _: &mut Context<'_, Self>) {
        let Some(next) = self.next else { return };
        // In a synchronous system nobody is ahead by two pulses. What comes from further on is a lie, and
        // might come for ever.
        let in_step = message.pulse + 1 >= next && message.pulse <= next.saturating_add(1);
        if in_step && self.inbox.len() < MAX_INBOX {
            let entry = (message.pulse + 1, from, message.message);
            let place = self.inbox.partition_point(|other| *other <= entry);
            self.inbox.insert(place, entry);
        }
    }

    fn on_timer(&mut self, _: Beat, cx: &mut Context<'_, Self>) {
        let Some(pulse) = self.next else { return };
        let later = self.inbox.partition_point(|(due, ..)| *due <= pulse);
        let rest = self.inbox.split_off(later);
        let arrived = std::mem::replace(&mut self.inbox, rest);
        let arrived = arrived.into_iter().map(|(_, from, message)| (from, message)).collect();
        match self.round.on_pulse(pulse, arrived, &mut Pulse::new(cx, pulse)) {
            Next::Continue => {
                self.next = Some(pulse + 1);
                cx.set_timer(Beat, cx.pulse());
            }
            Next::Halt => {
                self.next = None;
                self.inbox.clear();
            }
        }
    }

    fn on_command(&mut self, command: Command<Self>, _: &mut Context<'_, Self>) {
        self.round.on_command(command);
    }
}
