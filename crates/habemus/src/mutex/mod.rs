//! Mutual exclusion: at most one process at a time is in the critical section.

use std::fmt;

use crate::property::{MutexMonitor, Population};
use crate::{Problem, ProblemKind, Status};

pub mod coordinator;
pub mod elected;
pub mod lamport;
pub mod maekawa;
pub mod quorum;
pub mod raymond;
pub mod ricart_agrawala;
pub mod service;
mod state;
pub mod suzuki_kasami;
mod timestamp;
pub mod token_ring;
mod voting_sets;
pub use state::State;
pub use timestamp::Timestamp;
pub use voting_sets::{Lines, VotingSets};

/// The problem of entering a critical section one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mutex;

/// What an application asks of a lock. It asks in turns: enter, then leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// To enter the critical section.
    Acquire,
    /// To enter it together with others that share it, where the algorithm has such a mode; elsewhere alone.
    Share,
    /// To leave it.
    Release,
}

/// A fencing token: it grows with every grant, so the protected resource can refuse an older holder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Token(pub u64);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What a process tells its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Output {
    /// You are inside.
    Entered {
        /// To be shown to the protected resource, where the algorithm gives one.
        token: Option<Token>,
    },
    /// You are outside again: you asked for it, or your lease is over.
    Left,
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "acquire",
            Command::Share => "share",
            Command::Release => "release",
        })
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Entered { token: Some(Token(token)) } => write!(f, "enters with token {token}"),
            Output::Entered { token: None } => f.write_str("enters"),
            Output::Left => f.write_str("leaves"),
        }
    }
}

impl Problem for Mutex {
    const KIND: ProblemKind = ProblemKind::MutualExclusion;
    type Command = Command;
    type Output = Output;
    type Monitor = MutexMonitor;

    const COMMANDS: &'static [&'static str] = &["acquire", "share", "release"];

    fn command(word: &str) -> Option<Command> {
        match word {
            "acquire" => Some(Command::Acquire),
            "share" => Some(Command::Share),
            "release" => Some(Command::Release),
            _ => None,
        }
    }

    fn status_after_command(command: &Command) -> Option<Status> {
        (*command != Command::Release).then_some(Status::Waiting)
    }

    fn status_after_output(output: &Output) -> Option<Status> {
        Some(match output {
            Output::Entered { .. } => Status::Inside,
            Output::Left => Status::Idle,
        })
    }

    fn next_command(status: &Status) -> Option<Command> {
        match status {
            Status::Inside => Some(Command::Release),
            Status::Idle => Some(Command::Acquire),
            _ => None,
        }
    }

    fn monitors(population: &Population) -> Vec<MutexMonitor> {
        MutexMonitor::all(population)
    }
}
