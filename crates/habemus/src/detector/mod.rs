//! Failure detectors: who seems to have crashed.
//!
//! A detector is a process whose effects are suspicions. [`Stacked`] puts an algorithm on top of one. Where
//! the driver itself knows who is up (the simulator, the model checker), it can play the *oracle* and call
//! [`Process::on_suspicion`](crate::Process::on_suspicion) directly; then no detector runs below.

use std::fmt;

use crate::property::{End, Monitor, Observation, Population, Verdict, Violation};
use crate::{Problem, ProblemKind, Status};

pub mod any;
pub mod eventually_perfect;
pub mod heartbeat;
mod normal_tail;
pub mod phi_accrual;
mod stacked;
pub use stacked::{Layer, Layers, Stacked};

/// The problem of telling who has crashed. Its answers are suspicions, not outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detection;

/// There is nothing to command and nothing to output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl Problem for Detection {
    const KIND: ProblemKind = ProblemKind::FailureDetection;
    type Command = Never;
    type Output = Never;
    type Monitor = Never;

    const COMMANDS: &'static [&'static str] = &[];

    fn command(_: &str) -> Option<Never> {
        None
    }

    fn status_after_command(command: &Never) -> Option<Status> {
        match *command {}
    }

    fn status_after_output(output: &Never) -> Option<Status> {
        match *output {}
    }

    fn next_command(_: &Status) -> Option<Never> {
        None
    }

    fn monitors(_: &Population) -> Vec<Never> {
        Vec::new()
    }
}

impl Monitor<Detection> for Never {
    fn name(&self) -> &'static str {
        match *self {}
    }

    fn demand(&self) -> &'static str {
        match *self {}
    }

    fn observe(&mut self, _: &Observation<'_, Detection>, _: &Population) -> Result<(), Violation> {
        match *self {}
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        match *self {}
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        match *self {}
    }
}
