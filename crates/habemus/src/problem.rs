//! What an algorithm solves: a problem fixes the commands, the outputs and the properties.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use crate::property::{Monitor, Population};
use crate::{Data, Id};

/// A problem: election, mutual exclusion, agreement, failure detection.
///
/// Algorithms for the same problem take the same commands and give the same outputs, so one set of
/// properties, one diagram and one application serve them all.
pub trait Problem: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// Its name in the catalogue.
    const NAME: &'static str;
    /// What an application asks of a process.
    type Command: Data + Display;
    /// What a process tells its application.
    type Output: Data + Display;
    /// What must hold, one monitor per property.
    type Monitor: Monitor<Self> + Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The words for the commands in scripts and on the command line.
    const COMMANDS: &'static [&'static str];

    /// The command that a word of [`COMMANDS`](Problem::COMMANDS) stands for.
    fn command(word: &str) -> Option<Self::Command>;

    /// What a command makes of a process's status, if anything.
    fn status_after_command(command: &Self::Command) -> Option<Status>;

    /// What an output makes of a process's status, if anything.
    fn status_after_output(output: &Self::Output) -> Option<Status>;

    /// What a client that works in a loop asks next, when its process has come to this status.
    fn next_command(status: &Status) -> Option<Self::Command>;

    /// The monitors of every property that makes sense for this population.
    fn monitors(population: &Population) -> Vec<Self::Monitor>;
}

/// What a process is, as its application sees it; diagrams colour by it and statistics count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Status {
    /// Nothing in particular: outside, without a leader.
    Idle,
    /// It has asked to enter and waits.
    Waiting,
    /// It is in the critical section.
    Inside,
    /// It considers itself the leader.
    Leading,
    /// It knows a leader; on an anonymous ring only that there is one.
    Following(Option<Id>),
    /// It has decided.
    Decided,
}
