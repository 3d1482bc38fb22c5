//! etcd's locks, made by the server.

use bytes::Bytes;
use habemus_etcd::v3lockpb as rpc;
use habemus_store::{Command, Delete, KeyRange};
use tonic::{Request, Response, Status};

use crate::handle::Handle;
use crate::queues;
use crate::status::unknown;

/// etcd's locks.
pub(crate) struct Lock(pub(crate) Handle);

#[tonic::async_trait]
impl rpc::lock_server::Lock for Lock {
    async fn lock(&self, request: Request<rpc::LockRequest>) -> Result<Response<rpc::LockResponse>, Status> {
        let handle = self.0.of(&request);
        let rpc::LockRequest { name, lease } = request.into_inner();
        let inside = queues::enter(handle, name, lease, Bytes::new()).await?;
        Ok(Response::new(rpc::LockResponse { header: Some(inside.header), key: inside.key }))
    }

    /// Whoever knows the key may unlock it, as in etcd.
    async fn unlock(
        &self,
        request: Request<rpc::UnlockRequest>,
    ) -> Result<Response<rpc::UnlockResponse>, Status> {
        let handle = self.0.of(&request);
        let keys = KeyRange::One(request.into_inner().key);
        let (_, header) = handle.execute(Command::Delete(Delete { keys })).await.map_err(unknown)?;
        Ok(Response::new(rpc::UnlockResponse { header: Some(header) }))
    }
}
