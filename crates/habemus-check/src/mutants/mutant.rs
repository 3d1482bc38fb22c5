//! One rule changed: when, and how.

use std::fmt;

use serde::Serialize;

/// A process that breaks one of its rules, always in the same way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Mutant {
    /// At which event.
    pub trigger: Trigger,
    /// What it does then.
    pub change: Change,
}

/// A kind of event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Trigger {
    /// It starts for the first time, or has forgotten everything.
    Start,
    /// It starts again with what it had stored.
    Recovery,
    /// A message of this kind arrives.
    Message(&'static str),
    /// A timer of this name runs out.
    Timer(String),
    /// Its client gives this command.
    Command(String),
    /// The detector suspects somebody.
    Suspicion,
    /// The detector takes it back.
    Restoration,
}

/// What is done otherwise than the algorithm says. Nothing here knows what the algorithm is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Change {
    /// Nothing is done.
    Ignore,
    /// The variables stay as they were.
    KeepState,
    /// The variables are as they were at the start.
    Forget,
    /// The handler runs twice.
    Twice,
    /// The message is taken for the first of its kind.
    TakeOld,
    /// The message is taken for one from somebody else.
    TakeForAnother,
    /// No message of this kind is sent.
    Drop(&'static str),
    /// Of several messages of this kind the last is not sent.
    DropLast(&'static str),
    /// Messages of this kind go to the next neighbour after the right one.
    Misdirect(&'static str),
    /// Messages of this kind are sent twice.
    SendTwice(&'static str),
    /// Instead of a message of this kind the first one of the kind is sent again.
    SendOld(&'static str),
    /// Instead of a message of the first kind one of the second kind is sent.
    SendOther(&'static str, &'static str),
    /// What is sent is sent in the opposite order.
    Reverse,
    /// A timer of this name is not set.
    NotSet(String),
    /// A timer of this name is not cancelled.
    NotCancelled(String),
    /// The application is not told this.
    NotSaid(String),
    /// The application is told this twice.
    SaidTwice(String),
    /// The application is told this as it was told first, with an old token or term.
    SaidAsBefore(String),
    /// Nothing is stored.
    NotStored,
}

impl Change {
    /// Whether it does no more than to do the same once more. A network does that as well, and whoever
    /// withstands it need not be ashamed.
    pub fn is_redundant(&self) -> bool {
        matches!(self, Change::Twice | Change::SendTwice(_) | Change::SaidTwice(_))
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.trigger, self.change)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Start => f.write_str("its start"),
            Trigger::Recovery => f.write_str("its recovery"),
            Trigger::Message(kind) => f.write_str(kind),
            Trigger::Timer(name) if name.is_empty() => f.write_str("the timer"),
            Trigger::Timer(name) => write!(f, "timer {name}"),
            Trigger::Command(name) => write!(f, "command {name}"),
            Trigger::Suspicion => f.write_str("a suspicion"),
            Trigger::Restoration => f.write_str("the end of a suspicion"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Ignore => f.write_str("nothing is done"),
            Change::KeepState => f.write_str("the variables stay as they were"),
            Change::Forget => f.write_str("the variables are as at the start"),
            Change::Twice => f.write_str("all is done twice"),
            Change::TakeOld => f.write_str("it is taken for the first of its kind"),
            Change::TakeForAnother => f.write_str("it is taken for another's"),
            Change::Drop(kind) => write!(f, "no {kind} is sent"),
            Change::DropLast(kind) => write!(f, "one {kind} is not sent"),
            Change::Misdirect(kind) => write!(f, "{kind} is sent to somebody else"),
            Change::SendTwice(kind) => write!(f, "{kind} is sent twice"),
            Change::SendOld(kind) => write!(f, "{kind} is sent as the first time"),
            Change::SendOther(kind, other) => write!(f, "{other} is sent for {kind}"),
            Change::Reverse => f.write_str("messages are sent in the opposite order"),
            Change::NotSet(name) => write!(f, "timer {name} is not set"),
            Change::NotCancelled(name) => write!(f, "timer {name} is not cancelled"),
            Change::NotSaid(word) => write!(f, "\u{2018}{word}\u{2019} is not said"),
            Change::SaidTwice(word) => write!(f, "\u{2018}{word}\u{2019} is said twice"),
            Change::SaidAsBefore(word) => write!(f, "\u{2018}{word}\u{2019} is said as the first time"),
            Change::NotStored => f.write_str("nothing is stored"),
        }
    }
}
