//! What clients and log say to each other.

use std::fmt;

use crate::mutex::Token;
use crate::term::Term;

/// One command of a client: of which of its starts, of which wish since, and which one of it. A session is
/// what a wish opens.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ticket {
    /// How often the client has started.
    pub incarnation: u64,
    /// How often it has wanted to enter since.
    pub wish: u64,
    /// How often it has said so. Nothing matters but which was sent later.
    pub sent: Term,
}

impl Ticket {
    /// Whether both belong to one session.
    pub fn is_of_the_same_wish(self, other: Ticket) -> bool {
        (self.incarnation, self.wish) == (other.incarnation, other.wish)
    }

    /// The next one of the same wish.
    #[must_use]
    pub fn next(self) -> Ticket {
        Ticket { sent: self.sent.next().unwrap_or(self.sent), ..self }
    }
}

/// As it is shown in diagrams: the start is left out, unless there was a crash.
impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ticket { incarnation, wish, sent } = self;
        match incarnation {
            0 | 1 => write!(f, "{wish}.{sent}"),
            _ => write!(f, "{incarnation}.{wish}.{sent}"),
        }
    }
}

/// What clients and log say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Let me in", and as long as I wait: "I am still here." Answered by [`Granted`](Message::Granted) when
    /// it is my turn.
    Lock(Ticket),
    /// "I am inside and want to stay." Answered by [`Granted`](Message::Granted), if the session is not over.
    KeepAlive {
        /// It is renewed from when this was sent.
        ticket: Ticket,
        /// By which grant I am inside.
        token: Token,
    },
    /// "I have left." The log frees what this token was given for.
    Unlock(Token),
    /// "You are inside, until the session that this ticket renewed is over." The client answers
    /// [`Unlock`](Message::Unlock) when it has left.
    Granted {
        /// The last ticket that was applied.
        ticket: Ticket,
        /// To be shown to the resource.
        token: Token,
    },
}
crate::kinds!(Message: Lock, KeepAlive, Unlock, Granted);

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Lock(ticket) => write!(f, "Lock({ticket:?})"),
            Message::KeepAlive { ticket, .. } => write!(f, "KeepAlive({ticket:?})"),
            Message::Unlock(token) => write!(f, "Unlock({token:?})"),
            Message::Granted { ticket, token } => write!(f, "Granted({token:?}, {ticket:?})"),
        }
    }
}
