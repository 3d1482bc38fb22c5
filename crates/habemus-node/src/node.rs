//! A node: one process of an algorithm, alive on a network.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use habemus::catalogue::Setup;
use habemus::{ProblemKind, Process};
use habemus_machine::{Facts, Labels, Random};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::{Instrument, info, info_span, warn};

use crate::control::{NodeReport, Overview, SupervisorCommand};
use crate::election::ElectionHandle;
use crate::engine::{Ask, Engine, EngineError, Listener, Parts};
use crate::http;
use crate::lock::{Locks, UnfencedLocks};
use crate::record::{FirstStart, Memory, Opened};
use crate::settings::{Settings, SettingsError};
use crate::store::{Directory, Identity, StoreError};
use crate::subject::Subject;
use crate::tls::{Tls, TlsError};
use crate::transport::{Endpoint, Guests, Hospitality, Outgoing, Traffic, listen};

/// So many questions and commands wait for the process at most; then whoever asks waits.
const MAX_ASKS: usize = 1024;

/// Why a node cannot start or be used.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// It cannot listen.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// Where.
        address: String,
        /// What the system says.
        why: io::Error,
    },
    /// The data directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The node could not go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Something was asked that the algorithm does not do.
    #[error("{algorithm} solves {problem}: it has no {asked}")]
    Problem {
        /// The algorithm.
        algorithm: String,
        /// What it solves.
        problem: ProblemKind,
        /// What was asked for.
        asked: &'static str,
    },
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// A node. Dropping it stops it at once, as a crash would; [`stop`](Node::stop) stops it in good order.
#[derive(Debug)]
pub struct Node {
    id: u64,
    address: String,
    http: Option<String>,
    _http_server: Option<http::Server>,
    facts: Facts,
    asks: mpsc::Sender<Ask>,
    locks: UnfencedLocks,
    engine: Option<JoinHandle<Result<(), EngineError>>>,
    helpers: Vec<JoinHandle<()>>,
}

impl Node {
    /// Starts a node in the current tokio runtime.
    ///
    /// # Errors
    /// If the settings make no sense, or the system does not give what they ask for.
    pub async fn start(settings: Settings) -> Result<Node, NodeError> {
        Node::start_reporting(settings, None).await
    }

    /// Starts a node that reports what it does to `listener`.
    ///
    /// # Errors
    /// As [`start`](Node::start).
    pub async fn start_reporting(settings: Settings, listener: Option<Listener>) -> Result<Node, NodeError> {
        let mut settings = settings;
        settings.choose_safe_defaults();
        let labels = Labels::of_a_run(settings.trace || listener.is_some());
        let subject = Subject::of_the_catalogue(&settings, labels)?;
        Node::launch(settings, subject, listener).await
    }

    /// Starts a node that runs one process of an algorithm that need not be in the catalogue. The settings
    /// name the algorithm and have the processes of the system; topology, detector and options are the
    /// system's own, and its pulse is that of the settings. `command::main_with` is a whole program of it.
    ///
    /// # Errors
    /// As [`start`](Node::start).
    ///
    /// # Example
    /// ```
    /// use habemus::catalogue::{Entry, Setup};
    /// use habemus::election::chang_roberts::{ChangRoberts, Config};
    /// use habemus::topology::Ring;
    /// use habemus::{Id, ProblemKind, System};
    /// use habemus_node::{Node, Settings};
    ///
    /// static MINE: Entry = Entry::own("my-ring", ProblemKind::Election);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut nodes = Vec::new();
    /// for id in 1..=3 {
    ///     let system = System::<ChangRoberts>::new(Ring::new(3), [1, 2, 3].map(Id), Config::default())?;
    ///     let settings = Settings::new(MINE.name, id, [1, 2, 3]);
    ///     nodes.push(Node::start_with(Setup::own(&MINE, system), settings).await?);
    /// }
    /// for one in &nodes {
    ///     nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    /// }
    /// let election = nodes[0].election()?;
    /// election.elect().await?;
    /// let mut leadership = election.leader();
    /// let known = leadership.wait_for(|now| now.leader().is_some()).await?;
    /// assert_eq!(known.leader(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_with<P: Process>(setup: Setup<P>, settings: Settings) -> Result<Node, NodeError> {
        let subject = Subject::of_its_own(setup, &settings, Labels::of_a_run(settings.trace))?;
        Node::launch(settings, subject, None).await
    }

    /// Brings a process to life.
    pub(crate) async fn launch(
        settings: Settings,
        subject: Subject,
        listener: Option<Listener>,
    ) -> Result<Node, NodeError> {
        let tls = settings.tls.as_ref().map(|files| Tls::new(files, settings.id)).transpose()?;
        let socket = bind(&settings.listen).await?;
        let beyond = socket.local_addr().is_ok_and(|address| !address.ip().is_loopback());
        if beyond && tls.is_none() {
            let address = local_address(&socket, &settings.listen)?;
            if !settings.insecure_without_tls {
                return Err(SettingsError::Insecure { address }.into());
            }
            warn!(%address, "listens without TLS: whoever reaches this node can speak as any other");
        }
        let directory = match &settings.data {
            Some(path) => {
                let (cluster, algorithm) = (settings.cluster.clone(), settings.algorithm.clone());
                Some(Directory::open(path, Identity { cluster, algorithm, id: settings.id })?)
            }
            None => None,
        };
        settings.warn_of_unsafe_choices();
        if settings.ids.len() == 1 {
            warn!(
                node = settings.id,
                "is a cluster of one: nobody takes over when it fails, and nobody contradicts it"
            );
        }
        Node::launch_in(directory, socket, tls, settings, subject, listener).await
    }

    /// Brings a process to life that keeps its data in this directory and listens here.
    async fn launch_in(
        directory: Option<Directory>,
        socket: TcpListener,
        tls: Option<Tls>,
        settings: Settings,
        subject: Subject,
        listener: Option<Listener>,
    ) -> Result<Node, NodeError> {
        let Subject { facts, machine, me, agreement } = subject;
        if facts.synchronous && !settings.supervised && settings.begin_at.is_none() {
            return Err(SettingsError::Pulses(settings.algorithm).into());
        }
        let Opened { memory, wait, renumbered } =
            open_memory(&settings, &agreement, &facts, directory.as_ref())?;
        let address = local_address(&socket, &settings.listen)?;
        let endpoint = Arc::new(Endpoint {
            id: settings.id,
            ids: settings.ids.clone(),
            cluster: settings.cluster.clone(),
            system: agreement,
            // Zero is what a guest that has never been here has.
            life: Random::new().bits().max(1),
            links: facts.links,
            patience: settings.patience,
            memory,
            tls,
            traffic: Traffic::default(),
        });
        // What waits here has a place among the few that each peer has.
        let (sender, arrivals) = mpsc::unbounded_channel();
        let (asks, asked) = mpsc::channel(MAX_ASKS);
        let guests = Arc::new(Guests::new(settings.ids.len(), sender));
        let listening = listen(socket, Arc::clone(&endpoint), Arc::clone(&guests), Hospitality::default());
        let span = info_span!("node", id = settings.id);
        let helpers = vec![tokio::spawn(listening.instrument(span.clone()))];
        let (mut http_address, mut http_server) = (None, None);
        if let Some(wanted) = &settings.http {
            let socket = bind(wanted).await?;
            http_address = Some(local_address(&socket, wanted)?);
            let leadership = (facts.problem == ProblemKind::Election)
                .then(|| ElectionHandle::new(settings.id, asks.clone()).leader());
            let own = (settings.id, address.clone());
            let addresses = settings.peers.clone().into_iter().chain([own]).collect();
            let endpoint = Arc::clone(&endpoint);
            let server =
                span.in_scope(|| http::start(socket, wanted, &asks, leadership, addresses, endpoint));
            let failed = |why| NodeError::Listen { address: wanted.clone(), why };
            http_server = Some(server.map_err(failed)?);
        }
        let outgoing = |id: &u64| {
            let address = settings.peers.get(id).cloned();
            (*id != settings.id).then(|| Outgoing::new(Arc::clone(&endpoint), *id, address))
        };
        let peers = span.in_scope(|| settings.ids.iter().map(outgoing).collect());
        span.in_scope(|| info!(%address, algorithm = settings.algorithm, "listens"));
        let mut listener = listener;
        if let Some(listener) = &mut listener {
            listener(&NodeReport::Listening { address: address.clone(), http: http_address.clone() });
        }
        let engine = Engine::new(Parts {
            endpoint,
            me,
            facts: facts.clone(),
            machine,
            directory,
            trace: settings.trace,
            zero: settings.trace_zero,
            standby: settings.supervised,
            begin_at: settings.begin_at.max(after(wait)),
            renumbered,
            weights: settings.weights(),
            peers,
            guests,
            arrivals,
            asks: asked,
            listener,
        });
        let engine = Some(tokio::spawn(engine.run().instrument(span)));
        let locks = UnfencedLocks::new(asks.clone());
        Ok(Node {
            id: settings.id,
            address,
            http: http_address,
            _http_server: http_server,
            facts,
            asks,
            locks,
            engine,
            helpers,
        })
    }

    /// The node's identifier.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Where it listens for other nodes.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where it serves HTTP, if it does.
    pub fn http(&self) -> Option<&str> {
        self.http.as_deref()
    }

    /// What there is to know of the algorithm.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Says where another node is. What is said of the node itself is ignored.
    pub fn introduce(&self, id: u64, address: &str) {
        self.supervisor().give(SupervisorCommand::Peer { id, address: address.to_owned() });
    }

    /// How things are.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn overview(&self) -> Result<Overview, NodeError> {
        let (to, overview) = oneshot::channel();
        self.asks.send(Ask::Overview(to)).await.map_err(|_| NodeError::Stopped)?;
        overview.await.map_err(|_| NodeError::Stopped)
    }

    /// The election that this node takes part in.
    ///
    /// # Errors
    /// If the algorithm is no election.
    pub fn election(&self) -> Result<ElectionHandle, NodeError> {
        self.demand(ProblemKind::Election, "leader")?;
        Ok(ElectionHandle::new(self.id, self.asks.clone()))
    }

    /// The locks that this node takes part in. Every guard has a fencing token.
    ///
    /// # Errors
    /// If the algorithm is neither a mutual exclusion nor an election whose leaders have leases.
    pub fn locks(&self) -> Result<Locks, NodeError> {
        Ok(Locks::new(self.unfenced_locks()?, self.facts.algorithm))
    }

    /// The locks that this node takes part in, for resources that check no fencing token.
    ///
    /// # Errors
    /// As [`locks`](Node::locks).
    pub fn unfenced_locks(&self) -> Result<UnfencedLocks, NodeError> {
        // Locks can share an election whose leaders have leases.
        let has_election = self.facts.problem == ProblemKind::Election && self.facts.longest_lease.is_some();
        if !has_election {
            self.demand(ProblemKind::MutualExclusion, "locks")?;
        }
        Ok(self.locks.clone())
    }

    fn demand(&self, problem: ProblemKind, asked: &'static str) -> Result<(), NodeError> {
        let Facts { algorithm, problem: solved, .. } = self.facts;
        if solved == problem {
            return Ok(());
        }
        Err(NodeError::Problem { algorithm: algorithm.to_owned(), problem: solved, asked })
    }

    /// The way in which a supervisor talks to the node.
    pub fn supervisor(&self) -> SupervisorHandle {
        SupervisorHandle(self.asks.clone())
    }

    /// Stops in good order: locks that this node holds are released, and what it has sent gets out.
    ///
    /// # Errors
    /// Why the node could not go on, if it had to stop by itself.
    pub async fn stop(mut self) -> Result<(), NodeError> {
        // If it has stopped already, the engine's result says why.
        let _ = self.asks.send(Ask::Stop).await;
        self.finished().await
    }

    /// Waits until the node stops.
    ///
    /// # Errors
    /// Why the node could not go on, if it had to stop by itself.
    pub async fn finished(&mut self) -> Result<(), NodeError> {
        match &mut self.engine {
            Some(engine) => {
                let result = engine.await;
                self.engine = None;
                match result {
                    Ok(result) => Ok(result?),
                    Err(panicked) if panicked.is_panic() => std::panic::resume_unwind(panicked.into_panic()),
                    Err(_) => Err(NodeError::Stopped),
                }
            }
            None => Err(NodeError::Stopped),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for task in &self.helpers {
            task.abort();
        }
        if let Some(engine) = &self.engine {
            engine.abort();
        }
    }
}

/// The way in which a supervisor talks to a node.
#[derive(Clone, Debug)]
pub struct SupervisorHandle(mpsc::Sender<Ask>);

impl SupervisorHandle {
    /// Gives a command; says whether it could be given at once.
    pub fn give(&self, command: SupervisorCommand) -> bool {
        self.0.try_send(Ask::Supervisor(command)).is_ok()
    }

    /// Whether the node has stopped.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Gives a command, as soon as there is room for it.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn give_when_possible(&self, command: SupervisorCommand) -> Result<(), NodeError> {
        self.0.send(Ask::Supervisor(command)).await.map_err(|_| NodeError::Stopped)
    }
}

/// What the disk knows of the node, if it has one.
fn open_memory(
    settings: &Settings,
    agreement: &str,
    facts: &Facts,
    directory: Option<&Directory>,
) -> Result<Opened, StoreError> {
    // Supervised nodes may be told to forget: that they do is no news to anybody.
    let Some(directory) = directory else {
        let memory = Memory::without_disk(settings.id);
        return Ok(Opened { memory, wait: Duration::ZERO, renumbered: false });
    };
    let first = match settings {
        Settings { supervised: true, .. } => FirstStart::Either,
        Settings { first_start: true, .. } => FirstStart::Asked,
        _ => FirstStart::Denied,
    };
    let wanted = settings.configuration(agreement, facts.longest_lease);
    let mut opened = Memory::open(directory, settings.id, wanted, first, Random::new().bits().max(1))?;
    if settings.supervised {
        opened.memory = Memory::without_disk(settings.id);
    }
    if !opened.wait.is_zero() {
        let (epoch, wait) = (settings.epoch, opened.wait);
        info!(epoch, ?wait, "keeps still until what it promised under its last settings has run out");
    }
    Ok(opened)
}

/// When so much time will have passed, in nanoseconds since 1970; `None`: at once.
fn after(wait: Duration) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (!wait.is_zero()).then(|| (now + wait).as_nanos() as u64)
}

async fn bind(address: &str) -> Result<TcpListener, NodeError> {
    let failed = |why| NodeError::Listen { address: address.to_owned(), why };
    TcpListener::bind(address).await.map_err(failed)
}

fn local_address(socket: &TcpListener, wanted: &str) -> Result<String, NodeError> {
    let failed = |why| NodeError::Listen { address: wanted.to_owned(), why };
    socket.local_addr().map(|address| address.to_string()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::{Condvar, Mutex};

    use tokio::time::timeout;

    use super::*;
    use crate::scratch::Scratch;
    use crate::store::Disk;

    const LONG: Duration = Duration::from_secs(60);

    /// A disk that can be made to stall.
    #[derive(Debug, Default)]
    struct SlowDisk {
        stalls: Mutex<bool>,
        changed: Condvar,
    }

    impl SlowDisk {
        fn stall(&self, stalls: bool) {
            *self.stalls.lock().unwrap() = stalls;
            self.changed.notify_all();
        }
    }

    impl Disk for SlowDisk {
        fn sync(&self, _: &File) -> io::Result<()> {
            let stalls = self.stalls.lock().unwrap();
            let _open = self.changed.wait_while(stalls, |stalls| *stalls).unwrap();
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_stalled_disk_does_not_hide_the_end_of_a_lease() {
        let (scratch, disk) = (Scratch::new(), Arc::new(SlowDisk::default()));
        let mut settings = Settings::new("coordinator", 1, [1, 2]);
        settings.options.insert("lease".to_owned(), "2s".to_owned());
        settings.options.insert("fencing".to_owned(), "true".to_owned());
        settings.first_start = true;
        let subject = Subject::of_the_catalogue(&settings, Labels::Omitted).unwrap();
        let identity =
            Identity { cluster: settings.cluster.clone(), algorithm: settings.algorithm.clone(), id: 1 };
        let directory = Directory::open(scratch.path(), identity).unwrap().on(disk.clone());
        let first = {
            let socket = bind("127.0.0.1:0").await.unwrap();
            Node::launch_in(Some(directory), socket, None, settings.clone(), subject, None).await.unwrap()
        };
        let second = Node::start(Settings { id: 2, ..settings }).await.unwrap();
        second.introduce(1, first.address());
        first.introduce(2, second.address());
        let locks = first.locks().unwrap();
        let mut guard = timeout(LONG, locks.acquire("orders")).await.unwrap().unwrap();
        assert!(guard.lease().valid_until().is_some(), "it has a lease");
        disk.stall(true);
        // The coordinator must store this grant, so its engine is stuck from now on.
        let other = tokio::spawn({
            let locks = second.locks().unwrap();
            async move { locks.acquire("stock").await }
        });
        timeout(LONG, guard.lost()).await.expect("the lease ends while the disk stalls");
        assert!(guard.is_lost() && !other.is_finished());
        let stuck = timeout(Duration::from_millis(50), first.overview()).await;
        assert!(stuck.is_err(), "the engine was stuck all the time");
        disk.stall(false);
        timeout(LONG, other).await.expect("the disk goes on").unwrap().unwrap();
    }
}
