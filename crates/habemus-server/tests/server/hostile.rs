//! Clients that mean no good, or know no better: they cost themselves, and nobody else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_prost::ProstCodec;

use crate::cluster::free_addresses;
use crate::support::{Directory, PATIENCE, Running, channel, get, put};

fn connect(member: &Running) -> TcpStream {
    let stream = TcpStream::connect(member.address()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
    stream
}

/// Waits until the other side has closed the connection.
fn ends(mut stream: TcpStream) {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) => {
            assert!(error.kind() != std::io::ErrorKind::WouldBlock, "it is still open");
        }
    }
}

#[tokio::test]
async fn whoever_does_not_come_to_its_point_is_left() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--greeting-seconds", "1"]);
    let (silent, mut hesitant, mut verbose) = (connect(&member), connect(&member), connect(&member));
    hesitant.write_all(b"PRI * HTTP/2.0\r\n").expect("it is open");
    verbose.write_all(b"POST /v3/kv/range HTTP/1.1\r\n").expect("it is open");
    // It goes on for ever, one line after the other.
    let mut pen = verbose.try_clone().expect("it is open");
    std::thread::spawn(move || {
        while pen.write_all(b"X-More: and more\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    put(&member.channel().await, "a", "1").await.expect("others are served meanwhile");
    tokio::task::spawn_blocking(|| [silent, hesitant, verbose].map(ends)).await.expect("they end");
}

#[tokio::test]
async fn when_it_is_full_whoever_comes_is_turned_away() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--max-connections", "3"]);
    let channel = member.channel().await;
    let others = [connect(&member), connect(&member)];
    ends(connect(&member));
    put(&channel, "a", "1").await.expect("those who are inside are served");
    drop(others);
    // There is room again, as soon as it has noticed.
    loop {
        let mut next = connect(&member);
        next.write_all(b"GET /version HTTP/1.0\r\n\r\n").expect("it is open");
        let mut answer = String::new();
        if next.read_to_string(&mut answer).is_ok() && answer.contains("200 OK") {
            return;
        }
    }
}

#[tokio::test]
async fn whoever_asks_too_often_is_refused_and_others_are_not() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--max-rate", "1"]);
    let (hasty, other) = (member.channel().await, member.channel().await);
    let mut refused = 0;
    for _ in 0..30 {
        if let Err(status) = put(&hasty, "a", "1").await {
            assert_eq!(
                (status.code(), status.message()),
                (Code::ResourceExhausted, "etcdserver: too many requests")
            );
            refused += 1;
        }
    }
    assert!(refused > 0, "thirty came faster than one a second");
    put(&other, "a", "1").await.expect("another connection has its own");
}

#[tokio::test]
async fn nonsense_costs_the_connection_and_nothing_else() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--greeting-seconds", "1"]);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let after = |frames: &[u8]| [&preface[..], &settings, frames].concat();
    // A stream's headers that go on for ever.
    let mut endless = vec![0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82];
    for _ in 0..10_000 {
        endless.extend([0, 0, 1, 9, 0, 0, 0, 0, 1, 0x82]);
    }
    let nonsense: Vec<Vec<u8>> = vec![
        vec![0; 4096],
        vec![0xff; 100_000],
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        [b"GET /", "x".repeat(1 << 20).as_bytes(), b" HTTP/1.1\r\n\r\n"].concat(),
        [b"GET / HTTP/1.1\r\nX: ", "x".repeat(1 << 20).as_bytes(), b"\r\n\r\n"].concat(),
        // A frame longer than was agreed on; one of no known sense; data for a stream that nobody opened.
        after(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
        after(&[0, 0, 0, 1, 0xff, 0, 0, 0, 0]),
        after(&[0, 0, 1, 0, 0, 0, 0, 0, 1, 7]),
        after(&endless),
        // What TLS begins with.
        vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
    ];
    for bytes in nonsense {
        let mut stream = connect(&member);
        // It may have been closed before all is said.
        drop(stream.write_all(&bytes));
        tokio::task::spawn_blocking(|| ends(stream)).await.expect("it ends");
        put(&member.channel().await, "a", "1").await.expect("others are served");
    }
}

/// At the door of the members, too.
#[tokio::test]
async fn strangers_at_the_members_door_cost_nobody_but_themselves() {
    let directory = Directory::new();
    let peer = free_addresses(1).remove(0);
    let cluster = format!("a={peer}");
    let member = Running::start(&directory.join("data"), &["--name", "a", "--cluster", &cluster]);
    let connect = || {
        let stream = TcpStream::connect(&peer).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        stream
    };
    let frame = |bytes: &[u8]| [&(bytes.len() as u32).to_be_bytes(), bytes].concat();
    let nonsense: Vec<Vec<u8>> = vec![
        // Longer than any frame, and longer than what somebody says first.
        u32::MAX.to_be_bytes().to_vec(),
        ((1_u32 << 16) + 1).to_be_bytes().to_vec(),
        frame(&[]),
        frame(&[0xff; 64]),
        // Somebody from a cluster that is none, and somebody who stops in the midst of it.
        frame(&[0; 64]),
        frame(&[0, 3]),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
    ];
    for bytes in nonsense {
        let mut stream = connect();
        drop(stream.write_all(&bytes));
        tokio::task::spawn_blocking(|| ends(stream)).await.expect("it ends");
    }
    // A crowd that says nothing.
    let crowd: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    put(&member.channel().await, "a", "1").await.expect("clients are served meanwhile");
    drop(crowd);
}

#[tokio::test]
async fn messages_that_make_no_sense_are_refused() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let channel = member.channel().await;
    let path = |text: &str| text.parse().expect("it is a path");
    // A number where bytes should stand.
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.expect("it listens");
    let wrong = tonic::Request::new(rpc::LeaseGrantRequest { ttl: 7, id: 0 });
    let codec = ProstCodec::<rpc::LeaseGrantRequest, rpc::PutResponse>::default();
    let refused =
        grpc.unary(wrong, path("/etcdserverpb.KV/Put"), codec).await.expect_err("it makes no sense");
    assert_eq!(refused.code(), Code::Internal, "{refused}");
    // Something that would grow when it is unpacked.
    let mut packed = tonic::Request::new(rpc::RangeRequest::default());
    packed.metadata_mut().insert("grpc-encoding", "gzip".parse().expect("it is a text"));
    let refused = KvClient::new(channel.clone()).range(packed).await.expect_err("nothing is unpacked");
    assert_eq!(refused.code(), Code::Unimplemented, "{refused}");
    // Transactions in transactions, deeper than anybody needs.
    let mut txn = rpc::TxnRequest::default();
    for _ in 0..500 {
        let request = Some(rpc::request_op::Request::RequestTxn(txn));
        txn = rpc::TxnRequest { success: vec![rpc::RequestOp { request }], ..Default::default() };
    }
    KvClient::new(channel.clone()).txn(txn).await.expect_err("it is too deep");
    // The same in JSON.
    let deep = format!("{}{}", "{\"success\":[{\"request_txn\":".repeat(500), "{}");
    let mut stream = connect(&member);
    let request = format!(
        "POST /v3/kv/txn HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{deep}",
        deep.len()
    );
    stream.write_all(request.as_bytes()).expect("it is open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is a text");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let mut stream = connect(&member);
    let long = "POST /v3/kv/put HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n";
    stream.write_all(long.as_bytes()).expect("it is open");
    // It need not be read to its end to be too long.
    while stream.write_all(&[b' '; 1 << 16]).is_ok() {}
    assert_eq!(get(&channel, "a").await.count, 0, "nothing was done, and it goes on");
}

/// Nothing is kept for a watcher that does not listen; when it does again, it is told what it has missed.
#[tokio::test]
async fn a_watcher_that_is_too_slow_is_told_from_where_it_can_go_on() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--history", "4"]);
    let create = rpc::WatchCreateRequest { key: "a".into(), ..Default::default() };
    let request_union = Some(rpc::watch_request::RequestUnion::CreateRequest(create));
    let requests = tokio_stream::iter([rpc::WatchRequest { request_union }]).chain(tokio_stream::pending());
    let mut client = WatchClient::new(channel(member.address()).await).max_decoding_message_size(usize::MAX);
    let mut watching = client.watch(requests).await.expect("it answers").into_inner();
    let writer = member.channel().await;
    // More than fits into the buffers between the two.
    let value = "x".repeat(1 << 20);
    for _ in 0..64 {
        put(&writer, "a", &value).await.expect("nobody waits for the slow one");
    }
    let mut told = 0;
    loop {
        let next = watching.message().await.expect("it goes on").expect("it goes on");
        if next.canceled {
            assert!(next.compact_revision > 2, "{next:?}");
            break;
        }
        told += next.events.len();
    }
    assert!(told < 64, "it has missed some");
}
