//! Refusals in etcd's words: clients compare codes, and some of them texts.

use habemus_replica::Unanswered;
use habemus_store::{AuthError, StoreError};
use tonic::{Code, Status};

/// Why something was not done.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// The store refused it.
    Store(StoreError),
    /// No majority answered.
    Unanswered(Unanswered),
    /// There is no room for more.
    NoSpace,
    /// The server is stopping.
    Stopping,
    /// This member was removed from the cluster.
    Removed,
}

impl From<Refused> for Status {
    fn from(refused: Refused) -> Status {
        let (code, text) = match refused {
            Refused::Store(error) => of_store(&error),
            Refused::Unanswered(Unanswered::NoLeader) => (Code::Unavailable, "etcdserver: no leader"),
            Refused::Unanswered(Unanswered::Unknown) => {
                (Code::Unavailable, "etcdserver: request timed out, possibly due to previous leader failure")
            }
            Refused::Unanswered(Unanswered::Overloaded) => {
                (Code::ResourceExhausted, "etcdserver: too many requests")
            }
            Refused::Unanswered(Unanswered::Unchangeable) => {
                (Code::FailedPrecondition, "etcdserver: unhealthy cluster")
            }
            Refused::NoSpace => (Code::ResourceExhausted, "etcdserver: mvcc: database space exceeded"),
            Refused::Removed => (Code::Unavailable, "etcdserver: this member was removed from the cluster"),
            Refused::Stopping => (Code::Unavailable, "etcdserver: server stopped"),
        };
        Status::new(code, text)
    }
}

fn of_store(error: &StoreError) -> (Code, &'static str) {
    match error {
        StoreError::EmptyKey => (Code::InvalidArgument, "etcdserver: key is not provided"),
        StoreError::KeyNotFound => (Code::InvalidArgument, "etcdserver: key not found"),
        StoreError::TooManyOperations => {
            (Code::InvalidArgument, "etcdserver: too many operations in txn request")
        }
        StoreError::DuplicateKey => (Code::InvalidArgument, "etcdserver: duplicate key given in txn request"),
        StoreError::Compacted(_) => {
            (Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted")
        }
        StoreError::Future(_) => {
            (Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision")
        }
        StoreError::SessionNotFound(_) => (Code::NotFound, "etcdserver: requested lease not found"),
        StoreError::SessionExists(_) => (Code::FailedPrecondition, "etcdserver: lease already exists"),
        StoreError::TtlTooLong => (Code::OutOfRange, "etcdserver: too large lease TTL"),
        StoreError::NotOwner => (Code::FailedPrecondition, "etcdserver: not the owner"),
        StoreError::Busy => (Code::FailedPrecondition, "etcdserver: lock is held"),
        StoreError::Auth(error) => of_auth(*error),
        StoreError::OtherMode(_) => (Code::FailedPrecondition, "etcdserver: in the queue in another mode"),
    }
}

fn of_auth(error: AuthError) -> (Code, &'static str) {
    match error {
        AuthError::NotEnabled => (Code::FailedPrecondition, "etcdserver: authentication is not enabled"),
        AuthError::NoRootUser => (Code::FailedPrecondition, "etcdserver: root user does not exist"),
        AuthError::NoRootRole => (Code::FailedPrecondition, "etcdserver: root user does not have root role"),
        AuthError::UserEmpty => (Code::InvalidArgument, "etcdserver: user name is empty"),
        AuthError::UserExists => (Code::FailedPrecondition, "etcdserver: user name already exists"),
        AuthError::UserNotFound => (Code::FailedPrecondition, "etcdserver: user name not found"),
        AuthError::RoleEmpty => (Code::InvalidArgument, "etcdserver: role name is empty"),
        AuthError::RoleExists => (Code::FailedPrecondition, "etcdserver: role name already exists"),
        AuthError::RoleNotFound => (Code::FailedPrecondition, "etcdserver: role name not found"),
        AuthError::RoleNotGranted => {
            (Code::FailedPrecondition, "etcdserver: role is not granted to the user")
        }
        AuthError::PermissionNotGranted => {
            (Code::FailedPrecondition, "etcdserver: permission is not granted to the role")
        }
        AuthError::Management => (Code::InvalidArgument, "etcdserver: invalid auth management"),
        AuthError::Token => (Code::Unauthenticated, "etcdserver: invalid auth token"),
        AuthError::Denied => (Code::PermissionDenied, "etcdserver: permission denied"),
    }
}

/// The services for locks and elections tell everything with one code.
pub(crate) fn unknown(refused: Refused) -> Status {
    let status = Status::from(refused);
    match status.code() {
        Code::Unavailable | Code::ResourceExhausted => status,
        _ => Status::unknown(status.message()),
    }
}

/// A command and its answer have the same kind, or there is a bug.
pub(crate) fn mismatch() -> Status {
    Status::internal("the answer does not fit the request")
}
