//! habemus.v1: what etcd's interface lacks. Each call is written once, and found by gRPC and by plain HTTP.

mod elections;
mod follow;
mod grpc;
mod locks;
mod pages;
mod place;
mod refusal;
mod sessions;

pub(crate) use pages::pages;
pub(crate) use refusal::Refusal;
pub(crate) use sessions::seen;

use std::time::Duration;

use habemus_api::v1 as rpc;
use habemus_store::{AuthError, ClusterTime, KeyRange, Mode, SessionId, Standing, Store, queue as queues};
use tonic::Request;

use crate::engine::View;
use crate::handle::{Freshness, Handle};

/// The calls of habemus.v1.
#[derive(Clone)]
pub(crate) struct Api(pub(crate) Handle);

/// What whoever looks must be allowed.
#[derive(Clone, Debug)]
enum Needs {
    /// It says who it is.
    Name,
    /// It may read all keys of this queue.
    Queue(Vec<u8>),
}

impl Api {
    /// The calls on behalf of whoever sent a request.
    fn of<T>(&self, request: &Request<T>) -> Api {
        Api(self.0.of(request))
    }

    /// Looks at the store, if whoever asks may.
    async fn look<T: Send + 'static>(
        &self,
        freshness: Freshness,
        needs: Needs,
        look: impl FnOnce(&View<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let author = self.0.author().cloned();
        let look = move |view: &View<'_>| {
            let (auth, author) = (view.store.auth(), author.as_ref());
            let allowed = match needs {
                Needs::Name => auth.check_known(author),
                Needs::Queue(name) => auth.check_read(author, &KeyRange::prefix(queues::prefix(&name))),
            };
            allowed.map(|()| look(view))
        };
        let looked: Result<T, AuthError> = self.0.look(freshness, look).await?;
        Ok(looked.map_err(habemus_store::StoreError::from)?)
    }
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn time(time: ClusterTime) -> u64 {
    milliseconds(time.0)
}

/// The session that a request names.
fn session(text: &str) -> Result<SessionId, Refusal> {
    let named = u64::from_str_radix(text, 16).ok().filter(|number| *number != 0);
    named.map(|number| SessionId(number.cast_signed())).ok_or_else(|| {
        Refusal::invalid(format!(
            "`{text}` is no session: write the one that was answered when it was opened"
        ))
    })
}

/// The name of a lock or an election.
fn name(text: &str) -> Result<&str, Refusal> {
    if text.is_empty() { Err(Refusal::invalid("no name is given")) } else { Ok(text) }
}

/// Both ways in which a mode is written: whether it is shared, and how many permits there are.
fn mode(mode: Mode) -> (bool, u32) {
    match mode {
        Mode::Exclusive => (false, 0),
        Mode::Shared => (true, 0),
        Mode::Permits(permits) => (false, permits.get()),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Somebody in a queue, as others see it.
fn place(store: &Store, standing: &Standing, behind: Option<u64>) -> rpc::Place {
    let (shared, permits) = mode(standing.mode);
    let session = standing.session.and_then(|id| store.session(id));
    rpc::Place {
        session: standing.session.map(|id| id.to_string()).unwrap_or_default(),
        token: standing.token.0,
        value: store.get(&standing.key).map(|key| text(&key.value)).unwrap_or_default(),
        shared,
        permits,
        since_ms: time(standing.since),
        inside_since_ms: standing.inside_since.map(time),
        behind: behind.filter(|_| !standing.is_inside()),
        deadline_ms: session.map(|session| time(session.deadline)),
        key: text(&standing.key),
    }
}

/// Everybody in a queue.
pub(crate) fn queue(view: &View<'_>, name: &[u8]) -> rpc::Queue {
    let standing = view.store.queue(name);
    let (mut holders, mut waiters) = (Vec::new(), Vec::new());
    let mut before = None;
    for one in &standing {
        let place = place(view.store, one, before);
        before = Some(one.token.0);
        if one.is_inside() { holders.push(place) } else { waiters.push(place) }
    }
    let (now_ms, revision) = (time(view.now), view.store.revision().0);
    rpc::Queue { name: text(name), holders, waiters, now_ms, revision }
}
