//! What a node refuses, and how it says so.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::bench::{LONG, Scratch, cluster, program, until};

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
    assert!(error_text(&output).contains("Restore it from a copy"), "{}", error_text(&output));
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
    use habemus_node::transport::frame::{Body, Frame, Hello};
    use habemus_node::{Node, Settings};

    let node = Node::start(Settings::new("bully", 1, [1, 2])).await.unwrap();
    let address = node.address().to_owned();
    let hello = |from: u64, to: u64, cluster: &str, system: &str| {
        let (cluster, system) = (cluster.to_owned(), system.to_owned());
        let bytes = Hello { cluster, system, from, to, life: 9 }.encode();
        [(bytes.len() as u32).to_be_bytes().as_slice(), &bytes].concat()
    };
    let system = "bully with processes 1 2, detector heartbeat, pulse 100ms";
    let talking = tokio::task::spawn_blocking(move || {
        assert!(talk(&address, b"GET / HTTP/1.1\r\n\r\n").is_empty());
        assert!(talk(&address, &[0xff; 64]).is_empty());
        let mut old = hello(2, 1, "habemus", system);
        old[11] = 77;
        let refusals = [
            (old, "version 77"),
            (hello(2, 1, "elsewhere", system), "belongs to cluster 'habemus'"),
            (hello(2, 5, "habemus", system), "this is node 1, not 5"),
            (hello(7, 1, "habemus", system), "node 7 is not among the peers"),
            (hello(2, 1, "habemus", "majority"), "set up differently"),
        ];
        for (words, expected) in refusals {
            let answer = String::from_utf8_lossy(&talk(&address, &words)).into_owned();
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
        // A good greeting, then: an impossible length; a frame that is none; a message that is none.
        let message = Body::Message {
            name: String::new(),
            number: 0,
            clock: Vec::new(),
            due: 0,
            bytes: vec![0xee; 30],
        };
        let garbled = Frame { number: 1, body: message }.encode_with_length();
        for rest in [&[0xff_u8; 8][..], &[0, 0, 0, 3, 1, 2, 3], &garbled] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
            stream.write_all(&hello(2, 1, "habemus", system)).unwrap();
            stream.write_all(rest).unwrap();
            stream
                .write_all(
                    &Frame { number: 2, body: Body::Open { name: String::new() } }.encode_with_length(),
                )
                .unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() > 4, "the greeting was good");
        }
    });
    talking.await.unwrap();
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
    use habemus_node::transport::frame::{Body, Frame, Hello};
    use habemus_node::{Node, Settings};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let node = Node::start(Settings::new("bully", 1, [1, 2])).await.unwrap();
    let system = "bully with processes 1 2, detector heartbeat, pulse 100ms".to_owned();
    let mut random = Random::new();
    let conversation = |life: u64| {
        let hello =
            Hello { cluster: "habemus".to_owned(), system: system.clone(), from: 2, to: 1, life }.encode();
        let mut bytes = [(hello.len() as u32).to_be_bytes().as_slice(), &hello].concat();
        for number in 1..4 {
            let body =
                Body::Message { name: String::new(), number, clock: vec![(0, 1)], due: 0, bytes: vec![0, 0] };
            bytes.extend_from_slice(&Frame { number, body }.encode_with_length());
        }
        bytes
    };
    let say = |bytes: Vec<u8>| {
        let address = node.address().to_owned();
        async move {
            let mut stream = tokio::net::TcpStream::connect(address).await.expect("the node listens");
            // The node may hang up in the midst of it.
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            let mut answer = Vec::new();
            let _ = tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await.expect("it hangs up");
            answer
        }
    };
    for round in 0..300 {
        let mut bytes = conversation(round + 1);
        for _ in 0..=random.below(3) {
            let place = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[place] ^= 1 << random.below(8),
                1 => bytes[place] = random.below(256) as u8,
                2 => bytes.truncate(place.max(1)),
                _ => bytes.extend_from_within(place..),
            }
        }
        say(bytes).await;
    }
    let answer = say(conversation(1000)).await;
    assert!(answer.len() > 4 && answer[4] == 0, "a good greeting is welcome: {answer:?}");
    assert!(node.overview().await.unwrap().started, "the node lives");
}
