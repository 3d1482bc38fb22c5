//! Waiting in the queue of a lock or an election, and leaving it if the client goes away.

use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb::ResponseHeader;
use habemus_store::{Answer, Command, Enter, Entered, Leave, Mode, Revision, SessionId, WhenBusy};
use tokio::task::JoinHandle;
use tonic::Status;

use crate::engine::Granted;
use crate::handle::Handle;
use crate::lease;
use crate::status::{Refused, mismatch, unknown};

/// How long a session lasts that a client did not bring along. Nobody renews it.
const SESSION: Duration = Duration::from_secs(60);

/// Somebody is inside.
pub(crate) struct Inside {
    pub(crate) key: Bytes,
    pub(crate) token: Revision,
    pub(crate) session: SessionId,
    pub(crate) header: ResponseHeader,
}

/// Enters a queue, and waits until it is inside.
pub(crate) fn enter(
    handle: Handle,
    name: Bytes,
    lease: i64,
    value: Bytes,
) -> impl Future<Output = Result<Inside, Status>> + Send {
    // A client that goes away takes this future with it, but not what is under way to the other members. So
    // that goes on by itself, and finds out at its end whether anybody still waits for it.
    let stand = tokio::spawn(Place::take(handle, name, lease, value));
    wait(stand)
}

async fn wait(stand: JoinHandle<Result<Place, Status>>) -> Result<Inside, Status> {
    let mut place = stand.await.map_err(|_| unknown(Refused::Stopping))??;
    if !place.granted {
        match place.handle.granted(place.key.clone(), place.token).await.map_err(unknown)? {
            Granted::Inside => {}
            Granted::Gone => {
                place.keep = true;
                return Err(Status::unknown("mutex: session is expired"));
            }
        }
        place.header = place.handle.header(place.handle.revision().await.map_err(unknown)?);
    }
    place.keep = true;
    let (key, header) = (place.key.clone(), place.header);
    Ok(Inside { key, token: place.token, session: place.session, header })
}

/// A place in a queue, which is left unless it is kept: nobody waits for a client that has gone.
struct Place {
    handle: Handle,
    key: Bytes,
    token: Revision,
    session: SessionId,
    header: ResponseHeader,
    granted: bool,
    /// Whether the session was opened for it, and ends with it.
    is_own: bool,
    keep: bool,
}

impl Place {
    async fn take(handle: Handle, name: Bytes, lease: i64, value: Bytes) -> Result<Place, Status> {
        let (session, is_own) = match lease {
            0 => (lease::open(&handle, 0, SESSION).await.map_err(unknown)?.0, true),
            _ => (SessionId(lease), false),
        };
        let (mode, when_busy) = (Mode::Exclusive, WhenBusy::Wait);
        let command = Command::Enter(Enter { name, session, mode, value, when_busy });
        let applied = handle.apply(command).await.map_err(unknown)?;
        let answer = applied.answer.map_err(|error| unknown(Refused::Store(error)))?;
        let Answer::Entered(Entered { key, token, granted }) = answer else { return Err(mismatch()) };
        // Whoever stood there already, by an earlier request, stays even if this one is given up.
        let keep = !applied.revised.iter().any(|revised| revised.revision == token);
        let header = handle.header(applied.revision);
        Ok(Place { handle, key, token, session, header, granted, is_own, keep })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep {
            // It takes back what it did itself, whatever its client may do by now.
            let handle = self.handle.of_member();
            let leave = if self.is_own {
                Command::CloseSession { id: self.session }
            } else {
                Command::Leave(Leave { key: self.key.clone(), token: self.token })
            };
            // If it has left already, there is nothing to do.
            tokio::spawn(async move { drop(handle.apply(leave).await) });
        }
    }
}
