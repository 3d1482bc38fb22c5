//! What travels round the ring: the token, and what is said about it.

use std::fmt;

use crate::{Address, Id};

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// S4's "Permissão de Acesso". Whoever gets it passes it on, after having been inside if it wants to.
    Token(Permission),
    /// "This process wants the token: if you keep it, let it go." It goes on until it finds the token, or
    /// somebody who waits for it, too.
    Wake(Id),
    /// "Tokens older than this are void." Everybody passes it on, whoever is inside after leaving; when it is
    /// home again, its sender issues a token.
    Recall(Generation),
    /// "I have crashed, and may have taken the token with me." It goes on to the first process that is alive,
    /// which answers with [`Recall`](Message::Recall).
    Missing(Id),
    /// "There has been a later recall than yours." Its receiver begins again above it.
    Superseded(Generation),
}
crate::kinds!(Message: Token, Wake, Recall, Missing, Superseded);

/// The token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Permission {
    /// Which of the tokens that have been issued.
    pub generation: Generation,
    /// How often it has been used.
    pub entries: u32,
    /// How far it has come since it was used or asked for. It is not counted while the token never rests.
    pub idle_hops: u32,
}

/// As it is shown in diagrams: the token of a later generation has the generation's number before it.
impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation.number {
            0 => write!(f, "{}", self.entries),
            number => write!(f, "{number}.{}", self.entries),
        }
    }
}

/// Tokens are told apart by who issued them, and in which turn.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Generation {
    /// It grows: 0 is the token of the beginning.
    pub number: u32,
    /// Who issues it; `None` at the beginning.
    pub by: Option<Address>,
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}
