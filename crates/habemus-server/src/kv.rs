//! etcd's keys: read, write, delete, compare, compact.

use habemus_etcd::etcdserverpb as rpc;
use habemus_store::{Answer, Command, Revision};
use prost::Message;
use tonic::{Request, Response, Status};

use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::status::{Refused, mismatch};
use crate::{check, convert};

/// No request is longer than this, as in etcd.
const MAX_REQUEST: usize = 3 << 19;

/// etcd's keys.
pub(crate) struct Kv(pub(crate) Handle);

fn check_size(request: &impl Message) -> Result<(), Status> {
    if request.encoded_len() > MAX_REQUEST {
        return Err(Status::invalid_argument("etcdserver: request is too large"));
    }
    Ok(())
}

#[tonic::async_trait]
impl rpc::kv_server::Kv for Kv {
    async fn range(
        &self,
        request: Request<rpc::RangeRequest>,
    ) -> Result<Response<rpc::RangeResponse>, Status> {
        let request = request.into_inner();
        let range = convert::range(&request)?;
        let freshness = if request.serializable { Freshness::Local } else { Freshness::Linearizable };
        let look = move |view: &View<'_>| (view.store.range(&range), view.store.revision());
        let (found, revision) = self.0.look(freshness, look).await?;
        let found = found.map_err(Refused::Store)?;
        Ok(Response::new(convert::found(&found, request.keys_only, self.0.header(revision))))
    }

    async fn put(&self, request: Request<rpc::PutRequest>) -> Result<Response<rpc::PutResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        check::put(&request)?;
        match self.0.execute(Command::Put(convert::put(&request))).await? {
            (Answer::Put { before }, header) => {
                Ok(Response::new(convert::was_put(before.as_ref(), &request, header)))
            }
            _ => Err(mismatch()),
        }
    }

    async fn delete_range(
        &self,
        request: Request<rpc::DeleteRangeRequest>,
    ) -> Result<Response<rpc::DeleteRangeResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        match self.0.execute(Command::Delete(convert::delete(&request))).await? {
            (Answer::Deleted(deleted), header) => {
                Ok(Response::new(convert::was_deleted(&deleted, &request, header)))
            }
            _ => Err(mismatch()),
        }
    }

    async fn txn(&self, request: Request<rpc::TxnRequest>) -> Result<Response<rpc::TxnResponse>, Status> {
        let request = request.into_inner();
        check_size(&request)?;
        check::txn(&request)?;
        match self.0.execute(Command::Txn(convert::txn(&request)?)).await? {
            (Answer::Txn(answer), header) => {
                Ok(Response::new(convert::transacted(&request, &answer, header)))
            }
            _ => Err(mismatch()),
        }
    }

    async fn compact(
        &self,
        request: Request<rpc::CompactionRequest>,
    ) -> Result<Response<rpc::CompactionResponse>, Status> {
        let revision = u64::try_from(request.into_inner().revision).unwrap_or_default();
        let (_, header) = self.0.execute(Command::Compact(Revision(revision))).await?;
        Ok(Response::new(rpc::CompactionResponse { header: Some(header) }))
    }
}
