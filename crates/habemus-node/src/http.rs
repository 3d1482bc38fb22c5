//! The HTTP endpoint of a node, for people and machines that look after it: it tells, and changes nothing.
//!
//! | path | answer |
//! |---|---|
//! | `/health` | `ok` as long as the node's process reacts, otherwise 503 |
//! | `/status` | everything, as JSON |
//! | `/leader` | the leader that this node knows, as JSON; 404 if it knows none |
//! | `/metrics` | counters for Prometheus |

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::fmt::Write;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{Span, debug, warn};

use crate::control::Overview;
use crate::election::Leadership;
use crate::engine::Ask;
use crate::lease::Lease;
use crate::transport::{Shared, Traffic};

/// A process that has not reacted for so long is not healthy.
const REACTION_LIMIT: Duration = Duration::from_secs(1);
/// Whoever asks has so long to send the head of the request.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// So many connections are open at most; for one more, the one that has been open longest is closed.
pub const MAX_HTTP_CONNECTIONS: usize = 64;

/// So many requests are answered in a second; to more of them the answer is that they are too many.
pub const MAX_HTTP_REQUESTS: u32 = 1000;

/// The head of a request has at most so many bytes.
pub const MAX_HTTP_HEAD: usize = 16 * 1024;

/// What is not acknowledged or not read for so long breaks the connection.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// The process is asked no more often than this, however many ask.
const ASK_INTERVAL: Duration = Duration::from_millis(5);

/// A thread that serves as long as this lives. It has a budget of its own: whatever comes over HTTP, the
/// process of the node is asked only so often, and its timers and its peers come before.
#[derive(Debug)]
pub(crate) struct Server(#[allow(dead_code, reason = "its end is what counts")] oneshot::Sender<()>);

/// Begins to serve what `asks` answers. `host` is where it was told to listen, as it was told.
pub(crate) fn start(
    socket: TcpListener,
    host: &str,
    asks: &mpsc::Sender<Ask>,
    leadership: Option<watch::Receiver<Leadership>>,
    addresses: BTreeMap<u64, String>,
    endpoint: Shared,
) -> std::io::Result<Server> {
    let socket = socket.into_std()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let desk = Arc::new(Desk::new(host, asks.downgrade(), leadership, addresses, endpoint));
    let span = Span::current();
    std::thread::Builder::new().name("habemus-http".to_owned()).spawn(move || {
        let _entered = span.enter();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(why) => return warn!(%why, "cannot serve HTTP"),
        };
        runtime.block_on(async {
            tokio::select! {
                _ = stopped => {}
                result = serve(socket, desk) => if let Err(why) = result {
                    warn!(%why, "cannot serve HTTP");
                },
            }
        });
    })?;
    Ok(Server(stop))
}

async fn serve(socket: std::net::TcpListener, desk: Arc<Desk>) -> std::io::Result<()> {
    let socket = TcpListener::from_std(socket)?;
    let (mut connections, mut open) = (JoinSet::new(), VecDeque::<AbortHandle>::new());
    loop {
        let stream = tokio::select! {
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(why) => {
                    warn!(%why, "cannot accept an HTTP connection");
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            Some(_) = connections.join_next() => continue,
        };
        let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, WRITE_LIMIT.as_millis() as u32);
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MAX_HTTP_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let desk = Arc::clone(&desk);
        open.push_back(connections.spawn(async move {
            let service = service_fn(move |request| {
                let desk = Arc::clone(&desk);
                async move { Ok::<_, Infallible>(desk.answer(&request).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_LIMIT)
                .max_buf_size(MAX_HTTP_HEAD)
                .serve_connection(TokioIo::new(stream), service);
            if let Err(why) = connection.await {
                debug!(%why, "an HTTP connection ended badly");
            }
        }));
    }
}

/// Answers questions, out of a budget.
struct Desk {
    /// The name under which it may be addressed, besides numbers and localhost: a page of another name that a
    /// browser is told to find here may not look.
    name: String,
    asks: mpsc::WeakSender<Ask>,
    /// Who leads, as the node was told: it is true on time, although the process may be late.
    leadership: Option<watch::Receiver<Leadership>>,
    /// Where nodes hear each other.
    addresses: BTreeMap<u64, String>,
    endpoint: Shared,
    /// Since when requests are counted, and how many there were.
    budget: std::sync::Mutex<(Instant, u32)>,
    /// The last answer, and when it was asked for.
    last: Mutex<Option<(Instant, Overview)>>,
}

impl Desk {
    fn new(
        host: &str,
        asks: mpsc::WeakSender<Ask>,
        leadership: Option<watch::Receiver<Leadership>>,
        addresses: BTreeMap<u64, String>,
        endpoint: Shared,
    ) -> Self {
        let name = without_port(host).to_ascii_lowercase();
        let budget = std::sync::Mutex::new((Instant::now(), 0));
        Desk { name, asks, leadership, addresses, endpoint, budget, last: Mutex::new(None) }
    }

    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if let Err(refusal) = self.admit(request) {
            return *refusal;
        }
        let path = request.uri().path();
        if path == "/leader" {
            // This must be true on time, so the process, which may be late, is not asked.
            let now = self.leadership.as_ref().map(|now| now.borrow().clone()).unwrap_or_default();
            return leader(&now, &self.addresses);
        }
        let Some(overview) = self.overview().await else {
            return text(
                StatusCode::SERVICE_UNAVAILABLE,
                "text/plain",
                "the process does not react\n".to_owned(),
            );
        };
        match path {
            "/health" => text(StatusCode::OK, "text/plain", "ok\n".to_owned()),
            "/metrics" => {
                let kind = "text/plain; version=0.0.4; charset=utf-8";
                text(StatusCode::OK, kind, metrics(&overview, &self.endpoint.traffic))
            }
            _ => {
                let json = serde_json::to_string_pretty(&overview).unwrap_or_default();
                text(StatusCode::OK, "application/json", json + "\n")
            }
        }
    }

    /// Whether the request makes sense and there is budget for it; what to say if not.
    fn admit(&self, request: &Request<Incoming>) -> Result<(), Box<Response<Full<Bytes>>>> {
        let refuse = |status, why: &str| Err(Box::new(text(status, "text/plain", format!("{why}\n"))));
        if !self.spend(Instant::now()) {
            return refuse(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        }
        if !self.is_meant(request) {
            return refuse(StatusCode::MISDIRECTED_REQUEST, "this is not the host that was asked for");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET");
        }
        if request.body().size_hint().lower() > 0 {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "a question needs no body");
        }
        if !["/", "/health", "/status", "/leader", "/metrics"].contains(&request.uri().path()) {
            return refuse(StatusCode::NOT_FOUND, "there are: /health, /status, /leader, /metrics");
        }
        Ok(())
    }

    /// Takes one request out of the budget of this second, if there is one left.
    fn spend(&self, now: Instant) -> bool {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(budget.0) >= Duration::from_secs(1) {
            *budget = (now, 0);
        }
        budget.1 = budget.1.saturating_add(1);
        budget.1 <= MAX_HTTP_REQUESTS
    }

    /// Whether the request is for this host.
    fn is_meant(&self, request: &Request<Incoming>) -> bool {
        let header = request.headers().get(hyper::header::HOST).and_then(|host| host.to_str().ok());
        header.is_some_and(|host| is_host(host, &self.name))
    }

    /// How things are at a moment after this was called. Those who ask while the process is asked wait for
    /// the next answer, all for the same one.
    async fn overview(&self) -> Option<Overview> {
        let called = Instant::now();
        let mut last = self.last.lock().await;
        if let Some((asked, overview)) = &*last
            && *asked >= called
        {
            return Some(overview.clone());
        }
        if let Some((asked, _)) = &*last {
            sleep_until(*asked + ASK_INTERVAL).await;
        }
        let (asked, asks) = (Instant::now(), self.asks.upgrade()?);
        let (to, overview) = oneshot::channel();
        let ask = async {
            asks.send(Ask::Overview(to)).await.ok()?;
            overview.await.ok()
        };
        let overview = timeout(REACTION_LIMIT, ask).await.ok()??;
        *last = Some((asked, overview.clone()));
        Some(overview)
    }
}

/// Who leads, and where it hears the others; if it is this node, for how many milliseconds it can be sure of
/// it; null: no time ends it.
fn leader(now: &Leadership, addresses: &BTreeMap<u64, String>) -> Response<Full<Bytes>> {
    let (known, leading) = (now.leader(), now.is_leading());
    let status = if known.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let address = known.and_then(|id| addresses.get(&id));
    let mut leader =
        serde_json::json!({"leader": known, "address": address, "term": now.term(), "leading": leading});
    if leading {
        let remaining = now.lease().and_then(Lease::remaining).map(|rest| rest.as_millis() as u64);
        leader["valid_for_ms"] = remaining.into();
    }
    text(status, "application/json", format!("{leader}\n"))
}

/// What stands before the port, if there is one.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether a request for `host` is meant for one that is called `name`, or is asked for by number.
fn is_host(host: &str, name: &str) -> bool {
    let host = without_port(host);
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    number.is_ok() || host.eq_ignore_ascii_case("localhost") || host.eq_ignore_ascii_case(name)
}

fn text(status: StatusCode, kind: &str, body: String) -> Response<Full<Bytes>> {
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(Full::from(body)).expect("the header is well formed")
}

/// The text format of Prometheus: a help line, a type line, and a line per series.
fn metrics(overview: &Overview, traffic: &Traffic) -> String {
    let mut page = String::new();
    let mut family = |name: &str, kind: &str, help: &str, series: &[(String, u64)]| {
        let _ = write!(page, "# HELP habemus_{name} {help}\n# TYPE habemus_{name} {kind}\n");
        for (labels, value) in series {
            let _ = writeln!(page, "habemus_{name}{labels} {value}");
        }
    };
    let plain = |value: u64| vec![(String::new(), value)];
    let read = |counter: &std::sync::atomic::AtomicU64| plain(counter.load(Ordering::Relaxed));
    family(
        "leading",
        "gauge",
        "1 if this node leads.",
        &plain((overview.leader == Some(overview.id)).into()),
    );
    let has_leader = plain(overview.leader.is_some().into());
    family("has_leader", "gauge", "1 if this node knows a leader.", &has_leader);
    family("term", "gauge", "The term of the leadership, 0 if there is none.", &plain(overview.term));
    let connected = plain(overview.connected.len() as u64);
    family("peers_connected", "gauge", "Peers this node has a connection to.", &connected);
    let suspected = plain(overview.suspected.len() as u64);
    family("peers_suspected", "gauge", "Peers that the failure detector suspects.", &suspected);
    let sent: Vec<(String, u64)> =
        overview.sent.iter().map(|(kind, count)| (format!("{{kind=\"{kind}\"}}"), *count)).collect();
    family("messages_sent_total", "counter", "Messages that the algorithm sent, by kind.", &sent);
    family(
        "messages_received_total",
        "counter",
        "Messages that the algorithm received.",
        &plain(overview.received),
    );
    family("entries_total", "counter", "Entries into critical sections.", &plain(overview.entries));
    family("frames_sent_total", "counter", "Frames written to connections.", &read(&traffic.sent));
    family("bytes_sent_total", "counter", "Bytes written to connections.", &read(&traffic.sent_bytes));
    family("frames_received_total", "counter", "Frames read from connections.", &read(&traffic.received));
    family("bytes_received_total", "counter", "Bytes read from connections.", &read(&traffic.received_bytes));
    family("frames_dropped_total", "counter", "Frames for which there was no room.", &read(&traffic.dropped));
    family(
        "disconnections_total",
        "counter",
        "Connections to peers that broke.",
        &read(&traffic.reconnections),
    );
    family("refusals_total", "counter", "Connections refused or broken off.", &read(&traffic.refused));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    use habemus::{ProblemKind, Status};

    use crate::transport::Endpoint;

    fn overview() -> Overview {
        Overview {
            id: 1,
            cluster: String::new(),
            algorithm: String::new(),
            problem: ProblemKind::Election,
            started: true,
            status: Status::Idle,
            leader: None,
            term: 0,
            locks: BTreeMap::new(),
            connected: Vec::new(),
            suspected: Vec::new(),
            pending: 0,
            sent: BTreeMap::new(),
            received: 0,
            entries: 0,
        }
    }

    fn desk(asks: &mpsc::Sender<Ask>) -> Arc<Desk> {
        let endpoint = Arc::new(Endpoint::of_a_test());
        Arc::new(Desk::new("node.example:80", asks.downgrade(), None, BTreeMap::new(), endpoint))
    }

    #[tokio::test]
    async fn however_many_ask_at_once_the_process_is_asked_once_or_twice() {
        let (asks, mut asked) = mpsc::channel(8);
        let desk = desk(&asks);
        let engine = tokio::spawn(async move {
            let mut count = 0;
            while let Some(Ask::Overview(to)) = asked.recv().await {
                count += 1;
                let _ = to.send(overview());
            }
            count
        });
        let mut questions = JoinSet::new();
        for _ in 0..1000 {
            let desk = Arc::clone(&desk);
            questions.spawn(async move { desk.overview().await.is_some() });
        }
        assert!(questions.join_all().await.into_iter().all(|answered| answered));
        drop((desk, asks));
        let count = engine.await.expect("it does not panic");
        assert!((1..=2).contains(&count), "the process was asked {count} times");
    }

    #[test]
    fn there_is_a_budget_for_every_second() {
        let desk = desk(&mpsc::channel(1).0);
        for second in 0..2 {
            let now = Instant::now() + Duration::from_secs(10 * second);
            let granted = (0..3 * MAX_HTTP_REQUESTS).filter(|_| desk.spend(now)).count();
            assert_eq!(granted, MAX_HTTP_REQUESTS as usize);
        }
    }

    #[test]
    fn a_request_is_for_a_number_for_localhost_or_for_the_name_that_was_given() {
        for host in ["127.0.0.1:80", "127.0.0.1", "[::1]:8103", "localhost", "LocalHost:1", "node.example:9"]
        {
            assert!(is_host(host, "node.example"), "{host}");
        }
        for host in ["", "x", "elsewhere.example", "localhost.elsewhere.example:80", "node.example.x"] {
            assert!(!is_host(host, "node.example"), "{host}");
        }
    }
}
