//! Bounds that docs/nodes.md names and that nothing else reaches: one more is refused, waits or is closed, as
//! it says.

use habemus_node::transport::frame::{Body, FRAME_LIMIT, Frame, HELLO_LIMIT};
use habemus_node::{MAX_HTTP_REQUESTS, MAX_LOCK_PROCESSES, Node, Settings, SupervisorCommand};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bench::LONG;
use crate::peer::{Peer, node_and_greeting, read_piece};

/// A frame of so many bytes, without those that say how many.
fn frame_of(length: usize) -> Body {
    let body = |name: usize| Body::Open { name: "x".repeat(name) };
    let more = Frame { number: 1, body: body(length) }.encode_with_length().len() - 4 - length;
    body(length - more)
}

#[tokio::test]
async fn a_frame_has_a_bound() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let mut peer = Peer::welcome(&node, &hello).await;
    let before = node.overview().await.unwrap().received;
    // The longest one there is makes no sense, but does no harm. After it comes a heartbeat.
    assert!(peer.say(frame_of(FRAME_LIMIT)).await && peer.send(&[0, 0]).await);
    timeout(LONG, async {
        while node.overview().await.unwrap().received == before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("what comes after the longest frame is heard");
    let _ = peer.say(frame_of(FRAME_LIMIT + 1)).await;
    peer.until_hung_up().await;
}

#[tokio::test]
async fn a_greeting_has_a_bound_and_so_has_the_time_for_it() {
    let (node, _) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let stranger = async || {
        let mut stream = TcpStream::connect(node.address()).await.expect("it listens");
        read_piece(&mut stream).await.expect("a challenge");
        Peer { stream, last: 0 }
    };
    let mut long = stranger().await;
    // It says how long its greeting will be, and nothing more: nobody waits for the rest.
    long.stream.write_all(&(HELLO_LIMIT as u32 + 1).to_be_bytes()).await.unwrap();
    long.until_hung_up().await;
    stranger().await.until_hung_up().await;
    let mut slow = stranger().await;
    slow.stream.write_all(&(HELLO_LIMIT as u32).to_be_bytes()).await.unwrap();
    slow.until_hung_up().await;
}

/// One thread runs everything here, so the node takes nothing until somebody waits.
#[tokio::test]
async fn so_many_commands_wait_for_the_process_and_whoever_gives_one_more_waits() {
    let node = Node::start(Settings::new("bully", 1, [1, 2])).await.expect("it starts");
    let supervisor = node.supervisor();
    let given = std::iter::repeat_with(|| supervisor.give(SupervisorCommand::Status)).take(5000);
    assert_eq!(given.filter(|given| *given).count(), 1024);
    let one_more = supervisor.give_when_possible(SupervisorCommand::Status);
    timeout(LONG, one_more).await.expect("its turn comes").expect("the node lives");
    assert!(timeout(LONG, node.overview()).await.expect("it reacts").expect("it lives").started);
}

#[tokio::test]
async fn the_name_of_a_lock_has_a_bound() {
    let node = Node::start(Settings::new("majority", 1, [1])).await.expect("it starts");
    let locks = node.locks().expect("it has locks");
    timeout(LONG, locks.acquire(&"x".repeat(64))).await.expect("in time").expect("that will do");
    let refused = timeout(LONG, locks.acquire(&"x".repeat(65))).await.expect("in time");
    assert!(refused.is_err_and(|why| why.to_string().contains("use 1 to 64 letters")));
}

#[tokio::test]
async fn locks_that_share_no_election_are_few_whoever_asks_for_them() {
    let (node, hello) = node_and_greeting(Settings::new("coordinator", 1, [1, 2])).await;
    let mut peer = Peer::welcome(&node, &hello).await;
    for number in 0..3 * MAX_LOCK_PROCESSES {
        assert!(peer.say(Body::Open { name: format!("name-{number}") }).await);
    }
    let locks = node.unfenced_locks().expect("it has locks");
    let count = async || node.overview().await.unwrap().locks.len();
    timeout(LONG, async {
        while count().await < MAX_LOCK_PROCESSES {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("there is room for so many");
    let refused = timeout(LONG, locks.acquire("one-more")).await.expect("in time");
    assert!(refused.is_err_and(|why| why.to_string().contains("at most 64 locks")));
    assert_eq!(count().await, MAX_LOCK_PROCESSES);
}

async fn serving() -> Node {
    let http = Some("127.0.0.1:0".to_owned());
    Node::start(Settings { http, ..Settings::new("majority", 1, [1]) }).await.expect("a node starts")
}

#[tokio::test]
async fn whoever_asks_too_much_in_a_second_is_told_so() {
    let node = serving().await;
    let questions = "GET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(3 * MAX_HTTP_REQUESTS as usize);
    let asked = async {
        loop {
            let mut stream = TcpStream::connect(node.http().expect("it serves")).await.expect("it serves");
            let (mut answers, mut writer) = stream.split();
            let ask = async {
                let _ = writer.write_all(questions.as_bytes()).await;
                let _ = writer.shutdown().await;
            };
            let mut read = Vec::new();
            let (_, _) = tokio::join!(ask, answers.read_to_end(&mut read));
            if String::from_utf8_lossy(&read).contains("HTTP/1.1 429 ") {
                return;
            }
        }
    };
    timeout(LONG, asked).await.expect("it was too much");
}

#[tokio::test]
async fn whoever_never_ends_the_head_of_a_request_is_hung_up_on() {
    let node = serving().await;
    let mut stream = TcpStream::connect(node.http().expect("it serves")).await.expect("it serves");
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: local").await.expect("it reads");
    let mut answer = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("it hangs up");
}
