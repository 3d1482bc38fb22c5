//! The calls by plain HTTP and JSON, where `habemus_api::ROUTES` says.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, header};
use axum::routing::{delete, get, post};
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

/// A call with a body and a name in its path.
macro_rules! named {
    ($api:expr, $message:ty, $call:ident) => {{
        let api = $api.clone();
        post(async move |by: By, Path(part): Path<String>, bytes: Bytes| {
            let answered = match body::<$message>(&bytes) {
                Ok(message) => by.asks(&api).$call(<$message>::from_path(message, part)).await,
                Err(refusal) => Err(refusal),
            };
            once(answered)
        })
    }};
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

/// On whose behalf a request comes.
struct By(Option<Author>);

impl By {
    fn asks(&self, api: &Api) -> Api {
        Api(api.0.by(self.0.clone()))
    }
}

impl<S: Sync> FromRequestParts<S> for By {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<By, Infallible> {
        Ok(By(parts.extensions.get().cloned()))
    }
}

/// The routes of habemus.v1.
pub(crate) fn pages(api: &Api) -> Router {
    let described = format!("{:#}\n", habemus_api::openapi());
    let (open, list, one) = (api.clone(), api.clone(), api.clone());
    let (end, renew) = (api.clone(), api.clone());
    let sessions = Router::new()
        .route(
            "/v1/sessions",
            post(async move |by: By, bytes: Bytes| match body(&bytes) {
                Ok(request) => once(by.asks(&open).open_session(request).await),
                Err(refusal) => refusal.into(),
            })
            .get(async move |by: By| once(by.asks(&list).list_sessions().await)),
        )
        .route(
            "/v1/sessions/{session}",
            get(async move |by: By, Path(session)| {
                once(by.asks(&one).get_session(rpc::NamedSession { session }).await)
            })
            .merge(delete(async move |by: By, Path(session)| {
                once(by.asks(&end).end_session(rpc::NamedSession { session }).await)
            })),
        )
        .route(
            "/v1/sessions/{session}/renew",
            post(async move |by: By, Path(session)| {
                once(by.asks(&renew).renew_session(rpc::NamedSession { session }).await)
            }),
        );
    let (list, one, events) = (api.clone(), api.clone(), api.clone());
    let locks = Router::new()
        .route("/v1/locks", get(async move |by: By| once(by.asks(&list).list_locks().await)))
        .route(
            "/v1/locks/{name}",
            get(async move |by: By, Path(name)| once(by.asks(&one).get_lock(rpc::NamedLock { name }).await)),
        )
        .route("/v1/locks/{name}/acquire", named!(api, rpc::Acquire, acquire))
        .route("/v1/locks/{name}/release", named!(api, rpc::Release, release))
        .route("/v1/locks/{name}/write", named!(api, rpc::GuardedWrite, write))
        .route(
            "/v1/locks/{name}/events",
            get(async move |by: By, Path(name)| lines(by.asks(&events).watch(rpc::NamedLock { name }).await)),
        );
    let (one, events) = (api.clone(), api.clone());
    let elections = Router::new()
        .route(
            "/v1/elections/{name}",
            get(async move |by: By, Path(name)| {
                once(by.asks(&one).get_leader(rpc::NamedLock { name }).await)
            }),
        )
        .route("/v1/elections/{name}/campaign", named!(api, rpc::Campaign, campaign))
        .route("/v1/elections/{name}/proclaim", named!(api, rpc::Proclaim, proclaim))
        .route("/v1/elections/{name}/resign", named!(api, rpc::Release, release))
        .route(
            "/v1/elections/{name}/events",
            get(async move |by: By, Path(name)| {
                lines(by.asks(&events).observe(rpc::NamedLock { name }).await)
            }),
        );
    let description = get(async move || response("application/json", Body::from(described.clone())));
    sessions
        .merge(locks)
        .merge(elections)
        .route("/v1/openapi.json", description)
        .layer(DefaultBodyLimit::max(MAX_BODY))
}
