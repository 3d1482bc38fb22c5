//! Locks and elections made by the server.

use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::{LeaseRevokeRequest, RangeResponse};
use habemus_etcd::v3electionpb::election_client::ElectionClient;
use habemus_etcd::v3electionpb::{CampaignRequest, LeaderRequest, ProclaimRequest, ResignRequest};
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::v3lockpb::{LockRequest, UnlockRequest};
use tonic::Code;
use tonic::transport::Channel;

use crate::support::{Directory, Running, get_all, lease};

async fn member() -> (Directory, Running, Channel) {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let channel = member.channel().await;
    (directory, member, channel)
}

async fn lock(channel: &Channel, name: &str, lease: i64) -> Result<bytes::Bytes, tonic::Status> {
    let request = LockRequest { name: name.to_owned().into(), lease };
    LockClient::new(channel.clone()).lock(request).await.map(|response| response.into_inner().key)
}

/// Waits until so many stand in a queue.
async fn standing(channel: &Channel, prefix: &str, count: usize) -> RangeResponse {
    loop {
        let found = get_all(channel, prefix).await;
        if found.kvs.len() == count {
            return found;
        }
    }
}

#[tokio::test]
async fn whoever_comes_first_is_inside_first() {
    let (_directory, _member, channel) = member().await;
    let mut held = lock(&channel, "door", lease(&channel, 60).await).await.expect("nobody is inside");
    let mut waiting = Vec::new();
    for number in 1..=5 {
        let (channel, lease) = (channel.clone(), lease(&channel, 60).await);
        let prefix = channel.clone();
        waiting.push(tokio::spawn(async move { lock(&channel, "door", lease).await }));
        standing(&prefix, "door/", number + 1).await;
    }
    for next in waiting {
        assert!(!next.is_finished(), "it waits for its turn");
        LockClient::new(channel.clone()).unlock(UnlockRequest { key: held }).await.expect("it was inside");
        held = next.await.expect("it does not panic").expect("it is inside");
    }
}

#[tokio::test]
async fn a_waiter_that_goes_away_leaves_the_queue() {
    let (_directory, _member, channel) = member().await;
    let held = lock(&channel, "door", lease(&channel, 60).await).await.expect("nobody is inside");
    let (other, own) = (channel.clone(), lease(&channel, 60).await);
    let waiting = tokio::spawn(async move { lock(&other, "door", own).await });
    standing(&channel, "door/", 2).await;
    waiting.abort();
    let left = standing(&channel, "door/", 1).await;
    assert_eq!(left.kvs[0].key, held);
}

#[tokio::test]
async fn a_waiter_whose_session_ends_is_told_at_once() {
    let (_directory, _member, channel) = member().await;
    lock(&channel, "door", lease(&channel, 60).await).await.expect("nobody is inside");
    let (other, own) = (channel.clone(), lease(&channel, 60).await);
    let waiting = tokio::spawn(async move { lock(&other, "door", own).await });
    standing(&channel, "door/", 2).await;
    LeaseClient::new(channel.clone())
        .lease_revoke(LeaseRevokeRequest { id: own })
        .await
        .expect("it is there");
    let told = waiting.await.expect("it does not panic").expect_err("it has no session");
    assert_eq!((told.code(), told.message()), (Code::Unknown, "mutex: session is expired"));
    let refused = lock(&channel, "door", 12345).await.expect_err("there is no such session");
    assert_eq!((refused.code(), refused.message()), (Code::Unknown, "etcdserver: requested lease not found"));
}

#[tokio::test]
async fn a_session_that_is_not_renewed_ends_and_the_next_one_is_inside() {
    let (_directory, _member, channel) = member().await;
    lock(&channel, "door", lease(&channel, 1).await).await.expect("nobody is inside");
    let asked = std::time::Instant::now();
    lock(&channel, "door", lease(&channel, 60).await).await.expect("the first one's time is over");
    assert!(asked.elapsed().as_millis() >= 900, "not before its time was over");
}

#[tokio::test]
async fn an_election_is_won_proclaimed_observed_and_resigned() {
    let (_directory, _member, channel) = member().await;
    let mut client = ElectionClient::new(channel.clone());
    let nobody = client.leader(LeaderRequest { name: "seat".into() }).await.expect_err("nobody leads");
    assert_eq!((nobody.code(), nobody.message()), (Code::Unknown, "election: no leader"));
    let mut observed =
        client.observe(LeaderRequest { name: "seat".into() }).await.expect("it can be").into_inner();
    let campaign =
        |lease, value: &'static str| CampaignRequest { name: "seat".into(), lease, value: value.into() };
    let first =
        client.campaign(campaign(lease(&channel, 60).await, "a")).await.expect("nobody leads").into_inner();
    let leader = first.leader.expect("it leads");
    let mut seen = async || {
        let told = observed.message().await.expect("it goes on").expect("it goes on");
        String::from_utf8(told.kv.expect("somebody leads").value.to_vec()).expect("it is a text")
    };
    assert_eq!(seen().await, "a");
    let proclaim = ProclaimRequest { leader: Some(leader.clone()), value: "b".into() };
    client.proclaim(proclaim.clone()).await.expect("it leads");
    assert_eq!(seen().await, "b");
    client.resign(ResignRequest { leader: Some(leader) }).await.expect("it leads");
    let late = client.proclaim(proclaim).await.expect_err("it has resigned");
    assert_eq!((late.code(), late.message()), (Code::Unknown, "election: not leader"));
    client.campaign(campaign(lease(&channel, 60).await, "c")).await.expect("nobody leads");
    assert_eq!(seen().await, "c");
}
