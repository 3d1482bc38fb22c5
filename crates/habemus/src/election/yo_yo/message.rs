//! What the processes of Yo-Yo say, and what they are woken for.

use crate::Id;

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This is my identifier." Sent to every neighbour on waking, and so answered by the neighbour's own.
    Hello(Id),
    /// YO-: "This is the best source above me." It falls to the sinks; one of the next four answers it.
    Yo(Id),
    /// -YO: "Nobody below objects."
    Yes,
    /// -YO: "There is a better one." The link is turned round.
    No,
    /// -YO: a YES, and "strike this link out: another one brought me the same".
    Redundant,
    /// -YO: a YES, and "strike this link out: it was my last. Tell me when somebody leads".
    Leaf,
    /// "This process leads." It goes down the tree of the processes that left, each of which passes it on.
    Elected(Id),
}
crate::kinds!(Message: Hello, Yo, Yes, No, Redundant, Leaf, Elected);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to give up the links over which nobody has said hello.
    NoHello,
}
