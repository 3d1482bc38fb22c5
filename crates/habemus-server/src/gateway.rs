//! etcd's gateway: the same calls in JSON, by plain HTTP, on the same port.
//!
//! Bytes are written in base64, numbers of sixty-four bits as texts, and what is zero is left out. A stream
//! is a line for each message. The messages' JSON follows from their descriptions (`habemus-etcd`), and each
//! call goes to the same function as by gRPC.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::routing::post;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::stream::{Stream, StreamExt, unfold};
use habemus_etcd::etcdserverpb::auth_server::Auth as _;
use habemus_etcd::etcdserverpb::cluster_server::Cluster as _;
use habemus_etcd::etcdserverpb::kv_server::Kv as _;
use habemus_etcd::etcdserverpb::lease_server::Lease as _;
use habemus_etcd::etcdserverpb::maintenance_server::Maintenance as _;
use habemus_etcd::v3electionpb::election_server::Election as _;
use habemus_etcd::v3lockpb::lock_server::Lock as _;
use habemus_store::Author;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::{Code, Status};

use crate::auth::Auth;
use crate::cluster::Cluster;
use crate::election::Election;
use crate::handle::Handle;
use crate::kv::Kv;
use crate::lease::{self, Lease};
use crate::lock::Lock;
use crate::maintenance::Maintenance;
use crate::watch;

/// What is sent at once is no longer than this: a request of the longest, in base64.
const MAX_BODY: usize = 3 << 20;

/// How long a client may take to send it.
const PATIENCE: Duration = Duration::from_secs(30);

const JSON: &str = "application/json";

/// All calls.
pub(crate) fn calls(handle: &Handle, peers_have_tls: bool) -> Router {
    let mut router = Router::new();
    macro_rules! serve {
        ($service:expr, $($path:literal $method:ident,)*) => {{
            let service = Arc::new($service);
            $({
                let service = Arc::clone(&service);
                let method = move |it| async move { service.$method(it).await };
                let call = move |request: Request| unary(request, method);
                router = router.route($path, post(call).fallback(not_allowed));
            })*
        }};
    }
    let handle = || handle.clone();
    serve!(
        Kv(handle()),
        "/v3/kv/range" range,
        "/v3/kv/put" put,
        "/v3/kv/deleterange" delete_range,
        "/v3/kv/txn" txn,
        "/v3/kv/compaction" compact,
    );
    serve!(
        Lease(handle()),
        "/v3/lease/grant" lease_grant,
        "/v3/lease/revoke" lease_revoke,
        "/v3/kv/lease/revoke" lease_revoke,
        "/v3/lease/timetolive" lease_time_to_live,
        "/v3/kv/lease/timetolive" lease_time_to_live,
        "/v3/lease/leases" lease_leases,
        "/v3/kv/lease/leases" lease_leases,
    );
    serve!(Lock(handle()), "/v3/lock/lock" lock, "/v3/lock/unlock" unlock,);
    serve!(
        Election(handle()),
        "/v3/election/campaign" campaign,
        "/v3/election/proclaim" proclaim,
        "/v3/election/leader" leader,
        "/v3/election/resign" resign,
    );
    serve!(
        Cluster { handle: handle(), peers_have_tls },
        "/v3/cluster/member/add" member_add,
        "/v3/cluster/member/remove" member_remove,
        "/v3/cluster/member/update" member_update,
        "/v3/cluster/member/list" member_list,
        "/v3/cluster/member/promote" member_promote,
    );
    serve!(
        Maintenance(handle()),
        "/v3/maintenance/alarm" alarm,
        "/v3/maintenance/status" status,
        "/v3/maintenance/defragment" defragment,
        "/v3/maintenance/hash" hash_kv,
        "/v3/maintenance/transfer-leadership" move_leader,
    );
    serve!(
        Auth(handle()),
        "/v3/auth/enable" auth_enable,
        "/v3/auth/disable" auth_disable,
        "/v3/auth/status" auth_status,
        "/v3/auth/authenticate" authenticate,
        "/v3/auth/user/add" user_add,
        "/v3/auth/user/get" user_get,
        "/v3/auth/user/list" user_list,
        "/v3/auth/user/delete" user_delete,
        "/v3/auth/user/changepw" user_change_password,
        "/v3/auth/user/grant" user_grant_role,
        "/v3/auth/user/revoke" user_revoke_role,
        "/v3/auth/role/add" role_add,
        "/v3/auth/role/get" role_get,
        "/v3/auth/role/list" role_list,
        "/v3/auth/role/delete" role_delete,
        "/v3/auth/role/grant" role_grant_permission,
        "/v3/auth/role/revoke" role_revoke_permission,
    );
    router.merge(streams(&handle()))
}

/// Calls that are answered by streams.
fn streams(handle: &Handle) -> Router {
    let (watched, renewed) = (handle.clone(), handle.clone());
    let (observed, saved) = (Arc::new(Election(handle.clone())), Arc::new(Maintenance(handle.clone())));
    let watch = async move |request: Request| {
        let (handle, messages) = incoming(&watched, request);
        lines(watch::watch(handle, messages))
    };
    let renew = async move |request: Request| {
        let (handle, messages) = incoming(&renewed, request);
        lines(lease::renew_all(handle, messages))
    };
    let observe =
        move |request: Request| stream(request, move |it| async move { observed.observe(it).await });
    let save = move |request: Request| stream(request, move |it| async move { saved.snapshot(it).await });
    Router::new()
        .route("/v3/watch", post(watch).fallback(not_allowed))
        .route("/v3/lease/keepalive", post(renew).fallback(not_allowed))
        .route("/v3/election/observe", post(observe).fallback(not_allowed))
        .route("/v3/maintenance/snapshot", post(save).fallback(not_allowed))
}

async fn not_allowed() -> Response<Body> {
    refusal(StatusCode::METHOD_NOT_ALLOWED, &Status::unimplemented("Method Not Allowed"))
}

/// The message that a client has sent; nothing counts as an empty one.
async fn message<Q: DeserializeOwned>(request: Request) -> Result<tonic::Request<Q>, Status> {
    let (parts, body) = request.into_parts();
    let body = tokio::time::timeout(PATIENCE, axum::body::to_bytes(body, MAX_BODY)).await;
    let body = body.map_err(|_| Status::deadline_exceeded("the request does not come to its end"))?;
    let body = body.map_err(|_| Status::invalid_argument("etcdserver: request is too large"))?;
    let body = if body.trim_ascii().is_empty() { Bytes::from_static(b"{}") } else { body };
    let message =
        serde_json::from_slice(&body).map_err(|error| Status::invalid_argument(error.to_string()))?;
    let mut request = tonic::Request::new(message);
    if let Some(author) = parts.extensions.get::<Author>() {
        request.extensions_mut().insert(author.clone());
    }
    Ok(request)
}

async fn unary<Q: DeserializeOwned, A: Serialize, F: Future<Output = Result<tonic::Response<A>, Status>>>(
    request: Request,
    call: impl FnOnce(tonic::Request<Q>) -> F,
) -> Response<Body> {
    let answered = async { call(message(request).await?).await };
    let text = match answered.await {
        Ok(answer) => serde_json::to_vec(answer.get_ref()),
        Err(status) => return refused(&status),
    };
    match text {
        Ok(text) => response(StatusCode::OK, text.into()),
        Err(error) => refused(&Status::internal(error.to_string())),
    }
}

async fn stream<Q, S, A, F>(request: Request, call: impl FnOnce(tonic::Request<Q>) -> F) -> Response<Body>
where
    Q: DeserializeOwned,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
    A: Serialize,
    F: Future<Output = Result<tonic::Response<S>, Status>>,
{
    let answered = async { call(message(request).await?).await };
    match answered.await {
        Ok(answers) => lines(answers.into_inner()),
        Err(status) => refused(&status),
    }
}

/// A message of a stream, as a line has it.
#[derive(Serialize)]
struct Told<A> {
    result: A,
}

/// Why a stream ends, as its last line has it.
#[derive(Serialize)]
struct Ended<'a> {
    error: End<'a>,
}

#[derive(Serialize)]
struct End<'a> {
    grpc_code: i32,
    http_code: u16,
    message: &'a str,
    http_status: &'a str,
}

fn lines<A: Serialize>(answers: impl Stream<Item = Result<A, Status>> + Send + 'static) -> Response<Body> {
    let lines = answers.map(|answer| {
        let text = match answer {
            Ok(result) => serde_json::to_vec(&Told { result }),
            Err(status) => {
                let http = http_status(status.code());
                let (grpc_code, http_code) = (status.code() as i32, http.as_u16());
                let http_status = http.canonical_reason().unwrap_or_default();
                let error = End { grpc_code, http_code, message: status.message(), http_status };
                serde_json::to_vec(&Ended { error })
            }
        };
        let mut text = text.unwrap_or_default();
        text.push(b'\n');
        Ok::<_, Infallible>(Bytes::from(text))
    });
    response(StatusCode::OK, Body::from_stream(lines))
}

type Messages<Q> = Pin<Box<dyn Stream<Item = Result<Q, Status>> + Send>>;

/// What a client sends one after the other, and on whose behalf.
fn incoming<Q: DeserializeOwned + Send + 'static>(
    handle: &Handle,
    request: Request,
) -> (Handle, Messages<Q>) {
    let (parts, body) = request.into_parts();
    let mut who = tonic::Request::new(());
    if let Some(author) = parts.extensions.get::<Author>() {
        who.extensions_mut().insert(author.clone());
    }
    let state = (body.into_data_stream(), BytesMut::new());
    let messages = unfold(state, async |(mut body, mut buffer)| {
        let next = next_message(&mut body, &mut buffer).await.transpose()?;
        Some((next, (body, buffer)))
    });
    (handle.of(&who), Box::pin(messages))
}

async fn next_message<Q: DeserializeOwned>(
    body: &mut BodyDataStream,
    buffer: &mut BytesMut,
) -> Result<Option<Q>, Status> {
    loop {
        let mut values = serde_json::Deserializer::from_slice(buffer).into_iter();
        match values.next() {
            Some(Ok(message)) => {
                let end = values.byte_offset();
                buffer.advance(end);
                return Ok(Some(message));
            }
            Some(Err(error)) if !error.is_eof() => return Err(Status::invalid_argument(error.to_string())),
            // There is only a part of it yet.
            Some(Err(_)) | None => {}
        }
        match body.next().await {
            Some(Ok(part)) if buffer.len() + part.len() <= MAX_BODY => buffer.extend_from_slice(&part),
            Some(Ok(_)) => return Err(Status::invalid_argument("etcdserver: request is too large")),
            Some(Err(_)) => return Err(Status::cancelled("the request breaks off")),
            None if buffer.trim_ascii().is_empty() => return Ok(None),
            None => return Err(Status::invalid_argument("unexpected end of the request")),
        }
    }
}

/// Which code of HTTP goes with one of gRPC, by the rules of gRPC's gateway.
fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::Cancelled => StatusCode::REQUEST_TIMEOUT,
        Code::InvalidArgument | Code::OutOfRange => StatusCode::BAD_REQUEST,
        Code::FailedPrecondition => StatusCode::PRECONDITION_FAILED,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
    code: i32,
    message: &'a str,
}

fn refused(status: &Status) -> Response<Body> {
    refusal(http_status(status.code()), status)
}

/// Why something was not done.
pub(crate) fn refusal(http: StatusCode, status: &Status) -> Response<Body> {
    let (code, message) = (status.code() as i32, status.message());
    let text = serde_json::to_vec(&Refusal { error: message, code, message }).unwrap_or_default();
    response(http, text.into())
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}
