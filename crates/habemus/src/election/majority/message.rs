//! What the processes of a majority election say.

use crate::term::Sort;
use crate::{Address, Term};

/// What processes send each other. S4: "o mandato é associado a todas as comunicações".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Would you vote for me in the next term?" [`PreGranted`](Message::PreGranted) answers it, from whoever
    /// misses a leader, too.
    PreVote {
        /// The present term of the sender.
        term: Term,
    },
    /// "I would." It binds nobody.
    PreGranted {
        /// The present term.
        term: Term,
    },
    /// "Vote for me." [`Granted`](Message::Granted) answers it, from whoever has not voted in this term.
    VoteForMe {
        /// The term that the sender would lead.
        term: Term,
    },
    /// "You have my vote."
    Granted {
        /// The term in which it counts.
        term: Term,
    },
    /// "I lead." [`Heard`](Message::Heard) answers it.
    Heartbeat {
        /// The term that the sender leads.
        term: Term,
        /// Which heartbeat of this term it is, counted from 1.
        round: Term,
    },
    /// "I have heard you, and am bound to you for a while."
    Heard {
        /// The term.
        term: Term,
        /// The heartbeat that is answered.
        round: Term,
    },
    /// "I lead no longer, and you are not bound to me." The heir stands for election at once; nothing answers
    /// it.
    Resign {
        /// The term that the sender led.
        term: Term,
        /// Who is to stand.
        heir: Address,
    },
    /// "Your term is over." It answers a request of an older term, which is discarded all the same; without
    /// it, a process of a newer term than the leader's could never follow anybody.
    Outdated {
        /// The newer term.
        term: Term,
    },
}

impl Message {
    /// The term of the sender, or the one that it would lead.
    pub fn term(self) -> Term {
        match self {
            Message::PreVote { term }
            | Message::PreGranted { term }
            | Message::VoteForMe { term }
            | Message::Granted { term }
            | Message::Heartbeat { term, .. }
            | Message::Heard { term, .. }
            | Message::Resign { term, .. }
            | Message::Outdated { term } => term,
        }
    }

    /// Visits its terms and rounds.
    pub(super) fn visit_terms(&mut self, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match self {
            Message::PreVote { term }
            | Message::PreGranted { term }
            | Message::VoteForMe { term }
            | Message::Granted { term }
            | Message::Resign { term, .. }
            | Message::Outdated { term } => visit(Sort::TERM, term),
            Message::Heartbeat { term, round } | Message::Heard { term, round } => {
                visit(Sort::TERM, term);
                visit(Sort::ROUND, round);
            }
        }
    }

    /// Whether it asks for a vote, or for the prospect of one.
    pub fn asks_for_vote(self) -> bool {
        matches!(self, Message::PreVote { .. } | Message::VoteForMe { .. })
    }

    /// Whether its sender waits for an answer.
    pub fn is_request(self) -> bool {
        self.asks_for_vote() || matches!(self, Message::Heartbeat { .. })
    }
}

impl crate::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Message::PreVote { .. } => "PreVote",
            Message::PreGranted { .. } => "PreGranted",
            Message::VoteForMe { .. } => "VoteForMe",
            Message::Granted { .. } => "Granted",
            Message::Heartbeat { .. } => "Heartbeat",
            Message::Heard { .. } => "Heard",
            Message::Resign { .. } => "Resign",
            Message::Outdated { .. } => "Outdated",
        }
    }

    fn vocabulary() -> Vec<&'static str> {
        vec!["PreVote", "PreGranted", "VoteForMe", "Granted", "Heartbeat", "Heard", "Resign", "Outdated"]
    }

    /// The first heartbeat announces the leader; the others are background traffic.
    fn is_background(&self) -> bool {
        let first = Term::ZERO.next();
        match self {
            Message::Heartbeat { round, .. } | Message::Heard { round, .. } => Some(*round) > first,
            _ => false,
        }
    }
}
