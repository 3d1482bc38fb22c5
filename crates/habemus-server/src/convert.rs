//! etcd's messages as the store's, and back.

use std::num::NonZeroU64;
use std::sync::Arc;

use habemus_etcd::{etcdserverpb as rpc, mvccpb};
use habemus_store::{
    Compare, Delete, Event, Found, Given, KeyRange, KeyValue, Operand, Operation, OperationAnswer, Outcome,
    Put, Range, Relation, Revision, SessionId, SortBy, SortOrder, Txn, TxnAnswer,
};
use tonic::Status;

use crate::handle::wire;

fn invalid(text: &str) -> Status {
    Status::invalid_argument(format!("etcdserver: {text}"))
}

/// A number that must not be negative; nothing for zero.
fn some(number: i64) -> Option<u64> {
    u64::try_from(number).ok().and_then(NonZeroU64::new).map(NonZeroU64::get)
}

fn revision(number: i64) -> Revision {
    Revision(u64::try_from(number).unwrap_or_default())
}

pub(crate) fn session(id: i64) -> Option<SessionId> {
    (id != 0).then_some(SessionId(id))
}

pub(crate) fn range(request: &rpc::RangeRequest) -> Result<Range, Status> {
    use rpc::range_request::{SortOrder as Wanted, SortTarget};
    let bad_sort = |_| invalid("invalid sort option");
    let order = Wanted::try_from(request.sort_order).map_err(bad_sort)?;
    let by = match SortTarget::try_from(request.sort_target).map_err(bad_sort)? {
        SortTarget::Key => SortBy::Key,
        SortTarget::Version => SortBy::Version,
        SortTarget::Create => SortBy::Created,
        SortTarget::Mod => SortBy::Modified,
        SortTarget::Value => SortBy::Value,
    };
    let sort = match order {
        // Keys come in their order anyway.
        Wanted::None | Wanted::Ascend if by == SortBy::Key => None,
        Wanted::None | Wanted::Ascend => Some((by, SortOrder::Ascending)),
        Wanted::Descend => Some((by, SortOrder::Descending)),
    };
    let at = |number: i64| some(number).map(Revision);
    Ok(Range {
        keys: KeyRange::from_wire(request.key.clone(), request.range_end.clone()),
        at: at(request.revision),
        limit: some(request.limit).and_then(|limit| usize::try_from(limit).ok()),
        sort,
        min_created: at(request.min_create_revision),
        max_created: at(request.max_create_revision),
        min_modified: at(request.min_mod_revision),
        max_modified: at(request.max_mod_revision),
        count_only: request.count_only,
    })
}

pub(crate) fn put(request: &rpc::PutRequest) -> Put {
    let value = if request.ignore_value { Given::Present } else { Given::New(request.value.clone()) };
    let session = if request.ignore_lease { Given::Present } else { Given::New(session(request.lease)) };
    Put { key: request.key.clone(), value, session }
}

pub(crate) fn delete(request: &rpc::DeleteRangeRequest) -> Delete {
    Delete { keys: KeyRange::from_wire(request.key.clone(), request.range_end.clone()) }
}

pub(crate) fn txn(request: &rpc::TxnRequest) -> Result<Txn, Status> {
    Ok(Txn {
        compare: request.compare.iter().map(compare).collect::<Result<_, _>>()?,
        then: request.success.iter().map(operation).collect::<Result<_, _>>()?,
        otherwise: request.failure.iter().map(operation).collect::<Result<_, _>>()?,
    })
}

fn compare(compare: &rpc::Compare) -> Result<Compare, Status> {
    use rpc::compare::{CompareResult, CompareTarget, TargetUnion};
    let bad = |_| invalid("invalid compare");
    let relation = match CompareResult::try_from(compare.result).map_err(bad)? {
        CompareResult::Equal => Relation::Equal,
        CompareResult::Greater => Relation::Greater,
        CompareResult::Less => Relation::Less,
        CompareResult::NotEqual => Relation::NotEqual,
    };
    // What does not fit the target counts as zero, as it does where nothing is written.
    let operand = match (CompareTarget::try_from(compare.target).map_err(bad)?, &compare.target_union) {
        (CompareTarget::Version, Some(TargetUnion::Version(version))) => {
            Operand::Version(u64::try_from(*version).unwrap_or_default())
        }
        (CompareTarget::Version, _) => Operand::Version(0),
        (CompareTarget::Create, Some(TargetUnion::CreateRevision(at))) => Operand::Created(revision(*at)),
        (CompareTarget::Create, _) => Operand::Created(Revision(0)),
        (CompareTarget::Mod, Some(TargetUnion::ModRevision(at))) => Operand::Modified(revision(*at)),
        (CompareTarget::Mod, _) => Operand::Modified(Revision(0)),
        (CompareTarget::Value, Some(TargetUnion::Value(value))) => Operand::Value(value.clone()),
        (CompareTarget::Value, _) => Operand::Value(bytes::Bytes::new()),
        (CompareTarget::Lease, Some(TargetUnion::Lease(id))) => Operand::Session(SessionId(*id)),
        (CompareTarget::Lease, _) => Operand::Session(SessionId(0)),
    };
    let keys = KeyRange::from_wire(compare.key.clone(), compare.range_end.clone());
    Ok(Compare { keys, relation, operand })
}

fn operation(operation: &rpc::RequestOp) -> Result<Operation, Status> {
    use rpc::request_op::Request;
    Ok(match &operation.request {
        Some(Request::RequestRange(request)) => Operation::Range(range(request)?),
        Some(Request::RequestPut(request)) => Operation::Put(put(request)),
        Some(Request::RequestDeleteRange(request)) => Operation::Delete(delete(request)),
        Some(Request::RequestTxn(request)) => Operation::Txn(txn(request)?),
        None => return Err(invalid("key is not provided")),
    })
}

pub(crate) fn key_value(key: &KeyValue) -> mvccpb::KeyValue {
    mvccpb::KeyValue {
        key: key.key.clone(),
        create_revision: wire(key.created),
        mod_revision: wire(key.modified),
        version: i64::try_from(key.version).unwrap_or(i64::MAX),
        value: key.value.clone(),
        lease: key.session.map_or(0, |session| session.0),
    }
}

/// Keys that were there before, if the client wants them.
fn before<'a>(keys: impl IntoIterator<Item = &'a Arc<KeyValue>>, wanted: bool) -> Vec<mvccpb::KeyValue> {
    keys.into_iter().filter(|_| wanted).map(|key| key_value(key)).collect()
}

pub(crate) fn event(event: &Event, at: Revision, with_before: bool) -> mvccpb::Event {
    let (kind, kv) = match &event.now {
        Some(now) => (mvccpb::event::EventType::Put, key_value(now)),
        None => {
            let gone =
                mvccpb::KeyValue { key: event.key.clone(), mod_revision: wire(at), ..Default::default() };
            (mvccpb::event::EventType::Delete, gone)
        }
    };
    let prev_kv = before(&event.before, with_before).pop();
    mvccpb::Event { r#type: kind.into(), kv: Some(kv), prev_kv }
}

pub(crate) fn found(found: &Found, keys_only: bool, header: rpc::ResponseHeader) -> rpc::RangeResponse {
    let kvs = found.keys.iter().map(|key| {
        let mut kv = key_value(key);
        if keys_only {
            kv.value.clear();
        }
        kv
    });
    rpc::RangeResponse {
        header: Some(header),
        kvs: kvs.collect(),
        more: found.more,
        count: i64::try_from(found.count).unwrap_or(i64::MAX),
    }
}

pub(crate) fn was_put(
    present: Option<&Arc<KeyValue>>,
    request: &rpc::PutRequest,
    header: rpc::ResponseHeader,
) -> rpc::PutResponse {
    rpc::PutResponse { header: Some(header), prev_kv: before(present, request.prev_kv).pop() }
}

pub(crate) fn was_deleted(
    deleted: &[Arc<KeyValue>],
    request: &rpc::DeleteRangeRequest,
    header: rpc::ResponseHeader,
) -> rpc::DeleteRangeResponse {
    rpc::DeleteRangeResponse {
        header: Some(header),
        deleted: i64::try_from(deleted.len()).unwrap_or(i64::MAX),
        prev_kvs: before(deleted, request.prev_kv),
    }
}

/// What came of a transaction. Operations in it tell their revision and nothing else of a header.
pub(crate) fn transacted(
    request: &rpc::TxnRequest,
    answer: &TxnAnswer,
    header: rpc::ResponseHeader,
) -> rpc::TxnResponse {
    let way = if answer.succeeded { &request.success } else { &request.failure };
    let responses = way.iter().zip(&answer.answers).map(|(request, answer)| response(request, answer));
    rpc::TxnResponse { header: Some(header), succeeded: answer.succeeded, responses: responses.collect() }
}

fn response(request: &rpc::RequestOp, answer: &OperationAnswer) -> rpc::ResponseOp {
    use rpc::request_op::Request;
    use rpc::response_op::Response;
    let header = rpc::ResponseHeader { revision: wire(answer.revision), ..Default::default() };
    let response = match (&request.request, &answer.outcome) {
        (Some(Request::RequestRange(request)), Outcome::Found(what)) => {
            Some(Response::ResponseRange(found(what, request.keys_only, header)))
        }
        (Some(Request::RequestPut(request)), Outcome::Put { before }) => {
            Some(Response::ResponsePut(was_put(before.as_ref(), request, header)))
        }
        (Some(Request::RequestDeleteRange(request)), Outcome::Deleted(deleted)) => {
            Some(Response::ResponseDeleteRange(was_deleted(deleted, request, header)))
        }
        (Some(Request::RequestTxn(request)), Outcome::Txn(answer)) => {
            // A transaction in a transaction tells no revision of its own.
            Some(Response::ResponseTxn(transacted(request, answer, rpc::ResponseHeader::default())))
        }
        _ => None,
    };
    rpc::ResponseOp { response }
}
