//! The HTTP endpoint of a node, for people and machines that look after it: it tells, and changes nothing.
//!
//! | path | answer |
//! |---|---|
//! | `/health` | `ok` as long as the node's process reacts, otherwise 503 |
//! | `/status` | everything, as JSON |
//! | `/leader` | the leader that this node knows, as JSON; 404 if it knows none |
//! | `/metrics` | counters for Prometheus |

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use crate::control::Overview;
use crate::election::Leadership;
use crate::engine::Ask;
use crate::lease::Lease;
use crate::transport::{Shared, Traffic};

/// A process that has not reacted for so long is not healthy.
const REACTION_LIMIT: Duration = Duration::from_secs(1);
/// Whoever asks has so long to send the request.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// Serves for ever.
pub(crate) async fn serve(
    socket: TcpListener,
    asks: mpsc::Sender<Ask>,
    leadership: Option<watch::Receiver<Leadership>>,
    endpoint: Shared,
) {
    // The node must be able to stop although this task could still ask.
    let asks = asks.downgrade();
    loop {
        let stream = match socket.accept().await {
            Ok((stream, _)) => stream,
            Err(why) => {
                warn!(%why, "cannot accept an HTTP connection");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (asks, leadership, endpoint) = (asks.clone(), leadership.clone(), Shared::clone(&endpoint));
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let (asks, leadership, endpoint) =
                    (asks.clone(), leadership.clone(), Shared::clone(&endpoint));
                async move { Ok::<_, Infallible>(answer(&request, asks, leadership, &endpoint).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_LIMIT)
                .serve_connection(TokioIo::new(stream), service);
            if let Err(why) = connection.await {
                debug!(%why, "an HTTP connection ended badly");
            }
        });
    }
}

async fn answer(
    request: &Request<Incoming>,
    asks: mpsc::WeakSender<Ask>,
    leadership: Option<watch::Receiver<Leadership>>,
    endpoint: &Shared,
) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n".to_owned());
    }
    let path = request.uri().path();
    if !["/", "/health", "/status", "/leader", "/metrics"].contains(&path) {
        let paths = "there are: /health, /status, /leader, /metrics\n".to_owned();
        return text(StatusCode::NOT_FOUND, "text/plain", paths);
    }
    if path == "/leader" {
        // This must be true on time, so the process, which may be late, is not asked.
        return leader(&leadership.map(|now| now.borrow().clone()).unwrap_or_default());
    }
    let Some(overview) = overview(asks).await else {
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
            text(StatusCode::OK, kind, metrics(&overview, &endpoint.traffic))
        }
        _ => {
            let json = serde_json::to_string_pretty(&overview).unwrap_or_default();
            text(StatusCode::OK, "application/json", json + "\n")
        }
    }
}

/// Who leads, and if it is this node, for how many milliseconds it can be sure of it; null: no time ends it.
fn leader(now: &Leadership) -> Response<Full<Bytes>> {
    let (known, leading) = (now.leader(), now.is_leading());
    let status = if known.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let mut leader = serde_json::json!({"leader": known, "term": now.term(), "leading": leading});
    if leading {
        let remaining = now.lease().and_then(Lease::remaining).map(|rest| rest.as_millis() as u64);
        leader["valid_for_ms"] = remaining.into();
    }
    text(status, "application/json", format!("{leader}\n"))
}

async fn overview(asks: mpsc::WeakSender<Ask>) -> Option<Overview> {
    let asks = asks.upgrade()?;
    let (to, overview) = oneshot::channel();
    let ask = async {
        asks.send(Ask::Overview(to)).await.ok()?;
        overview.await.ok()
    };
    timeout(REACTION_LIMIT, ask).await.ok()?
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
