//! Leader election: exactly one process is chosen, it knows, and the others know it.

use std::fmt;

use crate::property::{ElectionMonitor, Population};
use crate::{Id, Problem, ProblemKind, Status};

pub mod all_to_all;
pub mod anonymous_ring;
pub mod any;
pub mod borrowed;
pub mod bully;
pub mod capture_async;
pub mod capture_sync;
pub mod chang_roberts;
pub mod collecting_ring;
pub mod dolev_klawe_rodeh;
pub mod franklin;
pub mod hirschberg_sinclair;
pub mod itai_rodeh;
pub mod large_group;
pub mod majority;
pub mod omega;
pub mod recurring;
pub mod stable;
pub mod tried;
pub mod way;
pub mod yo_yo;

/// The problem of choosing a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Election;

/// Which end of the order wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wins {
    /// The highest identifier.
    #[default]
    Highest,
    /// The lowest.
    Lowest,
}

impl Wins {
    /// Whether `one` is a better leader than `other`.
    #[inline]
    pub fn better<T: Ord>(self, one: &T, other: &T) -> bool {
        match self {
            Wins::Highest => one > other,
            Wins::Lowest => one < other,
        }
    }
}

/// What an application asks of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Start an election: the application believes that there is no leader.
    Elect,
}

/// What a process tells its application. It is the notes' variable `elected`: ⊥ until the first output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Output {
    /// I am the leader.
    Leads {
        /// Of which term; 0 where the algorithm has none.
        term: u64,
    },
    /// Somebody else is.
    Follows {
        /// Who; `None` on an anonymous ring, where one only learns that there is a leader.
        leader: Option<Id>,
        /// Of which term; 0 where the algorithm has none.
        term: u64,
    },
    /// I know of no leader any more.
    Leaderless,
}

impl Output {
    /// I am the leader, in an algorithm without terms.
    pub fn leads() -> Self {
        Output::Leads { term: 0 }
    }

    /// `leader` leads, in an algorithm without terms.
    pub fn follows(leader: Id) -> Self {
        Output::Follows { leader: Some(leader), term: 0 }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Elect => f.write_str("elect"),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = |term: &u64| if *term == 0 { String::new() } else { format!(" (term {term})") };
        match self {
            Output::Leads { term: t } => write!(f, "leads{}", term(t)),
            Output::Follows { leader: Some(leader), term: t } => write!(f, "follows {leader}{}", term(t)),
            Output::Follows { leader: None, term: t } => write!(f, "follows{}", term(t)),
            Output::Leaderless => f.write_str("knows no leader"),
        }
    }
}

impl Problem for Election {
    const KIND: ProblemKind = ProblemKind::Election;
    type Command = Command;
    type Output = Output;
    type Monitor = ElectionMonitor;

    const COMMANDS: &'static [&'static str] = &["elect"];

    fn command(word: &str) -> Option<Command> {
        (word == "elect").then_some(Command::Elect)
    }

    fn status_after_command(_: &Command) -> Option<Status> {
        None
    }

    fn status_after_output(output: &Output) -> Option<Status> {
        Some(match output {
            Output::Leads { .. } => Status::Leading,
            Output::Follows { leader, .. } => Status::Following(*leader),
            Output::Leaderless => Status::Idle,
        })
    }

    fn visit_terms(output: &mut Output, visit: &mut dyn FnMut(&mut u64)) {
        match output {
            Output::Leads { term } | Output::Follows { term, .. } => visit(term),
            Output::Leaderless => {}
        }
    }

    fn visit_ids(output: &mut Output, visit: &mut dyn FnMut(&mut Id)) {
        if let Output::Follows { leader: Some(leader), .. } = output {
            visit(leader);
        }
    }

    fn next_command(_: &Status) -> Option<Command> {
        None
    }

    fn monitors(population: &Population) -> Vec<ElectionMonitor> {
        ElectionMonitor::all(population)
    }
}
