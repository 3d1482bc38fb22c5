//! Streams of the JSON gateway, line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http::ask;
use crate::support::{Directory, PATIENCE, Running};

/// `a` and `1`, as JSON has bytes.
const A: &str = "YQ==";
const ONE: &str = "MQ==";

/// An answer that goes on.
struct Following {
    stream: BufReader<TcpStream>,
    /// What has come and is no whole line yet.
    text: Vec<u8>,
}

impl Following {
    fn start(member: &Running, path: &str, body: &Value) -> Following {
        let (address, body) = (member.address(), body.to_string());
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + &body).as_bytes()).expect("it reads");
        let mut following = Following { stream: BufReader::new(stream), text: Vec::new() };
        assert!(following.head_line().starts_with("HTTP/1.1 200 "));
        while !following.head_line().is_empty() {}
        following
    }

    /// A line of the head, or one that says how long the next chunk is.
    fn head_line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("it answers in time");
        line.trim_end().to_owned()
    }

    /// The next line, however it is cut into chunks; `None` when there is none any more.
    fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("a line is an object"));
            }
            let length = usize::from_str_radix(&self.head_line(), 16).expect("a chunk has a length");
            if length == 0 {
                assert!(self.text.is_empty(), "the last line has no end");
                return None;
            }
            let mut chunk = vec![0; length + 2];
            self.stream.read_exact(&mut chunk).expect("it comes in time");
            self.text.extend_from_slice(&chunk[..length]);
        }
    }

    fn result(&mut self) -> Value {
        let mut line = self.next().expect("there is one more");
        assert!(line.get("error").is_none(), "{line}");
        line["result"].take()
    }
}

fn member() -> (Directory, Running) {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    (directory, member)
}

fn post(member: &Running, path: &str, body: &Value) -> Value {
    let (status, text) = ask(member, "POST", path, &body.to_string());
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).expect("an answer is an object")
}

#[test]
fn a_watch_tells_of_every_change_in_a_line() {
    let (_directory, member) = member();
    post(&member, "/v3/kv/put", &json!({ "key": A, "value": ONE }));
    let create = json!({ "create_request": { "key": A, "start_revision": "2", "prev_kv": true } });
    let mut following = Following::start(&member, "/v3/watch", &create);
    assert_eq!(following.result()["created"], json!(true));
    let past = following.result();
    assert_eq!(past["events"][0]["kv"]["value"], json!(ONE), "{past}");
    post(&member, "/v3/kv/deleterange", &json!({ "key": A }));
    let now = following.result();
    assert_eq!(now["events"][0]["type"], json!("DELETE"), "{now}");
    assert_eq!(now["events"][0]["prev_kv"]["value"], json!(ONE), "{now}");
    assert_eq!(now["header"]["revision"], json!("3"), "{now}");
}

#[test]
fn an_election_is_observed_and_a_session_renewed_in_lines() {
    let (_directory, member) = member();
    let lease = post(&member, "/v3/lease/grant", &json!({ "TTL": "60" }))["ID"].clone();
    let mut renewal = Following::start(&member, "/v3/lease/keepalive", &json!({ "ID": lease }));
    assert_eq!(renewal.result()["TTL"], json!("60"));

    let mut following = Following::start(&member, "/v3/election/observe", &json!({ "name": A }));
    let campaign = json!({ "name": A, "lease": lease, "value": ONE });
    let leader = post(&member, "/v3/election/campaign", &campaign)["leader"].clone();
    let seen = following.result();
    assert_eq!((&seen["kv"]["value"], &seen["kv"]["key"]), (&json!(ONE), &leader["key"]), "{seen}");
}

#[test]
fn a_snapshot_comes_in_lines_and_has_an_end() {
    let (_directory, member) = member();
    post(&member, "/v3/kv/put", &json!({ "key": A, "value": ONE }));
    let mut following = Following::start(&member, "/v3/maintenance/snapshot", &json!({}));
    let mut lines = Vec::new();
    while let Some(line) = following.next() {
        lines.push(line);
    }
    let last = lines.last().expect("there is something to save");
    assert!(lines.iter().all(|line| line["result"]["blob"].as_str().is_some_and(|blob| !blob.is_empty())));
    // What is nothing is left out, as in etcd's answers.
    assert_eq!(last["result"].get("remaining_bytes"), None, "{last}");
}

#[test]
fn a_watch_of_what_was_compacted_is_canceled_and_says_since_when() {
    let (_directory, member) = member();
    for _ in 0..3 {
        post(&member, "/v3/kv/put", &json!({ "key": A, "value": ONE }));
    }
    post(&member, "/v3/kv/compaction", &json!({ "revision": "3" }));
    let create = json!({ "create_request": { "key": A, "start_revision": "1" } });
    let mut following = Following::start(&member, "/v3/watch", &create);
    let answers = [following.result(), following.result()];
    let refused = answers.iter().find(|answer| answer["canceled"] == json!(true)).expect("it is canceled");
    assert_eq!(refused["compact_revision"], json!("3"), "{refused}");
}
