//! Connections between members: each sends on connections that it made itself, and listens on the others'.
//!
//! A connection begins with an [`Opening`], which is answered by a [`Reply`]; after that one side only sends,
//! the other only hears. Whoever is not who it says it is, or has lost what it confirmed, is refused and told
//! why.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use habemus_journal::Extent;
use habemus_replica::{Member, MemberId, PeerMessage};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::TlsStream;
use tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio_util::either::Either;

use crate::admin::Account;
use crate::endpoint::Endpoint;
use crate::engine::{Input, View};
use crate::form::{self, Form};
use crate::handle::{Freshness, Handle};
use crate::others::{BadDisk, Known, Life, Others};
use crate::parts::{MAX_FRAME, Receiving, Sending};
use crate::strangers::Strangers;
use crate::tls::Tls;

/// What members say first is no longer than this.
const MAX_OPENING: usize = 1 << 16;

/// So many messages wait for a member that is slow or away; what is more is dropped, and sent again by the
/// engine.
const QUEUE: usize = 4096;

/// How long somebody may take to connect, or to say who it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a member waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// So often a member says how far everybody's journal goes, if any of them goes further than before.
const NEWS: Duration = Duration::from_secs(1);

type Stream = Either<TcpStream, TlsStream<TcpStream>>;
type Connection = Framed<Stream, LengthDelimitedCodec>;

/// How members keep strangers out, if they do.
pub(crate) type Keeper = Option<Arc<Tls>>;

/// What a connection begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Opening {
    /// Messages of this member follow. Answered by `Welcome` or `Refused`.
    Hello { form: u32, cluster: u64, from: MemberId, to: MemberId, life: Life },
    /// "I was added to your cluster, and hear the others at this address: who am I?" Answered by `YouAre` or
    /// `Unknown`.
    WhoAmI { address: String },
    /// "What do you remember of elections?" Answered by `Account`, or by nothing if that is another member.
    HowAreYou { cluster: u64, to: MemberId },
}

/// What an opening is answered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    Welcome,
    Refused(Refusal),
    YouAre(Introduction),
    Unknown,
    Account(Account),
}

/// What follows a welcome.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Saying {
    /// For the other's replica.
    Message(PeerMessage),
    /// What the sender knows of everybody's disk, its own included.
    Disks(Vec<(MemberId, Known)>),
}

/// What a member that was added must know before it has learned anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(crate) cluster: u64,
    /// Who it is.
    pub(crate) member: MemberId,
    /// Who else belongs to the cluster.
    pub(crate) members: Vec<(MemberId, Member)>,
}

/// Why a member is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
enum Refusal {
    #[error(
        "it speaks form {0} of the members' language, and this one another: run the same version everywhere"
    )]
    Form(u32),
    #[error("it belongs to the cluster {0:016x}: compare --cluster of both, and where they keep their data")]
    Cluster(u64),
    #[error("it is the member {0}: another one listens at that address")]
    Member(MemberId),
    #[error(
        "this member comes with another disk than before, so it has lost what it confirmed: remove it from \
         the cluster (etcdctl member remove), empty its directory, and add it as a new one"
    )]
    OtherDisk,
    #[error(
        "this member comes with its disk as it was at an earlier time, so it has lost what it confirmed \
         since: remove it from the cluster (etcdctl member remove), empty its directory, and add it as a \
         new one"
    )]
    OlderDisk,
    #[error(
        "this member was removed from the cluster: empty its directory, and add it as a new one (etcdctl \
         member add) if it is to come back"
    )]
    Removed,
}

impl Refusal {
    /// Whether the one that is refused must stop: then it is at fault, whoever says so. Of a wrong cluster or
    /// address nobody knows which side is wrong.
    fn is_final(self) -> bool {
        matches!(self, Refusal::OtherDisk | Refusal::OlderDisk | Refusal::Removed)
    }
}

/// Who a member is to the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) cluster: u64,
    pub(crate) me: MemberId,
    pub(crate) life: Life,
}

/// What a member tells the others of disks.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) face: Face,
    /// How far the own journal goes.
    pub(crate) extent: watch::Receiver<Extent>,
    pub(crate) others: Arc<Others>,
}

impl Told {
    fn disks(&self) -> Vec<(MemberId, Known)> {
        let own = Known { life: self.face.life, written: *self.extent.borrow() };
        self.others.all().into_iter().chain([(self.face.me, own)]).collect()
    }
}

/// The ways to the other members.
pub(crate) struct Peers {
    told: Told,
    tls: Keeper,
    fatal: mpsc::Sender<End>,
    removed: watch::Sender<BTreeSet<MemberId>>,
    queues: BTreeMap<MemberId, (String, mpsc::Sender<PeerMessage>)>,
}

/// Why a member cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It was removed, in good order: whoever has asked it for something is still answered.
    Removed,
    /// Another member does not take it for what it says: it is to do nothing more.
    Refused(String),
}

impl End {
    /// What the member says last.
    pub(crate) fn why(self) -> String {
        match self {
            End::Removed => Refusal::Removed.to_string(),
            End::Refused(why) => why,
        }
    }
}

impl Peers {
    /// What makes it impossible to go on is told to `fatal`, and whoever is not heard any more to `removed`.
    pub(crate) fn new(
        told: Told,
        tls: Keeper,
        fatal: mpsc::Sender<End>,
        removed: watch::Sender<BTreeSet<MemberId>>,
    ) -> Peers {
        Peers { told, tls, fatal, removed, queues: BTreeMap::new() }
    }

    /// Hears nobody any more who was removed.
    pub(crate) fn dismiss(&self, removed: &BTreeSet<MemberId>) {
        self.removed.send_if_modified(|known| {
            let is_news = known != removed;
            known.clone_from(removed);
            is_news
        });
    }

    /// Makes connections to new members, and ends those to members that went or moved.
    pub(crate) fn follow<'a>(&mut self, members: impl Iterator<Item = (MemberId, &'a Member)>) {
        let addresses: BTreeMap<MemberId, &String> = members
            .filter(|(id, _)| *id != self.told.face.me)
            .filter_map(|(id, member)| Some((id, member.peer_addresses.first()?)))
            .collect();
        self.queues.retain(|id, (address, _)| addresses.get(id).is_some_and(|it| *it == address));
        for (id, address) in addresses {
            let (told, tls, fatal) = (self.told.clone(), self.tls.clone(), self.fatal.clone());
            self.queues.entry(id).or_insert_with(|| {
                let (queue, messages) = mpsc::channel(QUEUE);
                tokio::spawn(speak(address.clone(), told, tls, id, messages, fatal));
                (address.clone(), queue)
            });
        }
    }

    /// Says that this member does not belong to the cluster any more.
    pub(crate) fn leave(&self) {
        // If the way is full, something else has been said already.
        drop(self.fatal.try_send(End::Removed));
    }

    /// Sends a message, or drops it if too many wait.
    pub(crate) fn send(&self, to: MemberId, message: PeerMessage) {
        if let Some((_, queue)) = self.queues.get(&to) {
            drop(queue.try_send(message));
        }
    }
}

/// How frames are told apart, while nobody has said who it is.
pub(crate) fn codec() -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().max_frame_length(MAX_OPENING).new_codec()
}

fn framed(stream: Stream) -> Connection {
    Framed::new(stream, codec())
}

pub(crate) fn encode(value: &impl Serialize) -> Bytes {
    postcard::to_extend(value, Vec::new()).expect("memory takes whatever is written").into()
}

async fn send(connection: &mut Connection, value: &impl Serialize) -> Option<()> {
    connection.send(encode(value)).await.ok()
}

/// The next thing that somebody says, who does not take long.
async fn receive(connection: &mut Connection) -> Option<BytesMut> {
    tokio::time::timeout(PATIENCE, connection.next()).await.ok()??.ok()
}

/// Without it small messages wait for others; if it cannot be had, they do.
fn hurry(stream: &TcpStream) {
    drop(stream.set_nodelay(true));
}

async fn dial(address: &str, tls: &Keeper) -> io::Result<Stream> {
    let stream = TcpStream::connect(address).await?;
    hurry(&stream);
    match tls {
        None => Ok(Either::Left(stream)),
        Some(tls) => {
            let endpoint: Endpoint = address.parse().map_err(io::Error::other)?;
            Ok(Either::Right(tls.connect(endpoint.server_name(), stream).await?.into()))
        }
    }
}

async fn open(address: &str, tls: &Keeper, opening: &Opening) -> Option<(Connection, Reply)> {
    let stream = match tokio::time::timeout(PATIENCE, dial(address, tls)).await.ok()? {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(address, %error, "another member cannot be reached");
            return None;
        }
    };
    let mut connection = framed(stream);
    send(&mut connection, opening).await?;
    let reply = postcard::from_bytes(&receive(&mut connection).await?).ok()?;
    connection.codec_mut().set_max_frame_length(MAX_FRAME);
    Some((connection, reply))
}

/// Sends messages to a member for as long as somebody has any.
async fn speak(
    address: String,
    disks: Told,
    tls: Keeper,
    to: MemberId,
    mut messages: mpsc::Receiver<PeerMessage>,
    fatal: mpsc::Sender<End>,
) {
    let Face { cluster, me, life } = disks.face;
    let (mut told, mut form) = (None, Form::Present);
    loop {
        let hello = Opening::Hello { form: form.number(), cluster, from: me, to, life };
        match open(&address, &tls, &hello).await {
            Some((connection, Reply::Welcome)) => {
                told = None;
                if deliver(connection, &mut messages, &disks, form).await.is_none() {
                    return;
                }
                // Whoever comes back may have been upgraded.
                form = Form::Present;
            }
            Some((_, Reply::Refused(Refusal::Form(number))))
                if form == Form::Present && number == Form::Before.number() =>
            {
                form = Form::Before;
                continue;
            }
            Some((_, Reply::Refused(why))) if why.is_final() => {
                let end = match why {
                    Refusal::Removed => End::Removed,
                    _ => End::Refused(format!("refused by the member at {address}: {why}")),
                };
                // Whoever does not listen is stopping already.
                drop(fatal.send(end).await);
                return;
            }
            Some((_, Reply::Refused(why))) if told != Some(why) => {
                tracing::warn!(%address, "refused by another member: {why}");
                told = Some(why);
            }
            _ => {}
        }
        tokio::time::sleep(PAUSE).await;
        // What waited meanwhile is old, and would only be in the way.
        while messages.try_recv().is_ok() {}
        if messages.is_closed() {
            return;
        }
    }
}

/// Sends messages until the connection breaks; `None` when there are none any more.
async fn deliver(
    mut connection: Connection,
    messages: &mut mpsc::Receiver<PeerMessage>,
    disks: &Told,
    form: Form,
) -> Option<()> {
    let mut batch = Vec::new();
    let mut sending = Sending::default();
    let mut news = interval(NEWS);
    news.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut said = Vec::new();
    loop {
        let count = tokio::select! {
            biased;
            _ = news.tick(), if form == Form::Present => {
                let now = disks.disks();
                if now != said {
                    said.clone_from(&now);
                    for frame in Sending::frames(encode(&Saying::Disks(now))) {
                        if connection.send(frame).await.is_err() {
                            return Some(());
                        }
                    }
                }
                continue;
            }
            count = messages.recv_many(&mut batch, 256) => count,
            // The other side says nothing more: it has closed the connection.
            _ = connection.next() => return Some(()),
            () = std::future::ready(()), if sending.is_waiting() => {
                let part = sending.next_part()?;
                if connection.send(part).await.is_err() {
                    return Some(());
                }
                continue;
            }
        };
        if count == 0 {
            return None;
        }
        for message in batch.drain(..) {
            let is_snapshot = message.is_snapshot();
            let bytes = form.say(message);
            if is_snapshot {
                sending.wait(bytes);
                continue;
            }
            for frame in Sending::frames(bytes) {
                if connection.feed(frame).await.is_err() {
                    return Some(());
                }
            }
        }
        if SinkExt::<Bytes>::flush(&mut connection).await.is_err() {
            return Some(());
        }
    }
}

/// What whoever listens needs to know.
struct Ear {
    tls: Keeper,
    cluster: u64,
    me: MemberId,
    others: Arc<Others>,
    removed: watch::Receiver<BTreeSet<MemberId>>,
    handle: Handle,
}

/// Takes connections of other members.
pub(crate) async fn listen(
    listener: TcpListener,
    face: Face,
    tls: Keeper,
    others: Arc<Others>,
    removed: watch::Receiver<BTreeSet<MemberId>>,
    handle: Handle,
) {
    let ear = Arc::new(Ear { tls, cluster: face.cluster, me: face.me, others, removed, handle });
    let mut strangers = Strangers::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                strangers.come(tokio::spawn(Arc::clone(&ear).greet(stream)).abort_handle());
            }
            // Too many files are open, say: that may pass.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

impl Ear {
    /// Finds out who has come, and lets members in.
    async fn greet(self: Arc<Ear>, stream: TcpStream) -> Option<()> {
        let mut connection = framed(tokio::time::timeout(PATIENCE, self.admit(stream)).await.ok()??);
        let opening = form::opening(&receive(&mut connection).await?)?;
        let (from, reply) = match opening {
            Opening::WhoAmI { address } => (None, self.find(address).await?),
            Opening::HowAreYou { cluster, to } => (None, self.tell_of_itself(cluster, to).await?),
            Opening::Hello { form, cluster, from, to, life } => {
                let refused = self.look_at(form, cluster, from, to, life);
                (Form::of(form).map(|form| (from, form)), refused.map_or(Reply::Welcome, Reply::Refused))
            }
        };
        send(&mut connection, &reply).await?;
        let (from, form) = from.filter(|_| reply == Reply::Welcome)?;
        connection.codec_mut().set_max_frame_length(MAX_FRAME);
        drop(tokio::spawn(self.hear(from, form, connection)));
        Some(())
    }

    /// Takes what a member says until the connection ends.
    async fn hear(self: Arc<Ear>, from: MemberId, form: Form, connection: Connection) -> Option<()> {
        let over = self.take(from, form, connection).await;
        self.handle.tell(Input::Gone(from)).await.ok()?;
        over
    }

    /// Takes what a member says who was let in, until it is removed: it may not have heard of that, and is
    /// told when it connects again.
    async fn take(self: &Arc<Ear>, from: MemberId, form: Form, mut connection: Connection) -> Option<()> {
        let mut receiving = Receiving::default();
        let mut removed = self.removed.clone();
        let mut dismissed = pin!(removed.wait_for(|removed| removed.contains(&from)));
        loop {
            let frame = tokio::select! {
                frame = connection.next() => frame?.ok()?,
                _ = &mut dismissed => return None,
            };
            let Some(message) = receiving.take(frame.freeze()).ok()? else { continue };
            match form.hear(&message)? {
                Saying::Message(message) => self.handle.tell(Input::Peer(from, message)).await.ok()?,
                Saying::Disks(disks) => {
                    let ear = Arc::clone(self);
                    // It writes a file, and nobody waits for it.
                    drop(tokio::task::spawn_blocking(move || ear.others.learn(disks)));
                }
            }
        }
    }

    async fn admit(&self, stream: TcpStream) -> Option<Stream> {
        hurry(&stream);
        let Some(tls) = &self.tls else { return Some(Either::Left(stream)) };
        let from = stream.peer_addr().ok()?;
        match tls.accept(stream).await {
            Ok(stream) => Some(Either::Right(stream.into())),
            Err(error) => {
                tracing::debug!(%from, %error, "somebody is not let in as a member");
                None
            }
        }
    }

    /// Why somebody is not let in, if it is not.
    fn look_at(&self, form: u32, cluster: u64, from: MemberId, to: MemberId, life: Life) -> Option<Refusal> {
        if Form::of(form).is_none() {
            return Some(Refusal::Form(Form::Present.number()));
        }
        if cluster != self.cluster {
            return Some(Refusal::Cluster(self.cluster));
        }
        if to != self.me || from == self.me {
            return Some(Refusal::Member(self.me));
        }
        if self.removed.borrow().contains(&from) {
            return Some(Refusal::Removed);
        }
        self.others.meet(from, life).err().map(|bad| match bad {
            BadDisk::Other => Refusal::OtherDisk,
            BadDisk::Older => Refusal::OlderDisk,
        })
    }

    /// What this member remembers of elections.
    async fn tell_of_itself(&self, cluster: u64, to: MemberId) -> Option<Reply> {
        if (cluster, to) != (self.cluster, self.me) {
            return None;
        }
        self.handle.look(Freshness::Local, Account::of).await.ok().map(Reply::Account)
    }

    /// Who hears the others at this address.
    async fn find(&self, address: String) -> Option<Reply> {
        let look = move |view: &View<'_>| {
            let members = view.members();
            let found = members.iter().find(|(_, member)| member.peer_addresses.contains(&address));
            found.map(|(id, _)| *id).map(|id| (id, members))
        };
        let found = self.handle.look(Freshness::Linearizable, look).await.ok()?;
        Some(found.map_or(Reply::Unknown, |(member, members)| {
            Reply::YouAre(Introduction { cluster: self.cluster, member, members })
        }))
    }
}

/// What a member remembers of elections, if it is the one that is meant.
pub(crate) async fn account(address: &str, tls: &Keeper, cluster: u64, to: MemberId) -> Option<Account> {
    match open(address, tls, &Opening::HowAreYou { cluster, to }).await? {
        (_, Reply::Account(account)) => Some(account),
        _ => None,
    }
}

/// Asks the members of a cluster who it is that hears the others at `address`, until one of them knows.
pub(crate) async fn who_am_i(
    members: &[String],
    tls: &Keeper,
    address: String,
) -> Result<Introduction, String> {
    let question = Opening::WhoAmI { address: address.clone() };
    let mut unknown = false;
    for member in members {
        match open(member, tls, &question).await {
            Some((_, Reply::YouAre(introduction))) => return Ok(introduction),
            Some(_) => unknown = true,
            None => {}
        }
    }
    let members = members.join(", ");
    let scheme = if tls.is_some() { "https" } else { "http" };
    Err(if unknown {
        format!(
            "no member of the cluster is known by the address {address}: add it first, with \
             `etcdctl member add NAME --learner --peer-urls={scheme}://{address}`"
        )
    } else {
        format!(
            "no member answers at {members}: give the addresses where members hear each other, with --join, \
             and the same --peer-trusted-ca-file as they have"
        )
    })
}
