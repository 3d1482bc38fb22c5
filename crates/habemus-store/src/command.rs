//! What the members of a cluster agree on, one after the other.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::auth::{AuthCommand, Author};
use crate::error::StoreError;
use crate::event::{KeyValue, Revision};
use crate::key_range::KeyRange;
use crate::keyspace::{Keyspace, Writing};
use crate::queue::Mode;
use crate::session::{SessionId, Sessions};
use crate::txn::Txn;

/// What changes a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Write a key. Answered by `Put`.
    Put(Put),
    /// Delete keys. Answered by `Deleted`.
    Delete(Delete),
    /// Compare, and do one thing or another. Answered by `Txn`.
    Txn(Txn),
    /// Forget what was before a revision. Answered by `Done`.
    Compact(Revision),
    /// Begin a session. Answered by `Done`.
    OpenSession {
        /// Which nobody has yet.
        id: SessionId,
        /// How long it lasts without being renewed.
        ttl: Duration,
    },
    /// Let sessions last their whole time from now on. Answered by `Renewed`.
    RenewSessions(Vec<SessionId>),
    /// End a session, with all its keys. Answered by `Done`.
    CloseSession {
        /// Which.
        id: SessionId,
    },
    /// Enter a queue: ask for a lock, or stand for election. Answered by `Entered`.
    Enter(Enter),
    /// Leave a queue: release a lock, withdraw, or resign. Answered by `Done`.
    Leave(Leave),
    /// Nothing but the time that comes with it. Answered by `Done`.
    Tick,
    /// Something on somebody's behalf, who must be allowed to. Answered as that is. Without it, nobody has
    /// said who wants it.
    As(Author, Box<Command>),
    /// Change users and roles. Answered by `Done`.
    Auth(AuthCommand),
}

impl Command {
    /// Whether it only lets sessions go on.
    pub fn is_renewal(&self) -> bool {
        match self {
            Command::RenewSessions(_) => true,
            Command::As(_, command) => command.is_renewal(),
            _ => false,
        }
    }

    /// How many bytes it takes, roughly.
    pub fn bytes(&self) -> usize {
        let said = match self {
            Command::Put(put) => put.bytes(),
            Command::Delete(delete) => delete.keys.bytes(),
            Command::Txn(txn) => txn.bytes(),
            Command::RenewSessions(ids) => ids.len() * size_of::<SessionId>(),
            Command::Enter(enter) => enter.name.len() + enter.value.len(),
            Command::Leave(leave) => leave.key.len(),
            Command::As(_, command) => command.bytes(),
            Command::Auth(_) => 128,
            Command::Compact(_)
            | Command::OpenSession { .. }
            | Command::CloseSession { .. }
            | Command::Tick => 0,
        };
        32 + said
    }
}

/// Writes a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// Which.
    pub key: Bytes,
    /// Its value.
    pub value: Given<Bytes>,
    /// With whose end it is deleted.
    pub session: Given<Option<SessionId>>,
}

/// Something new, or what is there already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given<T> {
    /// This.
    New(T),
    /// What is there. It is refused if there is nothing.
    Present,
}

impl Put {
    /// Writes a key that belongs to nobody.
    pub fn new(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Put {
        Put { key: key.into(), value: Given::New(value.into()), session: Given::New(None) }
    }

    /// Lets it go with a session.
    pub fn of(self, session: SessionId) -> Put {
        Put { session: Given::New(Some(session)), ..self }
    }

    pub(crate) fn bytes(&self) -> usize {
        let value = match &self.value {
            Given::New(value) => value.len(),
            Given::Present => 0,
        };
        self.key.len() + value
    }

    /// Whether it can be done; after that nothing is refused any more.
    pub(crate) fn check(&self, keyspace: &Keyspace, sessions: &Sessions) -> Result<(), StoreError> {
        if self.key.is_empty() {
            return Err(StoreError::EmptyKey);
        }
        let keeps = self.value == Given::Present || self.session == Given::Present;
        if keeps && keyspace.get(&self.key).is_none() {
            return Err(StoreError::KeyNotFound);
        }
        self.check_session(sessions)
    }

    /// Whether there is the session with whose end it shall be deleted.
    pub(crate) fn check_session(&self, sessions: &Sessions) -> Result<(), StoreError> {
        match self.session {
            Given::New(Some(id)) if sessions.get(id).is_none() => Err(StoreError::SessionNotFound(id)),
            _ => Ok(()),
        }
    }

    pub(crate) fn execute(&self, writing: &mut Writing<'_>) -> Option<Arc<KeyValue>> {
        let before = writing.keyspace().get(&self.key).cloned();
        let value = match &self.value {
            Given::New(value) => value.clone(),
            Given::Present => before.as_ref().map(|before| before.value.clone()).unwrap_or_default(),
        };
        let session = match self.session {
            Given::New(session) => session,
            Given::Present => before.as_ref().and_then(|before| before.session),
        };
        writing.put(self.key.clone(), value, session);
        before
    }
}

/// Deletes keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delete {
    /// Which.
    pub keys: KeyRange,
}

impl Delete {
    pub(crate) fn execute(&self, writing: &mut Writing<'_>) -> Vec<Arc<KeyValue>> {
        let visible = writing.visible();
        let keys: Vec<Bytes> =
            writing.keyspace().range(&self.keys, visible).map(|it| it.key.clone()).collect();
        keys.iter().filter_map(|key| writing.delete(key)).collect()
    }
}

/// Enters a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enter {
    /// Of which lock or election.
    pub name: Bytes,
    /// Whose end is the end of it.
    pub session: SessionId,
    /// Beside whom it may be inside.
    pub mode: Mode,
    /// What the others see; of a leader, what it proclaims. Whoever enters again changes only this.
    pub value: Bytes,
    /// What happens if it cannot be inside at once.
    pub when_busy: WhenBusy,
}

/// What happens to somebody who cannot be inside at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenBusy {
    /// It waits.
    Wait,
    /// It is refused, and leaves no trace.
    Refuse,
}

/// Leaves a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leave {
    /// The key with which it stands there.
    pub key: Bytes,
    /// The token that it was given: nobody leaves for somebody else.
    pub token: Revision,
}
