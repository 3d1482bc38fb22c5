//! Why something is refused, in words that do not change.

use tonic::Code;

/// Why something is refused. By gRPC the word is the metadatum `habemus-error`, by HTTP the field `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorCode {
    /// The request makes no sense; the message says what to write instead.
    InvalidArgument,
    /// There is no such session, or it has ended.
    SessionNotFound,
    /// Somebody else is inside, and has been for as long as the request would wait.
    Held,
    /// Whoever releases, resigns or proclaims does not stand there with that session and token.
    NotOwner,
    /// The token of a guarded write is not inside any more, or not yet: nothing was written.
    Fenced,
    /// The session stands in that queue already, in another mode.
    OtherMode,
    /// The name or password is wrong, or this is not allowed to whoever asks.
    PermissionDenied,
    /// There is no room for more; what makes room still works.
    NoSpace,
    /// More is under way than can be done: try again later.
    Overloaded,
    /// No member leads, and nothing was done: try again, also elsewhere.
    NoLeader,
    /// Nobody knows whether it was done, because the member that led has gone: look, or try again.
    Unknown,
    /// This member is stopping: ask another.
    Stopping,
    /// A bug.
    Internal,
}

impl ErrorCode {
    /// All of them.
    pub const ALL: &[ErrorCode] = &[
        ErrorCode::InvalidArgument,
        ErrorCode::SessionNotFound,
        ErrorCode::Held,
        ErrorCode::NotOwner,
        ErrorCode::Fenced,
        ErrorCode::OtherMode,
        ErrorCode::PermissionDenied,
        ErrorCode::NoSpace,
        ErrorCode::Overloaded,
        ErrorCode::NoLeader,
        ErrorCode::Unknown,
        ErrorCode::Stopping,
        ErrorCode::Internal,
    ];

    /// Its word, the status by HTTP, the code by gRPC, and what it means.
    fn told(self) -> (&'static str, u16, Code, &'static str) {
        match self {
            ErrorCode::InvalidArgument => (
                "invalid_argument",
                400,
                Code::InvalidArgument,
                "the request makes no sense; the message says what to write instead",
            ),
            ErrorCode::SessionNotFound => {
                ("session_not_found", 404, Code::NotFound, "there is no such session, or it has ended")
            }
            ErrorCode::Held => (
                "held",
                409,
                Code::FailedPrecondition,
                "somebody else is inside, and has been for as long as the request would wait",
            ),
            ErrorCode::NotOwner => (
                "not_owner",
                403,
                Code::FailedPrecondition,
                "nobody stands in that queue with that session and token",
            ),
            ErrorCode::Fenced => (
                "fenced",
                412,
                Code::FailedPrecondition,
                "the token is not inside any more, or not yet: nothing was written",
            ),
            ErrorCode::OtherMode => (
                "other_mode",
                409,
                Code::FailedPrecondition,
                "the session stands in that queue already, in another mode: release first",
            ),
            ErrorCode::PermissionDenied => (
                "permission_denied",
                403,
                Code::PermissionDenied,
                "the name or password is wrong, or this is not allowed to whoever asks",
            ),
            ErrorCode::NoSpace => (
                "no_space",
                507,
                Code::ResourceExhausted,
                "there is no room for more; what makes room still works",
            ),
            ErrorCode::Overloaded => (
                "overloaded",
                429,
                Code::ResourceExhausted,
                "more is under way than can be done: try again later",
            ),
            ErrorCode::NoLeader => (
                "no_leader",
                503,
                Code::Unavailable,
                "no member leads, and nothing was done: try again, also elsewhere",
            ),
            ErrorCode::Unknown => (
                "unknown",
                504,
                Code::Unavailable,
                "nobody knows whether it was done, because the member that led has gone: look, or try again",
            ),
            ErrorCode::Stopping => {
                ("stopping", 503, Code::Unavailable, "this member is stopping: ask another")
            }
            ErrorCode::Internal => ("internal", 500, Code::Internal, "a bug: please report it"),
        }
    }

    /// The word that does not change.
    pub fn word(self) -> &'static str {
        self.told().0
    }

    /// The status by HTTP.
    pub fn http(self) -> u16 {
        self.told().1
    }

    /// The code by gRPC.
    pub fn grpc(self) -> Code {
        self.told().2
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        self.told().3
    }

    /// Which one has that word.
    pub fn of_word(word: &str) -> Option<ErrorCode> {
        ErrorCode::ALL.iter().copied().find(|code| code.word() == word)
    }
}
