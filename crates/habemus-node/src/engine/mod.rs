//! The one task that owns the processes of a node: it takes what happens, one thing after the other, lets a process
//! handle it, and carries out what the process asks for.

mod carry_out;
mod due;
mod ending;
mod orders;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use habemus::{Address, Status, Suspicion};
use habemus_trace::Header;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tracing::{error, info, warn};

use crate::control::{Clients, Moment, Order, Overview, Report};
use crate::faults::Faults;
use crate::recorder::{Recorder, Wall};
use crate::store::{Directory, Store, StoreError};
use crate::timers::Timers;
use crate::transport::frame::Body;
use crate::transport::{Arrivals, Guests, Outgoing, Shared};
use crate::{MOST_LOCKS, is_name};
use habemus_machine::{Encoded, Facts, Label, Machine, PlainStep, Random};

/// What the engine is asked from within the same program.
pub(crate) enum Ask {
    /// As a supervisor would.
    Order(Order),
    /// A command of the problem, to the process of this name, which is started if need be.
    Command { name: String, word: &'static str, done: oneshot::Sender<Result<(), String>> },
    /// Tell me what the process of this name says, beginning with what it said last.
    Listen { name: String, to: mpsc::UnboundedSender<Heard> },
    /// How are things?
    Overview(oneshot::Sender<Overview>),
    /// Stop, and say when all is in order.
    Stop(oneshot::Sender<()>),
}

/// An output of a process, as bytes of the problem's output type.
#[derive(Clone, Debug)]
pub(crate) struct Heard(pub(crate) Vec<u8>);

/// Whoever wants to hear what a node reports.
pub type Listener = Box<dyn FnMut(&Report) + Send>;

/// Why a node cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// What must be durable cannot be written.
    #[error(
        "what the node has promised cannot be stored, so it stops before anybody relies on it: {0}. Mend the disk and \
         start the node again"
    )]
    Store(#[from] StoreError),
    /// The trace cannot be written.
    #[error("the trace cannot be written: {0}")]
    Trace(#[from] io::Error),
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
    /// Whether to wait for [`Order::Begin`].
    pub(crate) standby: bool,
    /// When to start, in nanoseconds since 1970; `None`: at once.
    pub(crate) begin_at: Option<u64>,
    pub(crate) peers: Vec<Option<Outgoing>>,
    pub(crate) guests: Arc<Guests>,
    pub(crate) arrivals: mpsc::Receiver<Arrivals>,
    pub(crate) asks: mpsc::Receiver<Ask>,
    pub(crate) listener: Option<Listener>,
}

/// One process of the node.
struct Instance {
    machine: Box<dyn Machine>,
    store: Option<Store>,
    recorder: Option<Recorder>,
    status: Status,
    /// The last output, for those who begin to listen later.
    said: Option<Heard>,
    listeners: Vec<mpsc::UnboundedSender<Heard>>,
}

pub(crate) struct Engine {
    parts: Parts,
    wall: Wall,
    started: bool,
    instances: BTreeMap<String, Instance>,
    timers: Timers,
    /// Messages that are held back, by time, then by sender, then in the order in which they came.
    held: BTreeMap<(Instant, Address, u64), Body>,
    next_held: u64,
    /// Commands that were given ahead of their time.
    scheduled: BTreeMap<(Instant, u64), String>,
    /// When the last message of each sender is due, which the next may not overtake.
    last_due: Vec<Option<Instant>>,
    fifo: bool,
    drift: f64,
    faults: Faults,
    random: Random,
    suspected: BTreeSet<Address>,
    /// Those that have said that they stop, and have not come back.
    gone: BTreeSet<Address>,
    term: u64,
    sent: BTreeMap<&'static str, u64>,
    received: u64,
    entries: u64,
    clients: Option<Clients>,
    next_command: Option<(Instant, String)>,
    /// When the last wish of a client came up, if they come at a rate.
    last_wish: Option<Instant>,
    breaks: Vec<Moment>,
    /// Orders that came while the engine stood still.
    deferred: VecDeque<Ask>,
    /// Frames that came before the process started.
    early: VecDeque<Arrivals>,
    /// What was asked before the process started.
    early_asks: Vec<Ask>,
    begin_at: Option<Instant>,
    /// Whether the process was down before: what came then is lost.
    comes_back: bool,
    stopping: bool,
    stopped: Vec<oneshot::Sender<()>>,
    /// Out-buffer, reused.
    step: PlainStep,
}

/// What happened to a process, as it is recorded.
enum Cause {
    Start { recovered: bool },
    Deliver { from: Address, number: u64, clock: Vec<(u32, u32)>, label: Label },
    Timer(Label),
    Command(Encoded),
    Suspicion(Suspicion),
    Stop,
}

impl Engine {
    pub(crate) fn new(parts: Parts) -> Self {
        let count = parts.peers.len();
        Engine {
            wall: Wall::new(parts.zero),
            started: false,
            instances: BTreeMap::new(),
            timers: Timers::default(),
            held: BTreeMap::new(),
            next_held: 0,
            scheduled: BTreeMap::new(),
            last_due: vec![None; count],
            fifo: true,
            drift: 1.0,
            faults: Faults::default(),
            random: Random::new(),
            suspected: BTreeSet::new(),
            gone: BTreeSet::new(),
            term: 0,
            sent: BTreeMap::new(),
            received: 0,
            entries: 0,
            clients: None,
            next_command: None,
            last_wish: None,
            breaks: Vec::new(),
            deferred: VecDeque::new(),
            early: VecDeque::new(),
            early_asks: Vec::new(),
            begin_at: (!parts.standby)
                .then(|| parts.begin_at.map_or_else(Instant::now, |at| Wall::new(0).instant(at))),
            comes_back: false,
            stopping: false,
            stopped: Vec::new(),
            step: PlainStep::default(),
            parts,
        }
    }

    /// Runs until it is told to stop, or cannot go on.
    pub(crate) async fn run(mut self) -> Result<(), EngineError> {
        let result = self.live().await;
        if let Err(why) = &result {
            error!(%why, "the node stops");
        }
        for done in self.stopped.drain(..) {
            let _ = done.send(());
        }
        result
    }

    async fn live(&mut self) -> Result<(), EngineError> {
        if let Some(directory) = &self.parts.directory {
            // Making room on the disk takes a while, and whoever stands by is not to begin late.
            directory.store("").prepare()?;
        }
        while !self.stopping {
            while let Some(ask) = self.deferred.pop_front() {
                self.answer(ask).await?;
            }
            let due = self.next_due();
            if due.is_some_and(|due| due <= Instant::now()) {
                if let Ok(ask) = self.parts.asks.try_recv() {
                    self.answer(ask).await?;
                    continue;
                }
                // What has come by now takes its place among what is due: a message that should have been here earlier
                // comes before a later timer, and one of now after a timer that is late. So a leader that stood
                // still steps down before it answers anybody.
                tokio::task::yield_now().await;
                for _ in 0..self.parts.arrivals.len() {
                    match self.parts.arrivals.try_recv() {
                        Ok(Arrivals::Frame { from, body: body @ Body::Message { due: 0, .. } })
                            if self.started =>
                        {
                            self.hold(Instant::now(), from, body);
                        }
                        Ok(arrival) => self.arrive(arrival).await?,
                        Err(_) => break,
                    }
                }
                self.wake().await?;
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
                    if let Some(arrival) = arrival {
                        self.arrive(arrival).await?;
                    }
                }
            }
        }
        self.wind_up().await
    }

    /// Starts the process without a name, and those that lived here before.
    async fn begin(&mut self) -> Result<(), EngineError> {
        let begin_at = self.begin_at.unwrap_or_else(Instant::now);
        self.started = true;
        let mut names = match &self.parts.directory {
            Some(directory) => directory.names()?,
            None => Vec::new(),
        };
        if !names.contains(&String::new()) {
            names.insert(0, String::new());
        }
        for name in names {
            self.open(&name, begin_at).await?;
        }
        let status = self.instances.get("").map_or(Status::Idle, |it| it.status);
        self.client_reacts(status, begin_at);
        for ask in std::mem::take(&mut self.early_asks) {
            self.answer(ask).await?;
        }
        let beginning = self.wall.at(begin_at);
        while let Some(arrival) = self.early.pop_front() {
            let was_down = self.comes_back
                && matches!(&arrival, Arrivals::Frame { body: Body::Message { due, .. }, .. } if *due < beginning);
            if !was_down {
                self.arrive(arrival).await?;
            }
        }
        Ok(())
    }

    /// Starts the process called `name`, if it does not live yet, and tells the others of it.
    async fn open(&mut self, name: &str, base: Instant) -> Result<(), EngineError> {
        if self.instances.contains_key(name) {
            return Ok(());
        }
        let mut machine = self.parts.machine.fresh();
        let (mut store, mut recovered) = (None, None);
        if let Some(directory) = &self.parts.directory {
            let mut opened = directory.store(name);
            recovered = opened.load()?;
            if recovered.is_none() {
                // From now on the process has lived, whether it ever stores anything or not.
                opened = save(opened, machine.blank()).await?;
            }
            store = Some(opened);
        }
        let recorder = match (&self.parts.directory, self.parts.trace) {
            (Some(directory), true) => {
                let file =
                    if name.is_empty() { "trace.jsonl".to_owned() } else { format!("{name}.trace.jsonl") };
                Some(Recorder::open(&directory.path().join(file), &self.header(), self.parts.me)?)
            }
            _ => None,
        };
        info!(process = name, recovered = recovered.is_some(), "started");
        let mut step = std::mem::take(&mut self.step);
        let elapsed = self.elapsed(Instant::now());
        let begun = machine.start(recovered.as_deref(), elapsed, &mut step);
        begun.map_err(|_| EngineError::Stored {
            name: name.to_owned(),
            algorithm: self.parts.facts.algorithm,
        })?;
        let instance =
            Instance { machine, store, recorder, status: Status::Idle, said: None, listeners: Vec::new() };
        self.instances.insert(name.to_owned(), instance);
        if !name.is_empty() {
            for peer in self.parts.peers.iter().flatten() {
                peer.send(Body::Open { name: name.to_owned() }, false);
            }
        }
        self.carry_out(name, Cause::Start { recovered: recovered.is_some() }, step, base).await
    }

    fn header(&self) -> Header {
        let facts = &self.parts.facts;
        Header {
            format: habemus_trace::FORMAT,
            algorithm: facts.algorithm.to_owned(),
            problem: facts.problem.to_owned(),
            title: None,
            processes: facts.population.ids.iter().map(|id| id.0).collect(),
            topology: facts.topology.clone(),
            seed: None,
            origin: None,
            circle: None,
        }
    }

    async fn arrive(&mut self, arrival: Arrivals) -> Result<(), EngineError> {
        match arrival {
            Arrivals::Peer(peer) => {
                if self.gone.remove(&peer) {
                    self.hear_of(Suspicion::Restore(peer)).await?;
                }
                if let Some(outgoing) = &self.parts.peers[peer.index()] {
                    outgoing.hint();
                    // It may be a new life, which knows of no locks.
                    for name in self.instances.keys().filter(|name| !name.is_empty()) {
                        outgoing.send(Body::Open { name: name.clone() }, false);
                    }
                }
            }
            frame if !self.started => self.early.push_back(frame),
            Arrivals::Frame { from, body } => match body {
                Body::Open { name } => {
                    if self.admit(&name, from) {
                        self.open(&name, Instant::now()).await?;
                    }
                }
                Body::Goodbye => self.miss(from).await?,
                Body::Message { due, .. } => {
                    let last = self.last_due[from.index()].filter(|_| self.fifo);
                    // Almost always nothing is held back.
                    if due == 0 && last.is_none() {
                        return self.deliver(from, body, Instant::now()).await;
                    }
                    let due = if due == 0 { Instant::now() } else { self.wall.instant(due) };
                    let due = last.map_or(due, |last| last.max(due));
                    self.last_due[from.index()] = Some(due);
                    self.hold(due, from, body);
                }
            },
        }
        Ok(())
    }

    fn hold(&mut self, due: Instant, from: Address, body: Body) {
        self.next_held += 1;
        self.held.insert((due, from, self.next_held), body);
    }

    /// Whether a peer may have a process of this name started here.
    fn admit(&self, name: &str, from: Address) -> bool {
        let known = self.instances.contains_key(name);
        let has_names = self.parts.facts.problem == "mutual exclusion";
        let fine = known || (has_names && is_name(name) && self.instances.len() <= MOST_LOCKS);
        if !fine {
            warn!(peer = self.id(from), "asks for a lock whose name will not do, or for one too many");
        }
        fine
    }

    async fn deliver(&mut self, from: Address, body: Body, base: Instant) -> Result<(), EngineError> {
        let Body::Message { name, number, clock, bytes, .. } = body else { return Ok(()) };
        if !self.instances.contains_key(&name) {
            if !self.admit(&name, from) {
                return Ok(());
            }
            self.open(&name, base).await?;
        }
        let elapsed = self.elapsed(Instant::now());
        let Some(instance) = self.instances.get_mut(&name) else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        match instance.machine.message(from, &bytes, elapsed, &mut step) {
            Ok(label) => {
                self.received += 1;
                self.carry_out(&name, Cause::Deliver { from, number, clock, label }, step, base).await
            }
            Err(why) => {
                warn!(peer = self.id(from), %why, "broke a connection off");
                self.parts.guests.throw_out(from).await;
                self.step = step;
                Ok(())
            }
        }
    }

    /// Gives a command that was due at `base`; the error says why it cannot be given.
    async fn command(
        &mut self,
        name: &str,
        word: &str,
        base: Instant,
    ) -> Result<Result<(), String>, EngineError> {
        if !self.instances.contains_key(name) {
            if !is_name(name) {
                return Ok(Err(format!("'{name}' will not do as a name: use letters, digits, - and _")));
            }
            if self.parts.facts.problem != "mutual exclusion" {
                let algorithm = self.parts.facts.algorithm;
                return Ok(Err(format!("{algorithm} has no names: only locks have")));
            }
            if self.instances.len() > MOST_LOCKS {
                return Ok(Err(format!("a node has at most {MOST_LOCKS} locks")));
            }
            self.open(name, base).await?;
        }
        let elapsed = self.elapsed(Instant::now());
        let Some(instance) = self.instances.get_mut(name) else { return Ok(Err("it is gone".to_owned())) };
        let mut step = std::mem::take(&mut self.step);
        match instance.machine.command(word, elapsed, &mut step) {
            Some(command) => {
                if let (Some(status), Status::Idle) = (command.status, instance.status) {
                    instance.status = status;
                }
                self.carry_out(name, Cause::Command(command), step, base).await?;
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
        let elapsed = self.elapsed(now);
        let Some(instance) = self.instances.get_mut(name) else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        instance.machine.suspicion(suspicion, elapsed, &mut step);
        self.carry_out(name, Cause::Suspicion(suspicion), step, now).await
    }

    fn id(&self, place: Address) -> u64 {
        self.parts.endpoint.ids[place.index()]
    }

    fn place(&self, id: u64) -> Option<Address> {
        let index = self.parts.endpoint.ids.iter().position(|other| *other == id);
        index.map(|index| Address(index as u32))
    }
}

/// Stores on another thread: the disk may be slow, and heartbeats must go on.
async fn save(mut store: Store, value: Vec<u8>) -> Result<Store, StoreError> {
    let saved = tokio::task::spawn_blocking(move || store.save(&value).map(|()| store)).await;
    saved.expect("storing does not panic")
}
