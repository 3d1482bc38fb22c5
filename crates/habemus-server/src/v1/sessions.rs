//! Sessions, from a tenth of a second on.

use std::time::Duration;

use habemus_api::v1 as rpc;
use habemus_api::{ErrorCode, v1};
use habemus_store::{Answer, Command, SessionId};

use super::{Api, Needs, Refusal, milliseconds, session, time};
use crate::engine::View;
use crate::handle::Freshness;
use crate::lease;

/// Nobody can be relied on to renew a shorter one in time.
const MIN_TTL: u64 = 100;

/// A session, as others see it.
pub(crate) fn seen(view: &View<'_>, id: SessionId) -> Option<v1::Session> {
    let session = view.store.session(id)?;
    Some(rpc::Session {
        session: id.to_string(),
        ttl_ms: milliseconds(session.ttl),
        deadline_ms: time(session.deadline),
        now_ms: time(view.now),
        keys: u32::try_from(session.keys.count()).unwrap_or(u32::MAX),
    })
}

impl Api {
    /// A session after what this member has just applied; so its time is no earlier than when that was sent.
    async fn session(&self, id: SessionId, freshness: Freshness) -> Result<rpc::Session, Refusal> {
        let found = self.look(freshness, Needs::Name, move |view: &View<'_>| seen(view, id)).await?;
        found.ok_or(Refusal::new(ErrorCode::SessionNotFound))
    }

    pub(super) async fn open_session(&self, request: rpc::OpenSession) -> Result<rpc::Session, Refusal> {
        let ttl = request.ttl_ms;
        if ttl < MIN_TTL {
            return Err(Refusal::invalid(format!(
                "a session lasts {MIN_TTL} milliseconds at least, not {ttl}: write them as ttl_ms"
            )));
        }
        let (id, _) = lease::open(&self.0, 0, Duration::from_millis(ttl)).await?;
        self.session(id, Freshness::Local).await
    }

    pub(super) async fn renew_session(&self, request: rpc::NamedSession) -> Result<rpc::Session, Refusal> {
        let id = session(&request.session)?;
        match self.0.execute(Command::RenewSessions(vec![id])).await? {
            (Answer::Renewed(renewed), _) if renewed.iter().all(|(_, ttl)| ttl.is_some()) => {
                self.session(id, Freshness::Local).await
            }
            (Answer::Renewed(_), _) => Err(Refusal::new(ErrorCode::SessionNotFound)),
            _ => Err(Refusal::mismatch()),
        }
    }

    pub(super) async fn end_session(&self, request: rpc::NamedSession) -> Result<rpc::Done, Refusal> {
        let id = session(&request.session)?;
        self.done(Command::CloseSession { id }).await
    }

    pub(super) async fn get_session(&self, request: rpc::NamedSession) -> Result<rpc::Session, Refusal> {
        self.session(session(&request.session)?, Freshness::Linearizable).await
    }

    pub(super) async fn list_sessions(&self) -> Result<rpc::SessionList, Refusal> {
        let look = |view: &View<'_>| view.store.sessions().filter_map(|id| seen(view, id)).collect();
        Ok(rpc::SessionList { sessions: self.look(Freshness::Linearizable, Needs::Name, look).await? })
    }

    /// Applies what has nothing to say.
    pub(super) async fn done(&self, command: Command) -> Result<rpc::Done, Refusal> {
        let applied = self.0.apply(command).await?;
        applied.answer?;
        Ok(rpc::Done { revision: applied.revision.0 })
    }
}
