//! etcd's leases, which are our sessions.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use habemus_etcd::etcdserverpb as rpc;
use habemus_store::{Answer, AuthError, Command, KeyRange, SessionId};
use tonic::{Request, Response, Status, Streaming};

use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::random;
use crate::status::Refused;

/// etcd's leases.
pub(crate) struct Lease(pub(crate) Handle);

/// Whole seconds, as etcd counts them.
fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

/// Opens a session, with a number of our choice if none is given.
pub(crate) async fn open(
    handle: &Handle,
    id: i64,
    ttl: Duration,
) -> Result<(SessionId, rpc::ResponseHeader), Refused> {
    let id = SessionId(if id == 0 { random::positive() } else { id });
    let (_, header) = handle.execute(Command::OpenSession { id, ttl }).await?;
    Ok((id, header))
}

#[tonic::async_trait]
impl rpc::lease_server::Lease for Lease {
    async fn lease_grant(
        &self,
        request: Request<rpc::LeaseGrantRequest>,
    ) -> Result<Response<rpc::LeaseGrantResponse>, Status> {
        let handle = self.0.of(&request);
        let request = request.into_inner();
        // Nobody can keep up with less than a second in an interface that counts seconds.
        let ttl = Duration::from_secs(u64::try_from(request.ttl).unwrap_or_default().max(1));
        let (id, header) = open(&handle, request.id, ttl).await?;
        let (id, ttl) = (id.0, seconds(ttl));
        Ok(Response::new(rpc::LeaseGrantResponse { header: Some(header), id, ttl, error: String::new() }))
    }

    async fn lease_revoke(
        &self,
        request: Request<rpc::LeaseRevokeRequest>,
    ) -> Result<Response<rpc::LeaseRevokeResponse>, Status> {
        let id = SessionId(request.get_ref().id);
        let (_, header) = self.0.of(&request).execute(Command::CloseSession { id }).await?;
        Ok(Response::new(rpc::LeaseRevokeResponse { header: Some(header) }))
    }

    type LeaseKeepAliveStream =
        Pin<Box<dyn Stream<Item = Result<rpc::LeaseKeepAliveResponse, Status>> + Send + 'static>>;

    async fn lease_keep_alive(
        &self,
        request: Request<Streaming<rpc::LeaseKeepAliveRequest>>,
    ) -> Result<Response<Self::LeaseKeepAliveStream>, Status> {
        let handle = self.0.of(&request);
        Ok(Response::new(Box::pin(renew_all(handle, request.into_inner()))))
    }

    async fn lease_time_to_live(
        &self,
        request: Request<rpc::LeaseTimeToLiveRequest>,
    ) -> Result<Response<rpc::LeaseTimeToLiveResponse>, Status> {
        let author = self.0.of(&request).author().cloned();
        let rpc::LeaseTimeToLiveRequest { id, keys } = request.into_inner();
        let look = move |view: &View<'_>| {
            let (auth, author) = (view.store.auth(), author.as_ref());
            auth.check_known(author)?;
            let session = view.store.session(SessionId(id));
            let left = session.map(|session| (view.now.until(session.deadline), session.ttl));
            let held =
                session.filter(|_| keys).map(|session| session.keys.iter().cloned().collect::<Vec<_>>());
            let held = held.unwrap_or_default();
            held.iter().try_for_each(|key| auth.check_read(author, &KeyRange::One(key.clone())))?;
            Ok((left, held, view.store.revision()))
        };
        let looked: Result<_, AuthError> = self.0.look(Freshness::Linearizable, look).await?;
        let (left, keys, revision) = looked.map_err(|error| Refused::Store(error.into()))?;
        let header = Some(self.0.header(revision));
        // A lease that is not there has less than nothing left.
        let (ttl, granted_ttl) = left.map_or((-1, 0), |(left, ttl)| (seconds(left), seconds(ttl)));
        Ok(Response::new(rpc::LeaseTimeToLiveResponse { header, id, ttl, granted_ttl, keys }))
    }

    async fn lease_leases(
        &self,
        request: Request<rpc::LeaseLeasesRequest>,
    ) -> Result<Response<rpc::LeaseLeasesResponse>, Status> {
        let author = self.0.of(&request).author().cloned();
        let look = move |view: &View<'_>| {
            let known = view.store.auth().check_known(author.as_ref());
            known.map(|()| (view.store.sessions().collect::<Vec<_>>(), view.store.revision()))
        };
        let looked = self.0.look(Freshness::Linearizable, look).await?;
        let (sessions, revision) = looked.map_err(|error| Refused::Store(error.into()))?;
        let leases = sessions.into_iter().map(|session| rpc::LeaseStatus { id: session.0 }).collect();
        Ok(Response::new(rpc::LeaseLeasesResponse { header: Some(self.0.header(revision)), leases }))
    }
}

/// Renews whatever it is asked to, one after the other.
pub(crate) fn renew_all(
    handle: Handle,
    requests: impl Stream<Item = Result<rpc::LeaseKeepAliveRequest, Status>> + Send + 'static,
) -> impl Stream<Item = Result<rpc::LeaseKeepAliveResponse, Status>> + Send + 'static {
    requests.then(move |request| {
        let handle = handle.clone();
        async move { renew(&handle, request?.id).await.map_err(Status::from) }
    })
}

async fn renew(handle: &Handle, id: i64) -> Result<rpc::LeaseKeepAliveResponse, Refused> {
    let (answer, header) = handle.execute(Command::RenewSessions(vec![SessionId(id)])).await?;
    let ttl = match answer {
        Answer::Renewed(renewed) => renewed.first().and_then(|(_, ttl)| *ttl).map_or(0, seconds),
        _ => 0,
    };
    Ok(rpc::LeaseKeepAliveResponse { header: Some(header), id, ttl })
}
