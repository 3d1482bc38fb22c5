//! What comes in: connections that others dialled.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use habemus::Address;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::codec::{Framed, FramedParts};
use tracing::{debug, warn};

use super::frame::{Answer, Body, FRAME_LIMIT, Frame, FrameError, HELLO_LIMIT, Hello, codec};
use super::stream::{Named, Stream, accept};
use super::{Shared, count};

/// A stranger has so long to say who it is.
const GREETING_LIMIT: Duration = Duration::from_secs(2);
/// So many connections may be open whose dialler has not yet said who it is.
const STRANGERS: usize = 64;

/// Something that came over a connection.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// A peer has connected.
    Peer(Address),
    /// A peer says something.
    Frame { from: Address, body: Body },
}

/// What is known of those that dial, by address.
#[derive(Debug)]
pub(crate) struct Guests(Vec<Arc<Mutex<Guest>>>);

#[derive(Debug, Default)]
struct Guest {
    /// Which life of the peer dialled last.
    life: u64,
    /// The last frame that was taken from it.
    received: u64,
    /// Counts its connections: only the last one counts.
    connection: u64,
}

impl Guests {
    pub(crate) fn new(count: usize) -> Self {
        Guests((0..count).map(|_| Arc::default()).collect())
    }

    /// Breaks the connection with a peer off, because of what came over it.
    pub(crate) async fn throw_out(&self, peer: Address) {
        self.0[peer.index()].lock().await.connection += 1;
    }
}

/// Accepts connections for ever.
pub(crate) async fn listen(
    listener: TcpListener,
    endpoint: Shared,
    guests: Arc<Guests>,
    arrivals: mpsc::Sender<Arrivals>,
) {
    let strangers = Arc::new(Semaphore::new(STRANGERS));
    loop {
        let permit = Arc::clone(&strangers).acquire_owned().await;
        match listener.accept().await {
            Ok((stream, address)) => {
                let (endpoint, guests, arrivals) =
                    (Arc::clone(&endpoint), Arc::clone(&guests), arrivals.clone());
                tokio::spawn(async move {
                    let met = timeout(GREETING_LIMIT, meet(stream, &endpoint, &guests)).await;
                    drop(permit);
                    match met {
                        Ok(Ok(Some(visit))) => {
                            let (id, end) = (visit.id, visit.read(&endpoint, &arrivals).await);
                            debug!(peer = id, why = %end, "no more from this connection");
                        }
                        Ok(Ok(None)) => {}
                        Ok(Err(why)) => {
                            count(&endpoint.traffic.refused, 1);
                            warn!(%address, %why, "refused a connection");
                        }
                        Err(_) => {
                            count(&endpoint.traffic.refused, 1);
                            warn!(%address, "refused a connection that did not say who it is");
                        }
                    }
                });
            }
            Err(why) => {
                // Too many open files, most likely: it passes.
                warn!(%why, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A connection whose dialler is known.
struct Visit {
    framed: Framed<Stream, tokio_util::codec::LengthDelimitedCodec>,
    id: u64,
    from: Address,
    guest: Arc<Mutex<Guest>>,
    connection: u64,
}

/// Hears who dials, and lets it in or not.
async fn meet(stream: TcpStream, endpoint: &Shared, guests: &Guests) -> io::Result<Option<Visit>> {
    let address = stream.peer_addr()?;
    let (stream, named) = accept(stream, endpoint.tls.as_ref()).await?;
    let mut framed = Framed::new(stream, codec(HELLO_LIMIT));
    let piece = framed.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
    let hello = match Hello::decode(&piece) {
        Ok(hello) => hello,
        Err(why @ FrameError::Stranger) => return Err(io::Error::other(why)),
        Err(why) => {
            let reason = format!("the listener does not understand the greeting: {why}");
            return refuse(framed, endpoint, reason, &address.to_string()).await;
        }
    };
    let from = match check(&hello, endpoint, &named) {
        Ok(from) => from,
        Err(reason) => return refuse(framed, endpoint, reason, &address.to_string()).await,
    };
    let guest = Arc::clone(&guests.0[from.index()]);
    let (connection, received) = {
        let mut guest = guest.lock().await;
        if guest.life != hello.life {
            (guest.life, guest.received) = (hello.life, 0);
        }
        guest.connection += 1;
        (guest.connection, guest.received)
    };
    framed.send(Answer::Welcome { life: endpoint.life, received }.encode()).await?;
    let FramedParts { io, read_buf, .. } = framed.into_parts();
    let mut parts = FramedParts::new::<bytes::Bytes>(io, codec(FRAME_LIMIT));
    parts.read_buf = read_buf;
    Ok(Some(Visit { framed: Framed::from_parts(parts), id: hello.from, from, guest, connection }))
}

/// Whether this node and the one that dials belong together; the reason if not.
fn check(hello: &Hello, endpoint: &Shared, named: &Named) -> Result<Address, String> {
    let (me, from) = (endpoint.id, hello.from);
    if hello.cluster != endpoint.cluster {
        return Err(format!(
            "node {me} belongs to cluster '{}', not to '{}'",
            endpoint.cluster, hello.cluster
        ));
    }
    if hello.to != me {
        return Err(format!("this is node {me}, not {}: check the addresses of the peers", hello.to));
    }
    let index = endpoint.ids.iter().position(|id| *id == from).filter(|_| from != me);
    let Some(index) = index else {
        return Err(format!("node {from} is not among the peers of node {me}"));
    };
    if hello.system != endpoint.system {
        return Err(format!(
            "nodes {me} and {from} are set up differently: {me} runs {}; {from} runs {}",
            endpoint.system, hello.system
        ));
    }
    if !named(from) {
        return Err(format!("the certificate does not name node {from}"));
    }
    Ok(Address(index as u32))
}

async fn refuse(
    mut framed: Framed<Stream, tokio_util::codec::LengthDelimitedCodec>,
    endpoint: &Shared,
    reason: String,
    address: &str,
) -> io::Result<Option<Visit>> {
    count(&endpoint.traffic.refused, 1);
    warn!(%address, %reason, "refused a connection");
    framed.send(Answer::Refused { reason }.encode()).await?;
    framed.into_inner().shutdown().await?;
    Ok(None)
}

impl Visit {
    /// Passes on what comes, until the connection breaks or another takes its place; says why it ended.
    async fn read(mut self, endpoint: &Shared, arrivals: &mpsc::Sender<Arrivals>) -> io::Error {
        let over = || io::Error::other("the node stops");
        if arrivals.send(Arrivals::Peer(self.from)).await.is_err() {
            return over();
        }
        loop {
            let piece = match self.framed.next().await {
                Some(Ok(piece)) => piece,
                Some(Err(why)) => {
                    if why.kind() == io::ErrorKind::InvalidData {
                        count(&endpoint.traffic.refused, 1);
                        warn!(peer = self.id, %why, "broke a connection off");
                    }
                    return why;
                }
                None => return io::ErrorKind::UnexpectedEof.into(),
            };
            let frame = match Frame::decode(&piece) {
                Ok(frame) => frame,
                Err(why) => {
                    count(&endpoint.traffic.refused, 1);
                    warn!(peer = self.id, %why, "broke a connection off");
                    return io::Error::other(why);
                }
            };
            // The lock keeps frames of two connections of one peer in order.
            let mut guest = self.guest.lock().await;
            if guest.connection != self.connection {
                return io::Error::other("another connection took its place");
            }
            if frame.number <= guest.received {
                continue;
            }
            count(&endpoint.traffic.received, 1);
            count(&endpoint.traffic.received_bytes, piece.len() as u64 + 4);
            if arrivals.send(Arrivals::Frame { from: self.from, body: frame.body }).await.is_err() {
                return over();
            }
            guest.received = frame.number;
        }
    }
}
