//! What the processes of Paxos say, and what they are woken for.

use std::fmt;

use crate::Term;
use crate::agreement::Value;
use crate::term::Sort;

/// The number of an attempt: a round, and who leads it, so that no two leaders have the same.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ballot {
    /// Counts attempts; 0 before the first.
    pub round: Term,
    /// The identifier of the leader, to break ties.
    pub leader: u64,
}

impl fmt::Debug for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.round, self.leader)
    }
}

/// What processes send each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "You lead: please have this value decided." [`Decide`](Message::Decide) answers it in the end.
    Request(Value),
    /// "Promise to accept nothing of an earlier ballot." [`Promise`](Message::Promise) or
    /// [`Refuse`](Message::Refuse) answers it.
    Prepare(Ballot),
    /// "I promise; this is what I have accepted last."
    Promise(Ballot, Option<(Ballot, Value)>),
    /// "Accept this value." [`Accepted`](Message::Accepted) or [`Refuse`](Message::Refuse) answers it.
    Accept(Ballot, Value),
    /// "I have accepted it."
    Accepted(Ballot),
    /// "I have promised this later ballot to somebody."
    Refuse(Ballot),
    /// "This value is decided." [`Learned`](Message::Learned) answers it.
    Decide(Value),
    /// "I know."
    Learned,
}

impl Message {
    /// Visits the rounds of its ballots.
    pub(super) fn visit_terms(&mut self, visit: &mut dyn FnMut(Sort, &mut Term)) {
        let mut visit = |ballot: &mut Ballot| visit(Sort::ROUND, &mut ballot.round);
        match self {
            Message::Prepare(ballot)
            | Message::Accept(ballot, _)
            | Message::Accepted(ballot)
            | Message::Refuse(ballot)
            | Message::Promise(ballot, None) => visit(ballot),
            Message::Promise(ballot, Some((accepted, _))) => {
                visit(ballot);
                visit(accepted);
            }
            Message::Request(_) | Message::Decide(_) | Message::Learned => {}
        }
    }
}
crate::kinds!(Message: Request, Prepare, Promise, Accept, Accepted, Refuse, Decide, Learned);

/// Short enough for a picture.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(value) => write!(f, "Request({value})"),
            Message::Prepare(ballot) => write!(f, "Prepare({ballot:?})"),
            Message::Promise(ballot, None) => write!(f, "Promise({ballot:?})"),
            Message::Promise(ballot, Some((of, value))) => {
                write!(f, "Promise({ballot:?}, {value} of {of:?})")
            }
            Message::Accept(ballot, value) => write!(f, "Accept({ballot:?}, {value})"),
            Message::Accepted(ballot) => write!(f, "Accepted({ballot:?})"),
            Message::Refuse(ballot) => write!(f, "Refuse({ballot:?})"),
            Message::Decide(value) => write!(f, "Decide({value})"),
            Message::Learned => f.write_str("Learned"),
        }
    }
}

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to try again what has not been answered.
    Retry,
}
