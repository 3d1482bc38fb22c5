//! A leader that stood still for longer than its lease, and is asked as soon as it goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use habemus_node::cluster::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::Instant;

use crate::bench::{LONG, Scratch, cluster, until};

/// How often it is tried, unless `HABEMUS_PAUSES` says otherwise.
const ROUNDS: u32 = 3;

fn rounds() -> u32 {
    std::env::var("HABEMUS_PAUSES").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

/// A connection that stays open.
pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) fn open(cluster: &Cluster, id: u64) -> Connection {
        let stream = TcpStream::connect(cluster.http(id).expect("it serves")).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout is possible");
        Connection(stream)
    }

    pub(crate) fn ask(&mut self) {
        self.0.write_all(b"GET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("it reads");
    }

    /// Whether the node says that it leads, and in which term.
    pub(crate) fn answer(&mut self) -> (bool, u64) {
        let mut text = Vec::new();
        // The body is one line of JSON, and nothing else on the page ends in this way.
        while !text.ends_with(b"}\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("it answers");
            text.push(byte[0]);
        }
        let begin = text.iter().position(|byte| *byte == b'{').expect("there is a body");
        let body: serde_json::Value = serde_json::from_slice(&text[begin..]).expect("it is JSON");
        (body["leading"] == true, body["term"].as_u64().unwrap_or_default())
    }
}

fn signal(cluster: &Cluster, id: u64, signal: Signal) {
    let pid = cluster.pid(id).and_then(|pid| Pid::from_raw(pid as i32)).expect("it lives");
    kill_process(pid, signal).expect("it can be signalled");
}

/// A node that says itself that it leads, whatever was reported of it before.
async fn one_that_leads(cluster: &mut Cluster) -> (u64, Connection, u64) {
    loop {
        until(cluster, "all agree", |it| it.agreed_leader().is_some()).await;
        let leader = cluster.agreed_leader().expect("all agree");
        let mut connection = Connection::open(cluster, leader);
        connection.ask();
        if let (true, term) = connection.answer() {
            return (leader, connection, term);
        }
        // It was deposed, and the news is under way.
        let soon = Instant::now() + Duration::from_millis(50);
        while cluster.attend(soon).await.expect("nobody ends").is_some() {}
    }
}

#[tokio::test]
async fn nobody_who_asks_a_resumed_leader_is_told_that_it_leads_after_its_lease() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "majority", 3, &["--http", "127.0.0.1:0"]).await;
    let (mut asked, mut wrong) = (0, 0);
    for round in 0..rounds() {
        let (leader, mut connection, term) = one_that_leads(&mut cluster).await;
        signal(&cluster, leader, Signal::STOP);
        // The lease is 150 ms; so long nobody can know from outside that it is stopped.
        tokio::time::sleep(Duration::from_millis(300)).await;
        // The question lies there when it goes on.
        connection.ask();
        signal(&cluster, leader, Signal::CONT);
        let (leads, now) = connection.answer();
        asked += 1;
        if leads && now == term {
            wrong += 1;
            eprintln!("round {round}: node {leader} still leads term {term}");
        }
    }
    assert_eq!(wrong, 0, "wrong answers of {asked}");
    eprintln!("{asked} rounds, {wrong} wrong answers");
    cluster.end().await;
}
