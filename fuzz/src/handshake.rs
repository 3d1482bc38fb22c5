//! Any bytes against a listening node: as a stranger, with a greeting of sorts, and as a peer that has been
//! let in. They may cost the connection, never the node.

use std::cell::RefCell;
use std::time::Duration;

use habemus_node::transport::frame::{Body, Challenge, Frame, Hello};
use habemus_node::{Node, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// A node that hangs for so long is broken.
const LONG: Duration = Duration::from_secs(10);

/// Nodes that live as long as the fuzzer, and how a peer greets each of them.
struct Stage {
    runtime: Runtime,
    nodes: Vec<(Node, Hello)>,
    lives: u64,
}

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// One connection to one of the nodes.
pub fn attack(bytes: &[u8]) {
    let [which, way, rest @ ..] = bytes else { return };
    STAGE.with_borrow_mut(|stage| {
        let Stage { runtime, nodes, lives } = stage.get_or_insert_with(Stage::new);
        *lives += 1;
        let (node, hello) = &nodes[usize::from(*which) % nodes.len()];
        let hello = Hello { life: *lives, ..hello.clone() };
        runtime.block_on(say(node, *way, &hello, rest));
    });
}

/// What goes over the connection.
fn said(way: u8, hello: &Hello, bytes: &[u8]) -> Vec<u8> {
    let message = |name: &str| {
        let (name, clock, bytes) = (name.to_owned(), Vec::new(), bytes.to_vec());
        let body = Body::Message { name, number: 0, clock, due: 0, bytes };
        Frame { number: 1, body }.encode_with_length().to_vec()
    };
    let greeting = framed(&hello.encode());
    match way % 7 {
        0 => bytes.to_vec(),
        1 => framed(bytes),
        2 => framed(&[b"habemus\x02", bytes].concat()),
        3 => [greeting, bytes.to_vec()].concat(),
        4 => [greeting, framed(bytes)].concat(),
        5 => [greeting, message("")].concat(),
        _ => [greeting, message("orders")].concat(),
    }
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// Says it to the node, waits until the node has hung up, and asks the node how it is.
async fn say(node: &Node, way: u8, hello: &Hello, bytes: &[u8]) {
    let mut stream = TcpStream::connect(node.address()).await.expect("the node listens");
    let mut challenge = [0; 12];
    stream.read_exact(&mut challenge).await.expect("the node speaks first");
    let Challenge { nonce } = Challenge::decode(&challenge[4..]).expect("it is a challenge");
    let words = &said(way, &Hello { nonce, ..hello.clone() }, bytes);
    // The node may hang up in the midst of it.
    let _ = stream.write_all(words).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let ended = timeout(LONG, stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the node neither answers nor hangs up");
    let overview = timeout(LONG, node.overview()).await.expect("the node reacts");
    overview.expect("the node lives");
}

impl Stage {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime can be had");
        let nodes = runtime.block_on(async {
            let mut nodes = Vec::new();
            for algorithm in ["majority", "elected-coordinator", "coordinator", "bully"] {
                nodes.push(node(algorithm).await);
            }
            nodes
        });
        Stage { runtime, nodes, lives: 0 }
    }
}

/// Node 1 of three, and how node 2 would greet it: as it greets node 2.
async fn node(algorithm: &str) -> (Node, Hello) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port can be had");
    let mut settings = Settings::new(algorithm, 1, [1, 2, 3]);
    settings.peers.insert(2, listener.local_addr().expect("it is bound").to_string());
    let node = Node::start(settings).await.expect("the settings are sound");
    let (mut stream, _) = listener.accept().await.expect("the node dials");
    let challenge = framed(&Challenge { nonce: 0 }.encode());
    stream.write_all(&challenge).await.expect("it listens");
    let length = stream.read_u32().await.expect("it greets");
    let mut greeting = vec![0; length as usize];
    stream.read_exact(&mut greeting).await.expect("it greets");
    let hello = Hello::decode(&greeting).expect("it greets properly");
    (node, Hello { from: 2, to: 1, ..hello })
}
