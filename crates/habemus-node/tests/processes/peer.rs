//! A peer made by hand: it knows the protocol, and says whatever a test wants.

use habemus_node::transport::frame::{Answer, Body, Challenge, Frame, Hello};
use habemus_node::{Node, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::bench::LONG;

/// Node 1 of these settings, and how node 2 would greet it: as it greets node 2.
pub(crate) async fn node_and_greeting(mut settings: Settings) -> (Node, Hello) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port can be had");
    settings.peers.insert(2, listener.local_addr().expect("it is bound").to_string());
    let node = Node::start(settings).await.expect("the settings are sound");
    let (mut stream, _) = timeout(LONG, listener.accept()).await.expect("the node dials").expect("it dials");
    write_piece(&mut stream, &Challenge { nonce: 0 }.encode()).await;
    let hello =
        Hello::decode(&read_piece(&mut stream).await.expect("it greets")).expect("it greets properly");
    (node, Hello { from: 2, to: 1, life: 9, ..hello })
}

pub(crate) async fn write_piece(stream: &mut TcpStream, bytes: &[u8]) {
    // The other end may hang up in the midst of it.
    let _ = stream.write_all(&[&(bytes.len() as u32).to_be_bytes(), bytes].concat()).await;
}

/// The next piece; `None` if the other end has hung up.
pub(crate) async fn read_piece(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let reading = async {
        let mut piece = vec![0; stream.read_u32().await.ok()? as usize];
        stream.read_exact(&mut piece).await.ok()?;
        Some(piece)
    };
    timeout(LONG, reading).await.expect("the node answers or hangs up")
}

/// A connection to a node, as a peer has it.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    /// The number of the last frame.
    pub(crate) last: u64,
}

impl Peer {
    /// Dials a node and greets it, with the number that the node asks for; `None` if it does not answer.
    pub(crate) async fn greet(node: &Node, hello: &Hello) -> Option<(Peer, Answer)> {
        let mut stream = TcpStream::connect(node.address()).await.expect("the node listens");
        let Challenge { nonce } = Challenge::decode(&read_piece(&mut stream).await?).expect("a challenge");
        Peer::greet_with(stream, Hello { nonce, ..hello.clone() }).await
    }

    /// Greets in exactly these words over a connection whose challenge was read.
    pub(crate) async fn greet_with(mut stream: TcpStream, hello: Hello) -> Option<(Peer, Answer)> {
        write_piece(&mut stream, &hello.encode()).await;
        let answer = Answer::decode(&read_piece(&mut stream).await?).expect("an answer");
        let last = if let Answer::Welcome { received, .. } = answer { received } else { 0 };
        Some((Peer { stream, last }, answer))
    }

    /// As [`greet`](Peer::greet), and is let in.
    pub(crate) async fn welcome(node: &Node, hello: &Hello) -> Peer {
        match Peer::greet(node, hello).await {
            Some((peer, Answer::Welcome { .. })) => peer,
            other => panic!("not let in: {:?}", other.map(|(_, answer)| answer)),
        }
    }

    /// Says something; says whether the node was still there to hear it.
    pub(crate) async fn say(&mut self, body: Body) -> bool {
        self.last += 1;
        let frame = Frame { number: self.last, body }.encode_with_length();
        self.stream.write_all(&frame).await.is_ok()
    }

    /// Sends a message of the algorithm.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.say(message(bytes, 0)).await
    }

    /// Waits until the node hangs up.
    pub(crate) async fn until_hung_up(mut self) {
        let mut rest = Vec::new();
        let reading = self.stream.read_to_end(&mut rest);
        let _ = timeout(LONG, reading).await.expect("the node hangs up");
    }
}

/// A message of the process without a name.
pub(crate) fn message(bytes: &[u8], due: u64) -> Body {
    Body::Message { name: String::new(), number: 0, clock: Vec::new(), due, bytes: bytes.to_vec() }
}
