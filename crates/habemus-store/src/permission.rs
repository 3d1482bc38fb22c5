//! Whether somebody may have a command applied.

use crate::auth::{AuthError, Author};
use crate::command::{Command, Given, Put};
use crate::key_range::KeyRange;
use crate::queue;
use crate::session::SessionId;
use crate::store::Store;
use crate::txn::{Operation, Txn};

impl Store {
    /// Whether `author` may have `command` applied now.
    pub(crate) fn check_author(&self, author: Option<&Author>, command: &Command) -> Result<(), AuthError> {
        let auth = &self.auth;
        if !auth.is_enabled() || matches!(command, Command::Tick) {
            return Ok(());
        }
        if let Some(Author::User(acting)) = author {
            acting.shown.iter().try_for_each(|keys| auth.check_read(author, keys))?;
        }
        match command {
            Command::Put(put) => self.check_put(author, put),
            Command::Delete(delete) => auth.check_write(author, &delete.keys),
            Command::Txn(txn) => self.check_txn(author, txn),
            // What others want to see of the past goes with it.
            Command::Compact(_) | Command::Auth(_) => auth.check_root(author),
            Command::OpenSession { .. } | Command::RenewSessions(_) => auth.check_known(author),
            Command::CloseSession { id } => self.check_session(author, *id),
            Command::Enter(enter) => {
                let key = queue::key(&enter.name, enter.session, enter.mode);
                auth.check_write(author, &KeyRange::One(key))?;
                auth.check_read(author, &KeyRange::prefix(queue::prefix(&enter.name)))?;
                self.check_session(author, enter.session)
            }
            Command::Leave(leave) => auth.check_write(author, &KeyRange::One(leave.key.clone())),
            Command::Tick => Ok(()),
            // Nobody speaks for somebody who speaks for somebody.
            Command::As(..) => Err(AuthError::Denied),
        }
    }

    fn check_put(&self, author: Option<&Author>, put: &Put) -> Result<(), AuthError> {
        self.auth.check_write(author, &KeyRange::One(put.key.clone()))?;
        match put.session {
            Given::New(Some(id)) => self.check_session(author, id),
            Given::New(None) | Given::Present => Ok(()),
        }
    }

    /// With a session all its keys end: whoever may not write one of them may neither end it nor add to it.
    fn check_session(&self, author: Option<&Author>, id: SessionId) -> Result<(), AuthError> {
        self.auth.check_known(author)?;
        let keys = self.sessions.get(id).into_iter().flat_map(|session| session.keys.iter());
        keys.into_iter().try_for_each(|key| self.auth.check_write(author, &KeyRange::One(key.clone())))
    }

    fn check_txn(&self, author: Option<&Author>, txn: &Txn) -> Result<(), AuthError> {
        self.auth.check_known(author)?;
        txn.compare.iter().try_for_each(|compare| self.auth.check_read(author, &compare.keys))?;
        txn.then.iter().chain(&txn.otherwise).try_for_each(|operation| match operation {
            Operation::Range(range) => self.auth.check_read(author, &range.keys),
            Operation::Put(put) => self.check_put(author, put),
            Operation::Delete(delete) => self.auth.check_write(author, &delete.keys),
            Operation::Txn(inner) => self.check_txn(author, inner),
        })
    }
}
