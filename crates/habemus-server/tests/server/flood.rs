//! Floods against a real cluster: whoever asks for more than can be done is slow or refused itself, and
//! neither deposes the leader nor ends the sessions of others.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use habemus_etcd::etcdserverpb::watch_request::RequestUnion;
use habemus_etcd::etcdserverpb::{LeaseKeepAliveRequest, WatchCreateRequest, WatchRequest};
use habemus_etcd::v3lockpb::LockRequest;
use habemus_etcd::v3lockpb::lock_client::LockClient;
use tokio_stream::StreamExt;
use tonic::transport::Channel;

use crate::cluster::Trio;
use crate::support::{PATIENCE, channel, lease, put};

/// How long a flood lasts. Many times what a leader may be silent for.
const TIME: Duration = Duration::from_secs(2);

/// So much is answered, at least, before a flood is one.
const ENOUGH: u64 = 500;

/// Machines that do other work, too, may starve a leader by themselves; but not each time.
const ROUNDS: usize = 5;

/// A flood that goes on until it is to stop, and counts what was answered.
#[derive(Clone, Default)]
struct Flood {
    over: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
}

impl Flood {
    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    fn count(&self, is_answer: bool) {
        self.answered.fetch_add(u64::from(is_answer), Ordering::Relaxed);
    }

    /// Writes, one after the other.
    async fn writes(self, channel: Channel, key: String, length: usize) {
        let value = "x".repeat(length);
        while self.goes_on() {
            self.count(put(&channel, &key, &value).await.is_ok());
        }
    }

    /// Stands in a queue, and runs away.
    async fn locks(self, channel: Channel) {
        while self.goes_on() {
            let request = LockRequest { name: "flooded".into(), lease: 0 };
            let mut client = LockClient::new(channel.clone());
            self.count(tokio::time::timeout(Duration::from_millis(50), client.lock(request)).await.is_ok());
        }
    }

    /// Watches everything, and never listens.
    async fn watches(self, channel: Channel) {
        let mut open = Vec::new();
        while self.goes_on() {
            let create = WatchCreateRequest { key: "a".into(), range_end: "z".into(), ..Default::default() };
            let request = WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) };
            let requests = tokio_stream::iter([request]).chain(tokio_stream::pending());
            let opened = WatchClient::new(channel.clone()).watch(requests).await;
            self.count(opened.is_ok());
            open.extend(opened.ok());
        }
    }
}

/// Connections that never come to their point.
fn dawdle(flood: &Flood, address: &str) {
    let mut open: Vec<TcpStream> = (0..100).filter_map(|_| TcpStream::connect(address).ok()).collect();
    while flood.goes_on() {
        open.retain_mut(|stream| stream.write_all(b"P").is_ok());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Floods these members for a while, from threads that come last when there is too little of the machine;
/// says how much was answered.
fn flood(addresses: &[String]) -> u64 {
    let flood = Flood::default();
    // If it cannot be lowered, they compete.
    let lower = || _ = rustix::process::nice(19);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_thread_start(lower)
        .build()
        .expect("threads can be started");
    for address in addresses {
        let (slow, address) = (flood.clone(), address.clone());
        std::thread::spawn(move || dawdle(&slow, &address));
    }
    for address in addresses {
        let (flood, address) = (flood.clone(), address.clone());
        runtime.spawn(async move {
            let one = channel(&address).await;
            for number in 0..256 {
                let key = format!("one-{number}");
                tokio::spawn(flood.clone().writes(one.clone(), key, 100));
                tokio::spawn(flood.clone().locks(one.clone()));
            }
            tokio::spawn(flood.clone().watches(one.clone()));
            for number in 0..50 {
                let own = channel(&address).await;
                tokio::spawn(flood.clone().writes(own, format!("many-{number}"), 100));
            }
            let wide = channel(&address).await;
            for number in 0..2 {
                // One that is taken, and one that is too long.
                let length = if number == 0 { 200_000 } else { 3_000_000 };
                tokio::spawn(flood.clone().writes(wide.clone(), format!("wide-{number}"), length));
            }
        });
    }
    let begun = Instant::now();
    while begun.elapsed() < TIME || (flood.answered() < ENOUGH && begun.elapsed() < PATIENCE) {
        std::thread::sleep(Duration::from_millis(20));
    }
    flood.over.store(true, Ordering::Relaxed);
    runtime.shutdown_timeout(Duration::from_secs(5));
    flood.answered()
}

/// Renews a session four times a second until it is told to stop; whatever it is answered, the session must
/// be alive.
async fn renew(channel: Channel, id: i64, over: Arc<AtomicBool>) -> usize {
    let mut renewed = 0;
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let requests = tokio_stream::iter([LeaseKeepAliveRequest { id }]);
        if let Ok(answers) = LeaseClient::new(channel.clone()).lease_keep_alive(requests).await
            && let Some(Ok(answer)) = answers.into_inner().next().await
        {
            assert!(answer.ttl > 0, "the session has ended, which was renewed {renewed} times");
            renewed += 1;
        }
        tokio::time::sleep(Duration::from_millis(250).saturating_sub(begun.elapsed())).await;
    }
    renewed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_deposes_nobody_and_ends_no_session() {
    let trio = Trio::start_with(&["--quota", "200000000"]);
    trio.leader().await;
    for round in 1..=ROUNDS {
        let leader = trio.leader().await;
        let term = trio.status(leader).await.raft_term;
        let over = Arc::new(AtomicBool::new(false));
        let mut sessions = Vec::new();
        for index in 0..3 {
            let channel = trio.member(index).channel().await;
            let id = lease(&channel, 5).await;
            sessions.push(tokio::spawn(renew(channel, id, Arc::clone(&over))));
        }
        let addresses = [leader, (leader + 1) % 3].map(|index| trio.member(index).address().to_owned());
        let answered =
            tokio::task::spawn_blocking(move || flood(&addresses)).await.expect("it does not panic");
        assert!(answered >= ENOUGH, "it is no flood");
        let now = trio.status(leader).await.raft_term;
        over.store(true, Ordering::Relaxed);
        for session in sessions {
            assert!(session.await.expect("no session has ended") > 0, "nobody could renew anything");
        }
        if now == term {
            return;
        }
        eprintln!("round {round}: another leads after {answered} answers");
    }
    panic!("each flood has deposed the leader");
}
