//! What is wrong with a request whatever the store holds, told in the order in which etcd looks at it.

use habemus_etcd::etcdserverpb as rpc;
use habemus_store::{MAX_OPERATIONS, StoreError};
use tonic::Status;

use crate::status::Refused;

fn key(key: &[u8]) -> Result<(), Status> {
    if key.is_empty() { Err(Refused::Store(StoreError::EmptyKey).into()) } else { Ok(()) }
}

pub(crate) fn put(request: &rpc::PutRequest) -> Result<(), Status> {
    key(&request.key)?;
    if request.ignore_value && !request.value.is_empty() {
        return Err(Status::invalid_argument("etcdserver: value is provided"));
    }
    if request.ignore_lease && request.lease != 0 {
        return Err(Status::invalid_argument("etcdserver: lease is provided"));
    }
    Ok(())
}

pub(crate) fn txn(request: &rpc::TxnRequest) -> Result<(), Status> {
    txn_of(request, MAX_OPERATIONS)
}

fn txn_of(request: &rpc::TxnRequest, left: usize) -> Result<(), Status> {
    let size = request.compare.len().max(request.success.len()).max(request.failure.len());
    let left = left.checked_sub(size).ok_or(Refused::Store(StoreError::TooManyOperations))?;
    request.compare.iter().try_for_each(|compare| key(&compare.key))?;
    request.success.iter().chain(&request.failure).try_for_each(|operation| operation_of(operation, left))
}

fn operation_of(operation: &rpc::RequestOp, left: usize) -> Result<(), Status> {
    use rpc::request_op::Request;
    match &operation.request {
        Some(Request::RequestRange(request)) => key(&request.key),
        Some(Request::RequestPut(request)) => put(request),
        Some(Request::RequestDeleteRange(request)) => key(&request.key),
        Some(Request::RequestTxn(request)) => txn_of(request, left),
        None => Err(Refused::Store(StoreError::KeyNotFound).into()),
    }
}
