//! Standing in a queue, by the rules that all clients of etcd keep: a key for each session, and whoever's was
//! created first is inside. It needs nothing of the server but keys and watches, and what was begun with one
//! member is gone on with by any.

use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::compare::{CompareResult, CompareTarget, TargetUnion};
use habemus_etcd::etcdserverpb::range_request::{SortOrder, SortTarget};
use habemus_etcd::etcdserverpb::request_op::Request;
use habemus_etcd::etcdserverpb::response_op::Response;
use habemus_etcd::mvccpb::event::EventType;

use crate::client::prefix;
use crate::error::ClientError;
use crate::guard::Guard;
use crate::session::Session;

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
        self.enter(name, Bytes::new(), wait).await
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
        self.enter(name, value.into(), wait).await
    }

    async fn enter(&self, name: &str, value: Bytes, wait: Wait) -> Result<Guard, ClientError> {
        let limit = match wait {
            Wait::Always => None,
            Wait::For(limit) => Some(limit),
            Wait::Never => return self.try_enter(name, value).await,
        };
        let place = self.stand(name, value).await?;
        let inside = async {
            tokio::select! {
                inside = place.is_first() => inside,
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

    fn place(&self, name: &str) -> (Bytes, Bytes, Bytes) {
        let (first, end) = prefix(name.as_bytes());
        let key = [&first[..], format!("{:x}", self.id()).as_bytes()].concat();
        (key.into(), first, end)
    }

    async fn try_enter(&self, name: &str, value: Bytes) -> Result<Guard, ClientError> {
        let (key, first, end) = self.place(name);
        let request = rpc::TxnRequest {
            compare: vec![created(first, end, 0)],
            success: vec![put(key.clone(), value, self.id())],
            failure: vec![get(key.clone())],
        };
        // It may be done twice: the second time finds what the first one wrote.
        let client = self.client();
        let answer =
            client.retried(|| async { Ok(client.kv().txn(request.clone()).await?.into_inner()) }).await?;
        let token = match answer.responses.first().and_then(|it| it.response.as_ref()) {
            _ if answer.succeeded => answer.header.map_or(0, |header| header.revision),
            Some(Response::ResponseRange(own)) => match own.kvs.first() {
                Some(own) => own.create_revision,
                None => return Err(ClientError::Busy),
            },
            _ => return Err(ClientError::Busy),
        };
        let place = Standing { session: self.clone(), name: name.to_owned(), key, token, keep: false };
        if !answer.succeeded && place.predecessor().await?.0.is_some() {
            // It stands there by an earlier request, and waits.
            place.keep();
            return Err(ClientError::Busy);
        }
        Ok(place.keep())
    }

    /// Takes a place in the queue, or finds the one that it has.
    async fn stand(&self, name: &str, value: Bytes) -> Result<Standing, ClientError> {
        let (key, _, _) = self.place(name);
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
        Ok(Standing { session: self.clone(), name: name.to_owned(), key, token, keep: false })
    }
}

/// A place in a queue, which is left when it is dropped, unless it is kept.
pub(crate) struct Standing {
    pub(crate) session: Session,
    pub(crate) name: String,
    pub(crate) key: Bytes,
    pub(crate) token: i64,
    keep: bool,
}

impl Standing {
    fn keep(mut self) -> Guard {
        self.keep = true;
        Guard::new(self.session.clone(), self.name.clone(), self.key.clone(), self.token)
    }

    async fn leave(mut self) -> Result<(), ClientError> {
        self.keep = true;
        delete(&self.session, &self.key, self.token).await.map(drop)
    }

    /// Who stands right before this one, if anybody does, and at which revision that was so.
    async fn predecessor(&self) -> Result<(Option<Bytes>, i64), ClientError> {
        let (key, range_end) = prefix(self.name.as_bytes());
        let request = rpc::RangeRequest {
            key,
            range_end,
            limit: 1,
            keys_only: true,
            sort_target: SortTarget::Create.into(),
            sort_order: SortOrder::Descend.into(),
            max_create_revision: self.token - 1,
            ..Default::default()
        };
        let found = self.session.client().range(request).await?;
        let revision = found.header.map_or(0, |header| header.revision);
        Ok((found.kvs.into_iter().next().map(|kv| kv.key), revision))
    }

    /// Waits until everybody who came before has gone.
    async fn is_first(&self) -> Result<(), ClientError> {
        loop {
            match self.predecessor().await? {
                (Some(before), revision) => self.gone(before, revision + 1).await,
                (None, _) => return self.is_there().await,
            }
        }
    }

    /// Whether its key is still the one that it wrote.
    async fn is_there(&self) -> Result<(), ClientError> {
        let request = rpc::RangeRequest { key: self.key.clone(), keys_only: true, ..Default::default() };
        let found = self.session.client().range(request).await?;
        match found.kvs.first() {
            Some(own) if own.create_revision == self.token => Ok(()),
            _ => Err(ClientError::Evicted),
        }
    }

    /// Waits until a key is deleted, or may have been.
    async fn gone(&self, key: Bytes, start_revision: i64) {
        let create = rpc::WatchCreateRequest { key, start_revision, ..Default::default() };
        let Ok(mut watching) = self.session.client().watch(create).await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            return;
        };
        loop {
            match watching.message().await {
                Ok(Some(told)) if told.canceled => return,
                Ok(Some(told)) if told.events.iter().any(|event| event.r#type() == EventType::Delete) => {
                    return;
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        if !self.keep {
            release_in_background(&self.session, &self.key, self.token);
        }
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
