//! What an algorithm solves: a problem fixes the commands, the outputs and the properties.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use crate::property::{Monitor, Population};
use crate::{Data, Id};

/// A problem: election, mutual exclusion, agreement, failure detection.
///
/// Algorithms for the same problem take the same commands and give the same outputs, so one set of
/// properties, one diagram and one application serve them all.
pub trait Problem: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// Which problem it is.
    const KIND: ProblemKind;
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

    /// What a process has decided with this output, in words, where the problem is to decide.
    fn decision(output: &Self::Output) -> Option<String> {
        let _ = output;
        None
    }

    /// Visits the terms of an output, which are of the sort [`Sort::TERM`](crate::term::Sort::TERM).
    fn visit_terms(output: &mut Self::Output, visit: &mut dyn FnMut(&mut u64)) {
        let _ = (output, visit);
    }

    /// Visits the identifiers of processes in an output.
    fn visit_ids(output: &mut Self::Output, visit: &mut dyn FnMut(&mut Id)) {
        let _ = (output, visit);
    }

    /// What a client that works in a loop asks next, when its process has come to this status.
    fn next_command(status: &Status) -> Option<Self::Command>;

    /// The monitors of every property that makes sense for this population.
    fn monitors(population: &Population) -> Vec<Self::Monitor>;
}

/// The problems that there are, for code that is not generic over the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProblemKind {
    /// One process leads, and the others know it: [`Election`](crate::election::Election).
    #[cfg_attr(feature = "serde", serde(rename = "election"))]
    Election,
    /// At most one process is inside: [`Mutex`](crate::mutex::Mutex).
    #[cfg_attr(feature = "serde", serde(rename = "mutual exclusion"))]
    MutualExclusion,
    /// All decide the same: [`Agreement`](crate::agreement::Agreement).
    #[cfg_attr(feature = "serde", serde(rename = "agreement"))]
    Agreement,
    /// To know who has crashed: [`Detection`](crate::detector::Detection).
    #[cfg_attr(feature = "serde", serde(rename = "failure detection"))]
    FailureDetection,
}

impl ProblemKind {
    /// Every problem, in the catalogue's order.
    pub const ALL: [ProblemKind; 4] = [
        ProblemKind::Election,
        ProblemKind::MutualExclusion,
        ProblemKind::Agreement,
        ProblemKind::FailureDetection,
    ];

    /// Its name, as people read it and as traces have it.
    pub const fn name(self) -> &'static str {
        match self {
            ProblemKind::Election => "election",
            ProblemKind::MutualExclusion => "mutual exclusion",
            ProblemKind::Agreement => "agreement",
            ProblemKind::FailureDetection => "failure detection",
        }
    }
}

impl Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ProblemKind {
    type Err = UnknownProblem;

    fn from_str(name: &str) -> Result<Self, UnknownProblem> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownProblem(name.to_owned()))
    }
}

/// No problem has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProblem(pub String);

impl Display for UnknownProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = ProblemKind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "there is no problem '{}'; there are: {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownProblem {}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_read_as_it_is_written() {
        for kind in ProblemKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        let unknown = "clairvoyance".parse::<ProblemKind>().expect_err("nobody solves it").to_string();
        assert!(unknown.contains("there is no problem 'clairvoyance'; there are: election,"), "{unknown}");
    }
}
