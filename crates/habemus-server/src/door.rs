//! The door for clients: connections taken, with TLS or without, and each of them served by itself.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Sleep, sleep, timeout};
use tonic::Status;
use tonic::codegen::Service;

use crate::deadline::{self, Language};
use crate::gateway;
use crate::limits::{self, Allowance, Budget, Limits, Metered, raise_open_files};
use crate::tls::{Tls, common_name};
use crate::tokens::Tokens;

/// So much must come before it is known which language somebody speaks.
const GREETING: usize = 24;

/// So many requests of one connection are under way at once.
const MAX_STREAMS: u32 = 1 << 14;

/// What stands before a request is no longer than this.
const MAX_HEADERS: usize = 16 << 10;

/// Whoever says nothing for so long is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);

/// Whom the client's certificate names, if it showed one that the authority signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown(pub(crate) Option<Arc<str>>);

/// The door for clients.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) limits: Limits,
}

impl Door {
    /// Serves whoever comes until it stops, and then waits until everybody has gone.
    pub(crate) async fn serve(self, routes: Router, tokens: Tokens, mut stopping: watch::Receiver<bool>) {
        let limits = self.limits;
        let places = Arc::new(Semaphore::new(raise_open_files(limits.connections)));
        let all = Arc::new(Budget::default());
        let (present, mut gone) = tokio::sync::mpsc::channel::<()>(1);
        loop {
            tokio::select! {
                () = stopped(&mut stopping) => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Whoever comes when it is full is turned away, so that it can ask another member.
                        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                        let allowance = Arc::new(Allowance::new(limits, Arc::clone(&all)));
                        let (routes, tokens) = (routes.clone(), tokens.clone());
                        let has_tls = self.tls.is_some();
                        let guest = Guest { limits, allowance, routes, tokens, shown: Shown(None), has_tls };
                        let (tls, stopping, present) = (self.tls.clone(), stopping.clone(), present.clone());
                        tokio::spawn(async move {
                            attend(stream, tls, guest, stopping).await;
                            drop((present, place));
                        });
                    }
                    // Too many files are open, say: that may pass.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
            }
        }
        drop((self.listener, present));
        gone.recv().await;
    }
}

/// Waits until the member stops.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // If the sender is gone, so is the server.
    drop(stopping.wait_for(|stopping| *stopping).await);
}

/// What answers a request.
type Answer = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

/// One client, and what it may ask.
#[derive(Clone)]
struct Guest {
    limits: Limits,
    allowance: Arc<Allowance>,
    routes: Router,
    tokens: Tokens,
    shown: Shown,
    has_tls: bool,
}

impl Guest {
    /// Answers a request. Only what answers it is kept while it waits, for a lock perhaps, and not what it
    /// took to get there.
    fn answer(
        self,
        request: hyper::Request<Incoming>,
    ) -> impl Future<Output = Result<Response, Infallible>> + Send {
        let admitted = Box::pin(self.admit(request));
        async {
            match admitted.await {
                Ok(answer) => answer.await,
                Err(refusal) => Ok(refusal),
            }
        }
    }

    /// What answers a request, or why it is not answered.
    async fn admit(mut self, mut request: hyper::Request<Incoming>) -> Result<Answer, Response> {
        if !is_at_home(&request, self.has_tls) {
            let why = Status::permission_denied("a page of somebody else's may not ask this member");
            return Err(gateway::refusal(StatusCode::FORBIDDEN, &why));
        }
        let language = language(request.headers());
        if !self.allowance.take() {
            return Err(too_much(language));
        }
        let time = match deadline::asked(request.headers()) {
            Ok(time) => time,
            Err(why) => return Err(language.refuse(StatusCode::BAD_REQUEST, &why)),
        };
        if let Some(author) = self.tokens.author(request.headers(), &self.shown).await {
            request.extensions_mut().insert(author);
        }
        let (parts, body) = request.into_parts();
        let Some(body) = Metered::new(body, parts.uri.path(), self.allowance) else {
            return Err(too_much(language));
        };
        let answer = self.routes.call(hyper::Request::from_parts(parts, body));
        Ok(match time {
            None => Box::pin(answer),
            Some(time) => Box::pin(deadline::keep(time, language, answer)),
        })
    }
}

fn language(headers: &HeaderMap) -> Language {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    match kind.is_some_and(|kind| kind.starts_with("application/grpc")) {
        true => Language::Grpc,
        false => Language::Json,
    }
}

/// Says that it is too much, in the language in which it was asked.
fn too_much(language: Language) -> Response {
    language.refuse(StatusCode::TOO_MANY_REQUESTS, &limits::too_many())
}

/// Whether a request was not sent by a page that a browser has from elsewhere: without it any page could ask
/// a member on its reader's own machine. A page of the member's own is asked for by address, for names can be
/// made to point here; with TLS, no name can that is not in the certificate.
fn is_at_home<B>(request: &hyper::Request<B>, has_tls: bool) -> bool {
    let Some(origin) = request.headers().get(header::ORIGIN) else { return true };
    let (origin, host) = (origin.to_str().unwrap_or_default(), host(request));
    (has_tls || is_address(request)) && origin.split_once("://").is_some_and(|(_, from)| from == host)
}

/// Whether a request names the member by an address, or as this machine.
pub(crate) fn is_address<B>(request: &hyper::Request<B>) -> bool {
    let host = host(request);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "localhost" || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

/// By which name a member is asked: by HTTP/2 it stands in the address that is asked for.
fn host<B>(request: &hyper::Request<B>) -> &str {
    let told = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    told.or_else(|| request.uri().authority().map(Authority::as_str)).unwrap_or_default()
}

async fn attend(stream: TcpStream, tls: Option<Arc<Tls>>, guest: Guest, stopping: watch::Receiver<bool>) {
    // Without it small answers wait for others; if it cannot be had, they do.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else { return converse(stream, guest, stopping).await };
    match timeout(guest.limits.greeting, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            let certificates = stream.get_ref().1.peer_certificates();
            let name = certificates.and_then(|chain| chain.first()).and_then(common_name);
            converse(stream, Guest { shown: Shown(name.map(Into::into)), ..guest }, stopping).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a client is not let in"),
        Err(_) => tracing::debug!("a client does not come to its point"),
    }
}

/// Serves one connection until it ends.
async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    guest: Guest,
    mut stopping: watch::Receiver<bool>,
) {
    let greeting = guest.limits.greeting;
    let service = service_fn(move |request| guest.clone().answer(request));
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(greeting).max_buf_size(MAX_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADERS as u32)
        .keep_alive_interval(SILENCE);
    let stream = TokioIo::new(Prompt::new(stream, greeting));
    let mut connection = pin!(builder.serve_connection(stream, service));
    let served = tokio::select! {
        served = &mut connection => served,
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(error, "a connection broke");
    }
}

/// A connection that ends if its greeting does not come in time.
struct Prompt<S> {
    stream: S,
    awaited: Option<(usize, Pin<Box<Sleep>>)>,
}

impl<S> Prompt<S> {
    fn new(stream: S, greeting: Duration) -> Prompt<S> {
        Prompt { stream, awaited: Some((GREETING, Box::pin(sleep(greeting)))) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prompt<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some((left, late)) = &mut self.awaited else { return read };
        if late.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        *left = left.saturating_sub(buffer.filled().len() - before);
        if *left == 0 {
            self.awaited = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prompt<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use hyper::http::request::Builder;

    use super::*;

    #[test]
    fn only_pages_of_the_member_itself_may_ask() {
        let asks = |uri: &str, pairs: &[(&'static str, &str)], has_tls| {
            let with = |request: Builder, (name, value): &(&'static str, &str)| request.header(*name, *value);
            let request = pairs.iter().fold(hyper::Request::builder().uri(uri), with);
            is_at_home(&request.body(()).expect("it is a request"), has_tls)
        };
        let asked = |pairs: &[(&'static str, &str)]| asks("/v1/locks", pairs, false);
        assert!(asked(&[]) && asked(&[("host", "anything")]), "no browser has sent it");
        assert!(asked(&[("host", "127.0.0.1:2379"), ("origin", "http://127.0.0.1:2379")]));
        assert!(asked(&[("host", "localhost:2379"), ("origin", "http://localhost:2379")]));
        assert!(asked(&[("host", "[::1]:2379"), ("origin", "https://[::1]:2379")]));
        assert!(!asked(&[("host", "127.0.0.1:2379"), ("origin", "http://evil.example")]));
        assert!(!asked(&[("host", "evil.example:2379"), ("origin", "http://evil.example:2379")]));
        assert!(!asked(&[("host", "127.0.0.1:2379"), ("origin", "null")]));
        assert!(!asked(&[("origin", "http://127.0.0.1:2379")]));
        let by_name = [("origin", "https://db1.example")];
        assert!(asks("https://db1.example/v1/locks", &by_name, true), "a browser says so by HTTP/2");
        assert!(!asks("https://db1.example/v1/locks", &by_name, false), "names can be made to point here");
        assert!(!asks("https://db1.example/v1/locks", &[("origin", "https://evil.example")], true));
    }
}
