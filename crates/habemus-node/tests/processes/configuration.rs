//! A data directory remembers what its node was told to be.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use habemus_node::{Leadership, Node, Settings};
use tokio::time::{Instant, sleep};

use crate::bench::{LONG, Scratch, program};

fn node(data: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(["--id", "1", "--listen", "127.0.0.1:0", "--algorithm", "majority", "--data"]).arg(data);
    let command = command.args(more).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be run");
    // Whoever is not refused is told to stop.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(b"stop\n"));
    child.wait_with_output().expect("it ends")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Settings of node `id` of three, with a data directory of its own.
fn settings(scratch: &Scratch, id: u64) -> Settings {
    let data = Some(scratch.path().join(format!("node-{id}")));
    Settings { data, http: Some("127.0.0.1:0".to_owned()), ..Settings::new("majority", id, [1, 2, 3]) }
}

async fn first_start(scratch: &Scratch, id: u64) -> Node {
    Node::start(Settings { first_start: true, ..settings(scratch, id) }).await.expect("it starts")
}

/// Nodes 1 to 3 that have a leader.
async fn established(scratch: &Scratch) -> Vec<Node> {
    let mut nodes = Vec::new();
    for id in 1..=3 {
        nodes.push(first_start(scratch, id).await);
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    for node in &nodes {
        let mut leader = node.election().expect("it is an election").leader();
        let known = leader.wait_for(|now| now.leader().is_some());
        tokio::time::timeout(LONG, known).await.expect("somebody is elected").expect("the node lives");
        // Everybody has met everybody.
        let deadline = Instant::now() + LONG;
        while node.overview().await.expect("it lives").connected.len() < 2 {
            assert!(Instant::now() < deadline, "not in time");
            sleep(Duration::from_millis(20)).await;
        }
    }
    nodes
}

async fn stop(nodes: Vec<Node>) {
    for node in nodes {
        node.stop().await.expect("it stops in good order");
    }
}

#[test]
fn a_first_start_must_be_said_and_what_to_do_is_said_otherwise() {
    let scratch = Scratch::new();
    let data = scratch.path().join("empty");
    let refused = node(&data, &["--ids", "1,2,3"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("say so with --new"), "{}", said(&refused));
}

#[tokio::test]
async fn a_node_whose_data_is_of_three_does_not_lead_alone_and_is_told_what_to_do() {
    let scratch = Scratch::new();
    stop(established(&scratch).await).await;
    let refused = node(&scratch.path().join("node-1"), &["--ids", "1"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = said(&refused);
    assert!(text.contains("--epoch 2") && text.contains("majority with processes 1 2 3"), "{text}");
    assert!(text.contains("cluster of one"), "{text}");
    let refused = node(&scratch.path().join("node-1"), &["--ids", "1", "--epoch", "2"]);
    assert!(said(&refused).contains("one at a time"), "{}", said(&refused));
    // What was stored is not forgotten silently.
    std::fs::remove_file(scratch.path().join("node-1").join("@main.stable")).unwrap();
    let refused = node(&scratch.path().join("node-1"), &["--ids", "1,2,3"]);
    assert!(said(&refused).contains("@main.stable is missing"), "{}", said(&refused));
}

#[tokio::test]
async fn a_node_that_changes_its_settings_keeps_still_until_its_old_promise_is_over() {
    let scratch = Scratch::new();
    let long = |settings: Settings| {
        let mut options = settings.options.clone();
        options.insert("min-timeout".to_owned(), "1h".to_owned());
        options.insert("max-timeout".to_owned(), "2h".to_owned());
        Settings { options, ..settings }
    };
    let alone = |settings: Settings| Settings { ids: vec![1], ..settings };
    let first =
        Node::start(alone(long(Settings { first_start: true, ..settings(&scratch, 1) }))).await.unwrap();
    first.election().unwrap().elect().await.unwrap();
    let mut leader = first.election().unwrap().leader();
    tokio::time::timeout(LONG, leader.wait_for(Leadership::is_leading)).await.unwrap().unwrap();
    first.stop().await.unwrap();
    let refused = Node::start(alone(settings(&scratch, 1))).await.unwrap_err().to_string();
    assert!(refused.contains("--epoch 2"), "{refused}");
    let changed = Node::start(Settings { epoch: 2, ..alone(settings(&scratch, 1)) }).await.unwrap();
    assert!(!changed.overview().await.unwrap().started, "it has promised to vote for nobody for an hour");
    changed.stop().await.unwrap();
}

/// How often a node has refused somebody.
async fn refusals(node: &Node) -> u64 {
    let page = metrics(node.http().expect("it serves")).await;
    let count = page.lines().find_map(|line| line.strip_prefix("habemus_refusals_total "));
    count.and_then(|count| count.parse().ok()).expect("it is counted")
}

/// Waits until a node has refused somebody once more than so often.
async fn until_refusing(node: &Node, before: u64) {
    let deadline = Instant::now() + LONG;
    while refusals(node).await <= before {
        assert!(Instant::now() < deadline, "nobody was refused");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn metrics(address: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("it serves");
    let request = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

#[tokio::test]
async fn a_wiped_disk_is_found_out_by_those_who_have_met_it() {
    let scratch = Scratch::new();
    let mut nodes = established(&scratch).await;
    nodes.pop().unwrap().stop().await.unwrap();
    std::fs::remove_dir_all(scratch.path().join("node-3")).unwrap();
    let wiped = first_start(&scratch, 3).await;
    for node in &nodes {
        node.introduce(3, wiped.address());
        wiped.introduce(node.id(), node.address());
        until_refusing(node, 0).await;
    }
    assert!(wiped.overview().await.unwrap().connected.is_empty());
    wiped.stop().await.unwrap();
    stop(nodes).await;
}

/// Copies the data directory of a node.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory can be made");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it can be read");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("it can be copied");
    }
}

/// Node 3 with the data of this directory, which knows the others, and they know it.
async fn third_from(data: &Path, scratch: &Scratch, others: &[Node]) -> Node {
    let settings = Settings { data: Some(data.to_owned()), ..settings(scratch, 3) };
    let third = Node::start(settings).await.expect("it starts");
    for node in others {
        node.introduce(3, third.address());
        third.introduce(node.id(), node.address());
    }
    third
}

/// Node 3 with this data is refused by all others.
async fn assert_found_out(data: &Path, scratch: &Scratch, others: &[Node]) {
    let mut before = Vec::new();
    for node in others {
        before.push(refusals(node).await);
    }
    let third = third_from(data, scratch, others).await;
    for (node, before) in others.iter().zip(before) {
        until_refusing(node, before).await;
    }
    assert!(third.overview().await.unwrap().connected.is_empty(), "somebody lets it in");
    third.stop().await.unwrap();
}

/// Starts the first of these nodes once more, as the last of them, and waits until all of them have met the
/// third.
async fn start_first_again(nodes: &mut Vec<Node>, third: &Node, scratch: &Scratch) {
    let first = nodes.remove(0);
    let id = first.id();
    first.stop().await.unwrap();
    nodes.push(Node::start(settings(scratch, id)).await.expect("it starts"));
    for one in nodes.iter().chain([third]) {
        nodes.iter().chain([third]).for_each(|other| one.introduce(other.id(), other.address()));
    }
    for node in nodes {
        let deadline = Instant::now() + LONG;
        while !node.overview().await.unwrap().connected.contains(&third.id()) {
            assert!(Instant::now() < deadline, "{} has not met {}", node.id(), third.id());
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// What one does who starts a machine from the image of another, and one who restores a disk from a copy.
#[tokio::test]
async fn a_twin_and_an_older_copy_of_a_disk_are_found_out_by_those_who_have_met_the_node() {
    let scratch = Scratch::new();
    let mut nodes = established(&scratch).await;
    let [data, older, twin] = ["node-3", "older", "twin"].map(|name| scratch.path().join(name));
    nodes.pop().unwrap().stop().await.unwrap();
    copy(&data, &older);
    copy(&data, &twin);
    let third = third_from(&data, &scratch, &nodes).await;
    let deadline = Instant::now() + LONG;
    while third.overview().await.unwrap().connected.len() < 2 {
        assert!(Instant::now() < deadline, "it is not let in");
        sleep(Duration::from_millis(20)).await;
    }
    assert_found_out(&twin, &scratch, &nodes).await;
    // The twin is gone. Another leader is needed, so the node promises something more; and it has met both
    // again.
    let mut watch = nodes[0].election().unwrap().leader();
    let known = tokio::time::timeout(LONG, watch.wait_for(|now| now.leader().is_some())).await;
    let (leader, term) = known.expect("in time").map(|now| (now.leader().unwrap(), now.term())).unwrap();
    nodes.swap(0, (leader - 1) as usize);
    start_first_again(&mut nodes, &third, &scratch).await;
    for node in nodes.iter().chain([&third]) {
        let mut leader = node.election().unwrap().leader();
        let news = leader.wait_for(|now| now.leader().is_some() && now.term() > term);
        tokio::time::timeout(LONG, news).await.expect("somebody is elected").expect("the node lives");
    }
    // What a node has promised it tells those to whom it says something, and whoever meets it: now both have.
    start_first_again(&mut nodes, &third, &scratch).await;
    third.stop().await.unwrap();
    // However often the copy is started in its place, what it has not promised it has forgotten.
    for _ in 0..2 {
        assert_found_out(&older, &scratch, &nodes).await;
    }
    stop(nodes).await;
}
