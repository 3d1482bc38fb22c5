//! Answers, without what cannot be the same: who answered, in which term, and how much time is left.

use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use habemus_etcd::v3electionpb::election_client::ElectionClient;
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::{mvccpb, v3electionpb, v3lockpb};
use tokio_stream::StreamExt;
use tonic::transport::Channel;
use tonic::{Code, Response, Status, Streaming};

use crate::requests::Drawn;
use crate::support;

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answered {
    Refused { code: Code, text: String },
    Found(rpc::RangeResponse),
    Put(rpc::PutResponse),
    Deleted(rpc::DeleteRangeResponse),
    Transacted(rpc::TxnResponse),
    Compacted(rpc::CompactionResponse),
    Granted(rpc::LeaseGrantResponse),
    Revoked(rpc::LeaseRevokeResponse),
    Renewed(rpc::LeaseKeepAliveResponse),
    Left(rpc::LeaseTimeToLiveResponse),
    Leases(rpc::LeaseLeasesResponse),
    Locked(v3lockpb::LockResponse),
    Unlocked(v3lockpb::UnlockResponse),
    Leads(v3electionpb::LeaderResponse),
    Campaigned(v3electionpb::CampaignResponse),
    Proclaimed(v3electionpb::ProclaimResponse),
    Resigned(v3electionpb::ResignResponse),
}

impl Answered {
    fn header(&self) -> Option<rpc::ResponseHeader> {
        match self {
            Answered::Refused { .. } => None,
            Answered::Found(it) => it.header,
            Answered::Put(it) => it.header,
            Answered::Deleted(it) => it.header,
            Answered::Transacted(it) => it.header,
            Answered::Compacted(it) => it.header,
            Answered::Granted(it) => it.header,
            Answered::Revoked(it) => it.header,
            Answered::Renewed(it) => it.header,
            Answered::Left(it) => it.header,
            Answered::Leases(it) => it.header,
            Answered::Locked(it) => it.header,
            Answered::Unlocked(it) => it.header,
            Answered::Leads(it) => it.header,
            Answered::Campaigned(it) => it.header,
            Answered::Proclaimed(it) => it.header,
            Answered::Resigned(it) => it.header,
        }
    }

    pub(crate) fn revision(&self) -> i64 {
        self.header().map_or(0, |header| header.revision)
    }
}

/// Only the revision of a header can be the same.
fn plain(header: &mut Option<rpc::ResponseHeader>) {
    if let Some(header) = header {
        *header = rpc::ResponseHeader { revision: header.revision, ..Default::default() };
    }
}

/// An answer, or a refusal.
fn answer<T>(
    result: Result<Response<T>, Status>,
    header: impl Fn(&mut T) -> &mut Option<rpc::ResponseHeader>,
    told: impl FnOnce(T) -> Answered,
) -> Answered {
    match result {
        Err(status) => Answered::Refused { code: status.code(), text: status.message().to_owned() },
        Ok(response) => {
            let mut answer = response.into_inner();
            plain(header(&mut answer));
            told(answer)
        }
    }
}

/// One of the two.
struct Client {
    channel: Channel,
    watching: Streaming<rpc::WatchResponse>,
}

impl Client {
    async fn new(address: &str) -> Client {
        let channel = support::channel(address).await;
        let create = rpc::WatchCreateRequest {
            key: vec![0].into(),
            range_end: vec![0].into(),
            prev_kv: true,
            ..Default::default()
        };
        let request_union = Some(rpc::watch_request::RequestUnion::CreateRequest(create));
        let requests =
            tokio_stream::iter([rpc::WatchRequest { request_union }]).chain(tokio_stream::pending());
        let mut client = WatchClient::new(channel.clone());
        let mut watching = client.watch(requests).await.expect("it can be watched").into_inner();
        let created = watching.message().await.expect("it goes on").expect("it goes on");
        assert!(created.created);
        Client { channel, watching }
    }

    async fn send(&self, request: &Drawn) -> Answered {
        let mut kv = KvClient::new(self.channel.clone());
        let mut lease = LeaseClient::new(self.channel.clone());
        let mut lock = LockClient::new(self.channel.clone());
        let mut election = ElectionClient::new(self.channel.clone());
        match request.clone() {
            Drawn::Range(it) => answer(kv.range(it).await, |it| &mut it.header, Answered::Found),
            Drawn::Put(it) => answer(kv.put(it).await, |it| &mut it.header, Answered::Put),
            Drawn::Delete(it) => answer(kv.delete_range(it).await, |it| &mut it.header, Answered::Deleted),
            Drawn::Txn(it) => answer(kv.txn(it).await, |it| &mut it.header, Answered::Transacted),
            Drawn::Compact(it) => answer(kv.compact(it).await, |it| &mut it.header, Answered::Compacted),
            Drawn::Grant(it) => answer(lease.lease_grant(it).await, |it| &mut it.header, Answered::Granted),
            Drawn::Revoke(it) => answer(lease.lease_revoke(it).await, |it| &mut it.header, Answered::Revoked),
            Drawn::KeepAlive(it) => {
                let renewed = match lease.lease_keep_alive(tokio_stream::once(it)).await {
                    Ok(stream) => stream.into_inner().message().await,
                    Err(status) => Err(status),
                };
                let renewed = renewed.map(|it| Response::new(it.expect("one request, one answer")));
                answer(renewed, |it| &mut it.header, Answered::Renewed)
            }
            Drawn::TimeToLive(it) => {
                let left = lease.lease_time_to_live(it).await.map(|mut response| {
                    let left = response.get_mut();
                    left.ttl = left.ttl.signum();
                    left.keys.sort();
                    response
                });
                answer(left, |it| &mut it.header, Answered::Left)
            }
            Drawn::Leases => {
                let leases = lease.lease_leases(rpc::LeaseLeasesRequest {}).await.map(|mut response| {
                    response.get_mut().leases.sort_by_key(|lease| lease.id);
                    response
                });
                answer(leases, |it| &mut it.header, Answered::Leases)
            }
            Drawn::Lock(it) => answer(lock.lock(it).await, |it| &mut it.header, Answered::Locked),
            Drawn::Unlock(it) => answer(lock.unlock(it).await, |it| &mut it.header, Answered::Unlocked),
            Drawn::Leader(it) => answer(election.leader(it).await, |it| &mut it.header, Answered::Leads),
            Drawn::Campaign(it) => {
                // Whoever leads already and proclaims something else is told the revision before that by
                // etcd.
                let campaigned = election.campaign(it).await.map(|mut response| {
                    response.get_mut().header = None;
                    response
                });
                answer(campaigned, |it| &mut it.header, Answered::Campaigned)
            }
            Drawn::Proclaim(it) => {
                answer(election.proclaim(it).await, |it| &mut it.header, Answered::Proclaimed)
            }
            Drawn::Resign(it) => answer(election.resign(it).await, |it| &mut it.header, Answered::Resigned),
        }
    }

    /// All events up to a revision, as a watcher was told.
    async fn watched(&mut self, revision: i64) -> Vec<mvccpb::Event> {
        let mut events: Vec<mvccpb::Event> = Vec::new();
        let last = |events: &[mvccpb::Event]| {
            events.last().and_then(|event| event.kv.as_ref()).map_or(1, |kv| kv.mod_revision)
        };
        while last(&events) < revision {
            let told = tokio::time::timeout(support::PATIENCE, self.watching.message()).await;
            let told = told.expect("it is told in time").expect("it goes on").expect("it goes on");
            assert!(!told.canceled, "{told:?}");
            events.extend(told.events);
        }
        events
    }
}

/// Both.
pub(crate) struct Both {
    etcd: Client,
    habemus: Client,
}

impl Both {
    pub(crate) async fn new(etcd: &str, habemus: &str) -> Both {
        Both { etcd: Client::new(etcd).await, habemus: Client::new(habemus).await }
    }

    /// What etcd answers, and what habemus does.
    pub(crate) async fn send(&self, request: &Drawn) -> (Answered, Answered) {
        (self.etcd.send(request).await, self.habemus.send(request).await)
    }

    /// What etcd has told a watcher, and what habemus has.
    pub(crate) async fn watched(&mut self, revision: i64) -> (Vec<mvccpb::Event>, Vec<mvccpb::Event>) {
        (self.etcd.watched(revision).await, self.habemus.watched(revision).await)
    }
}
