//! The door for clients: connections taken, with TLS or without, and each of them served by itself.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Sleep, sleep, timeout};
use tonic::codegen::Service;

use crate::tls::{Tls, common_name};
use crate::tokens::Tokens;

/// How long somebody may take to show who it is, to say in which language it speaks, and to finish what
/// stands before a request.
const PATIENCE: Duration = Duration::from_secs(10);

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
}

impl Door {
    /// Serves whoever comes until it stops, and then waits until everybody has gone.
    pub(crate) async fn serve(self, routes: Router, tokens: Tokens, mut stopping: watch::Receiver<bool>) {
        let (present, mut gone) = tokio::sync::mpsc::channel::<()>(1);
        loop {
            tokio::select! {
                () = stopped(&mut stopping) => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let guest = Guest { routes: routes.clone(), tokens: tokens.clone(), shown: Shown(None) };
                        let (tls, stopping, present) = (self.tls.clone(), stopping.clone(), present.clone());
                        tokio::spawn(async move {
                            attend(stream, tls, guest, stopping).await;
                            drop(present);
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

/// One client, and what it may ask.
#[derive(Clone)]
struct Guest {
    routes: Router,
    tokens: Tokens,
    shown: Shown,
}

impl Guest {
    async fn answer(mut self, mut request: hyper::Request<Incoming>) -> Result<Response, Infallible> {
        if let Some(author) = self.tokens.author(request.headers(), &self.shown).await {
            request.extensions_mut().insert(author);
        }
        self.routes.call(request).await
    }
}

async fn attend(stream: TcpStream, tls: Option<Arc<Tls>>, guest: Guest, stopping: watch::Receiver<bool>) {
    // Without it small answers wait for others; if it cannot be had, they do.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else { return converse(stream, guest, stopping).await };
    match timeout(PATIENCE, tls.accept(stream)).await {
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
    let service = service_fn(move |request| guest.clone().answer(request));
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADERS as u32)
        .keep_alive_interval(SILENCE);
    let stream = TokioIo::new(Prompt::new(stream));
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
    fn new(stream: S) -> Prompt<S> {
        Prompt { stream, awaited: Some((GREETING, Box::pin(sleep(PATIENCE)))) }
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
