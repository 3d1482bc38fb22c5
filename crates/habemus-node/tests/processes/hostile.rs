//! What a hostile or unlucky peer can do to a node: little.

use std::sync::Arc;
use std::time::Duration;

use habemus_node::transport::frame::{Answer, Body, Challenge, Frame, Hello};
use habemus_node::{Node, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::bench::LONG;
use crate::peer::{Peer, message, node_and_greeting, read_piece};

/// The node reacts, and its process lives.
async fn reacts(node: &Node) -> bool {
    timeout(LONG, node.overview()).await.expect("the node reacts").expect("the node lives").started
}

#[tokio::test]
async fn many_frames_and_then_garbage_on_two_connections_do_not_hang_the_engine() {
    let (node, hello) = node_and_greeting(Settings::new("coordinator", 1, [1, 2, 3])).await;
    // Messages that are none make the engine throw the peer out while its frames still come in.
    let mut peers = Vec::new();
    for from in [2, 3] {
        peers.push(Peer::welcome(&node, &Hello { from, ..hello.clone() }).await);
    }
    let mut bytes = [Vec::new(), Vec::new()];
    for number in 1..=6000 {
        let body =
            if number % 100 == 0 { message(&[0xee; 30], 0) } else { Body::Open { name: String::new() } };
        let frame = Frame { number, body }.encode_with_length();
        bytes.iter_mut().for_each(|bytes| bytes.extend_from_slice(&frame));
    }
    let [first, second] = &mut peers[..] else { unreachable!("there are two") };
    let writing =
        async { tokio::join!(first.stream.write_all(&bytes[0]), second.stream.write_all(&bytes[1])) };
    let _ = timeout(LONG, writing).await.expect("the node reads or hangs up");
    assert!(reacts(&node).await);
    timeout(LONG, node.stop()).await.expect("it hears that it is to stop").unwrap();
}

/// Well-formed messages that name a process at the address 35, of three.
#[tokio::test]
async fn a_message_about_somebody_who_is_not_there_never_costs_the_node() {
    for (algorithm, bytes) in [
        ("token-ring", [0x01, 0x02, 0x07, 0x01, 0x01].as_slice()),
        ("token-ring", &[0x01, 0x02, 0x03, 0x01, 0x23]),
        ("suzuki-kasami", &[0x01, 0x02, 0x03, 0x01, 0x23]),
        ("suzuki-kasami", &[0x01, 0x01, 0x01, 0x01, 0x01, 0x23]),
    ] {
        let (node, hello) = node_and_greeting(Settings::new(algorithm, 1, [1, 2, 3])).await;
        let mut peer = Peer::welcome(&node, &hello).await;
        assert!(peer.send(bytes).await);
        let _ = peer.stream.shutdown().await;
        peer.until_hung_up().await;
        assert!(reacts(&node).await, "{algorithm} {bytes:02x?}");
        Peer::welcome(&node, &hello).await;
    }
}

#[tokio::test]
async fn a_stranger_who_is_refused_learns_nothing_of_the_cluster() {
    let settings = Settings { cluster: "secret".to_owned(), ..Settings::new("bully", 1, [1, 2]) };
    let (node, hello) = node_and_greeting(settings).await;
    let mut told = Vec::new();
    for wrong in [
        Hello { cluster: "elsewhere".to_owned(), ..hello.clone() },
        Hello { to: 5, ..hello.clone() },
        Hello { from: 7, ..hello.clone() },
        Hello { system: "majority".to_owned(), ..hello.clone() },
    ] {
        let Some((_, Answer::Refused { reason })) = Peer::greet(&node, &wrong).await else {
            panic!("{wrong:?} is let in")
        };
        told.push(reason);
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "the reasons differ: {told:?}");
    for secret in ["secret", "bully", "1", "2"] {
        assert!(!told[0].contains(secret), "{}", told[0]);
    }
}

#[tokio::test]
async fn a_greeting_that_was_overheard_lets_nobody_in() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let mut stream = TcpStream::connect(node.address()).await.unwrap();
    let challenge = Challenge::decode(&read_piece(&mut stream).await.unwrap()).unwrap();
    let overheard = Hello { nonce: challenge.nonce, ..hello };
    let peer = Peer::greet_with(stream, overheard.clone()).await;
    assert!(matches!(peer, Some((_, Answer::Welcome { .. }))));
    let mut stream = TcpStream::connect(node.address()).await.unwrap();
    read_piece(&mut stream).await.unwrap();
    let replayed = Peer::greet_with(stream, overheard).await;
    assert!(matches!(replayed, Some((_, Answer::Refused { .. }))));
    // And the one who was there before has not been disturbed.
    assert!(peer.unwrap().0.say(Body::Goodbye).await);
}

#[tokio::test]
async fn a_frame_number_out_of_range_does_not_silence_the_peer_whose_name_it_came_in() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let mut liar = Peer::welcome(&node, &hello).await;
    liar.last = u64::MAX - 1;
    liar.say(Body::Goodbye).await;
    liar.until_hung_up().await;
    let before = node.overview().await.unwrap().received;
    let mut peer = Peer::welcome(&node, &hello).await;
    assert_eq!(peer.last, 0, "nothing that the liar said counts");
    // A heartbeat of the detector: the first layer, its only message.
    peer.send(&[0, 0]).await;
    timeout(LONG, async {
        while node.overview().await.unwrap().received == before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the peer is heard");
}

#[tokio::test]
async fn nobody_but_a_supervisor_makes_a_node_hold_messages_back() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let mut peer = Peer::welcome(&node, &hello).await;
    let count = 2 * habemus_node::MAX_HELD as u64;
    for _ in 0..count {
        assert!(peer.say(message(&[0, 0], u64::MAX)).await);
    }
    timeout(LONG, async {
        while node.overview().await.unwrap().received < count {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("messages that pretend to arrive in five hundred years are taken at once");
}

#[tokio::test]
async fn a_peer_has_one_connection_and_the_last_one_counts() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let first = Peer::welcome(&node, &hello).await;
    let second = Peer::welcome(&node, &hello).await;
    // Although it says nothing.
    first.until_hung_up().await;
    let mut third = Peer::welcome(&node, &hello).await;
    second.until_hung_up().await;
    assert!(third.say(Body::Goodbye).await && reacts(&node).await);
}

#[tokio::test]
async fn listening_beyond_the_loopback_without_tls_must_be_asked_for_in_so_many_words() {
    let open = Settings { listen: "0.0.0.0:0".to_owned(), ..Settings::new("bully", 1, [1, 2]) };
    let refused = Node::start(open.clone()).await.expect_err("it is not what anybody wants by accident");
    assert!(refused.to_string().contains("--insecure-without-tls"), "{refused}");
    let node = Node::start(Settings { insecure_without_tls: true, ..open }).await.expect("it was asked for");
    node.stop().await.unwrap();
}

/// Strangers on another machine who say nothing, and come again as soon as they are turned away, until they
/// are dropped. Returns when as many have come.
async fn silent_strangers(address: &str, count: usize) -> JoinSet<()> {
    let (mut strangers, come) = (JoinSet::new(), Arc::new(Semaphore::new(0)));
    for _ in 0..count {
        let (address, come) = (address.parse().expect("an address"), Arc::clone(&come));
        strangers.spawn(async move {
            loop {
                let socket = TcpSocket::new_v4().expect("a socket can be had");
                // All of the loopback is this machine's, and another address than that of the peers.
                socket.bind("127.0.0.2:0".parse().unwrap()).expect("it is bound");
                let Ok(mut stream) = socket.connect(address).await else { continue };
                come.add_permits(1);
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        });
    }
    let all = come.acquire_many(2 * count as u32);
    let _ = timeout(LONG, all).await.expect("it accepts them");
    strangers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_back_is_let_in_although_strangers_without_end_say_nothing() {
    let node = async |id| Node::start(Settings::new("bully", id, [1, 2])).await.expect("it starts");
    let first = node(1).await;
    let _strangers = silent_strangers(first.address(), 500).await;
    for _ in 0..3 {
        let second = node(2).await;
        first.introduce(2, second.address());
        second.introduce(1, first.address());
        timeout(LONG, async {
            while first.overview().await.unwrap().connected.is_empty()
                || second.overview().await.unwrap().connected.is_empty()
            {
                sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("it is let in");
        second.stop().await.unwrap();
    }
}
