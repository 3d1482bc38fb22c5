//! Locks with an owner.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use habemus_api::ErrorCode;
use habemus_api::v1 as rpc;
use habemus_store::{
    Answer, Command, Delete, KeyRange, Leave, Mode, Operand, Operation, Put, Range, Revision, SessionId, Txn,
    queue as queues,
};

use super::place::{Inside, Wanted, enter, equal};
use super::{Api, Needs, Refusal, mode, name, queue, session, text, time};
use crate::engine::View;
use crate::handle::Freshness;

/// What a request says of who stands in a queue.
pub(super) struct Claim {
    name: Bytes,
    session: SessionId,
    token: Revision,
}

impl Claim {
    pub(super) fn new(of: &str, by: &str, token: u64) -> Result<Claim, Refusal> {
        let name = Bytes::from(name(of)?.to_owned());
        Ok(Claim { name, session: session(by)?, token: Revision(token) })
    }

    /// The key that this session has put into the queue at that token, if it did, and whether it is inside.
    fn find(&self, view: &View<'_>) -> Option<(Bytes, bool)> {
        let own = queues::key(&self.name, self.session, Mode::Exclusive);
        let all = Range::of(KeyRange::prefix(own.clone()));
        let found = view.store.range(&all).ok()?.keys;
        let mine = found.into_iter().find(|key| {
            let rest = &key.key[own.len()..];
            let is_own = rest.is_empty() || rest.starts_with(b";");
            is_own && key.created == self.token && key.session == Some(self.session)
        })?;
        Some((mine.key.clone(), view.store.is_inside(&mine.key, self.token)))
    }
}

fn mode_of(request: &rpc::Acquire) -> Result<Mode, Refusal> {
    match (request.shared, NonZeroU32::new(request.permits)) {
        (false, None) => Ok(Mode::Exclusive),
        (true, None) => Ok(Mode::Shared),
        (false, Some(permits)) => Ok(Mode::Permits(permits)),
        (true, Some(_)) => {
            Err(Refusal::invalid("a lock is shared, or has permits: give `shared` or `permits`, not both"))
        }
    }
}

impl Api {
    pub(super) async fn acquire(&self, request: rpc::Acquire) -> Result<rpc::Grant, Refusal> {
        let wanted_mode = mode_of(&request)?;
        let wanted = Wanted {
            name: name(&request.name)?.to_owned().into(),
            session: session(&request.session)?,
            mode: wanted_mode,
            value: request.value.into(),
            limit: request.wait_ms.map(Duration::from_millis),
        };
        let id = wanted.session;
        let Inside { key, token } = enter(&self.0, wanted).await?;
        let (deadline_ms, now_ms) = self.deadline(id).await?;
        let (shared, permits) = mode(wanted_mode);
        let key = text(&key);
        let (name, session) = (request.name, id.to_string());
        Ok(rpc::Grant { name, session, token: token.0, deadline_ms, now_ms, key, shared, permits })
    }

    /// When a session ends, and what time it is, after what this member has just applied.
    pub(super) async fn deadline(&self, id: SessionId) -> Result<(u64, u64), Refusal> {
        let look = move |view: &View<'_>| {
            view.store.session(id).map(|session| (time(session.deadline), time(view.now)))
        };
        let found = self.look(Freshness::Local, Needs::Name, look).await?;
        found.ok_or(Refusal::new(ErrorCode::SessionNotFound))
    }

    pub(super) async fn release(&self, request: rpc::Release) -> Result<rpc::Done, Refusal> {
        let claim = Claim::new(&request.name, &request.session, request.token)?;
        let token = claim.token;
        let (key, _) = self.own(claim).await?.ok_or(Refusal::new(ErrorCode::NotOwner))?;
        self.done(Command::Leave(Leave { key, token })).await
    }

    /// The key of a claim, and whether it is inside: as this member knows it already, or as all do.
    pub(super) async fn own(&self, claim: Claim) -> Result<Option<(Bytes, bool)>, Refusal> {
        let look = move |view: &View<'_>| (claim.find(view), claim);
        let (found, claim) = self.look(Freshness::Local, Needs::Name, look).await?;
        // Whoever is inside stays there until its key has gone.
        if let Some((key, true)) = found {
            return Ok(Some((key, true)));
        }
        self.look(Freshness::Linearizable, Needs::Name, move |view: &View<'_>| claim.find(view)).await
    }

    /// Does something if a claim still stands and is inside; says at which revision.
    pub(super) async fn guarded(
        &self,
        claim: Claim,
        then: impl FnOnce(&Bytes) -> Vec<Operation>,
    ) -> Result<Option<(Bytes, Revision)>, Refusal> {
        let token = claim.token;
        let Some((key, true)) = self.own(claim).await? else { return Ok(None) };
        let compare = vec![equal(&key, Operand::Created(token))];
        let txn = Txn { compare, then: then(&key), otherwise: Vec::new() };
        let applied = self.0.apply(Command::Txn(txn)).await?;
        match applied.answer? {
            Answer::Txn(answer) => Ok(answer.succeeded.then_some((key, applied.revision))),
            _ => Err(Refusal::mismatch()),
        }
    }

    pub(super) async fn write(&self, request: rpc::GuardedWrite) -> Result<rpc::Done, Refusal> {
        let claim = Claim::new(&request.name, &request.session, request.token)?;
        if request.puts.is_empty() && request.deletes.is_empty() {
            return Err(Refusal::invalid("nothing is written: give `puts` or `deletes`"));
        }
        let puts = request.puts.into_iter().map(|put| Operation::Put(Put::new(put.key, put.value)));
        let deletes = request.deletes.into_iter();
        let deletes = deletes.map(|key| Operation::Delete(Delete { keys: KeyRange::One(key.into()) }));
        let all: Vec<Operation> = puts.chain(deletes).collect();
        let written = self.guarded(claim, |_| all).await?;
        let (_, revision) = written.ok_or(Refusal::new(ErrorCode::Fenced))?;
        Ok(rpc::Done { revision: revision.0 })
    }

    pub(super) async fn get_lock(&self, request: rpc::NamedLock) -> Result<rpc::Queue, Refusal> {
        let of = name(&request.name)?.to_owned();
        let needs = Needs::Queue(of.clone().into());
        self.look(Freshness::Linearizable, needs, move |view: &View<'_>| queue(view, of.as_bytes())).await
    }

    /// All queues that whoever asks may read.
    pub(super) async fn list_locks(&self) -> Result<rpc::QueueList, Refusal> {
        let author = self.0.author().cloned();
        let look = move |view: &View<'_>| {
            let may = |name: &[u8]| {
                let keys = KeyRange::prefix(queues::prefix(name));
                view.store.auth().check_read(author.as_ref(), &keys).is_ok()
            };
            view.store.queues().filter(|name| may(name)).map(|name| queue(view, &name)).collect()
        };
        Ok(rpc::QueueList { queues: self.look(Freshness::Linearizable, Needs::Name, look).await? })
    }
}
