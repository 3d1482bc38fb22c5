//! What whoever is inside has.

use std::time::Duration;

use bytes::Bytes;

use crate::error::ClientError;
use crate::queue::{delete, release_in_background, write, write_guarded};
use crate::session::Session;

/// A lock that is held, or an election that is won, for as long as its session lasts. It is released when it
/// is dropped; to know that it was, [release](Guard::release) it.
#[derive(Debug)]
pub struct Guard {
    session: Session,
    name: String,
    key: Bytes,
    token: i64,
    is_released: bool,
}

impl Guard {
    pub(crate) fn new(session: Session, name: String, key: Bytes, token: i64) -> Guard {
        Guard { session, name, key, token, is_released: false }
    }

    /// The name of the lock or the election.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fencing token, of a leader its term: larger than that of everybody who was inside before. A
    /// resource that refuses smaller ones is safe from holders that do not know yet that they have lost.
    pub fn token(&self) -> i64 {
        self.token
    }

    /// The key with which it stands in the queue.
    pub fn key(&self) -> &Bytes {
        &self.key
    }

    /// The session by which it is held.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Until when it is surely held, by [`now`](crate::now); `None` if it is not.
    pub fn valid_until(&self) -> Option<Duration> {
        self.session.valid_until()
    }

    /// Waits until it is lost, or may be: before anybody else can be inside.
    pub async fn lost(&self) {
        self.session.lost().await;
    }

    /// Tells everybody who observes an election something else.
    ///
    /// # Errors
    /// If it does not lead any more, or if the service refuses.
    pub async fn proclaim(&self, value: impl Into<Bytes>) -> Result<(), ClientError> {
        match write(&self.session, &self.key, self.token, value.into()).await? {
            true => Ok(()),
            false => Err(ClientError::Evicted),
        }
    }

    /// Writes a key of the service's own, if this one is still inside at that very moment.
    ///
    /// # Errors
    /// If it is not, or if the service refuses. Then nothing was written.
    pub async fn put(&self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Result<(), ClientError> {
        match write_guarded(&self.session, &self.key, self.token, key.into(), value.into()).await? {
            true => Ok(()),
            false => Err(ClientError::Evicted),
        }
    }

    /// Lets somebody else lead: as [`release`](Guard::release), in the word of elections.
    ///
    /// # Errors
    /// As there.
    pub async fn resign(self) -> Result<(), ClientError> {
        self.release().await
    }

    /// Lets the next one in: releases the lock, or resigns.
    ///
    /// # Errors
    /// If it was not held any more, or if the service refuses.
    pub async fn release(mut self) -> Result<(), ClientError> {
        self.is_released = true;
        match delete(&self.session, &self.key, self.token).await? {
            true => Ok(()),
            false => Err(ClientError::Evicted),
        }
    }
}

impl Guard {
    /// Stands for nothing any more, and leaves what it stood for as it is.
    pub(crate) fn forget(mut self) {
        self.is_released = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_released {
            release_in_background(&self.session, &self.key, self.token);
        }
    }
}
