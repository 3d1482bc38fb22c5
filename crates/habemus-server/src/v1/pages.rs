//! The calls by plain HTTP and JSON, where `habemus_api::ROUTES` says.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, header};
use axum::routing::{get, post};
use futures_util::StreamExt;
use habemus_api::v1 as rpc;
use habemus_store::Author;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_stream::wrappers::ReceiverStream;

use super::follow::Told;
use super::{Api, Refusal};

/// No request is longer than this, as by gRPC.
const MAX_BODY: usize = 2 << 20;

fn response(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn line<T: Serialize>(message: &T) -> String {
    // Messages are made of texts and numbers, which can always be written.
    serde_json::to_string(message).unwrap_or_default() + "\n"
}

fn once<T: Serialize>(answered: Result<T, Refusal>) -> Response<Body> {
    match answered {
        Ok(message) => response("application/json", Body::from(line(&message))),
        Err(refusal) => refusal.into(),
    }
}

/// One message in each line, as they come; if it cannot go on, the last line is the error.
fn lines<T: Serialize + Send + 'static>(told: Result<Told<T>, Refusal>) -> Response<Body> {
    let told = match told {
        Ok(told) => told,
        Err(refusal) => return refusal.into(),
    };
    let lines = ReceiverStream::new(told).map(|message| {
        let text = match message {
            Ok(message) => line(&message),
            Err(Refusal { code, message }) => {
                line(&serde_json::json!({"error": code.word(), "message": message}))
            }
        };
        Ok::<_, Infallible>(Bytes::from(text))
    });
    response("application/x-ndjson", Body::from_stream(lines))
}

/// What the body says; an empty one says nothing.
fn body<T: DeserializeOwned + Default>(bytes: &Bytes) -> Result<T, Refusal> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(T::default());
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Refusal::invalid(format!("the body is no JSON of this call: {error}")))
}

/// The calls on behalf of whoever sent the request.
impl FromRequestParts<Api> for Api {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Api, Infallible> {
        Ok(Api(api.0.of_author(parts.extensions.get::<Author>().cloned())))
    }
}

/// A call with a body and a name in its path.
macro_rules! named {
    ($message:ty, $call:ident) => {
        post(async |api: Api, Path(part): Path<String>, bytes: Bytes| {
            let answered = match body::<$message>(&bytes) {
                Ok(message) => api.$call(<$message>::from_path(message, part)).await,
                Err(refusal) => Err(refusal),
            };
            once(answered)
        })
    };
}

/// A message of which a part stands in the path.
trait FromPath {
    fn from_path(message: Self, part: String) -> Self;
}

macro_rules! from_path {
    ($($message:ident: $field:ident),*) => {
        $(impl FromPath for rpc::$message {
            fn from_path(message: Self, part: String) -> Self {
                Self { $field: part, ..message }
            }
        })*
    };
}

from_path!(Acquire: name, Release: name, GuardedWrite: name, Campaign: name, Proclaim: name);

/// The routes of habemus.v1.
pub(crate) fn pages(api: &Api) -> Router {
    let described = format!("{:#}\n", habemus_api::openapi());
    let description = get(async move || response("application/json", Body::from(described.clone())));
    sessions()
        .merge(locks())
        .merge(elections())
        .route("/v1/openapi.json", description)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(api.clone())
}

fn sessions() -> Router<Api> {
    let open = async |api: Api, bytes: Bytes| match body(&bytes) {
        Ok(request) => once(api.open_session(request).await),
        Err(refusal) => refusal.into(),
    };
    let list = async |api: Api| once(api.list_sessions().await);
    let one = async |api: Api, Path(session)| once(api.get_session(rpc::NamedSession { session }).await);
    let end = async |api: Api, Path(session)| once(api.end_session(rpc::NamedSession { session }).await);
    let renew = async |api: Api, Path(session)| once(api.renew_session(rpc::NamedSession { session }).await);
    Router::new()
        .route("/v1/sessions", post(open).get(list))
        .route("/v1/sessions/{session}", get(one).delete(end))
        .route("/v1/sessions/{session}/renew", post(renew))
}

fn locks() -> Router<Api> {
    let list = async |api: Api| once(api.list_locks().await);
    let one = async |api: Api, Path(name)| once(api.get_lock(rpc::NamedLock { name }).await);
    let events = async |api: Api, Path(name)| lines(api.watch(rpc::NamedLock { name }).await);
    Router::new()
        .route("/v1/locks", get(list))
        .route("/v1/locks/{name}", get(one))
        .route("/v1/locks/{name}/acquire", named!(rpc::Acquire, acquire))
        .route("/v1/locks/{name}/release", named!(rpc::Release, release))
        .route("/v1/locks/{name}/write", named!(rpc::GuardedWrite, write))
        .route("/v1/locks/{name}/events", get(events))
}

fn elections() -> Router<Api> {
    let one = async |api: Api, Path(name)| once(api.get_leader(rpc::NamedLock { name }).await);
    let events = async |api: Api, Path(name)| lines(api.observe(rpc::NamedLock { name }).await);
    Router::new()
        .route("/v1/elections/{name}", get(one))
        .route("/v1/elections/{name}/campaign", named!(rpc::Campaign, campaign))
        .route("/v1/elections/{name}/proclaim", named!(rpc::Proclaim, proclaim))
        .route("/v1/elections/{name}/resign", named!(rpc::Release, release))
        .route("/v1/elections/{name}/events", get(events))
}
