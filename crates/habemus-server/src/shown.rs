//! Which keys a request wants to be shown as they were before it: whoever asks must be allowed to read them.

use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::request_op::Request;
use habemus_store::KeyRange;

pub(crate) fn by_put(request: &rpc::PutRequest) -> Vec<KeyRange> {
    request.prev_kv.then(|| KeyRange::One(request.key.clone())).into_iter().collect()
}

pub(crate) fn by_delete(request: &rpc::DeleteRangeRequest) -> Vec<KeyRange> {
    let keys = || KeyRange::from_wire(request.key.clone(), request.range_end.clone());
    request.prev_kv.then(keys).into_iter().collect()
}

pub(crate) fn by_txn(request: &rpc::TxnRequest) -> Vec<KeyRange> {
    let operations = request.success.iter().chain(&request.failure);
    let shown = operations.flat_map(|operation| match &operation.request {
        Some(Request::RequestPut(put)) => by_put(put),
        Some(Request::RequestDeleteRange(delete)) => by_delete(delete),
        Some(Request::RequestTxn(inner)) => by_txn(inner),
        Some(Request::RequestRange(_)) | None => Vec::new(),
    });
    shown.collect()
}
