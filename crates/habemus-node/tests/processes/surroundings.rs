//! What a node has to do with besides its peers: its log, its supervisor, its terminal, its clients.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use habemus_node::{Node, NodeReport, Settings, SupervisorCommand};
use tokio::time::timeout;

use crate::bench::{LONG, Scratch, program};
use crate::peer::{Peer, read_piece};

/// A node of three that is killed at the end.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Node 1 of three, with peers that nobody is at.
fn command(scratch: &Scratch, flags: &[&str]) -> Command {
    let nobody =
        || TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port can be had");
    let mut command = Command::new(program());
    command.args(["--new", "--id", "1", "--listen", "127.0.0.1:0", "--algorithm", "majority", "--data"]);
    command.arg(scratch.path().join("data"));
    command.args(["--peer", &format!("2={}", nobody()), "--peer", &format!("3={}", nobody())]);
    command.args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn peers_that_cannot_be_reached_are_named_with_what_it_means_and_without_colours() {
    for (format, node) in [("text", "node{id=1}"), ("json", "\"span\":{\"id\":1,\"name\":\"node\"}")] {
        let scratch = Scratch::new();
        let mut process =
            Process(command(&scratch, &["--log-format", format]).spawn().expect("it can be run"));
        let log = BufReader::new(process.0.stderr.take().expect("it is piped"));
        let mut lines = log.lines().map(|line| line.expect("it is text"));
        let line = lines.find(|line| line.contains("cannot reach a peer")).expect("the node goes on");
        assert!(line.contains("1 of 3 reachable: no quorum"), "{line}");
        assert!(line.contains(node) && line.contains("peer") && !line.contains('\x1b'), "{line}");
        if format == "json" {
            serde_json::from_str::<serde_json::Value>(&line).expect("it is JSON");
        }
    }
}

/// A node under supervision, its address, and its reports.
fn supervised(scratch: &Scratch) -> (Process, String, impl Iterator<Item = NodeReport>) {
    let mut child = command(scratch, &["--supervised", "--log", "debug"]).spawn().expect("it can be run");
    let reports = BufReader::new(child.stdout.take().expect("it is piped"));
    let lines = reports.lines().map(|line| line.expect("it is text"));
    let mut reports = lines.filter_map(|line| serde_json::from_str(&line).ok());
    match reports.next() {
        Some(NodeReport::Listening { address, .. }) => (Process(child), address, reports),
        other => panic!("{other:?}"),
    }
}

fn says_how_things_are(process: &mut Process, reports: &mut impl Iterator<Item = NodeReport>) -> bool {
    let line = serde_json::to_string(&SupervisorCommand::Status).expect("it can be written");
    let stdin = process.0.stdin.as_mut().expect("it is piped");
    writeln!(stdin, "{line}").expect("it reads");
    reports.any(|report| matches!(report, NodeReport::Status(_)))
}

/// More log lines than any pipe holds, if nothing kept them few.
fn annoy(address: &str) {
    for _ in 0..1500 {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
    }
}

#[test]
fn a_log_that_nobody_reads_does_not_hold_a_node_up() {
    let scratch = Scratch::new();
    let (mut process, address, mut reports) = supervised(&scratch);
    annoy(&address);
    assert!(says_how_things_are(&mut process, &mut reports));
}

#[test]
fn a_log_whose_reader_is_gone_does_not_end_a_node() {
    let scratch = Scratch::new();
    let (mut process, address, mut reports) = supervised(&scratch);
    drop(process.0.stderr.take());
    annoy(&address);
    assert!(says_how_things_are(&mut process, &mut reports));
}

/// Whether the operating system still runs a process.
fn runs(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // What is left of one that nobody has asked for is not running.
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_node_does_not_outlive_its_supervisor_although_it_stands_still() {
    let scratch = Scratch::new();
    let node = command(&scratch, &["--supervised"]);
    // The shell is the supervisor; the node reads from a pipe that stays open.
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0; \"$@\" <&3 & echo $!; wait", "sh"]).arg(node.get_program());
    shell.args(node.get_args()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shell = Process(shell.spawn().expect("there is a shell"));
    let stdout = BufReader::new(shell.0.stdout.take().expect("it is piped"));
    let mut lines = stdout.lines().map(|line| line.expect("it is text"));
    let mut pid: Option<u32> = None;
    // The node has begun when it says where it listens.
    for line in lines.by_ref() {
        match line.parse() {
            Ok(number) => pid = Some(number),
            Err(_) => break,
        }
    }
    let pid = pid.expect("the shell says it");
    let stopped = Command::new("kill").args(["-STOP", &pid.to_string()]).status().expect("it can be sent");
    assert!(stopped.success() && runs(pid));
    shell.0.kill().expect("it can be killed");
    let deadline = Instant::now() + LONG;
    while runs(pid) {
        assert!(Instant::now() < deadline, "the node outlives its supervisor");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn a_request_that_is_taken_back_does_not_keep_the_lock() {
    let mut nodes = Vec::new();
    for id in 1..=2 {
        nodes.push(Node::start(Settings::new("coordinator", id, [1, 2])).await.expect("a node starts"));
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    let locks = nodes[0].locks().expect("it has locks");
    let held = timeout(LONG, locks.acquire("door")).await.expect("it is free").unwrap();
    for word in ["acquire", "release"] {
        let command = SupervisorCommand::Command { word: word.to_owned(), name: "door".to_owned() };
        nodes[1].supervisor().give_when_possible(command).await.expect("it lives");
    }
    drop(held);
    // Node 2 enters, as it has asked to, and leaves at once.
    timeout(LONG, async {
        while nodes[1].overview().await.unwrap().entries == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("its turn comes");
    timeout(LONG, locks.acquire("door")).await.expect("nobody is inside").unwrap();
}

/// What reads its terminal from the background is stopped by the kernel; a shell with job control puts `node
/// &` there.
#[test]
fn a_node_in_the_background_of_a_terminal_is_not_stopped_for_reading_it() {
    let scratch = Scratch::new();
    let node = command(&scratch, &[]);
    let words = std::iter::once(node.get_program()).chain(node.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
    let shell =
        format!("set -m; {} & read word; grep State: /proc/$!/status; kill $!; wait", words.join(" "));
    // Should it be stopped after all, it says nothing, and the test ends all the same.
    let mut terminal = Command::new("timeout");
    terminal
        .args(["60", "script", "--quiet", "--return", "--command", &shell, "/dev/null"])
        .env("SHELL", "/bin/sh");
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = Process(terminal.spawn().expect("script is part of every Debian"));
    let shown = BufReader::new(terminal.0.stdout.take().expect("it is piped"));
    let mut lines = shown.lines().map(|line| line.expect("it is text"));
    lines.find(|line| line.contains("cannot reach a peer")).expect("it has begun, and goes on");
    terminal.0.stdin.take().expect("it is piped").write_all(b"go\n").expect("the shell reads");
    let state = lines.find(|line| line.starts_with("State:")).expect("the shell was heard, not the node");
    assert!(!state.contains("T (stopped)"), "{state}");
}

/// What the node must store has its room on the disk from the beginning; a trace has not. (`ulimit -f` counts
/// in blocks of 512 or 1024 bytes: room for the stores either way.)
#[test]
fn a_trace_that_cannot_be_written_ends_and_the_node_goes_on() {
    let scratch = Scratch::new();
    let options = ["interval=5ms", "min-timeout=10ms", "max-timeout=20ms"];
    let flags: Vec<&str> = options.iter().flat_map(|option| ["-o", option]).chain(["--trace"]).collect();
    let node = command(&scratch, &flags);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$@\"", "sh"]).arg(node.get_program());
    shell.args(node.get_args()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = Process(shell.spawn().expect("there is a shell"));
    let log = BufReader::new(process.0.stderr.take().expect("it is piped"));
    let mut lines = log.lines().map(|line| line.expect("it is text"));
    lines.find(|line| line.contains("the trace cannot be written")).expect("it is said");
    process.0.stdin.take().expect("it is piped").write_all(b"stop\n").expect("it goes on and reads");
    assert!(lines.all(|line| !line.contains("ERROR")));
    assert_eq!(process.0.wait().expect("it stops").code(), Some(0), "it stops in good order");
}

/// A stranger chooses the name of the cluster that it asks for, and the log says that it was refused.
#[tokio::test]
async fn a_stranger_does_not_write_lines_of_its_own_into_the_log() {
    use habemus_node::transport::frame::{Challenge, Disk, Hello};

    let scratch = Scratch::new();
    let (mut process, address, _reports) = supervised(&scratch);
    let mut stream = tokio::net::TcpStream::connect(&address).await.expect("it listens");
    let challenge = read_piece(&mut stream).await.expect("a challenge");
    let Challenge { nonce } = Challenge::decode(&challenge).expect("a challenge");
    let cluster = "x\n2026-11-18T00:00:00.000000Z ERROR node{id=1}: forged\r\x1b[31m".to_owned();
    let (disk, system) = (Disk::default(), String::new());
    let hello = Hello { cluster, system, from: 2, to: 1, life: 1, nonce, disk };
    assert!(Peer::greet_with(stream, hello).await.is_some());
    let log = BufReader::new(process.0.stderr.take().expect("it is piped"));
    let mut lines = log.lines().map(|line| line.expect("it is text"));
    let line = lines.find(|line| line.contains("forged")).expect("it is refused, and that is said");
    assert!(line.contains("refused a connection") && line.contains("WARN"), "{line}");
    assert!(!line.contains(['\r', '\x1b']), "{line:?}");
}
