//! The least that a server of locks can do: one process that writes whatever has come into one file by one
//! fdatasync, and then answers. No members, no revisions, no queues. What a real service reaches of that is
//! what its promises leave over.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use bytes::Bytes;
use habemus_etcd::etcdserverpb::kv_server::{Kv, KvServer};
use habemus_etcd::etcdserverpb::lease_server::{Lease, LeaseServer};
use habemus_etcd::etcdserverpb::{
    CompactionRequest, CompactionResponse, DeleteRangeRequest, DeleteRangeResponse, RangeRequest,
    RangeResponse, TxnRequest, TxnResponse,
};
use habemus_etcd::etcdserverpb::{
    LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse, LeaseLeasesRequest,
    LeaseLeasesResponse, LeaseRevokeRequest, LeaseRevokeResponse, LeaseTimeToLiveRequest,
    LeaseTimeToLiveResponse, PutRequest, PutResponse,
};
use habemus_etcd::v3lockpb::lock_server::{Lock, LockServer};
use habemus_etcd::v3lockpb::{LockRequest, LockResponse, UnlockRequest, UnlockResponse};
use tokio::sync::{mpsc, oneshot};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

use crate::Outcome;

type Record = (Bytes, oneshot::Sender<()>);

/// The way to the thread that writes.
#[derive(Clone)]
struct Log(mpsc::Sender<Record>);

impl Log {
    fn start(path: &Path) -> Outcome<Log> {
        let mut file = File::create(path)?;
        let (log, mut records) = mpsc::channel::<Record>(4096);
        std::thread::spawn(move || {
            let mut batch = Vec::new();
            let mut bytes = Vec::new();
            while records.blocking_recv_many(&mut batch, 4096) > 0 {
                bytes.clear();
                batch.iter().for_each(|(record, _)| bytes.extend_from_slice(record));
                if file.write_all(&bytes).and_then(|()| file.sync_data()).is_err() {
                    return;
                }
                // Whoever does not listen any more has left.
                batch.drain(..).for_each(|(_, done)| _ = done.send(()));
            }
        });
        Ok(Log(log))
    }

    async fn write(&self, record: Bytes) -> Result<(), Status> {
        let (done, waits) = oneshot::channel();
        self.0.send((record, done)).await.map_err(|_| Status::unavailable("the disk fails"))?;
        waits.await.map_err(|_| Status::unavailable("the disk fails"))
    }
}

fn absent<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("the limit has locks only"))
}

#[tonic::async_trait]
impl Lock for Log {
    async fn lock(&self, request: Request<LockRequest>) -> Result<Response<LockResponse>, Status> {
        let key = request.into_inner().name;
        self.write(key.clone()).await?;
        Ok(Response::new(LockResponse { header: None, key }))
    }

    async fn unlock(&self, request: Request<UnlockRequest>) -> Result<Response<UnlockResponse>, Status> {
        self.write(request.into_inner().key).await?;
        Ok(Response::new(UnlockResponse { header: None }))
    }
}

#[tonic::async_trait]
impl Kv for Log {
    async fn put(&self, request: Request<PutRequest>) -> Result<Response<PutResponse>, Status> {
        self.write(request.into_inner().value).await?;
        Ok(Response::new(PutResponse::default()))
    }

    async fn range(&self, _: Request<RangeRequest>) -> Result<Response<RangeResponse>, Status> {
        absent()
    }

    async fn delete_range(
        &self,
        _: Request<DeleteRangeRequest>,
    ) -> Result<Response<DeleteRangeResponse>, Status> {
        absent()
    }

    async fn txn(&self, _: Request<TxnRequest>) -> Result<Response<TxnResponse>, Status> {
        absent()
    }

    async fn compact(&self, _: Request<CompactionRequest>) -> Result<Response<CompactionResponse>, Status> {
        absent()
    }
}

#[tonic::async_trait]
impl Lease for Log {
    type LeaseKeepAliveStream = tokio_stream::Pending<Result<LeaseKeepAliveResponse, Status>>;

    async fn lease_grant(
        &self,
        request: Request<LeaseGrantRequest>,
    ) -> Result<Response<LeaseGrantResponse>, Status> {
        let ttl = request.into_inner().ttl;
        Ok(Response::new(LeaseGrantResponse { id: 1, ttl, ..Default::default() }))
    }

    async fn lease_revoke(
        &self,
        _: Request<LeaseRevokeRequest>,
    ) -> Result<Response<LeaseRevokeResponse>, Status> {
        absent()
    }

    async fn lease_keep_alive(
        &self,
        _: Request<Streaming<LeaseKeepAliveRequest>>,
    ) -> Result<Response<Self::LeaseKeepAliveStream>, Status> {
        absent()
    }

    async fn lease_time_to_live(
        &self,
        _: Request<LeaseTimeToLiveRequest>,
    ) -> Result<Response<LeaseTimeToLiveResponse>, Status> {
        absent()
    }

    async fn lease_leases(
        &self,
        _: Request<LeaseLeasesRequest>,
    ) -> Result<Response<LeaseLeasesResponse>, Status> {
        absent()
    }
}

/// Serves until it is killed.
pub(crate) async fn serve(address: &str, directory: &str) -> Outcome<()> {
    std::fs::create_dir_all(directory)?;
    let log = Log::start(&Path::new(directory).join("log"))?;
    let server = Server::builder().tcp_nodelay(true).add_service(LockServer::new(log.clone()));
    let server = server.add_service(KvServer::new(log.clone())).add_service(LeaseServer::new(log));
    Ok(server.serve(address.parse()?).await?)
}
