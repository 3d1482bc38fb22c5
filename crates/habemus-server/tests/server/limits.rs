//! What is too much is refused by a clear error, and the member goes on.

use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use tonic::Code;

use crate::support::{Directory, Running, get, put};

#[tokio::test]
async fn a_request_that_is_too_long_is_refused() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let channel = member.channel().await;
    let long = put(&channel, "a", &"x".repeat((3 << 19) + 1)).await.expect_err("it is too long");
    assert_eq!((long.code(), long.message()), (Code::InvalidArgument, "etcdserver: request is too large"));
    put(&channel, "a", &"x".repeat((3 << 19) - 100)).await.expect("it is just short enough");
    put(&channel, "a", &"x".repeat(8 << 20)).await.expect_err("it is far too long");
    assert_eq!(get(&channel, "a").await.count, 1);
}

#[tokio::test]
async fn when_it_is_full_deleting_helps() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--quota", "100000", "--history", "3"]);
    let channel = member.channel().await;
    let mut written = 0;
    let full = loop {
        match put(&channel, &format!("key/{written}"), &"x".repeat(10_000)).await {
            Ok(_) => written += 1,
            Err(full) => break full,
        }
        assert!(written < 100, "it is never full");
    };
    assert_eq!(
        (full.code(), full.message()),
        (Code::ResourceExhausted, "etcdserver: mvcc: database space exceeded")
    );
    let delete = rpc::DeleteRangeRequest { key: "key/".into(), range_end: "key0".into(), prev_kv: false };
    let mut client = KvClient::new(channel.clone());
    let deleted = client.delete_range(delete).await.expect("that is always taken").into_inner().deleted;
    assert_eq!(deleted, written);
    let revision = get(&channel, "a").await.header.expect("answers have headers").revision;
    client.compact(rpc::CompactionRequest { revision, physical: true }).await.expect("that is always taken");
    put(&channel, "a", "1").await.expect("there is room again");
}

#[tokio::test]
async fn history_is_forgotten_when_it_becomes_too_long() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--history", "10"]);
    let channel = member.channel().await;
    for value in 0..30 {
        put(&channel, "a", &value.to_string()).await.expect("it can be written");
    }
    let mut client = KvClient::new(channel);
    let past = rpc::RangeRequest { key: "a".into(), revision: 5, ..Default::default() };
    loop {
        if let Err(forgotten) = client.range(past.clone()).await {
            assert_eq!(forgotten.message(), "etcdserver: mvcc: required revision has been compacted");
            return;
        }
    }
}
