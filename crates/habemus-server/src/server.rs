//! One member from its start to its end.

use std::fmt::Display;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use habemus_api::v1::{elections_server, locks_server, sessions_server};
use habemus_etcd::{etcdserverpb, v3electionpb, v3lockpb};
use habemus_journal::{Files, Journal, Limits};
use habemus_replica::{Change, Member, MemberId, Recovered, Replica, Settings};
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tonic::service::Routes;

use crate::admin::Admin;
use crate::config::{Config, Origin};
use crate::door::Door;
use crate::endpoint::Endpoint;
use crate::engine::{Engine, INPUTS, Input, View};
use crate::handle::{Freshness, Handle, Ways};
use crate::identity::{Hexadecimal, Identity};
use crate::metrics::Metrics;
use crate::others::{Life, Others};
use crate::peers::{End, Face, Keeper, Peers, Told};
use crate::tls::Tls;
use crate::tokens::Tokens;
use crate::writer::Writer;
use crate::{
    admin, auth, clock, cluster, election, gateway, http, identity, kv, lease, lock, maintenance, peers,
    random, v1, watch as watches,
};

/// A message from a client is no longer than this. What is longer than a request may be is refused by a
/// better error.
const MAX_MESSAGE: usize = 2 << 20;

/// A message in which two keys stand is no longer than this.
const WATCH_MESSAGE: usize = 256 << 10;

/// A message in which no key or value stands is no longer than this.
const SMALL_MESSAGE: usize = 64 << 10;

/// How long whoever is still connected may take to go when the member stops.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs a member until it is told to stop, or cannot go on.
pub(crate) async fn serve(config: Config) -> Result<(), String> {
    let tls = config.tls.as_ref().map(Tls::for_clients).transpose()?.map(Arc::new);
    let keeper: Keeper = config.peer_tls.as_ref().map(Tls::for_members).transpose()?.map(Arc::new);
    let clients = listen(config.listen).await?;
    let files = Files::new(&config.data).map_err(|error| format!("{}: {error}", config.data.display()))?;
    let _lock = identity::lock(&config.data)?;
    let Opened { identity, journal, recovered, contacts } = open(&config, files, &keeper).await?;

    let face = Face {
        cluster: identity.cluster.0,
        me: identity.id(),
        life: Life {
            disk: identity.disk,
            starts: identity.starts,
            life: Hexadecimal(random::bits()),
            found: journal.found(),
        },
    };
    let others = Arc::new(Others::read(&config.data, face.me)?);
    let (extends, extent) = watch::channel(journal.extent());
    let mut replica = Replica::start(Settings::new(face.me, random::bits()), &recovered, clock::now())
        .map_err(|error| error.to_string())?;
    if replica.members().all(|(id, _)| id == face.me) && recovered.snapshot.is_some() {
        replica.stand_for_election();
    }
    let (fatal, ended) = mpsc::channel(1);
    let (inputs, taken) = mpsc::channel(INPUTS);
    let (roles, role) = watch::channel(replica.role());
    let (dismisses, removed) = watch::channel(replica.removed().clone());
    let (urgent, first) = mpsc::channel(INPUTS);
    let (renewals, renewed) = mpsc::channel(INPUTS);
    let ways = Ways { clients: inputs, renewals, urgent: urgent.clone() };
    let handle = Handle::new(ways, role, face.cluster, face.me);
    if config.origin != Origin::Alone || replica.members().count() > 1 {
        let listener = match config.listen_peer {
            Some(address) => listen(address).await?,
            None => listen(identity.peer.to_string()).await?,
        };
        let (keeper, others) = (keeper.clone(), Arc::clone(&others));
        tokio::spawn(peers::listen(listener, face, keeper, others, removed, handle.clone()));
    }
    if !is_at_a_terminal() {
        // Heard from now on: a signal that nobody hears yet ends the member.
        tokio::spawn(reread_when_told(hear(SignalKind::hangup()), [tls.clone(), keeper.clone()]));
    }
    let admin = Admin::new(handle.clone(), face.cluster, keeper.clone(), tls.is_some());
    let mut connections = Peers::new(Told { face, extent, others }, keeper, fatal, dismisses);
    let contacts = contacts.iter().map(|(id, member)| (*id, member));
    connections.follow(replica.members().chain(contacts));
    let metrics = Metrics::default();
    let (writer, failed) = Writer::start(journal, urgent, metrics.clone(), extends);
    let life = u32::try_from(random::bits() >> 32).expect("thirty-two bits are left");
    let engine = Engine::new(replica, writer, connections, config.quota, roles, metrics.clone(), life);
    let engine = tokio::spawn(engine.run(first, renewed, taken));

    let address = clients.local_addr().map_err(|error| error.to_string())?;
    let reached = config.advertise.unwrap_or(address);
    // Without TLS nothing is written before it, as members always did.
    let reached = if tls.is_some() { format!("https://{reached}") } else { reached.to_string() };
    tokio::spawn(announce(handle.clone(), identity.name.clone(), identity.peer.clone(), reached));
    let data = config.data.display();
    // Whoever reads the next line may tell the member to stop.
    let orders = Orders::hear();
    tracing::info!(name = identity.name, member = %face.me, %address, %data, "listens");
    let door = Door { listener: clients, tls, limits: config.limits };
    tokio::select! {
        answered = answer(door, handle, metrics, admin, &config, Stop { orders, ended }) => answered,
        Ok(error) = failed => Err(format!("the disk fails, and nothing more is confirmed: {error}")),
        ended = engine => Err(format!("the engine has ended: {ended:?}")),
    }
}

/// Looks at all that a member would need, and changes nothing.
pub(crate) fn check(config: &Config) -> Result<(), String> {
    config.tls.as_ref().map(Tls::for_clients).transpose()?;
    config.peer_tls.as_ref().map(Tls::for_members).transpose()?;
    match Identity::read(&config.data)? {
        Some(identity) => identity.check(&config.data, config.name.as_deref(), config.origin.names()),
        None => Ok(()),
    }
}

async fn listen(address: impl ToSocketAddrs + Display + Clone) -> Result<TcpListener, String> {
    TcpListener::bind(address.clone()).await.map_err(|error| format!("cannot listen on {address}: {error}"))
}

/// What a member begins with.
struct Opened {
    identity: Identity,
    journal: Journal<Files>,
    recovered: Recovered,
    /// Whom it asks until it has learned who belongs to the cluster.
    contacts: Vec<(MemberId, Member)>,
}

/// Opens what is in the directory, or makes it.
async fn open(config: &Config, files: Files, keeper: &Keeper) -> Result<Opened, String> {
    let data = &config.data;
    let tell = |error: &dyn Display| format!("{}: {error}", data.display());
    let exists = Journal::exists(&files).map_err(|error| tell(&error))?;
    let mut identity = match Identity::read(data)? {
        Some(identity) => {
            identity.check(data, config.name.as_deref(), config.origin.names())?;
            identity
        }
        None if exists => return Err(lost_identity(data)),
        None => begin(config, keeper).await?,
    };
    identity.starts += 1;
    identity.write(data)?;
    if exists {
        let (journal, recovered) = Journal::open(files, Limits::default()).map_err(|error| tell(&error))?;
        let contacts =
            if recovered.snapshot.is_some() { Vec::new() } else { meet(config, &identity, keeper).await? };
        return Ok(Opened { identity, journal, recovered, contacts });
    }
    if identity.has_journal {
        return Err(tell(
            &"the snapshot is missing, so what this member has confirmed is lost: remove it from the \
                          cluster, empty its directory, and add it as a new one",
        ));
    }
    let (recovered, contacts) = match &config.origin {
        Origin::Added { .. } => (Recovered::added(), meet(config, &identity, keeper).await?),
        Origin::First(names) => (Recovered::first(identity::members(names, None)), Vec::new()),
        Origin::Alone => {
            let names = [(identity.name.clone(), identity.peer.clone())].into();
            (Recovered::first(identity::members(&names, None)), Vec::new())
        }
    };
    let journal = Journal::create(files, Limits::default(), &recovered).map_err(|error| tell(&error))?;
    identity.has_journal = true;
    identity.write(data)?;
    Ok(Opened { identity, journal, recovered, contacts })
}

/// Whom a member asks that was added and has learned nothing yet.
async fn meet(
    config: &Config,
    identity: &Identity,
    keeper: &Keeper,
) -> Result<Vec<(MemberId, Member)>, String> {
    let Origin::Added { members, peer } = &config.origin else {
        return Err(
            "this member was added to a cluster and has learned nothing of it yet: say with --join and \
                    --peer where the others are, as the first time"
                .to_owned(),
        );
    };
    let introduction = peers::who_am_i(members, keeper, peer.to_string()).await?;
    if (introduction.cluster, introduction.member) != (identity.cluster.0, identity.id()) {
        return Err(format!(
            "the members at --join take this one for another than {} says: empty that directory, or give the \
             address with which it was added",
            config.data.display()
        ));
    }
    Ok(introduction.members)
}

fn lost_identity(data: &Path) -> String {
    format!(
        "{} has a journal, but nothing says whose: the file `identity` is missing. Restore it, or empty the \
         directory and add this member as a new one",
        data.display()
    )
}

/// Who a member is that starts for the first time.
async fn begin(config: &Config, keeper: &Keeper) -> Result<Identity, String> {
    let name = config.name.as_deref().unwrap_or("default");
    match &config.origin {
        Origin::Alone => {
            let peer = Endpoint::from(SocketAddr::from(([127, 0, 0, 1], 2380)));
            Ok(Identity::first(&[(name.to_owned(), peer.clone())].into(), name, peer, None))
        }
        Origin::First(names) => Ok(Identity::first(names, name, names[name].clone(), None)),
        Origin::Added { members, peer } => {
            let introduction = peers::who_am_i(members, keeper, peer.to_string()).await?;
            Ok(Identity::added(introduction.cluster, introduction.member, name, peer.clone()))
        }
    }
}

/// Tells the others where clients reach this member, until they know.
async fn announce(handle: Handle, name: String, peer: Endpoint, reached: String) {
    let me = handle.member();
    let known = Member {
        name,
        peer_addresses: vec![peer.to_string()],
        client_addresses: vec![reached],
        learner: false,
    };
    loop {
        let look = move |view: &View<'_>| view.members().into_iter().find(|(id, _)| *id == me);
        match handle.look(Freshness::Local, look).await {
            Err(_) => return,
            Ok(Some((_, present))) => {
                let wanted = Member { learner: present.learner, ..known.clone() };
                if wanted == present || handle.change(Change::Update(me, wanted)).await.is_ok() {
                    return;
                }
            }
            // It has not been caught up yet.
            Ok(None) => {}
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Answers clients until the member is told to stop, or does not belong to the cluster any more.
async fn answer(
    door: Door,
    handle: Handle,
    metrics: Metrics,
    admin: Admin,
    config: &Config,
    stop: Stop,
) -> Result<(), String> {
    let (stops, stopping) = watch::channel(false);
    let routes = routes(&handle, metrics, admin, config);
    let served = door.serve(routes, Tokens::new(handle.clone()), stopping);
    tokio::pin!(served);
    let why = tokio::select! {
        () = &mut served => Ok(()),
        why = stop.wait() => why,
    };
    match &why {
        Ok(()) => hand_over(&handle).await,
        // What it is still asked for it cannot do, and says so.
        Err(End::Removed) => handle.leave().await,
        Err(End::Refused(_)) => return why.map_err(End::why),
    }
    stops.send_replace(true);
    // Whoever still watches would keep the member for ever; nothing that was answered is lost.
    drop(timeout(FAREWELL, served).await);
    tracing::info!("stops");
    why.map_err(End::why)
}

/// What makes a member stop.
struct Stop {
    orders: Orders,
    ended: mpsc::Receiver<End>,
}

impl Stop {
    /// Waits for an order, or until the member cannot go on.
    async fn wait(mut self) -> Result<(), End> {
        tokio::select! {
            () = self.orders.stop() => Ok(()),
            Some(end) = self.ended.recv() => Err(end),
        }
    }
}

/// All that is answered on the clients' port.
fn routes(handle: &Handle, metrics: Metrics, admin: Admin, config: &Config) -> axum::Router {
    let handle = || handle.clone();
    let kv = etcdserverpb::kv_server::KvServer::new(kv::Kv(handle()));
    let watch = etcdserverpb::watch_server::WatchServer::new(watches::Watch(handle()));
    let lease = etcdserverpb::lease_server::LeaseServer::new(lease::Lease(handle()));
    let auth = etcdserverpb::auth_server::AuthServer::new(auth::Auth(handle()));
    let cluster = cluster::Cluster { handle: handle(), peers_have_tls: config.peer_tls.is_some() };
    let cluster = etcdserverpb::cluster_server::ClusterServer::new(cluster);
    let maintenance = maintenance::Maintenance(handle());
    let maintenance = etcdserverpb::maintenance_server::MaintenanceServer::new(maintenance);
    let lock = v3lockpb::lock_server::LockServer::new(lock::Lock(handle()));
    let election = v3electionpb::election_server::ElectionServer::new(election::Election(handle()));
    let api = v1::Api(handle());
    let pages = http::pages(handle(), metrics)
        .merge(gateway::calls(&handle(), config.peer_tls.is_some()))
        .merge(v1::pages(&api))
        .merge(admin::pages(admin));
    Routes::from(pages)
        .add_service(kv.max_decoding_message_size(MAX_MESSAGE))
        .add_service(watch.max_decoding_message_size(WATCH_MESSAGE))
        .add_service(lease.max_decoding_message_size(SMALL_MESSAGE))
        .add_service(auth.max_decoding_message_size(SMALL_MESSAGE))
        .add_service(cluster)
        .add_service(maintenance)
        .add_service(lock.max_decoding_message_size(MAX_MESSAGE))
        .add_service(election.max_decoding_message_size(MAX_MESSAGE))
        .add_service(
            sessions_server::SessionsServer::new(api.clone()).max_decoding_message_size(SMALL_MESSAGE),
        )
        .add_service(locks_server::LocksServer::new(api.clone()).max_decoding_message_size(MAX_MESSAGE))
        .add_service(elections_server::ElectionsServer::new(api).max_decoding_message_size(MAX_MESSAGE))
        .prepare()
        .into_axum_router()
}

/// Whether somebody sits there: then SIGHUP says that the terminal was closed, and otherwise that
/// certificates are to be read again.
fn is_at_a_terminal() -> bool {
    std::io::stdin().is_terminal()
}

fn hear(kind: SignalKind) -> Signal {
    signal(kind).expect("signals can be heard")
}

/// Reads certificates again at SIGHUP. Whoever only replaces the files need not send it.
async fn reread_when_told(mut hang_up: Signal, doors: [Option<Arc<Tls>>; 2]) {
    while hang_up.recv().await.is_some() {
        doors.iter().flatten().for_each(|tls| tls.reread());
    }
}

/// The orders to stop, heard from when this is made.
struct Orders {
    terminate: Signal,
    interrupt: Signal,
    closed: Option<Signal>,
}

impl Orders {
    fn hear() -> Orders {
        Orders {
            terminate: hear(SignalKind::terminate()),
            interrupt: hear(SignalKind::interrupt()),
            closed: is_at_a_terminal().then(|| hear(SignalKind::hangup())),
        }
    }

    /// Waits for one.
    async fn stop(mut self) {
        let closed = async {
            match &mut self.closed {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = closed => {}
        }
    }
}

/// Lets somebody else lead before this member stops, if there is anybody.
async fn hand_over(handle: &Handle) {
    let me = handle.member();
    let look = move |view: &View<'_>| {
        let voters = view.members().into_iter().filter(|(_, member)| !member.learner).map(|(id, _)| id);
        voters.filter(|id| *id != me).collect::<Vec<MemberId>>()
    };
    let Ok(heirs) = handle.look(Freshness::Local, look).await else { return };
    let mut roles = handle.roles();
    for heir in heirs {
        if !roles.borrow().leads {
            return;
        }
        tracing::info!(%heir, "hands over before it stops");
        if handle.tell(Input::MoveLeader(heir)).await.is_err() {
            return;
        }
        // An heir that is away does not take over, so the next one is asked.
        drop(timeout(Duration::from_millis(300), roles.wait_for(|role| !role.leads)).await);
    }
}
