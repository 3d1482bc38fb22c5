//! What the processes of an elected coordinator send each other.

use std::fmt::{self, Debug};

use super::Reigns;
use crate::mutex::Token;
use crate::term::Term;

/// One wish to enter, or one more try to have it granted: which start of the process, and which try since.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ticket {
    /// How often the process has started.
    pub incarnation: u64,
    /// How often it has asked since.
    pub number: u64,
}

impl Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.incarnation {
            0 => write!(f, "{}", self.number),
            incarnation => write!(f, "{}.{}", incarnation, self.number),
        }
    }
}

/// One grant: in which reign, and the how manyth of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GrantId {
    /// The reign.
    pub reign: Term,
    /// How many grants there were in it, this one included.
    pub number: u64,
}

impl GrantId {
    /// The fencing token that goes with it: it grows from grant to grant, and from reign to reign. Nobody
    /// reigns so often that there are no more; one who says so may have no later tokens, but stops nobody.
    pub fn token(self, reigns: Reigns) -> Token {
        Token(self.reign.number().saturating_mul(reigns.grants()).saturating_add(self.number))
    }
}

/// People see its token.
impl Debug for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.token(Reigns::Counted).fmt(f)
    }
}

/// Where a participant stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Place {
    /// Outside.
    #[default]
    Outside,
    /// It has asked.
    Waiting,
    /// Inside.
    Inside {
        /// By the grant of this ticket,
        ticket: Ticket,
        /// which is this one.
        grant: GrantId,
    },
}

/// What coordinator and participants say. All of it belongs to a reign; what belongs to an earlier one is
/// void.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LockMessage {
    /// "I coordinate now; where are you?" Answered by [`Here`](LockMessage::Here), or by
    /// [`Outdated`](LockMessage::Outdated) if a later reign is known.
    Ask {
        /// The new reign.
        reign: Term,
    },
    /// "I am here, and I obey." When all are known, the coordinator grants.
    Here {
        /// The reign it answers.
        reign: Term,
        /// The latest ticket of the sender.
        ticket: Ticket,
        /// Where it stands.
        place: Place,
    },
    /// "There has been a later reign." Whoever still leads begins a later one yet.
    Outdated {
        /// The latest known.
        reign: Term,
    },
    /// "Let me in." Answered by [`Grant`](LockMessage::Grant) when it is my turn.
    Request {
        /// The reign the sender obeys.
        reign: Term,
        /// The wish.
        ticket: Ticket,
    },
    /// "Go in." Answered by [`Release`](LockMessage::Release) after leaving.
    Grant {
        /// The reign of the sender.
        reign: Term,
        /// The wish that is granted.
        ticket: Ticket,
        /// Which grant it is.
        grant: GrantId,
    },
    /// "I am outside, as far as this ticket and all before it go." Answered by
    /// [`Released`](LockMessage::Released).
    Release {
        /// The reign the sender obeys.
        reign: Term,
        /// The ticket.
        ticket: Ticket,
    },
    /// "I know that you are outside."
    Released {
        /// The ticket that is closed.
        ticket: Ticket,
    },
    /// "I am inside and want to stay." Answered by [`Renewed`](LockMessage::Renewed), if the sender is known
    /// to be inside.
    Renew {
        /// The reign the sender obeys.
        reign: Term,
        /// A new ticket: the new lease runs from when it was made.
        ticket: Ticket,
        /// By which grant it is inside.
        grant: GrantId,
    },
    /// "Stay."
    Renewed {
        /// The reign of the sender.
        reign: Term,
        /// The ticket whose lease counts now.
        ticket: Ticket,
    },
}
/// People see the reign as `#1`, as they see epochs of elections.
impl Debug for LockMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockMessage::Ask { reign } => write!(f, "Ask #{reign}"),
            LockMessage::Here { place: Place::Outside, .. } => f.write_str("Here(outside)"),
            LockMessage::Here { place: Place::Waiting, .. } => f.write_str("Here(waiting)"),
            LockMessage::Here { place: Place::Inside { .. }, .. } => f.write_str("Here(inside)"),
            LockMessage::Outdated { reign } => write!(f, "Outdated #{reign}"),
            LockMessage::Request { ticket, .. } => write!(f, "Request({ticket:?})"),
            LockMessage::Grant { grant, .. } => write!(f, "Grant({grant:?})"),
            LockMessage::Release { ticket, .. } => write!(f, "Release({ticket:?})"),
            LockMessage::Released { ticket } => write!(f, "Released({ticket:?})"),
            LockMessage::Renew { ticket, .. } => write!(f, "Renew({ticket:?})"),
            LockMessage::Renewed { ticket, .. } => write!(f, "Renewed({ticket:?})"),
        }
    }
}
crate::kinds!(LockMessage: Ask, Here, Outdated, Request, Grant, Release, Released, Renew, Renewed);

/// What is sent: the election's messages and the lock's.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// Of the election.
    Election(M),
    /// Of the lock.
    Lock(LockMessage),
}

impl<M: Debug> Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Election(message) => message.fmt(f),
            Message::Lock(message) => message.fmt(f),
        }
    }
}

impl<M: crate::Message> crate::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Election(message) => message.kind(),
            Message::Lock(message) => message.kind(),
        }
    }

    fn vocabulary() -> Vec<&'static str> {
        [LockMessage::vocabulary(), M::vocabulary()].concat()
    }

    fn is_background(&self) -> bool {
        matches!(self, Message::Election(message) if message.is_background())
    }
}

/// What a process is woken for.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer<T> {
    /// When the election says so.
    Election(T),
    /// When to say again what has not been answered.
    Retry,
    /// When the lease of whatever is granted on this ticket is over.
    LeaseOver(Ticket),
    /// When the coordinator may take this grant back.
    Reclaim(GrantId),
    /// When every lease of an earlier reign is over.
    Grace {
        /// In which reign.
        reign: Term,
    },
    /// When the holder asks to stay.
    Renew,
}

impl<T: Debug> Debug for Timer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Election(timer) => timer.fmt(f),
            Timer::Retry => f.write_str("Retry"),
            Timer::Renew => f.write_str("Renew"),
            Timer::LeaseOver(ticket) => write!(f, "LeaseOver({ticket:?})"),
            Timer::Reclaim(grant) => write!(f, "Reclaim({grant:?})"),
            Timer::Grace { reign } => write!(f, "Grace({reign})"),
        }
    }
}

impl LockMessage {
    pub(super) fn visit_reigns(&mut self, visit: &mut dyn FnMut(&mut Term)) {
        match self {
            LockMessage::Ask { reign }
            | LockMessage::Outdated { reign }
            | LockMessage::Request { reign, .. }
            | LockMessage::Release { reign, .. }
            | LockMessage::Renewed { reign, .. } => visit(reign),
            LockMessage::Here { reign, place, .. } => {
                visit(reign);
                place.visit_reigns(visit);
            }
            LockMessage::Grant { reign, grant, .. } | LockMessage::Renew { reign, grant, .. } => {
                visit(reign);
                visit(&mut grant.reign);
            }
            LockMessage::Released { .. } => {}
        }
    }
}

impl Place {
    pub(super) fn visit_reigns(&mut self, visit: &mut dyn FnMut(&mut Term)) {
        if let Place::Inside { grant, .. } = self {
            visit(&mut grant.reign);
        }
    }
}
