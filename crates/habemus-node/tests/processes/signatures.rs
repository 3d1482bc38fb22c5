//! Generals that sign with keys of their own, each a node that nobody supervises.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::bench::{LONG, Scratch, program};

/// Those that are still running when a test fails are not left behind.
struct Army(Vec<Child>);

impl Drop for Army {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn generals_with_keys_of_their_own_obey_their_commander() {
    let scratch = Scratch::new();
    let keys = scratch.path().join("keys");
    habemus_node::certs::make(&keys, &[1, 2, 3, 4], habemus_node::certs::Existing::Refuse)
        .expect("keys can be made");
    // Ports that were free a moment ago.
    let free = || TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("there are ports");
    let peers: Vec<String> = (1..=4).map(|id| format!("{id}={}", free())).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    let begin_at = (now + Duration::from_secs(4)).as_secs_f64();
    let mut army = Army(Vec::new());
    for id in 1..=4_u64 {
        let data = scratch.path().join(format!("node-{id}"));
        let mut child = Command::new(program())
            .args(["--id", &id.to_string(), "--peer", &peers.join(","), "--algorithm", "signed-generals"])
            .args([
                "--begin-at",
                &begin_at.to_string(),
                "--pulse",
                "500ms",
                "--trace",
                "--log",
                "warn",
                "--new",
            ])
            .arg("--keys")
            .arg(&keys)
            .arg("--data")
            .arg(&data)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a node starts");
        if id == 1 {
            let mut orders = child.stdin.take().expect("it is piped");
            orders.write_all(b"propose attack\n").expect("it listens");
        }
        army.0.push(child);
    }
    let decided = |id: u64| {
        let trace = scratch.path().join(format!("node-{id}")).join("trace.jsonl");
        std::fs::read_to_string(trace).is_ok_and(|text| text.contains("decides attack"))
    };
    let deadline = Instant::now() + LONG;
    while !(1..=4).all(decided) {
        assert!(Instant::now() < deadline, "not all have decided: {:?}", [1, 2, 3, 4].map(decided));
        std::thread::sleep(Duration::from_millis(50));
    }
}
