//! The way to one peer: a queue, and a task that dials and writes.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::codec::Framed;
use tracing::{Instrument, Span, debug, error, info, warn};

use super::absence::Absence;
use super::frame::{Acknowledgement, Answer, Body, Challenge, FrameError, HELLO_LIMIT, Hello, codec};
use super::queue::Queue;
use super::stream::{Stream, dial};
use super::{Shared, count};
use crate::clock::BootInstant as Instant;
use habemus_machine::Random;

/// A connection that does not stand after so long is given up.
const DIAL_LIMIT: Duration = Duration::from_secs(2);
/// The first wait before dialling again; it doubles with each failure.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);
/// The longest wait, to which jitter is added.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The wait after a refusal, which only people can mend.
const REFUSED_WAIT: Duration = Duration::from_secs(3);
/// So many bytes are written at once.
const BATCH: usize = 64 * 1024;
/// Nobody has received so many frames: a peer that says so lies.
const IMPOSSIBLE: u64 = 1 << 48;

/// What becomes of a frame while its peer is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhileAway {
    /// It waits until there is a connection.
    Keep,
    /// It is dropped: by then it would say nothing new, as a heartbeat.
    Drop,
}

/// The way to one peer.
#[derive(Debug)]
pub(crate) struct Outgoing {
    state: Arc<State>,
    address: watch::Sender<Option<String>>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    queue: Mutex<Queue>,
    /// There is something to send.
    filled: Notify,
    /// The peer has just dialled us, so it is worth dialling it.
    alive: Notify,
    /// Everything has been handed to the system.
    emptied: Notify,
}

impl State {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // A task that panicked left the queue as it was between two operations.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outgoing {
    /// Begins to dial peer `id`, as soon as its address is known.
    pub(crate) fn new(endpoint: Shared, id: u64, address: Option<String>) -> Self {
        let state = Arc::new(State {
            queue: Mutex::new(Queue::new(endpoint.links, endpoint.patience)),
            filled: Notify::new(),
            alive: Notify::new(),
            emptied: Notify::new(),
        });
        let (address, known) = watch::channel(address);
        let dialler = Dialler { endpoint, id, state: Arc::clone(&state), address: known };
        let task = tokio::spawn(dialler.run().instrument(Span::current()));
        Outgoing { state, address, task }
    }

    /// Sends a frame; `away` says what becomes of it while there is no connection. A full queue drops it.
    pub(crate) fn send(&self, body: &Body, away: WhileAway) -> bool {
        self.send_slowly(body, away, Instant::now())
    }

    /// As [`send`](Outgoing::send), for a frame that pretends to be on its way until `until`.
    pub(crate) fn send_slowly(&self, body: &Body, away: WhileAway, until: Instant) -> bool {
        let mut queue = self.state.queue();
        if away == WhileAway::Drop && (!queue.connected || queue.held_back) {
            return false;
        }
        let there_was_room = queue.push(body, Instant::now(), until);
        drop(queue);
        self.state.filled.notify_one();
        there_was_room
    }

    /// Sends nothing until it is told otherwise, as if the network were out of order; what is to be sent
    /// waits.
    pub(crate) fn hold_back(&self, held_back: bool) {
        self.state.queue().held_back = held_back;
        self.state.filled.notify_one();
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.state.queue().connected
    }

    /// The peer lives: dial it now.
    pub(crate) fn hint(&self) {
        self.state.alive.notify_one();
    }

    /// The peer is at another address from now on.
    pub(crate) fn move_to(&self, address: String) {
        self.address.send_replace(Some(address));
        self.hint();
    }

    /// Waits until everything has been handed to the system, if the peer is there, but not for ever.
    pub(crate) async fn flushed(&self, limit: Duration) {
        let empty = async {
            loop {
                let emptied = self.state.emptied.notified();
                {
                    let queue = self.state.queue();
                    if queue.waiting() == 0 || !queue.connected {
                        return;
                    }
                }
                emptied.await;
            }
        };
        let _ = timeout(limit, empty).await;
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Dialler {
    endpoint: Shared,
    id: u64,
    state: Arc<State>,
    address: watch::Receiver<Option<String>>,
}

impl Dialler {
    async fn run(mut self) {
        let (mut random, mut failures, mut said) = (Random::new(), 0_u32, String::new());
        let mut absence = Absence::new(Instant::now());
        loop {
            let Some(address) = self.address.borrow_and_update().clone() else {
                if self.address.changed().await.is_err() {
                    return;
                }
                continue;
            };
            let wait = match timeout(DIAL_LIMIT, self.connect(&address)).await {
                Ok(Ok((stream, answer))) => match answer {
                    Answer::Welcome { life, disk, .. }
                        if let Err(reason) = self.endpoint.memory.meet(self.id, life, disk) =>
                    {
                        if said != reason {
                            error!(peer = self.id, %address, %reason, "this node refuses the peer");
                            said = reason;
                        }
                        REFUSED_WAIT
                    }
                    Answer::Welcome { life, received, .. } => {
                        info!(peer = self.id, %address, "connected");
                        (failures, said) = (0, String::new());
                        if !self.state.queue().connect(life, received, Instant::now()) {
                            warn!(peer = self.id, %address, "somebody else has spoken in this node's name");
                        }
                        count(&self.endpoint.traffic.connected, 1);
                        let end = self.write(stream).await;
                        self.endpoint.traffic.connected.fetch_sub(1, Ordering::Relaxed);
                        absence = Absence::new(Instant::now());
                        self.state.queue().disconnect();
                        self.state.emptied.notify_waiters();
                        count(&self.endpoint.traffic.reconnections, 1);
                        info!(peer = self.id, why = %end, "the connection is gone");
                        SHORTEST_WAIT
                    }
                    Answer::Refused { reason } => {
                        if said != reason {
                            error!(peer = self.id, %address, %reason, "the peer refuses this node");
                            said = reason;
                        }
                        REFUSED_WAIT
                    }
                },
                Ok(Err(why)) => {
                    self.miss(&mut absence, &address, &why.to_string());
                    if why.kind() == io::ErrorKind::InvalidData && said != why.to_string() {
                        error!(peer = self.id, %address, %why, "cannot connect");
                        said = why.to_string();
                    }
                    failures = failures.saturating_add(1);
                    LONGEST_WAIT.min(SHORTEST_WAIT * 2_u32.saturating_pow(failures.min(10)))
                }
                Err(_) => {
                    self.miss(&mut absence, &address, "no connection in time");
                    failures = failures.saturating_add(1);
                    LONGEST_WAIT
                }
            };
            // Half to one and a half times as long, so that nodes do not dial in step.
            let wait = random.between(wait / 2, wait * 3 / 2);
            tokio::select! {
                () = sleep(wait) => {}
                () = self.state.alive.notified(), if failures > 0 => {}
                changed = self.address.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Says that the peer cannot be reached, now and then.
    fn miss(&self, absence: &mut Absence, address: &str, why: &str) {
        debug!(peer = self.id, address, why, "cannot connect");
        if let Some(away) = absence.warning(Instant::now()) {
            let (seconds, reach) = (away.as_secs(), self.endpoint.reach());
            warn!(peer = self.id, address, why, seconds, "cannot reach a peer; {reach}");
        }
    }

    async fn connect(&self, address: &str) -> io::Result<(Stream, Answer)> {
        let endpoint = &self.endpoint;
        let stream = dial(address, self.id, endpoint.tls.as_ref()).await?;
        let mut framed = Framed::new(stream, codec(HELLO_LIMIT));
        let challenge = Challenge::decode(&piece(&mut framed).await?).map_err(garbled)?;
        let hello = Hello {
            cluster: endpoint.cluster.clone(),
            system: endpoint.system.clone(),
            from: endpoint.id,
            to: self.id,
            life: endpoint.life,
            nonce: challenge.nonce,
            disk: endpoint.memory.disk(),
        };
        framed.send(hello.encode()).await?;
        let answer = Answer::decode(&piece(&mut framed).await?).map_err(garbled)?;
        if matches!(answer, Answer::Welcome { received, .. } if received > IMPOSSIBLE) {
            return Err(garbled(FrameError::Garbled("answer")));
        }
        Ok((framed.into_inner(), answer))
    }

    /// Writes what there is to send until the connection breaks; says why it did.
    async fn write(&self, mut stream: Stream) -> io::Error {
        let (mut batch, mut heard) = (BytesMut::with_capacity(1024), BytesMut::new());
        loop {
            let mut frames = 0;
            {
                let mut queue = self.state.queue();
                while batch.len() < BATCH && queue.next(&mut batch) {
                    frames += 1;
                }
            }
            if batch.is_empty() {
                self.state.emptied.notify_waiters();
                tokio::select! {
                    () = self.state.filled.notified() => {}
                    // Acknowledgements come, and reading tells when the peer is gone.
                    read = stream.read_buf(&mut heard) => {
                        if let Err(why) = read.and_then(|length| self.hear(length, &mut heard)) {
                            return why;
                        }
                    }
                }
                continue;
            }
            count(&self.endpoint.traffic.sent, frames);
            count(&self.endpoint.traffic.sent_bytes, batch.len() as u64);
            if let Err(why) = stream.write_all(&batch).await {
                return why;
            }
            if let Err(why) = stream.flush().await {
                return why;
            }
            batch.clear();
        }
    }

    /// Takes note of what the peer has received; `length` bytes more were heard.
    fn hear(&self, length: usize, heard: &mut BytesMut) -> io::Result<()> {
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        while let Some(Acknowledgement(received)) = Acknowledgement::take(heard) {
            self.state.queue().acknowledge(received).map_err(garbled)?;
        }
        Ok(())
    }
}

type Pieces = Framed<Stream, tokio_util::codec::LengthDelimitedCodec>;

async fn piece(framed: &mut Pieces) -> io::Result<BytesMut> {
    framed.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
}

fn garbled(why: FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
