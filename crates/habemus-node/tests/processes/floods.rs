//! More than anybody needs: requests, connections, frames.

use habemus_node::transport::frame::Body;
use habemus_node::{MAX_HTTP_CONNECTIONS, MAX_HTTP_HEAD, Node, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bench::LONG;
use crate::peer::{Peer, node_and_greeting};

const QUESTION: &str = "GET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n";

async fn ask(address: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it serves");
    let question = format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(question.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    timeout(LONG, stream.read_to_string(&mut answer)).await.expect("it answers").expect("in words");
    answer
}

async fn node() -> Node {
    let http = Some("127.0.0.1:0".to_owned());
    Node::start(Settings { http, ..Settings::new("majority", 1, [1]) }).await.expect("a node starts")
}

#[tokio::test]
async fn whoever_asks_is_heard_although_all_places_are_taken_by_those_who_say_nothing() {
    let node = node().await;
    let address = node.http().expect("it serves").to_owned();
    let mut silent = Vec::new();
    for _ in 0..MAX_HTTP_CONNECTIONS + 10 {
        silent.push(TcpStream::connect(&address).await.expect("it serves"));
    }
    assert!(ask(&address, "localhost").await.ends_with("ok\n"));
    // Those who came first had to go.
    for stream in &mut silent[..10] {
        let read = timeout(LONG, stream.read(&mut [0; 1])).await.expect("it is closed");
        assert_eq!(read.unwrap_or(0), 0);
    }
}

#[tokio::test]
async fn a_page_of_another_name_may_not_look() {
    let node = node().await;
    let address = node.http().expect("it serves");
    assert!(ask(address, "elsewhere.example").await.starts_with("HTTP/1.1 421"));
    assert!(ask(address, address).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn the_head_of_a_request_has_a_bound() {
    let node = node().await;
    let mut stream = TcpStream::connect(node.http().expect("it serves")).await.expect("it serves");
    let filling = "x".repeat(2 * MAX_HTTP_HEAD);
    let head = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {filling}\r\n\r\n");
    // It may hang up in the midst of it.
    let _ = stream.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("it hangs up");
    assert!(!String::from_utf8_lossy(&answer).contains(" 200 "));
}

/// Four nodes, of which the fourth is a flood; the leader of the others leads before and after.
/// `HABEMUS_FLOOD=400` sends over so many connections, for ten times as long.
#[tokio::test]
async fn neither_requests_nor_frames_without_end_depose_a_leader() {
    let mut settings = Settings::new("majority", 1, [1, 2, 3, 4]);
    settings.options.insert("interval".to_owned(), "50ms".to_owned());
    settings.options.insert("min-timeout".to_owned(), "2s".to_owned());
    settings.options.insert("max-timeout".to_owned(), "3s".to_owned());
    let mut nodes = Vec::new();
    let mut greetings = Vec::new();
    for id in 1..=3 {
        let http = Some("127.0.0.1:0".to_owned());
        nodes.push(Node::start(Settings { id, http, ..settings.clone() }).await.expect("a node starts"));
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    // How a peer greets is learnt from one that takes no part.
    let (_, hello) = node_and_greeting(settings).await;
    let mut leadership = nodes[0].election().expect("it elects").leader();
    let known =
        timeout(LONG, leadership.wait_for(|now| now.leader().is_some())).await.expect("in time").unwrap();
    let (leader, term) = (known.leader().expect("there is one"), known.term());
    drop(known);
    let node = &nodes[(leader - 1) as usize];
    for life in 1..=3 {
        let hello = habemus_node::transport::frame::Hello { from: 4, to: leader, life, ..hello.clone() };
        greetings.push(hello);
    }
    let address = node.http().expect("it serves").to_owned();
    let connections = std::env::var("HABEMUS_FLOOD").ok().and_then(|text| text.parse().ok());
    let rounds = if connections.is_some() { 500 } else { 50 };
    let mut flood = JoinSet::new();
    for _ in 0..connections.unwrap_or(100) {
        let address = address.clone();
        flood.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("it serves");
            // It may hang up in the midst of it.
            let (mut answers, mut questions) = stream.split();
            let ask = async {
                for _ in 0..rounds {
                    questions.write_all(QUESTION.as_bytes()).await?;
                }
                questions.shutdown().await
            };
            let mut read = Vec::new();
            let listen = timeout(LONG, answers.read_to_end(&mut read));
            let (_, _) = tokio::join!(ask, listen);
            read.windows(15).filter(|part| part == b"HTTP/1.1 200 OK").count()
        });
    }
    for hello in &greetings {
        let mut peer = Peer::welcome(node, hello).await;
        for _ in 0..5000 {
            assert!(peer.say(Body::Open { name: String::new() }).await);
        }
    }
    let answered: usize = flood.join_all().await.into_iter().sum();
    assert!(answered > 0, "it was a flood of questions");
    let now = timeout(LONG, node.overview()).await.expect("it reacts").expect("it lives");
    assert_eq!((now.leader, now.term), (Some(leader), term));
}
