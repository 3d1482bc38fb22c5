//! What comes in: connections that others dialled.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use habemus::Address;
use habemus_machine::Random;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::codec::{Framed, FramedParts, LengthDelimitedCodec};
use tracing::{Instrument, Span, debug, warn};

use super::frame::{
    Acknowledgement, Answer, Body, Challenge, FRAME_LIMIT, Frame, FrameError, HELLO_LIMIT, Hello, codec,
};
use super::stream::{Named, Stream, accept};
use super::{Shared, count};

/// A stranger has so long to say who it is.
const GREETING_LIMIT: Duration = Duration::from_secs(2);

/// So many connections may be open whose dialler has not yet said who it is; for one more, the one that has
/// been silent longest is closed.
pub const MAX_STRANGERS: usize = 64;

/// So many frames of one peer wait for the process at most; then its connection waits, and no other.
pub const MAX_ARRIVALS: usize = 64;

/// So often the listener says how many frames it has.
const ACKNOWLEDGE_EVERY: u64 = 64;

/// What a stranger is told, whatever the reason: the log of this node has it.
const REFUSAL: &str = "the node refuses this connection, and its log says why";

/// Something that came over a connection.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// A peer has connected.
    Peer(Address),
    /// A peer says something.
    Frame { from: Address, body: Body },
}

/// Something that came, and the place that it takes among what came from the same peer.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) what: Arrivals,
    _place: OwnedSemaphorePermit,
}

/// What is known of those that dial, by address, and the way to the process.
#[derive(Debug)]
pub(crate) struct Guests {
    guests: Vec<Arc<Guest>>,
    arrivals: mpsc::UnboundedSender<Arrived>,
}

/// What is known of one peer as a dialler.
#[derive(Debug)]
struct Guest {
    /// Nobody waits for anything while holding this.
    conversation: Mutex<Conversation>,
    /// Counts its connections: only the last one counts, and the others close.
    connection: watch::Sender<u64>,
    /// The places for what comes from it.
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Conversation {
    /// Which life of the peer dialled last.
    life: u64,
    /// The last frame that was taken from it.
    received: u64,
}

impl Guest {
    fn new() -> Self {
        let places = Arc::new(Semaphore::new(MAX_ARRIVALS));
        Guest { conversation: Mutex::default(), connection: watch::Sender::new(0), places }
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        // It is a plain record, whole after every statement.
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes all connections of the peer but the one with the number that it gives close.
    fn next_connection(&self) -> u64 {
        let mut next = 0;
        self.connection.send_modify(|connection| {
            *connection += 1;
            next = *connection;
        });
        next
    }
}

impl Guests {
    /// What came from any of `count` nodes comes out of the other end of `arrivals`.
    pub(crate) fn new(count: usize, arrivals: mpsc::UnboundedSender<Arrived>) -> Self {
        Guests { guests: (0..count).map(|_| Arc::new(Guest::new())).collect(), arrivals }
    }

    /// Breaks the connection with a peer off, because of what came over it.
    pub(crate) fn throw_out(&self, peer: Address) {
        self.guests[peer.index()].next_connection();
    }
}

/// What a listener puts up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hospitality {
    /// A stranger has so long to say who it is.
    pub(crate) greeting: Duration,
    /// So many strangers at once.
    pub(crate) strangers: usize,
}

impl Default for Hospitality {
    fn default() -> Self {
        Hospitality { greeting: GREETING_LIMIT, strangers: MAX_STRANGERS }
    }
}

/// Accepts connections for ever.
pub(crate) async fn listen(
    listener: TcpListener,
    endpoint: Shared,
    guests: Arc<Guests>,
    hospitality: Hospitality,
) {
    // All of it ends with the listener.
    let (mut tasks, mut strangers) = (JoinSet::new(), VecDeque::<(IpAddr, AbortHandle)>::new());
    let (known, mut visits) = mpsc::unbounded_channel::<Visit>();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    strangers.retain(|(_, stranger)| !stranger.is_finished());
                    if strangers.len() >= hospitality.strangers
                        && let Some((_, meeting)) = strangers.remove(who_must_go(&strangers))
                    {
                        count(&endpoint.traffic.refused, 1);
                        meeting.abort();
                    }
                    let (endpoint, guests, known) =
                        (Arc::clone(&endpoint), Arc::clone(&guests), known.clone());
                    let meeting = async move {
                        match timeout(hospitality.greeting, meet(stream, &endpoint, &guests)).await {
                            Ok(Ok(Some(visit))) => {
                                let _ = known.send(visit);
                            }
                            Ok(Ok(None)) => {}
                            Ok(Err(why)) => {
                                count(&endpoint.traffic.refused, 1);
                                warn!(address = %address.ip(), %why, "refused a connection");
                            }
                            Err(_) => {
                                count(&endpoint.traffic.refused, 1);
                                warn!(address = %address.ip(), "refused a connection that did not say who it \
                                    is");
                            }
                        }
                    };
                    let meeting = tasks.spawn(meeting.instrument(Span::current()));
                    strangers.push_back((network_of(address.ip()), meeting));
                }
                Err(why) => {
                    // Too many open files, most likely: it passes.
                    warn!(%why, "cannot accept a connection");
                    sleep(Duration::from_millis(100)).await;
                }
            },
            Some(visit) = visits.recv() => {
                let (endpoint, arrivals) = (Arc::clone(&endpoint), guests.arrivals.clone());
                let reading = async move {
                    let (id, end) = (visit.id, visit.read(&endpoint, &arrivals).await);
                    debug!(peer = id, why = %end, "no more from this connection");
                };
                tasks.spawn(reading.instrument(Span::current()));
            }
            Some(_) = tasks.join_next() => {}
        }
    }
}

/// Which stranger makes room for another: of the network that most of them come from, the one that was silent
/// longest. So whoever floods the node from elsewhere is in the way of nobody else.
fn who_must_go<T>(strangers: &VecDeque<(IpAddr, T)>) -> usize {
    let crowd = |of: IpAddr| strangers.iter().filter(|(network, _)| *network == of).count();
    let crowds = strangers.iter().enumerate().map(|(index, (network, _))| (index, crowd(*network)));
    crowds.rev().max_by_key(|(_, crowd)| *crowd).map_or(0, |(index, _)| index)
}

/// Whoever has an address of IPv6 has all that begin with the same 64 bits.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        short => short,
    }
}

type Pieces = Framed<Stream, LengthDelimitedCodec>;

/// A connection whose dialler is known.
struct Visit {
    framed: Pieces,
    id: u64,
    from: Address,
    guest: Arc<Guest>,
    connection: u64,
}

/// Hears who dials, and lets it in or not.
async fn meet(stream: TcpStream, endpoint: &Shared, guests: &Guests) -> io::Result<Option<Visit>> {
    let address = stream.peer_addr()?;
    let (stream, named) = accept(stream, endpoint.tls.as_ref()).await?;
    let mut framed = Framed::new(stream, codec(HELLO_LIMIT));
    let challenge = Challenge { nonce: Random::new().bits() };
    framed.send(challenge.encode()).await?;
    let piece = framed.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
    let checked = match Hello::decode(&piece) {
        Err(why @ FrameError::Stranger) => return Err(io::Error::other(why)),
        Err(why) => Err(why.to_string()),
        Ok(hello) if hello.nonce != challenge.nonce => Err("the greeting is an old one".to_owned()),
        Ok(hello) => check(&hello, endpoint, &named).map(|from| (from, hello)),
    };
    let (from, hello) = match checked {
        Ok(known) => known,
        Err(reason) => {
            count(&endpoint.traffic.refused, 1);
            warn!(address = %address.ip(), %reason, "refused a connection");
            // Only one whose certificate the cluster's authority signed is told more than a stranger.
            let reason = if endpoint.tls.is_some() { reason } else { REFUSAL.to_owned() };
            framed.send(Answer::Refused { reason }.encode()).await?;
            framed.into_inner().shutdown().await?;
            return Ok(None);
        }
    };
    let guest = Arc::clone(&guests.guests[from.index()]);
    let connection = guest.next_connection();
    let received = {
        let mut conversation = guest.conversation();
        if conversation.life != hello.life {
            *conversation = Conversation { life: hello.life, received: 0 };
        }
        conversation.received
    };
    framed
        .send(Answer::Welcome { life: endpoint.life, disk: endpoint.memory.disk(), received }.encode())
        .await?;
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
    endpoint.memory.meet(from, hello.life, hello.disk)?;
    Ok(Address(index as u32))
}

impl Visit {
    /// Passes on what comes, until the connection breaks or another takes its place; says why it ended.
    async fn read(mut self, endpoint: &Shared, arrivals: &mpsc::UnboundedSender<Arrived>) -> io::Error {
        let mut current = self.guest.connection.subscribe();
        let mine = self.connection;
        tokio::select! {
            end = self.pass_on(endpoint, arrivals) => {
                if end.kind() == io::ErrorKind::InvalidData {
                    count(&endpoint.traffic.refused, 1);
                    warn!(peer = self.id, why = %end, "broke a connection off");
                }
                end
            }
            _ = current.wait_for(|connection| *connection != mine) => {
                io::Error::other("it was broken off, or another connection took its place")
            }
        }
    }

    async fn pass_on(&mut self, endpoint: &Shared, arrivals: &mpsc::UnboundedSender<Arrived>) -> io::Error {
        let mut greeting = Some(Arrivals::Peer(self.from));
        loop {
            // Waits until there is room for one more of this peer, and holds nothing meanwhile.
            let Ok(place) = Arc::clone(&self.guest.places).acquire_owned().await else {
                return io::Error::other("the node stops");
            };
            let passed = match greeting.take() {
                Some(what) => arrivals.send(Arrived { what, _place: place }).map_err(io::Error::other),
                None => self.pass_on_frame(place, endpoint, arrivals).await,
            };
            if let Err(why) = passed {
                return why;
            }
        }
    }

    /// Passes the next frame on.
    async fn pass_on_frame(
        &mut self,
        place: OwnedSemaphorePermit,
        endpoint: &Shared,
        arrivals: &mpsc::UnboundedSender<Arrived>,
    ) -> io::Result<()> {
        let piece = self.framed.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
        let garbled = |why: FrameError| io::Error::new(io::ErrorKind::InvalidData, why);
        let Frame { number, body } = Frame::decode(&piece).map_err(garbled)?;
        {
            let mut conversation = self.guest.conversation();
            // A connection that was replaced may not touch what its successor has begun.
            if *self.guest.connection.borrow() != self.connection {
                return Err(io::Error::other("another connection took its place"));
            }
            let expected = conversation.received + 1;
            if number != expected {
                return Err(garbled(FrameError::OutOfOrder { found: number, expected }));
            }
            conversation.received = number;
            let what = Arrivals::Frame { from: self.from, body };
            arrivals.send(Arrived { what, _place: place }).map_err(io::Error::other)?;
        }
        count(&endpoint.traffic.received, 1);
        count(&endpoint.traffic.received_bytes, piece.len() as u64 + 4);
        if number.is_multiple_of(ACKNOWLEDGE_EVERY) {
            let stream = self.framed.get_mut();
            stream.write_all(&Acknowledgement(number).encode()).await?;
            stream.flush().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::super::frame::Disk;
    use super::*;
    use crate::transport::Endpoint;

    /// A listener of node 1 that has the patience of a saint, and where it listens.
    async fn listener(
        strangers: usize,
    ) -> (JoinSet<()>, std::net::SocketAddr, mpsc::UnboundedReceiver<Arrived>) {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port can be had");
        let address = socket.local_addr().expect("it is bound");
        let endpoint = Arc::new(Endpoint::of_a_test());
        let (sender, arrivals) = mpsc::unbounded_channel();
        let guests = Arc::new(Guests::new(2, sender));
        let hospitality = Hospitality { greeting: Duration::from_secs(3600), strangers };
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(socket, endpoint, guests, hospitality));
        (tasks, address, arrivals)
    }

    async fn challenged(address: std::net::SocketAddr) -> (TcpStream, u64) {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let mut challenge = [0; 12];
        stream.read_exact(&mut challenge).await.expect("it speaks first");
        (stream, Challenge::decode(&challenge[4..]).expect("a challenge").nonce)
    }

    /// Greets as node 2.
    async fn let_in(address: std::net::SocketAddr) -> TcpStream {
        let (mut stream, nonce) = challenged(address).await;
        let (cluster, system) = (String::new(), String::new());
        let hello = Hello { cluster, system, from: 2, to: 1, life: 7, nonce, disk: Disk::default() }.encode();
        let greeting = [(hello.len() as u32).to_be_bytes().as_slice(), &hello].concat();
        stream.write_all(&greeting).await.expect("it reads");
        stream
    }

    #[tokio::test]
    async fn a_peer_has_so_many_places_in_the_inbox_and_waits_for_one_to_become_free() {
        let (_listener, address, mut arrivals) = listener(4).await;
        let mut stream = let_in(address).await;
        for number in 1..=3 * MAX_ARRIVALS as u64 {
            let frame = Frame { number, body: Body::Goodbye }.encode_with_length();
            stream.write_all(&frame).await.expect("the system takes so much");
        }
        for _ in 0..2 {
            while arrivals.len() < MAX_ARRIVALS {
                sleep(Duration::from_millis(1)).await;
            }
            // Whoever has read more has long put it in by now.
            sleep(Duration::from_millis(20)).await;
            assert_eq!(arrivals.len(), MAX_ARRIVALS);
            for _ in 0..10 {
                arrivals.recv().await.expect("it is there");
            }
        }
    }

    #[test]
    fn whoever_comes_in_a_crowd_makes_room_before_one_who_comes_alone() {
        let from = |addresses: &[&str]| -> VecDeque<(IpAddr, ())> {
            addresses.iter().map(|it| (network_of(it.parse().expect("an address")), ())).collect()
        };
        assert_eq!(who_must_go(&from(&["10.0.0.1", "10.0.0.9", "10.0.0.9", "10.0.0.2"])), 1);
        assert_eq!(who_must_go(&from(&["10.0.0.1", "10.0.0.9", "10.0.0.2"])), 0, "who was silent longest");
        assert_eq!(who_must_go(&from(&["fd00::1", "fd01::1", "fd01::2"])), 1, "they are all the same");
        assert_eq!(who_must_go(&from(&["fd00::1", "::ffff:10.0.0.9", "10.0.0.9"])), 1);
    }

    #[tokio::test]
    async fn a_peer_is_let_in_although_more_strangers_than_there_is_room_for_say_nothing() {
        let (_listener, address, mut arrivals) = listener(4).await;
        let mut silent = Vec::new();
        for _ in 0..20 {
            silent.push(challenged(address).await.0);
        }
        let _stream = let_in(address).await;
        let arrived = arrivals.recv().await.expect("it listens");
        assert!(matches!(arrived.what, Arrivals::Peer(Address(1))));
        // Those who were silent longest had to go, and no more than necessary: not the last.
        for stream in &mut silent[..16] {
            assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
        }
        let last = timeout(Duration::from_millis(1), silent[19].read(&mut [0; 1])).await;
        assert!(last.is_err(), "the last one may still say who it is");
    }
}
