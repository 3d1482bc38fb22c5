//! A place in a queue that a call stands for: left when the call is given up, and only if no later call
//! stands for it.
//!
//! A client that loses its connection asks again, perhaps another member, and finds the place that it has.
//! The member that it asked first hears later that it has gone, and must not take away what the second call
//! was given. So a call that finds a place writes its key anew, and one that is given up deletes the key only
//! as it wrote it itself.

use std::time::Duration;

use bytes::Bytes;
use habemus_api::ErrorCode;
use habemus_store::{
    Answer, Command, Compare, Delete, Enter, Entered, Given, KeyRange, Mode, Operand, Operation, Put,
    Relation, Revision, SessionId, Txn, WhenBusy,
};

use super::Refusal;
use crate::engine::Granted;
use crate::handle::Handle;

/// What is wanted of a queue.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) name: Bytes,
    pub(super) session: SessionId,
    pub(super) mode: Mode,
    pub(super) value: Bytes,
    /// How long to wait; nothing for as long as the session lasts.
    pub(super) limit: Option<Duration>,
}

/// Somebody is inside.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    pub(super) key: Bytes,
    pub(super) token: Revision,
}

/// Enters a queue, and waits until it is inside.
pub(super) async fn enter(handle: &Handle, wanted: Wanted) -> Result<Inside, Refusal> {
    let limit = wanted.limit;
    // A client that goes away takes this future with it, but not what is under way to the other members. So
    // that goes on by itself, and finds out at its end whether anybody still waits for it.
    let stand = tokio::spawn(Place::take(handle.clone(), wanted));
    let mut place = stand.await.map_err(|_| Refusal::new(ErrorCode::Stopping))??;
    if !place.is_granted {
        let granted = handle.granted(place.key.clone(), place.token);
        let granted = match limit {
            None => granted.await?,
            Some(limit) => match tokio::time::timeout(limit, granted).await {
                Ok(granted) => granted?,
                Err(_) => return place.give_up().await,
            },
        };
        if granted == Granted::Gone {
            place.is_kept = true;
            return Err(Refusal::new(ErrorCode::SessionNotFound));
        }
    }
    place.is_kept = true;
    Ok(Inside { key: place.key.clone(), token: place.token })
}

struct Place {
    handle: Handle,
    key: Bytes,
    token: Revision,
    /// The revision at which this call wrote the key.
    written: Revision,
    is_granted: bool,
    is_kept: bool,
}

impl Place {
    async fn take(handle: Handle, wanted: Wanted) -> Result<Place, Refusal> {
        let when_busy = if wanted.limit == Some(Duration::ZERO) { WhenBusy::Refuse } else { WhenBusy::Wait };
        loop {
            let Wanted { name, session, mode, value, .. } = wanted.clone();
            let command = Command::Enter(Enter { name, session, mode, value, when_busy });
            let applied = handle.apply(command).await?;
            let Answer::Entered(Entered { key, token, granted }) = applied.answer? else {
                return Err(Refusal::mismatch());
            };
            let is_new = applied.revised.iter().any(|revised| revised.revision == token);
            let written = if is_new { Some(token) } else { touch(&handle, &key, token).await? };
            if let Some(written) = written {
                return Ok(Place { handle, key, token, written, is_granted: granted, is_kept: false });
            }
            // An earlier call was given up, and left, between the two steps.
        }
    }

    /// Leaves because it has waited long enough, even if it was let in at the last moment.
    async fn give_up<T>(mut self) -> Result<T, Refusal> {
        self.handle.of_member().apply(self.leave()).await?.answer?;
        self.is_kept = true;
        Err(Refusal::new(ErrorCode::Held))
    }

    /// Deletes the key as this call wrote it.
    fn leave(&self) -> Command {
        let compare = vec![equal(&self.key, Operand::Modified(self.written))];
        let then = vec![Operation::Delete(Delete { keys: KeyRange::One(self.key.clone()) })];
        Command::Txn(Txn { compare, then, otherwise: Vec::new() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept {
            // It was let in, so it may leave, whatever it is allowed now.
            let (handle, leave) = (self.handle.of_member(), self.leave());
            // If it has left already, there is nothing to do.
            tokio::spawn(async move { drop(handle.apply(leave).await) });
        }
    }
}

pub(super) fn equal(key: &Bytes, operand: Operand) -> Compare {
    Compare { keys: KeyRange::One(key.clone()), relation: Relation::Equal, operand }
}

/// Writes a key anew as it is, if it is still the one that was created then; says at which revision.
async fn touch(handle: &Handle, key: &Bytes, token: Revision) -> Result<Option<Revision>, Refusal> {
    let put = Put { key: key.clone(), value: Given::Present, session: Given::Present };
    let compare = vec![equal(key, Operand::Created(token))];
    let txn = Txn { compare, then: vec![Operation::Put(put)], otherwise: Vec::new() };
    let applied = handle.apply(Command::Txn(txn)).await?;
    match applied.answer? {
        Answer::Txn(answer) => Ok(answer.succeeded.then_some(applied.revision)),
        _ => Err(Refusal::mismatch()),
    }
}
