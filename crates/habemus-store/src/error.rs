//! Why a command or a read is refused. Whatever is refused has changed nothing.

use crate::auth::AuthError;
use crate::event::Revision;
use crate::session::SessionId;

/// Why a command or a read is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A key was needed, and none was given.
    #[error("no key is given")]
    EmptyKey,
    /// The value or session of a key was to be kept, and there is no such key.
    #[error("there is no such key, so nothing of it can be kept")]
    KeyNotFound,
    /// More operations in one transaction than [`MAX_OPERATIONS`](crate::MAX_OPERATIONS).
    #[error("too many operations in one transaction")]
    TooManyOperations,
    /// One transaction would write one key twice.
    #[error("one transaction would write a key twice")]
    DuplicateKey,
    /// What was asked for lies before what is still known.
    #[error("that revision has been compacted; the earliest that is known is {0}")]
    Compacted(Revision),
    /// What was asked for has not happened yet.
    #[error("that revision lies in the future; the latest is {0}")]
    Future(Revision),
    /// There is no such session, or it has ended.
    #[error("there is no session {0}: it has ended, or there was none")]
    SessionNotFound(SessionId),
    /// There is such a session already.
    #[error("there is a session {0} already")]
    SessionExists(SessionId),
    /// A session is longer than can be counted.
    #[error("a session of that length is longer than any machine will live")]
    TtlTooLong,
    /// Whoever leaves a queue, or speaks as its head, does not stand there with that token.
    #[error("the token is not the one with which that key stands in the queue")]
    NotOwner,
    /// The lock is held, and the request did not want to wait.
    #[error("somebody is inside, and the request does not wait")]
    Busy,
    /// The session stands in the queue in another mode, and would wait for itself.
    #[error("session {0} stands in that queue in another mode: leave first")]
    OtherMode(SessionId),
    /// Whoever wants it may not, or users and roles do not allow it.
    #[error(transparent)]
    Auth(#[from] AuthError),
}
