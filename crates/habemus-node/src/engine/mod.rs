//! The one task that owns the processes of a node: it takes what happens, one thing after the other, lets a
//! process handle it, and carries out what the process asks for.

mod breakpoints;
mod client;
mod clock;
mod due;
mod effects;
mod held;
mod instance;
mod requests;
mod scheduled;
mod shared_locks;
mod shut_down;
mod start_up;
mod tally;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use habemus::{Address, ProblemKind, Status, Suspicion};
use habemus_trace::Header;
use tokio::sync::{mpsc, oneshot};
use tracing::{error, info, warn};

use crate::clock::{BootInstant as Instant, sleep_until};
use crate::control::{NodeReport, Overview, SupervisorCommand};
use crate::faults::Faults;
use crate::lease::Lease;
use crate::recorder::{MAX_TRACE, Recorder, Wall};
use crate::store::{Directory, StoreError};
use crate::timers::Timers;
use crate::transport::frame::Body;
use crate::transport::{Arrivals, Arrived, Guests, Outgoing, Shared, WhileAway, count};
use crate::{MAX_LOCK_PROCESSES, MAX_LOCKS, is_name};
use breakpoints::Breakpoints;
use client::Client;
use clock::LocalClock;
use habemus_machine::{Encoded, Facts, Label, Machine, PlainStep, Random};
use held::HeldMessages;
pub use held::{MAX_HELD, MAX_HELD_BYTES};
use instance::{Instance, save};
use scheduled::ScheduledCommands;
pub use shared_locks::SHARED_LEASE;
use shared_locks::SharedLocks;
use start_up::{StartUp, Waited};
use tally::{Absent, Tally};

/// What the engine is asked from within the same program.
pub(crate) enum Ask {
    /// As a supervisor would.
    Supervisor(SupervisorCommand),
    /// A command of the problem, to the process of this name, which is started if need be.
    Command { name: String, word: &'static str, done: oneshot::Sender<Result<(), String>> },
    /// Tell me what the process of this name says, beginning with what it said last; it is started if need
    /// be.
    Listen { name: String, to: mpsc::UnboundedSender<Heard>, done: oneshot::Sender<Result<(), String>> },
    /// How are things?
    Overview(oneshot::Sender<Overview>),
    /// Stop in good order.
    Stop,
}

/// An output of a process.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// As bytes of the problem's output type.
    pub(crate) output: Vec<u8>,
    /// For how long it holds, if it is that the process leads or is inside.
    pub(crate) lease: Lease,
}

/// Whoever wants to hear what a node reports.
pub type Listener = Box<dyn FnMut(&NodeReport) + Send>;

/// Why a node cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// What must be durable cannot be written.
    #[error(
        "what the node has promised cannot be stored, so it stops before anybody relies on it: {0}. Mend the \
         disk and start the node again"
    )]
    Store(#[from] StoreError),
    /// The trace cannot be written.
    #[error("the trace cannot be written: {0}")]
    Trace(#[from] io::Error),
    /// Stored state that only means something among the same nodes.
    #[error(
        "{algorithm} cannot go on among other nodes: what it has stored means something only among the \
         same. Start a new cluster under another name, with empty directories, when all nodes of this one \
         are \
         stopped"
    )]
    Renumbered {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// Stored state of another version.
    #[error("the stored state of '{name}' cannot be read by this version of the algorithm {algorithm}")]
    Stored {
        /// The process.
        name: String,
        /// The algorithm.
        algorithm: &'static str,
    },
}

/// What the engine is made of.
pub(crate) struct Parts {
    pub(crate) endpoint: Shared,
    pub(crate) me: Address,
    pub(crate) facts: Facts,
    pub(crate) machine: Box<dyn Machine>,
    pub(crate) directory: Option<Directory>,
    /// Whether to write traces into the directory.
    pub(crate) trace: bool,
    /// When the run began, in nanoseconds since 1970.
    pub(crate) zero: u64,
    /// Whether to wait for [`SupervisorCommand::Begin`].
    pub(crate) standby: bool,
    /// When to start, in nanoseconds since 1970; `None`: at once.
    pub(crate) begin_at: Option<u64>,
    /// Whether the processes have other addresses than when something was last stored.
    pub(crate) renumbered: bool,
    /// The weights of votes in an election that locks share; empty: all weigh the same.
    pub(crate) weights: Vec<u64>,
    pub(crate) peers: Vec<Option<Outgoing>>,
    pub(crate) guests: Arc<Guests>,
    pub(crate) arrivals: mpsc::UnboundedReceiver<Arrived>,
    pub(crate) asks: mpsc::Receiver<Ask>,
    pub(crate) listener: Option<Listener>,
}

/// The task that owns the processes of a node.
pub(crate) struct Engine {
    parts: Parts,
    clock: LocalClock,
    start_up: StartUp,
    instances: BTreeMap<String, Instance>,
    timers: Timers,
    held: HeldMessages,
    scheduled: ScheduledCommands,
    client: Client,
    breakpoints: Breakpoints,
    faults: Faults,
    random: Random,
    absent: Absent,
    tally: Tally,
    /// What locks with names share, if they share an election.
    shared: Option<SharedLocks>,
    stopping: bool,
    /// How often the process without a name has stored something, and what each peer was told of it.
    writes: u64,
    told: Vec<u64>,
    /// Whether the node's settings are known to be in force.
    established: bool,
    /// Out-buffer, reused.
    step: PlainStep,
}

/// What happened to a process, as it is recorded.
enum RecordedEvent {
    Start {
        recovered: bool,
    },
    Deliver {
        from: Address,
        number: u64,
        clock: Vec<(u32, u32)>,
        label: Label,
    },
    Timer(Label),
    Command(Encoded),
    Suspicion(Suspicion),
    /// The election that a lock shares says something.
    Standing,
    Stop,
}

impl Engine {
    pub(crate) fn new(parts: Parts) -> Self {
        let begin_at = parts.begin_at.map_or_else(Instant::now, |at| Wall::new(0).instant(at));
        Engine {
            clock: LocalClock::new(Wall::new(parts.zero)),
            start_up: StartUp::new((!parts.standby).then_some(begin_at)),
            instances: BTreeMap::new(),
            timers: Timers::default(),
            held: HeldMessages::new(parts.peers.len()),
            scheduled: ScheduledCommands::default(),
            client: Client::default(),
            breakpoints: Breakpoints::default(),
            faults: Faults::default(),
            random: Random::new(),
            absent: Absent::default(),
            tally: Tally::default(),
            shared: None,
            stopping: false,
            writes: 0,
            told: vec![0; parts.peers.len()],
            established: false,
            step: PlainStep::default(),
            parts,
        }
    }

    /// Runs until it is told to stop, or cannot go on.
    pub(crate) async fn run(mut self) -> Result<(), EngineError> {
        let result = self.event_loop().await;
        if let Err(why) = &result {
            error!(%why, "the node stops");
        }
        result
    }

    async fn event_loop(&mut self) -> Result<(), EngineError> {
        if let Some(directory) = &self.parts.directory {
            // Making room on the disk takes a while, and whoever stands by is not to begin late.
            directory.store("").prepare()?;
        }
        while !self.stopping {
            self.follow_election().await?;
            while let Some(ask) = self.breakpoints.pop_deferred() {
                self.answer(ask).await?;
            }
            let due = self.next_due();
            if due.is_some_and(|due| due <= Instant::now()) {
                self.take_what_has_come().await?;
                self.wake().await?;
                // Who asks is answered after each thing that was due, but not before a timer that is: it may
                // be the one that ends what the process believes of itself.
                if !self.is_timer_due()
                    && let Ok(ask) = self.parts.asks.try_recv()
                {
                    self.answer(ask).await?;
                }
                continue;
            }
            tokio::select! {
                biased;
                ask = self.parts.asks.recv() => match ask {
                    Some(ask) => self.answer(ask).await?,
                    // Nobody is left who could ask for anything: the node was dropped.
                    None => break,
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
                arrival = self.parts.arrivals.recv() => {
                    if let Some(Arrived { what, .. }) = arrival {
                        self.arrive(what).await?;
                    }
                }
            }
        }
        self.shut_down().await
    }

    /// What has come by now takes its place among what is due: a message that should have been here earlier
    /// comes before a later timer, and one of now after a timer that is late. So a leader that stood still
    /// steps down before it answers anybody.
    async fn take_what_has_come(&mut self) -> Result<(), EngineError> {
        tokio::task::yield_now().await;
        for _ in 0..self.parts.arrivals.len() {
            if !self.held.has_room() {
                break;
            }
            match self.parts.arrivals.try_recv().map(|arrived| arrived.what) {
                Ok(Arrivals::Frame { from, body: body @ Body::Message { due: 0, .. } })
                    if self.start_up.is_over() =>
                {
                    self.held.hold(Instant::now(), from, body);
                }
                Ok(arrival) => self.arrive(arrival).await?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Starts the process without a name, and those that lived here before.
    async fn begin(&mut self) -> Result<(), EngineError> {
        let wall = self.clock.wall;
        let Waited { since, asks, frames } = self.start_up.begin(|at| wall.at(at));
        let mut names = match &self.parts.directory {
            Some(directory) => directory.names()?,
            None => Vec::new(),
        };
        if !names.contains(&String::new()) {
            names.insert(0, String::new());
        }
        for name in names {
            self.open(&name, since).await?;
            if name.is_empty() {
                self.share_election();
            }
        }
        self.client_reacts(since);
        for ask in asks {
            self.answer(ask).await?;
        }
        for frame in frames {
            self.arrive(frame).await?;
        }
        Ok(())
    }

    /// Starts the process called `name`, if it does not live yet, and tells the others of it.
    async fn open(&mut self, name: &str, base: Instant) -> Result<(), EngineError> {
        if self.instances.contains_key(name) {
            return Ok(());
        }
        if self.shared.is_some() {
            return self.open_shared(name, base).await;
        }
        let mut machine = self.parts.machine.fresh();
        let (mut store, mut recovered) = (None, None);
        if let Some(directory) = &self.parts.directory {
            let mut opened = directory.store(name);
            recovered = opened.load()?;
            if let Some(stored) = recovered.as_mut().filter(|_| self.parts.renumbered) {
                let algorithm = self.parts.facts.algorithm;
                *stored = machine.renumbered(stored).ok_or(EngineError::Renumbered { algorithm })?;
                opened = save(opened, stored.clone()).await?;
            }
            if recovered.is_none() {
                // From now on the process has lived, whether it ever stores anything or not.
                opened = save(opened, machine.blank()).await?;
            }
            if name.is_empty() {
                self.writes = opened.sequence();
                self.parts.endpoint.memory.on_write(self.writes);
            }
            store = Some(opened);
        }
        let recorder = match (&self.parts.directory, self.parts.trace) {
            (Some(directory), true) => {
                let file =
                    if name.is_empty() { "trace.jsonl".to_owned() } else { format!("{name}.trace.jsonl") };
                // A supervisor puts the traces together, and needs all of them.
                let longest = if self.parts.standby { u64::MAX } else { MAX_TRACE };
                let path = directory.path().join(file);
                match Recorder::open(&path, &self.header(), self.parts.me, longest) {
                    Err(why) if !self.parts.standby => {
                        effects::give_up_trace(name, &why);
                        None
                    }
                    opened => Some(opened?),
                }
            }
            _ => None,
        };
        info!(process = name, recovered = recovered.is_some(), "started");
        let mut step = std::mem::take(&mut self.step);
        let elapsed = self.clock.shows(Instant::now());
        let begun = machine.start(recovered.as_deref(), elapsed, &mut step);
        begun.map_err(|_| EngineError::Stored {
            name: name.to_owned(),
            algorithm: self.parts.facts.algorithm,
        })?;
        self.instances.insert(name.to_owned(), Instance::new(machine, store, recorder));
        if !name.is_empty() {
            for peer in self.parts.peers.iter().flatten() {
                peer.send(&Body::Open { name: name.to_owned() }, WhileAway::Keep);
            }
        }
        self.carry_out(name, RecordedEvent::Start { recovered: recovered.is_some() }, step, base).await
    }

    /// Writes down whom the node has met and what it knows of its settings, when there is time.
    fn remember(&self) {
        let endpoint = Arc::clone(&self.parts.endpoint);
        tokio::task::spawn_blocking(move || {
            if let Err(why) = endpoint.memory.save() {
                warn!(%why, "cannot write down whom this node has met");
            }
        });
    }

    fn header(&self) -> Header {
        let facts = &self.parts.facts;
        Header {
            format: habemus_trace::FORMAT,
            algorithm: facts.algorithm.to_owned(),
            problem: facts.problem,
            title: None,
            processes: facts.population.ids.iter().map(|id| id.0).collect(),
            topology: facts.topology.clone(),
            seed: None,
            origin: None,
            cycle: None,
        }
    }

    async fn arrive(&mut self, arrival: Arrivals) -> Result<(), EngineError> {
        match arrival {
            Arrivals::Peer(peer) => {
                if self.absent.stopped.remove(&peer) {
                    self.hear_of(Suspicion::Restore(peer)).await?;
                }
                self.remember();
                // Whoever comes anew is told anew.
                self.told[peer.index()] = 0;
                if let Some(outgoing) = &self.parts.peers[peer.index()] {
                    outgoing.hint();
                    // It may be a new life, which knows of no locks.
                    let told = self.instances.iter().filter(|(name, it)| !name.is_empty() && !it.shared);
                    for (name, _) in told {
                        outgoing.send(&Body::Open { name: name.clone() }, WhileAway::Keep);
                    }
                }
            }
            frame if !self.start_up.is_over() => {
                if !self.start_up.defer_frame(frame) {
                    count(&self.parts.endpoint.traffic.dropped, 1);
                }
            }
            Arrivals::Frame { from, body } => match body {
                Body::Open { name } => {
                    if self.admit(&name, from) {
                        self.open(&name, Instant::now()).await?;
                    }
                }
                Body::Goodbye => self.miss(from).await?,
                Body::Stored { writes } => self.parts.endpoint.memory.on_stored(self.id(from), writes),
                Body::Message { due, .. } => {
                    // Only a supervisor's nodes pretend latencies: nobody else may make this one wait.
                    let due = if self.parts.standby { due } else { 0 };
                    if !self.held.has_room() {
                        count(&self.parts.endpoint.traffic.dropped, 1);
                        return Ok(());
                    }
                    if due == 0 && self.held.lets_pass(from) {
                        return self.deliver(from, body, Instant::now()).await;
                    }
                    let due = if due == 0 { Instant::now() } else { self.clock.wall.instant(due) };
                    self.held.hold_in_order(due, from, body);
                }
            },
        }
        Ok(())
    }

    /// Whether a peer may have a process of this name started here.
    fn admit(&mut self, name: &str, from: Address) -> bool {
        self.make_room();
        let refusal = self.refusal_of(name);
        if let Some(why) = &refusal {
            warn!(peer = self.id(from), %why, "asks for a lock that cannot be had");
        }
        refusal.is_none()
    }

    async fn deliver(&mut self, from: Address, body: Body, base: Instant) -> Result<(), EngineError> {
        let Body::Message { name, number, clock, bytes, .. } = body else { return Ok(()) };
        if !self.instances.contains_key(&name) {
            if !self.admit(&name, from) {
                return Ok(());
            }
            self.open(&name, base).await?;
        }
        let elapsed = self.clock.shows(Instant::now());
        let Some(instance) = self.instances.get_mut(&name) else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        match instance.machine.message(from, &bytes, elapsed, &mut step) {
            Ok(label) => {
                self.tally.received += 1;
                self.carry_out(&name, RecordedEvent::Deliver { from, number, clock, label }, step, base).await
            }
            Err(why) => {
                warn!(peer = self.id(from), %why, "broke a connection off");
                self.parts.guests.throw_out(from);
                self.step = step;
                Ok(())
            }
        }
    }

    /// Why there can be no process of this name; `None` if there is one or can be.
    fn refusal_of(&self, name: &str) -> Option<String> {
        if self.instances.contains_key(name) {
            return None;
        }
        if !is_name(name) {
            return Some(format!("'{name}' will not do as a name: use letters, digits, - and _"));
        }
        let (algorithm, shared) = (self.parts.facts.algorithm, self.shared.is_some());
        if self.parts.facts.problem != ProblemKind::MutualExclusion && !shared {
            return Some(format!("{algorithm} has no names: only locks have"));
        }
        let limit = if shared { MAX_LOCKS } else { MAX_LOCK_PROCESSES };
        // The process without a name does not count.
        (self.instances.len() > limit).then(|| {
            let hint = if shared { "" } else { "; majority and elected-coordinator have room for more" };
            format!("a node has at most {limit} locks of {algorithm} in use at once{hint}")
        })
    }

    /// Gives a command that was due at `base`; the error says why it cannot be given.
    async fn command(
        &mut self,
        name: &str,
        word: &str,
        base: Instant,
    ) -> Result<Result<(), String>, EngineError> {
        self.make_room();
        if let Some(reason) = self.refusal_of(name) {
            return Ok(Err(reason));
        }
        self.open(name, base).await?;
        let elapsed = self.clock.shows(Instant::now());
        let Some(instance) = self.instances.get_mut(name) else { return Ok(Err("it is gone".to_owned())) };
        if instance.status == Status::Waiting {
            // A request that others know of cannot be undone: whoever takes it back leaves as soon as it is
            // in.
            instance.taken_back = word == "release";
        }
        let mut step = std::mem::take(&mut self.step);
        match instance.machine.command(word, elapsed, &mut step) {
            Some(command) => {
                if let (Some(status), Status::Idle) = (command.status, instance.status) {
                    instance.status = status;
                }
                self.carry_out(name, RecordedEvent::Command(command), step, base).await?;
                Ok(Ok(()))
            }
            None => {
                self.step = step;
                let facts = &self.parts.facts;
                let known = facts.commands.join(", ");
                Ok(Err(format!("there is no command '{word}' of {}; there are: {known}", facts.problem)))
            }
        }
    }

    /// Whoever knows says who crashed or came back.
    async fn foretell(&mut self, name: &str, suspicion: Suspicion) -> Result<(), EngineError> {
        let now = Instant::now();
        let elapsed = self.clock.shows(now);
        let Some(instance) = self.instances.get_mut(name) else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        instance.machine.suspicion(suspicion, elapsed, &mut step);
        self.carry_out(name, RecordedEvent::Suspicion(suspicion), step, now).await
    }

    fn id(&self, address: Address) -> u64 {
        self.parts.endpoint.ids[address.index()]
    }

    fn address(&self, id: u64) -> Option<Address> {
        let index = self.parts.endpoint.ids.iter().position(|other| *other == id);
        index.map(|index| Address(index as u32))
    }
}
