//! Whether the member is well, and what it counts, by plain HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Directory, Running, put};

/// The status and the body of a page.
fn page(member: &Running, path: &str) -> (u16, String) {
    ask(member, "GET", path, "")
}

/// The status and the body of an answer.
pub(crate) fn ask(member: &Running, method: &str, path: &str, body: &str) -> (u16, String) {
    ask_with(member, member.address(), "", method, path, body)
}

/// The same, with a token.
pub(crate) fn ask_as(member: &Running, token: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    ask_with(member, member.address(), &format!("Authorization: {token}\r\n"), method, path, body)
}

/// The same, as a member of this name, and with more headers.
pub(crate) fn ask_with(
    member: &Running,
    host: &str,
    header: &str,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, String) {
    let length = body.len();
    let mut stream = TcpStream::connect(member.address()).expect("it listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{header}Connection: close\r\nContent-Length: \
            {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("there is a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("there is a status");
    (status, body.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_says_whether_it_is_well_and_what_it_counts() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &["--quota", "10000"]);
    assert_eq!(page(&member, "/health"), (200, "{\"health\":\"true\"}\n".to_owned()));
    assert_eq!(page(&member, "/ready").0, 200);
    assert!(page(&member, "/version").1.contains("\"etcdserver\":\"3.4.0\""));
    assert_eq!(page(&member, "/nothing").0, 404);
    let channel = member.channel().await;
    put(&channel, "a", &"x".repeat(10_000)).await.expect("there is room");
    put(&channel, "b", "1").await.expect_err("there is none");
    assert_eq!(page(&member, "/health"), (503, "{\"health\":\"false\"}\n".to_owned()));
    let metrics = page(&member, "/metrics").1;
    for line in [
        "habemus_is_leader 1",
        "habemus_revision 2",
        "habemus_leader_changes_total 1",
        "habemus_proposals_total 2",
        "habemus_refused_total 1",
        "habemus_quota_bytes 10000",
    ] {
        assert!(metrics.lines().any(|told| told == line), "{line} is not in\n{metrics}");
    }
    assert!(metrics.contains("habemus_write_seconds_bucket"), "{metrics}");
    // Who is to be woken by a name that does not exist sleeps well.
    let told: Vec<&str> = metrics.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let rules = include_str!("../../../../docs/operations.md");
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let words = rules.split(|letter| !is_part(letter)).filter(|word| word.len() > "habemus_".len());
    let named: Vec<&str> = words.filter(|word| word.starts_with("habemus_")).collect();
    assert!(named.len() >= 8, "{named:?}");
    let unknown: Vec<&&str> = named.iter().filter(|name| !told.contains(name)).collect();
    assert!(unknown.is_empty(), "docs/operations.md names {unknown:?}, which are not in\n{metrics}");
}
