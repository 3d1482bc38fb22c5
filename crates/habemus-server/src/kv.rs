//! etcd's keys: read, write, delete, compare, compact.

use habemus_etcd::etcdserverpb as rpc;
use habemus_store::{Answer, Command, Revision};
use prost::Message;
use tonic::{Request, Response, Status};

use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::status::{Refused, mismatch};
use crate::{check, convert, shown};

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
        let handle = self.0.of(&request);
        let author = handle.author().cloned();
        let request = request.into_inner();
        let range = convert::range(&request)?;
        let freshness = if request.serializable { Freshness::Local } else { Freshness::Linearizable };
        let look = move |view: &View<'_>| {
            let allowed = view.store.auth().check_read(author.as_ref(), &range.keys);
            (allowed.map_err(Into::into).and_then(|()| view.store.range(&range)), view.store.revision())
        };
        let (found, revision) = handle.look(freshness, look).await?;
        let found = found.map_err(Refused::Store)?;
        Ok(Response::new(convert::found(&found, request.keys_only, self.0.header(revision))))
    }

    async fn put(&self, request: Request<rpc::PutRequest>) -> Result<Response<rpc::PutResponse>, Status> {
        let handle = self.0.of(&request).showing(shown::by_put(request.get_ref()));
        let request = request.into_inner();
        check_size(&request)?;
        check::put(&request)?;
        match handle.execute(Command::Put(convert::put(&request))).await? {
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
        let handle = self.0.of(&request).showing(shown::by_delete(request.get_ref()));
        let request = request.into_inner();
        check_size(&request)?;
        match handle.execute(Command::Delete(convert::delete(&request))).await? {
            (Answer::Deleted(deleted), header) => {
                Ok(Response::new(convert::was_deleted(&deleted, &request, header)))
            }
            _ => Err(mismatch()),
        }
    }

    async fn txn(&self, request: Request<rpc::TxnRequest>) -> Result<Response<rpc::TxnResponse>, Status> {
        let handle = self.0.of(&request);
        let request = request.into_inner();
        check_size(&request)?;
        check::txn(&request)?;
        match handle.showing(shown::by_txn(&request)).execute(Command::Txn(convert::txn(&request)?)).await? {
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
        let revision = u64::try_from(request.get_ref().revision).unwrap_or_default();
        let (_, header) = self.0.of(&request).execute(Command::Compact(Revision(revision))).await?;
        Ok(Response::new(rpc::CompactionResponse { header: Some(header) }))
    }
}
