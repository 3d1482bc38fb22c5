//! Nothing that was answered is lost, however the member ends.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::JoinSet;
use tonic::transport::Channel;

use crate::support::{Directory, Running, channel, fails, get, get_all, put};

/// How many clients write at once.
const WRITERS: u32 = 8;

/// Writes one value after the other until it is told that the member has gone; says what the last answer was
/// for.
async fn write(channel: Channel, writer: u32, first: u64) -> (u32, u64, i64) {
    let mut answered = (first, 0);
    for value in first + 1.. {
        match put(&channel, &format!("writer/{writer}"), &value.to_string()).await {
            Ok(response) => {
                let revision = response.into_inner().header.expect("answers have headers").revision;
                answered = (value, revision);
            }
            Err(_) => break,
        }
    }
    (writer, answered.0, answered.1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_was_answered_is_there_after_a_kill() {
    let kills = std::env::var("HABEMUS_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let directory = Directory::new();
    let mut answered: BTreeMap<u32, u64> = (0..WRITERS).map(|writer| (writer, 0)).collect();
    let mut latest = 0;
    for kill in 0..=kills {
        let member = Running::start(&directory.join("data"), &[]);
        let channel = channel(member.address()).await;
        let found = get_all(&channel, "writer/").await;
        assert!(found.header.expect("answers have headers").revision >= latest, "revisions go on");
        for kv in &found.kvs {
            let (key, value) = (String::from_utf8_lossy(&kv.key), String::from_utf8_lossy(&kv.value));
            let writer: u32 = key["writer/".len()..].parse().expect("it is a number");
            let value: u64 = value.parse().expect("it is a number");
            assert!(value >= answered[&writer], "{key}: {} was answered, {value} is left", answered[&writer]);
            answered.insert(writer, value);
        }
        assert!(kill == 0 || found.kvs.len() == WRITERS as usize, "every writer has written");
        let mut writers = JoinSet::new();
        for (writer, first) in &answered {
            writers.spawn(write(channel.clone(), *writer, *first));
        }
        // Not the same each time: in the midst of writing, and soon after the start.
        tokio::time::sleep(Duration::from_millis(30 + 37 * (kill % 5))).await;
        while get_all(&channel, "writer/").await.kvs.len() < WRITERS as usize {}
        member.kill();
        while let Some(written) = writers.join_next().await {
            let (writer, value, revision) = written.expect("it does not panic");
            answered.insert(writer, value);
            latest = latest.max(revision);
        }
    }
}

#[tokio::test]
async fn a_member_that_is_told_to_stop_does_so_although_somebody_watches() {
    use habemus_etcd::etcdserverpb as rpc;
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let channel = channel(member.address()).await;
    put(&channel, "a", "1").await.expect("it can be written");
    let create = rpc::WatchCreateRequest { key: "a".into(), start_revision: 1, ..Default::default() };
    let request_union = Some(rpc::watch_request::RequestUnion::CreateRequest(create));
    let requests = tokio_stream::iter([rpc::WatchRequest { request_union }]);
    let requests = tokio_stream::StreamExt::chain(requests, tokio_stream::pending());
    let mut client = rpc::watch_client::WatchClient::new(channel);
    let mut watched = client.watch(requests).await.expect("it can be watched").into_inner();
    assert!(watched.message().await.is_ok_and(|answer| answer.is_some_and(|answer| answer.created)));
    assert_eq!(member.stop(), Some(0));
    let member = Running::start(&directory.join("data"), &[]);
    assert_eq!(get(&member.channel().await, "a").await.count, 1);
}

#[test]
fn two_members_do_not_share_a_directory() {
    let directory = Directory::new();
    let data = directory.join("data");
    let _member = Running::start(&data, &[]);
    let data = data.to_str().expect("it is a text");
    let ended = fails(&["--data", data, "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.said.contains("is in use by another habemusd"), "{}", ended.said);
}

#[test]
fn a_directory_is_not_opened_by_another_member() {
    let directory = Directory::new();
    let data = directory.join("data");
    assert_eq!(Running::start(&data, &["--name", "a"]).stop(), Some(0));
    let data = data.to_str().expect("it is a text");
    let ended = fails(&["--data", data, "--listen", "127.0.0.1:0", "--name", "b"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.said.contains("start it with --name a"), "{}", ended.said);
    let ended =
        fails(&["--data", data, "--listen", "127.0.0.1:0", "--name", "a", "--cluster", "a=127.0.0.1:1"]);
    assert!(ended.said.contains("another cluster"), "{}", ended.said);
}

#[test]
fn a_member_without_its_journal_does_not_begin_anew() {
    let directory = Directory::new();
    let data = directory.join("data");
    assert_eq!(Running::start(&data, &[]).stop(), Some(0));
    std::fs::remove_file(data.join("snapshot")).expect("it was written");
    let path = data.to_str().expect("it is a text");
    let ended = fails(&["--data", path, "--listen", "127.0.0.1:0"]);
    assert!(ended.said.contains("the snapshot is missing"), "{}", ended.said);
    std::fs::remove_file(data.join("identity")).expect("it was written");
    std::fs::write(data.join("snapshot"), "").expect("it is ours");
    let ended = fails(&["--data", path, "--listen", "127.0.0.1:0"]);
    assert!(ended.said.contains("the file `identity` is missing"), "{}", ended.said);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    let ended = fails(&["--cluster", "a"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.said.contains("NAME=ADDRESS"), "{}", ended.said);
}
