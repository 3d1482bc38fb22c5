//! What a node refuses, and how it says so.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use habemus_node::Settings;
use habemus_node::transport::frame::{Challenge, Frame, Hello};
use tokio::io::AsyncWriteExt;

use crate::bench::{LONG, Scratch, cluster, program, until};
use crate::peer::{Peer, message, node_and_greeting, read_piece};

fn node(arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).stdin(Stdio::null());
    command.output().expect("the program can be run")
}

fn error_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bad_input_is_refused_with_what_would_do() {
    let base =
        ["--id", "1", "--listen", "127.0.0.1:0", "--peer", "2=127.0.0.1:1", "--data", "/nonexistent/x"];
    let with = |more: &[&str]| node(&[base.as_slice(), more].concat());
    for (arguments, expected) in [
        (["--algorithm", "buly"].as_slice(), "there is no algorithm 'buly'"),
        (&["--algorithm", "bully", "--detector", "oracle"], "no oracle on a real network"),
        (&["--algorithm", "bully", "-o", "colour=red"], "there is no option 'colour'"),
        (&["--algorithm", "capture-sync"], "works in pulses"),
        (&["--algorithm", "signed-generals", "--begin-at", "1"], "no keys were given"),
        (&["--algorithm", "signed-generals", "--keys", "/nonexistent/x"], "`habemus certs` makes keys"),
        (&["--algorithm", "bully", "--ids", "2,3"], "node 1 is not among the processes"),
    ] {
        let output = with(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", error_text(&output));
        assert!(error_text(&output).contains(expected), "{arguments:?}: {}", error_text(&output));
    }
}

#[tokio::test]
async fn a_damaged_store_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "majority", 3, &[]).await;
    until(&mut cluster, "somebody leads", |it| it.agreed_leader().is_some()).await;
    cluster.end().await;
    let directory = scratch.path().join("node-1");
    let stable = directory.join("@main.stable");
    let mut bytes = std::fs::read(&stable).unwrap();
    // Both slots, wherever the last value is.
    for slot in [4096, 8192] {
        bytes[slot + 20] ^= 1;
    }
    std::fs::write(&stable, &bytes).unwrap();
    let directory = directory.to_str().unwrap();
    let output = node(&[
        "--id",
        "1",
        "--listen",
        "127.0.0.1:0",
        "--ids",
        "1,2,3",
        "--algorithm",
        "majority",
        "--data",
        directory,
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_text(&output).contains("checksums are wrong"), "{}", error_text(&output));
    let advice = error_text(&output);
    assert!(advice.contains("Neither delete it nor put an older copy in its place"), "{advice}");
    assert_eq!(std::fs::read(&stable).unwrap(), bytes);
}

/// Says something to a listening node and hears what it answers until it hangs up.
fn talk(address: &str, words: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the node listens");
    stream.set_read_timeout(Some(LONG)).expect("a timeout is possible");
    stream.write_all(words).expect("the node reads");
    let mut answer = Vec::new();
    // A node that hangs up with unread bytes resets the connection: that is an answer, too.
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_costs_the_connection_and_never_the_node() {
    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let address = node.address().to_owned();
    let talking = tokio::task::spawn_blocking(move || {
        // Nobody hears more than the challenge.
        assert_eq!(talk(&address, b"GET / HTTP/1.1\r\n\r\n").len(), 12);
        assert_eq!(talk(&address, &[0xff; 64]).len(), 12);
    });
    talking.await.unwrap();
    // A good greeting, then: an impossible length; a frame that is none; a message that is none.
    let garbled = Frame { number: 1, body: message(&[0xee; 30], 0) }.encode_with_length();
    for (life, rest) in [(10, &[0xff_u8; 8][..]), (11, &[0, 0, 0, 3, 1, 2, 3]), (12, &garbled)] {
        let mut peer = Peer::welcome(&node, &Hello { life, ..hello.clone() }).await;
        peer.stream.write_all(rest).await.unwrap();
        peer.until_hung_up().await;
    }
    assert!(node.overview().await.unwrap().started, "the node lives");
    node.stop().await.unwrap();
}

#[tokio::test]
async fn two_nodes_cannot_live_in_one_directory() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "majority", 1, &[]).await;
    until(&mut cluster, "it leads alone", |it| it.agreed_leader() == Some(1)).await;
    let directory = scratch.path().join("node-1");
    let output = node(&[
        "--id",
        "1",
        "--listen",
        "127.0.0.1:0",
        "--ids",
        "1",
        "--algorithm",
        "majority",
        "--data",
        directory.to_str().unwrap(),
    ]);
    assert!(error_text(&output).contains("another node is using"), "{}", error_text(&output));
    cluster.end().await;
}

/// A good conversation with bytes changed, cut off or repeated at random: whatever comes, the node lives, and
/// a peer that means it well is still let in.
#[tokio::test]
async fn mutated_conversations_never_bring_a_node_down() {
    use habemus_machine::Random;

    let (node, hello) = node_and_greeting(Settings::new("bully", 1, [1, 2])).await;
    let mut random = Random::new();
    for round in 0..300 {
        let mut stream = tokio::net::TcpStream::connect(node.address()).await.expect("the node listens");
        let challenge = read_piece(&mut stream).await.expect("a challenge");
        let Challenge { nonce } = Challenge::decode(&challenge).unwrap();
        let greeting = Hello { life: round + 1, nonce, ..hello.clone() }.encode();
        let mut bytes = [(greeting.len() as u32).to_be_bytes().as_slice(), &greeting].concat();
        for number in 1..4 {
            bytes.extend_from_slice(&Frame { number, body: message(&[0, 0], 0) }.encode_with_length());
        }
        for _ in 0..=random.below(3) {
            let place = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[place] ^= 1 << random.below(8),
                1 => bytes[place] = random.below(256) as u8,
                2 => bytes.truncate(place.max(1)),
                _ => bytes.extend_from_within(place..),
            }
        }
        // The node may hang up in the midst of it.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        Peer { stream, last: 0 }.until_hung_up().await;
    }
    Peer::welcome(&node, &Hello { life: 1000, ..hello }).await;
    assert!(node.overview().await.unwrap().started, "the node lives");
}
