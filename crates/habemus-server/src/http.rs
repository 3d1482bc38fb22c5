//! Plain HTTP on the clients' port: whether the member is well, what it counts, and which version it speaks.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::routing::get;
use tonic::Status;

use crate::engine::View;
use crate::handle::{Freshness, Handle};
use crate::maintenance::VERSION;
use crate::metrics::{Gauges, Metrics};

const JSON: &str = "application/json";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

fn answer(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

fn health(is_well: bool) -> Response<Body> {
    let status = if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    answer(status, JSON, format!("{{\"health\":\"{is_well}\"}}\n"))
}

/// What nobody answers: a call in the way of gRPC, a page in the way of HTTP.
async fn unknown(headers: HeaderMap) -> Response<Body> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("application/grpc")) {
        return Status::unimplemented("etcdserver: not supported").into_http();
    }
    answer(
        StatusCode::NOT_FOUND,
        "text/plain",
        "there are /admin, /health, /ready, /metrics and /version, etcd's calls under /v3, and what \
            /v1/openapi.json tells\n"
            .to_owned(),
    )
}

/// The pages.
pub(crate) fn pages(handle: Handle, metrics: Metrics) -> Router {
    let (well, ready) = (handle.clone(), handle.clone());
    Router::new()
        .fallback(unknown)
        .route(
            "/metrics",
            get(async move || {
                match handle.look(Freshness::Local, |view: &View<'_>| Gauges::of(view)).await {
                    Ok(moment) => answer(StatusCode::OK, METRICS, metrics.text(&moment)),
                    Err(_) => answer(StatusCode::SERVICE_UNAVAILABLE, JSON, String::new()),
                }
            }),
        )
        // As in etcd: well is who can read what a majority confirms, and has room.
        .route(
            "/health",
            get(async move || {
                let look = |view: &View<'_>| !view.quota.is_full(view.store);
                health(well.look(Freshness::Linearizable, look).await.unwrap_or(false))
            }),
        )
        // Ready is who knows a leader, so that it can answer.
        .route(
            "/ready",
            get(async move || {
                let look = |view: &View<'_>| view.replica.role().leader.is_some();
                health(ready.look(Freshness::Local, look).await.unwrap_or(false))
            }),
        )
        .route(
            "/version",
            get(async || {
                let text = format!("{{\"etcdserver\":\"{VERSION}\",\"etcdcluster\":\"{VERSION}\"}}\n");
                answer(StatusCode::OK, JSON, text)
            }),
        )
}
