//! Standing in a queue, by the rules that all clients of etcd keep: a key for each session, and whoever's was
//! created first is inside. It needs nothing of the server but keys and watches, and what was begun with one
//! member is gone on with by any.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::compare::{CompareResult, CompareTarget, TargetUnion};
use habemus_etcd::etcdserverpb::request_op::Request;
use habemus_etcd::etcdserverpb::response_op::Response;

use crate::client::prefix;
use crate::error::ClientError;
use crate::guard::Guard;
use crate::session::Session;
use crate::standing::{Standing, Those};

/// Beside whom somebody may be inside. Clients of etcd that know nothing of it count as exclusive, and are
/// respected; that they respect those who share, each in its turn, follows from their rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nobody.
    Exclusive,
    /// Everybody else who shares.
    Shared,
    /// So many in all, who all say so.
    Permits(NonZeroU32),
}

impl Mode {
    /// What is written behind the key of whoever stands in a queue like this.
    pub(crate) fn suffix(self) -> String {
        match self {
            Mode::Exclusive => String::new(),
            Mode::Shared => ";shared".to_owned(),
            Mode::Permits(permits) => format!(";permits={permits}"),
        }
    }
}

/// For how long to wait while somebody else is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As long as it takes.
    Always,
    /// No longer than this.
    For(Duration),
    /// Not at all; then nobody ever sees that it was wanted.
    Never,
}

/// That a key, or every key of a range, was created then; 0 for one that is not there.
fn created(key: Bytes, range_end: Bytes, revision: i64) -> rpc::Compare {
    rpc::Compare {
        result: CompareResult::Equal.into(),
        target: CompareTarget::Create.into(),
        key,
        range_end,
        target_union: Some(TargetUnion::CreateRevision(revision)),
    }
}

/// That every key of a range was last written before a revision.
fn written_before(key: Bytes, range_end: Bytes, revision: i64) -> rpc::Compare {
    rpc::Compare {
        result: CompareResult::Less.into(),
        target: CompareTarget::Mod.into(),
        key,
        range_end,
        target_union: Some(TargetUnion::ModRevision(revision)),
    }
}

/// Somebody waits by an earlier request, which this one must not end.
fn forget(guard: Guard) -> ClientError {
    guard.forget();
    ClientError::Busy
}

fn put(key: Bytes, value: Bytes, lease: i64) -> rpc::RequestOp {
    let put = rpc::PutRequest { key, value, lease, ..Default::default() };
    rpc::RequestOp { request: Some(Request::RequestPut(put)) }
}

fn get(key: Bytes) -> rpc::RequestOp {
    let get = rpc::RangeRequest { key, ..Default::default() };
    rpc::RequestOp { request: Some(Request::RequestRange(get)) }
}

impl Session {
    /// Waits for a lock, behind everybody who came before.
    ///
    /// # Errors
    /// If it is not had in time, if the session is lost meanwhile, or if the service refuses.
    pub async fn lock(&self, name: &str, wait: Wait) -> Result<Guard, ClientError> {
        self.lock_as(name, Mode::Exclusive, wait).await
    }

    /// Waits for a lock that is shared, or has permits, behind everybody who came before.
    ///
    /// # Errors
    /// As [`lock`](Session::lock).
    pub async fn lock_as(&self, name: &str, mode: Mode, wait: Wait) -> Result<Guard, ClientError> {
        self.enter(name, mode, Bytes::new(), wait).await
    }

    /// Stands for election, and waits until it leads. The value is what others see.
    ///
    /// # Errors
    /// If it does not lead in time, if the session is lost meanwhile, or if the service refuses.
    pub async fn campaign(
        &self,
        name: &str,
        value: impl Into<Bytes>,
        wait: Wait,
    ) -> Result<Guard, ClientError> {
        self.enter(name, Mode::Exclusive, value.into(), wait).await
    }

    async fn enter(&self, name: &str, mode: Mode, value: Bytes, wait: Wait) -> Result<Guard, ClientError> {
        let limit = match wait {
            Wait::Always => None,
            Wait::For(limit) => Some(limit),
            Wait::Never => return self.try_enter(name, mode, value).await,
        };
        let place = self.stand(name, mode, value).await?;
        let inside = async {
            tokio::select! {
                inside = place.is_inside() => inside,
                () = self.lost() => Err(ClientError::SessionLost),
            }
        };
        let inside = match limit {
            None => inside.await,
            Some(limit) => tokio::time::timeout(limit, inside).await.unwrap_or(Err(ClientError::Busy)),
        };
        match inside {
            Ok(()) => Ok(place.keep()),
            Err(error) => {
                // Nobody is to wait for one that has given up; if that cannot be told, the session's end
                // tells it.
                let left = place.leave();
                drop(tokio::time::timeout(Duration::from_secs(1), left).await);
                Err(error)
            }
        }
    }

    fn key(&self, name: &str, mode: Mode) -> Bytes {
        format!("{name}/{:x}{}", self.id(), mode.suffix()).into()
    }

    /// Takes a place if it is inside at once: nobody else must have come between the look and the step.
    async fn try_enter(&self, name: &str, mode: Mode, value: Bytes) -> Result<Guard, ClientError> {
        let key = self.key(name, mode);
        let (first, end) = prefix(name.as_bytes());
        let client = self.client();
        loop {
            let (those, revision) = Those::in_queue(client, name, None).await?;
            if let Some(token) = those.token_of(&key) {
                // It stands there by an earlier request, and holds it or waits.
                let place = Standing::new(self.clone(), name.to_owned(), key, mode, token);
                let is_inside = those.before(token).blocker(mode).is_none();
                let guard = place.keep();
                return if is_inside { Ok(guard) } else { Err(forget(guard)) };
            }
            if those.blocker(mode).is_some() {
                return Err(ClientError::Busy);
            }
            let request = rpc::TxnRequest {
                compare: vec![written_before(first.clone(), end.clone(), revision + 1)],
                success: vec![put(key.clone(), value.clone(), self.id())],
                failure: vec![get(key.clone())],
            };
            // It may be done twice: then the next look finds what the first one wrote.
            let answer =
                client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
            if answer.succeeded {
                let token = answer.header.map_or(0, |header| header.revision);
                return Ok(Standing::new(self.clone(), name.to_owned(), key, mode, token).keep());
            }
        }
    }

    /// Takes a place in the queue, or finds the one that it has.
    async fn stand(&self, name: &str, mode: Mode, value: Bytes) -> Result<Standing, ClientError> {
        let key = self.key(name, mode);
        let request = rpc::TxnRequest {
            compare: vec![created(key.clone(), Bytes::new(), 0)],
            success: vec![put(key.clone(), value.clone(), self.id()), get(key.clone())],
            failure: vec![put(key.clone(), value, self.id()), get(key.clone())],
        };
        let client = self.client();
        let answer =
            client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
        let token = answer.responses.iter().find_map(|it| match &it.response {
            Some(Response::ResponseRange(own)) => own.kvs.first().map(|own| own.create_revision),
            _ => None,
        });
        let token = token.ok_or(ClientError::Nonsense("a key that was just written is not there"))?;
        Ok(Standing::new(self.clone(), name.to_owned(), key, mode, token))
    }
}

/// Deletes a key if it is still the one that was created then; says whether it was.
pub(crate) async fn delete(session: &Session, key: &Bytes, token: i64) -> Result<bool, ClientError> {
    let delete = rpc::DeleteRangeRequest { key: key.clone(), ..Default::default() };
    let request = rpc::TxnRequest {
        compare: vec![created(key.clone(), Bytes::new(), token)],
        success: vec![rpc::RequestOp { request: Some(Request::RequestDeleteRange(delete)) }],
        failure: Vec::new(),
    };
    let client = session.client();
    let answer =
        client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
    Ok(answer.succeeded)
}

/// Deletes a key some time soon. If it cannot be done, the session's end does it.
pub(crate) fn release_in_background(session: &Session, key: &Bytes, token: i64) {
    let (session, key) = (session.clone(), key.clone());
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { drop(delete(&session, &key, token).await) });
    }
}

/// Writes a new value, if the key is still the one that was created then.
pub(crate) async fn write(
    session: &Session,
    key: &Bytes,
    token: i64,
    value: Bytes,
) -> Result<bool, ClientError> {
    let request = rpc::TxnRequest {
        compare: vec![created(key.clone(), Bytes::new(), token)],
        success: vec![put(key.clone(), value, session.id())],
        failure: Vec::new(),
    };
    let client = session.client();
    let answer =
        client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
    Ok(answer.succeeded)
}

/// Writes another key, if that of the queue is still the one that was created then.
pub(crate) async fn write_guarded(
    session: &Session,
    guard: &Bytes,
    token: i64,
    key: Bytes,
    value: Bytes,
) -> Result<bool, ClientError> {
    let request = rpc::TxnRequest {
        compare: vec![created(guard.clone(), Bytes::new(), token)],
        success: vec![put(key, value, 0)],
        failure: Vec::new(),
    };
    let client = session.client();
    let answer =
        client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
    Ok(answer.succeeded)
}
