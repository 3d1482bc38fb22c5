//! Why something could not be had.

use tonic::Status;

/// Why something could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// An address is none.
    #[error("`{0}` is no address: write HOST:PORT, for example 127.0.0.1:2379")]
    Address(String),
    /// No address was given.
    #[error("no address is given: name at least one member of the service")]
    NoAddress,
    /// Certificates are given, and an address that says that nothing is encrypted.
    #[error("`{0}` would send everything in the clear although certificates are given: write https://")]
    Clear(String),
    /// Nobody is trusted to say that a server is who it says it is.
    #[error("`{0}` has TLS: say which authority signs its certificate (--cacert, HABEMUS_CACERT)")]
    NoAuthority(String),
    /// The certificates are no good.
    #[error("the certificates cannot be used: {0}")]
    Certificates(String),
    /// The service does not answer, or does not do it.
    #[error("the service {}: {} ({:?})", how(.0), .0.message(), .0.code())]
    Refused(Box<Status>),
    /// etcd counts sessions in seconds.
    #[error("this service counts sessions in whole seconds, as etcd does: ask for one of a second or more")]
    WholeSeconds,
    /// What was to be watched has been forgotten: read the present state, and watch from there.
    #[error(
        "what happened before revision {0} is not known any more: read the present state, and watch from \
            there"
    )]
    Compacted(i64),
    /// The session has ended, or may have: whatever was held by it is lost.
    #[error("the session has ended, or nobody could be told in time that it is still wanted")]
    SessionLost,
    /// Somebody else is inside, and has been for as long as this one would wait.
    #[error("somebody else holds it")]
    Busy,
    /// This one does not stand in the queue any more: somebody has deleted its key.
    #[error("the key of this session was deleted by somebody else")]
    Evicted,
    /// The answer makes no sense.
    #[error("the service answers what makes no sense: {0}")]
    Nonsense(&'static str),
}

/// What has a cause on this side was not said by the service: the connection broke, or there was none.
fn broke(status: &Status) -> bool {
    std::error::Error::source(status).is_some() || status.message().contains("transport error")
}

fn how(status: &Status) -> &'static str {
    if broke(status) { "cannot be reached" } else { "refuses" }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> ClientError {
        ClientError::Refused(Box::new(status))
    }
}

impl ClientError {
    /// Whether it may be otherwise the next time: a member was away, or there was no leader.
    pub fn is_transient(&self) -> bool {
        use tonic::Code;
        match self {
            ClientError::Refused(status) => {
                let is_away =
                    matches!(status.code(), Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled);
                is_away || (broke(status) && matches!(status.code(), Code::Unknown | Code::Internal))
            }
            _ => false,
        }
    }
}
