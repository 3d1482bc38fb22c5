//! etcd's maintenance, as far as there is something to maintain.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use habemus_etcd::etcdserverpb as rpc;
use habemus_replica::MemberId;
use habemus_store::{Frozen, KeyRange, Range, Revision};
use sha2::{Digest, Sha256};
use tonic::{Request, Response, Status};

use crate::engine::{Input, View};
use crate::handle::{Freshness, Handle, wire};
use crate::quota::Quota;
use crate::status::Refused;

/// The version of etcd whose interface this is: clients look at it to see what they may ask for.
pub(crate) const VERSION: &str = "3.4.0";

/// How long a leader may take to let another one lead.
const PATIENCE: Duration = Duration::from_secs(3);

/// A snapshot is sent in parts of this length.
const PART: usize = 1 << 16;

/// A snapshot is as long as a multiple of this, and a checksum: so etcd's tools know that it has one.
const PAGE: usize = 512;

/// etcd's maintenance.
pub(crate) struct Maintenance(pub(crate) Handle);

/// The sum of all keys as they were at a revision: members that have the same keys have the same sum.
fn hash(view: &View<'_>, at: Option<Revision>) -> Result<u32, Refused> {
    let all = Range { at, ..Range::of(KeyRange::From(Bytes::from_static(&[0]))) };
    let found = view.store.range(&all).map_err(Refused::Store)?;
    let mut hasher = crc32fast::Hasher::new();
    for key in found.keys {
        for bytes in [&key.key, &key.value] {
            hasher.update(&bytes.len().to_le_bytes());
            hasher.update(bytes);
        }
        for number in [key.created.0, key.modified.0, key.version] {
            hasher.update(&number.to_le_bytes());
        }
    }
    Ok(hasher.finalize())
}

/// A store as a backup: as etcd's, pages and then their checksum.
fn backup(store: &Frozen) -> Vec<u8> {
    let mut bytes = store.to_bytes();
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(checksum.as_slice());
    bytes
}

#[tonic::async_trait]
impl rpc::maintenance_server::Maintenance for Maintenance {
    /// There is one alarm, and it lasts for as long as its cause: nothing can be raised or silenced.
    async fn alarm(
        &self,
        request: Request<rpc::AlarmRequest>,
    ) -> Result<Response<rpc::AlarmResponse>, Status> {
        let request = request.into_inner();
        let is_full = self.0.look(Freshness::Local, |view| view.quota.is_full(view.store)).await?;
        let gets = request.action == i32::from(rpc::alarm_request::AlarmAction::Get);
        let wanted = [rpc::AlarmType::None, rpc::AlarmType::Nospace].map(i32::from).contains(&request.alarm);
        let alarm = rpc::AlarmMember { member_id: self.0.member().0, alarm: rpc::AlarmType::Nospace.into() };
        let alarms = if is_full && gets && wanted { vec![alarm] } else { Vec::new() };
        Ok(Response::new(rpc::AlarmResponse { header: None, alarms }))
    }

    async fn status(&self, _: Request<rpc::StatusRequest>) -> Result<Response<rpc::StatusResponse>, Status> {
        let me = self.0.member();
        let look = move |view: &View<'_>| {
            let learns = view.replica.members().any(|(id, member)| id == me && member.learner);
            let full = view.quota.is_full(view.store);
            (
                view.replica.role(),
                view.replica.applied(),
                Quota::used(view.store),
                view.store.revision(),
                learns,
                full,
            )
        };
        let (role, applied, bytes, revision, is_learner, full) = self.0.look(Freshness::Local, look).await?;
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut errors = Vec::new();
        if role.leader.is_none() {
            errors.push("etcdserver: no leader".to_owned());
        }
        if full {
            errors.push(format!("memberID:{} alarm:NOSPACE ", me.0));
        }
        Ok(Response::new(rpc::StatusResponse {
            header: Some(self.0.header(revision)),
            version: VERSION.to_owned(),
            db_size: bytes,
            leader: role.leader.map_or(0, |leader| leader.0),
            raft_index: applied,
            raft_term: role.term,
            raft_applied_index: applied,
            errors,
            db_size_in_use: bytes,
            is_learner,
        }))
    }

    /// There is nothing that could be fragmented.
    async fn defragment(
        &self,
        request: Request<rpc::DefragmentRequest>,
    ) -> Result<Response<rpc::DefragmentResponse>, Status> {
        self.0.of(&request).check_root().await?;
        Ok(Response::new(rpc::DefragmentResponse { header: None }))
    }

    async fn hash(&self, request: Request<rpc::HashRequest>) -> Result<Response<rpc::HashResponse>, Status> {
        self.0.of(&request).check_root().await?;
        let look = |view: &View<'_>| (hash(view, None), view.store.revision());
        let (hash, revision) = self.0.look(Freshness::Local, look).await?;
        Ok(Response::new(rpc::HashResponse { header: Some(self.0.header(revision)), hash: hash? }))
    }

    async fn hash_kv(
        &self,
        request: Request<rpc::HashKvRequest>,
    ) -> Result<Response<rpc::HashKvResponse>, Status> {
        self.0.of(&request).check_root().await?;
        let at = u64::try_from(request.into_inner().revision).unwrap_or_default();
        let at = (at > 0).then_some(Revision(at));
        let look = move |view: &View<'_>| (hash(view, at), view.store.revision(), view.store.compacted());
        let (hash, revision, compacted) = self.0.look(Freshness::Local, look).await?;
        // etcd counts from before the first revision.
        let compact_revision = if compacted.0 == 0 { -1 } else { wire(compacted) };
        let header = Some(self.0.header(revision));
        Ok(Response::new(rpc::HashKvResponse { header, hash: hash?, compact_revision }))
    }

    type SnapshotStream = Pin<Box<dyn Stream<Item = Result<rpc::SnapshotResponse, Status>> + Send + 'static>>;

    /// All of the store at one moment. Its form is our own, and only habemus reads it.
    async fn snapshot(
        &self,
        request: Request<rpc::SnapshotRequest>,
    ) -> Result<Response<Self::SnapshotStream>, Status> {
        self.0.of(&request).check_root().await?;
        let frozen = self.0.look(Freshness::Linearizable, |view| view.store.freeze()).await?;
        let bytes = tokio::task::spawn_blocking(move || backup(&frozen)).await;
        let mut rest = Bytes::from(bytes.map_err(|_| Status::unavailable("etcdserver: server stopped"))?);
        let parts = std::iter::from_fn(move || {
            let blob = rest.split_to(rest.len().min(PART));
            let remaining_bytes = rest.len() as u64;
            (!blob.is_empty()).then_some(Ok(rpc::SnapshotResponse { header: None, remaining_bytes, blob }))
        });
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }

    async fn move_leader(
        &self,
        request: Request<rpc::MoveLeaderRequest>,
    ) -> Result<Response<rpc::MoveLeaderResponse>, Status> {
        self.0.of(&request).check_root().await?;
        let to = MemberId(request.into_inner().target_id);
        let look = move |view: &View<'_>| {
            let mut members = view.replica.members();
            (view.replica.role().leads, members.any(|(id, member)| id == to && !member.learner))
        };
        match self.0.look(Freshness::Local, look).await? {
            (false, _) => return Err(Status::failed_precondition("etcdserver: not leader")),
            (true, false) => return Err(Status::failed_precondition("etcdserver: bad leader transferee")),
            (true, true) if to == self.0.member() => {}
            (true, true) => {
                let mut roles = self.0.roles();
                self.0.tell(Input::MoveLeader(to)).await?;
                let moved = roles.wait_for(|role| role.leader == Some(to));
                if tokio::time::timeout(PATIENCE, moved).await.is_err() {
                    return Err(Status::unavailable(
                        "etcdserver: request timed out, leader transfer took too long",
                    ));
                }
            }
        }
        Ok(Response::new(rpc::MoveLeaderResponse { header: None }))
    }
}
