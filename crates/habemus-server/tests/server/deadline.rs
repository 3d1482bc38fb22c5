//! Deadlines that clients send along: by curl, which does not keep them itself, so whoever ends the call is
//! the member.

use std::io::Write;
use std::process::{Command, Stdio};

use habemus_etcd::v3lockpb::LockRequest;
use habemus_etcd::v3lockpb::lock_client::LockClient;
use prost::Message;

use crate::cluster::Trio;
use crate::http::ask_with;
use crate::support::{Directory, Running, etcdctl, get_all, installed, lease};

/// A message as gRPC frames it.
fn framed(message: &impl Message) -> Vec<u8> {
    let length = u32::try_from(message.encoded_len()).expect("it is short");
    [&[0][..], &length.to_be_bytes(), &message.encode_to_vec()].concat()
}

/// The head and the end of the answer to a call of gRPC with a deadline.
fn call(member: &Running, path: &str, message: &impl Message, time: &str) -> String {
    let mut child = Command::new("curl")
        .args(["--silent", "--verbose", "--http2-prior-knowledge", "--max-time", "30", "--output", "-"])
        .args(["-H", "content-type: application/grpc", "-H", "te: trailers"])
        .args(["-H", &format!("grpc-timeout: {time}"), "--data-binary", "@-"])
        .arg(format!("http://{}{path}", member.address()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("curl was there a moment ago");
    child.stdin.take().expect("it was piped").write_all(&framed(message)).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_whose_deadline_passes_leaves_the_queue_and_a_watch_ends() {
    if !installed("curl", "curl") {
        return;
    }
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let channel = member.channel().await;
    let lock = |lease| LockRequest { name: "door".into(), lease };
    let held = LockClient::new(channel.clone()).lock(lock(lease(&channel, 60).await)).await;
    let held = held.expect("nobody is inside").into_inner().key;

    let said = call(&member, "/v3lockpb.Lock/Lock", &lock(lease(&channel, 60).await), "200m");
    assert!(said.contains("grpc-status: 4"), "{said}");
    assert!(said.replace("%20", " ").contains("grpc-message: context deadline exceeded"), "{said}");
    loop {
        let queue = get_all(&channel, "door/").await;
        if queue.kvs.len() == 1 {
            assert_eq!(queue.kvs[0].key, held);
            break;
        }
    }

    use habemus_etcd::etcdserverpb::{WatchCreateRequest, WatchRequest, watch_request::RequestUnion};
    let create = WatchCreateRequest { key: "a".into(), ..Default::default() };
    let watch = WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) };
    let said = call(&member, "/etcdserverpb.Watch/Watch", &watch, "200m");
    assert!(said.contains("HTTP/2 200") && said.contains("grpc-status: 4"), "{said}");

    // A refusal does not wait for the rest of the request, which not every curl takes for an answer.
    let mut request = tonic::Request::new(lock(0));
    request.metadata_mut().insert("grpc-timeout", "soon".parse().expect("it is a header"));
    let refused = LockClient::new(channel.clone()).lock(request).await.expect_err("nobody can read that");
    assert_eq!(refused.code(), tonic::Code::InvalidArgument, "{refused}");
    assert!(refused.message().starts_with("malformed grpc-timeout"), "{refused}");
    let said = call(&member, "/v3lockpb.Lock/Unlock", &lock(0), "30S");
    assert!(said.contains("grpc-status: 0"), "whoever is in time is answered: {said}");

    // The gateway takes the same header.
    let body = r#"{"name":"ZG9vcg=="}"#;
    let (status, answer) =
        ask_with(&member, member.address(), "Grpc-Timeout: 200m\r\n", "POST", "/v3/lock/lock", body);
    assert_eq!(status, 504);
    assert!(answer.contains(r#""code":4,"message":"context deadline exceeded""#), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcdctl_waits_no_longer_than_it_is_told() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    trio.take((leader + 1) % 3).kill();
    trio.take((leader + 2) % 3).kill();
    // While it still takes itself for the leader, it may answer in time that nobody knows what becomes of it.
    while trio.status(leader).await.leader != 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let said = etcdctl(trio.member(leader).address(), &["--command-timeout=300ms", "put", "a", "1"]);
    assert!(said.contains("context deadline exceeded"), "{said}");
}
