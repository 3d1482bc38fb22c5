//! etcd's elections, held by the server.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use habemus_etcd::etcdserverpb::ResponseHeader;
use habemus_etcd::v3electionpb as rpc;
use habemus_store::{
    Answer, Command, Compare, Delete, KeyRange, KeyValue, Operand, Operation, Put, Range, Relation, Revision,
    SessionId, SortBy, SortOrder, Txn, queue,
};
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::convert;
use crate::engine::View;
use crate::handle::{Freshness, Handle, wire};
use crate::queues;
use crate::status::{Refused, unknown};

/// etcd's elections.
pub(crate) struct Election(pub(crate) Handle);

impl Election {
    /// Does something if this one still stands where it stood.
    async fn as_candidate(
        handle: &Handle,
        leader: &rpc::LeaderKey,
        then: Operation,
    ) -> Result<(bool, ResponseHeader), Status> {
        let created = Revision(u64::try_from(leader.rev).unwrap_or_default());
        let stands = Compare {
            keys: KeyRange::One(leader.key.clone()),
            relation: Relation::Equal,
            operand: Operand::Created(created),
        };
        let txn = Txn { compare: vec![stands], then: vec![then], otherwise: Vec::new() };
        let (answer, header) = handle.execute(Command::Txn(txn)).await.map_err(unknown)?;
        Ok((matches!(answer, Answer::Txn(answer) if answer.succeeded), header))
    }
}

/// The candidate that a request speaks of.
fn candidate(leader: Option<rpc::LeaderKey>) -> Result<rpc::LeaderKey, Status> {
    let leader = leader.ok_or_else(|| Status::unknown("\"leader\" field must be provided"))?;
    // A key that was never created stands nowhere.
    if leader.rev <= 0 { Err(Status::unknown("election: not leader")) } else { Ok(leader) }
}

/// Whoever stands longest leads.
fn leader_of(view: &View<'_>, prefix: &Bytes) -> Option<Arc<KeyValue>> {
    let first = Range {
        limit: Some(1),
        sort: Some((SortBy::Created, SortOrder::Ascending)),
        ..Range::of(KeyRange::prefix(prefix.clone()))
    };
    view.store.range(&first).ok()?.keys.into_iter().next()
}

#[tonic::async_trait]
impl rpc::election_server::Election for Election {
    async fn campaign(
        &self,
        request: Request<rpc::CampaignRequest>,
    ) -> Result<Response<rpc::CampaignResponse>, Status> {
        let handle = self.0.of(&request);
        let rpc::CampaignRequest { name, lease, value } = request.into_inner();
        let inside = queues::enter(handle, name.clone(), lease, value).await?;
        let SessionId(lease) = inside.session;
        let leader = rpc::LeaderKey { name, key: inside.key, rev: wire(inside.token), lease };
        Ok(Response::new(rpc::CampaignResponse { header: Some(inside.header), leader: Some(leader) }))
    }

    async fn proclaim(
        &self,
        request: Request<rpc::ProclaimRequest>,
    ) -> Result<Response<rpc::ProclaimResponse>, Status> {
        let handle = self.0.of(&request);
        let rpc::ProclaimRequest { leader, value } = request.into_inner();
        let leader = candidate(leader)?;
        let put = Put { session: habemus_store::Given::Present, ..Put::new(leader.key.clone(), value) };
        match Election::as_candidate(&handle, &leader, Operation::Put(put)).await? {
            (true, header) => Ok(Response::new(rpc::ProclaimResponse { header: Some(header) })),
            (false, _) => Err(Status::unknown("election: not leader")),
        }
    }

    async fn leader(
        &self,
        request: Request<rpc::LeaderRequest>,
    ) -> Result<Response<rpc::LeaderResponse>, Status> {
        let handle = self.0.of(&request);
        let prefix = queue::prefix(&request.into_inner().name);
        let (leader, revision) = seen(&handle, Freshness::Linearizable, prefix).await.map_err(unknown)?;
        let leader = leader.ok_or_else(|| Status::unknown("election: no leader"))?;
        let (header, kv) = (Some(self.0.header(revision)), Some(convert::key_value(&leader)));
        Ok(Response::new(rpc::LeaderResponse { header, kv }))
    }

    type ObserveStream = Pin<Box<dyn Stream<Item = Result<rpc::LeaderResponse, Status>> + Send + 'static>>;

    async fn observe(
        &self,
        request: Request<rpc::LeaderRequest>,
    ) -> Result<Response<Self::ObserveStream>, Status> {
        let handle = self.0.of(&request);
        let prefix = queue::prefix(&request.into_inner().name);
        let (told, stream) = mpsc::channel(16);
        tokio::spawn(observe(handle, prefix, told));
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    /// Whoever has resigned already resigns again, as in etcd.
    async fn resign(
        &self,
        request: Request<rpc::ResignRequest>,
    ) -> Result<Response<rpc::ResignResponse>, Status> {
        let handle = self.0.of(&request);
        let leader = candidate(request.into_inner().leader)?;
        let delete = Operation::Delete(Delete { keys: KeyRange::One(leader.key.clone()) });
        let (_, header) = Election::as_candidate(&handle, &leader, delete).await?;
        Ok(Response::new(rpc::ResignResponse { header: Some(header) }))
    }
}

/// Who leads, for somebody who may know.
async fn seen(
    handle: &Handle,
    freshness: Freshness,
    prefix: Bytes,
) -> Result<(Option<Arc<KeyValue>>, Revision), Refused> {
    let author = handle.author().cloned();
    let look = move |view: &View<'_>| {
        let keys = KeyRange::prefix(prefix.clone());
        let allowed = view.store.auth().check_read(author.as_ref(), &keys);
        allowed.map(|()| (leader_of(view, &prefix), view.store.revision()))
    };
    handle.look(freshness, look).await?.map_err(|error| Refused::Store(error.into()))
}

/// Tells who leads, and whenever that changes.
async fn observe(handle: Handle, prefix: Bytes, told: mpsc::Sender<Result<rpc::LeaderResponse, Status>>) {
    let notify = Arc::new(Notify::new());
    if handle.wake(KeyRange::prefix(prefix.clone()), &notify).await.is_err() {
        return;
    }
    let mut last = None;
    let mut freshness = Freshness::Linearizable;
    loop {
        let answer = match seen(&handle, freshness, prefix.clone()).await {
            Err(refused) => Err(unknown(refused)),
            Ok((leader, revision)) => {
                let changed = leader.is_some() && leader != last;
                last = leader.or(last);
                let leader = last.as_ref().filter(|_| changed);
                let Some(leader) = leader else {
                    tokio::select! {
                        () = notify.notified() => continue,
                        () = told.closed() => return,
                    }
                };
                Ok(rpc::LeaderResponse {
                    header: Some(handle.header(revision)),
                    kv: Some(convert::key_value(leader)),
                })
            }
        };
        freshness = Freshness::Local;
        let over = answer.is_err();
        if told.send(answer).await.is_err() || over {
            return;
        }
    }
}
