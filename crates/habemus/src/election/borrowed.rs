//! An election that is held elsewhere: many locks of one node share the one that the node takes part in.
//!
//! A process of it does nothing by itself. Whoever drives the lock above tells the lock what came of the real
//! election ([`Elected::on_borrowed`](crate::mutex::elected::Elected::on_borrowed)).

use super::{Command, Election};
use crate::topology::Complete;
use crate::{Address, Context, Process};

/// What is never sent, and what nobody is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Never {}

impl crate::Message for Never {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

/// The variables: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Borrowed;

impl Process for Borrowed {
    type Problem = Election;
    type Topology = Complete;
    type Config = ();
    type Message = Never;
    type Timer = Never;
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Borrowed
    }

    fn on_message(&mut self, _: Address, message: Never, _: &mut Context<'_, Self>) {
        match message {}
    }

    /// It is not for one lock among many to call an election.
    fn on_command(&mut self, Command::Elect: Command, _: &mut Context<'_, Self>) {}
}
