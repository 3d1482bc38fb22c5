//! A process without its type.

use std::time::Duration;

use habemus::election::Output;
use habemus::mutex::elected::Standing;
use habemus::{Address, Status, Suspicion};

use crate::plain::{Encoded, Garbled, Label, PlainStep};

/// A process that can be driven without knowing its type.
pub trait Machine: Send {
    /// Another process of the same system at the same address, not started.
    fn fresh(&self) -> Box<dyn Machine>;

    /// What stable storage holds before anything was stored.
    fn blank(&self) -> Vec<u8>;

    /// What stable storage holds after the processes have got other addresses; `None` if that is impossible.
    fn renumbered(&self, stored: &[u8]) -> Option<Vec<u8>>;

    /// Starts it; `recovered` is what stable storage held, `None` at the first start.
    ///
    /// # Errors
    /// If that is not what this algorithm stores.
    fn start(&mut self, recovered: Option<&[u8]>, now: Duration, out: &mut PlainStep) -> Result<(), Garbled>;

    /// A message has arrived.
    ///
    /// # Errors
    /// If it is none that a process of this system could have sent: it is none of this algorithm, names
    /// somebody who is not there, has a number out of range, comes from one that has no link to this one, or
    /// makes the process turn to one that it cannot reach. Then nothing has changed.
    fn message(
        &mut self,
        from: Address,
        bytes: &[u8],
        now: Duration,
        out: &mut PlainStep,
    ) -> Result<Label, Garbled>;

    /// A timer has run out; `key` is what [`PlainEffect::SetTimer`](crate::PlainEffect::SetTimer) gave.
    ///
    /// # Errors
    /// If nothing ever gave it.
    fn timer(&mut self, key: &[u8], now: Duration, out: &mut PlainStep) -> Result<Label, Garbled>;

    /// The application asks for something, by a word of the problem; `None` if there is no such word.
    fn command(&mut self, word: &str, now: Duration, out: &mut PlainStep) -> Option<Encoded>;

    /// Whoever knows says who crashed or came back.
    fn suspicion(&mut self, suspicion: Suspicion, now: Duration, out: &mut PlainStep);

    /// It is about to be stopped in good order.
    fn stop(&mut self, now: Duration, out: &mut PlainStep);

    /// The key of the timer at whose end it is over with what the process has told its application, unless
    /// that is renewed; `None`: no time ends it.
    fn lease(&self) -> Option<Vec<u8>>;

    /// What the election in it says, if there is one that locks can share.
    fn leadership(&self) -> Option<Output>;

    /// The election that this lock shares with others says something. Others do not listen.
    fn tell_standing(&mut self, standing: Standing, now: Duration, out: &mut PlainStep) {
        let _ = (standing, now, out);
    }

    /// If it is a lock that shares its election and can be forgotten: how many grants there were in this
    /// term.
    fn at_rest(&self) -> Option<u64> {
        None
    }

    /// The variables of the process, to be looked at; empty before it has started.
    fn state(&self) -> String;

    /// What a client that works in a loop asks next, when the process has come to this status.
    fn next_command(&self, status: &Status) -> Option<String>;
}
