//! Many nodes on this machine, each a real process, and a hand on all of them.
//!
//! A [`Cluster`] starts nodes with their own data directories on the loopback, kills them with SIGKILL, stops
//! them with SIGSTOP, tells them which links are cut, and at the end merges what they recorded into one
//! trace. [`play`](play::play) plays a scenario on one; [`Console`](console::Console) obeys a person or a
//! script.

pub mod console;
mod faults;
mod member;
pub mod merge;
pub mod play;
pub mod standing;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use habemus::Status;
use habemus_trace::{Happening, Header, Record, Trace};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use crate::control::{Clients, Moment, NodeReport, Overview, SupervisorCommand};
use member::{FromNode, Member};

/// How to start a node: a program, and what comes before the node's own flags.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its first arguments: `node` if it is `habemus`.
    pub arguments: Vec<String>,
}

impl Program {
    /// The program that is running, with `arguments` in front of the node's own: a program whose `main` calls
    /// [`main_with`](crate::command::main_with) is its own node.
    ///
    /// # Errors
    /// If the system does not say where the program is.
    pub fn this(arguments: impl IntoIterator<Item = &'static str>) -> io::Result<Program> {
        let arguments = arguments.into_iter().map(str::to_owned).collect();
        Ok(Program { path: std::env::current_exe()?, arguments })
    }
}

/// What a cluster is to be.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// How to start a node.
    pub program: Program,
    /// The identifiers, in the order of their addresses.
    pub ids: Vec<u64>,
    /// Flags that all nodes get: algorithm, options, topology.
    pub flags: Vec<String>,
    /// Flags that single nodes get besides, such as certificates.
    pub own_flags: BTreeMap<u64, Vec<String>>,
    /// Where each node listens, without the port; loopback if not said.
    pub hosts: BTreeMap<u64, String>,
    /// What stands before the program for single nodes, such as `ip netns exec …`.
    pub wrappers: BTreeMap<u64, Vec<String>>,
    /// Under this directory each node gets its own.
    pub directory: PathBuf,
    /// How long after a crash the cluster itself says who crashed; `None`: never, for the nodes have
    /// detectors.
    pub oracle: Option<Duration>,
    /// Everything takes so many times longer than written: script, latencies and the nodes' clocks.
    pub stretch: f64,
}

impl Blueprint {
    /// Nodes with these identifiers on the loopback, which keep their data under `directory` and have their
    /// own detectors, if any.
    pub fn new(program: Program, ids: impl Into<Vec<u64>>, directory: impl Into<PathBuf>) -> Blueprint {
        Blueprint {
            program,
            ids: ids.into(),
            flags: Vec::new(),
            own_flags: BTreeMap::new(),
            hosts: BTreeMap::new(),
            wrappers: BTreeMap::new(),
            directory: directory.into(),
            oracle: None,
            stretch: 1.0,
        }
    }
}

/// Why a cluster cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A node cannot be started.
    #[error("cannot start node {id} with {}: {why}", program.display())]
    Spawn {
        /// Which.
        id: u64,
        /// With which program.
        program: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// A node ended although nobody wanted it to.
    #[error("node {id} ended by itself; its log says why: {}\n{last}", log.display())]
    Ended {
        /// Which.
        id: u64,
        /// Where its log is.
        log: PathBuf,
        /// The last lines of it.
        last: String,
    },
    /// Nodes do not come up.
    #[error("the nodes did not find each other within {0:?}; their logs are in the data directories")]
    Slow(Duration),
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// There is no trace of the run.
    #[error("no node has recorded anything")]
    Untraced,
    /// Something that real nodes cannot do.
    #[error("{0}")]
    Impossible(String),
}

/// So long nodes may take to find each other.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Nodes, and what is known of them.
#[derive(Debug)]
pub struct Cluster {
    blueprint: Blueprint,
    members: BTreeMap<u64, Member>,
    heard: mpsc::UnboundedReceiver<(u64, u32, FromNode)>,
    hears: mpsc::UnboundedSender<(u64, u32, FromNode)>,
    /// When the run began: as an instant, and in nanoseconds since 1970.
    zero: (Instant, u64),
    begun: bool,
    /// When the run ended, in nanoseconds after it began; what was recorded later does not belong to it.
    ended: Option<u64>,
    /// What the cluster itself did and saw.
    notes: Vec<Record>,
    /// What the oracle has to say later: when, to whom, in which of its lives.
    foretold: BTreeMap<(Instant, u64), (u64, u32, SupervisorCommand)>,
    next_foretold: u64,
    cut: Vec<(u64, u64)>,
    /// Whether what is sent over a link that is cut is lost, as in the simulator, or waits as in a real
    /// outage where the algorithm assumes that every message arrives.
    cuts_lose: bool,
    /// What every new life is told.
    standing: Vec<SupervisorCommand>,
    standing_for: BTreeMap<u64, Vec<SupervisorCommand>>,
    records: u64,
    /// Whether anybody has led.
    has_led: bool,
    /// Reports that came while something else was waited for.
    postponed: VecDeque<(u64, NodeReport)>,
}

impl Cluster {
    /// Starts all nodes but the `dead`, and waits until they have found each other. Their processes have not
    /// begun.
    ///
    /// # Errors
    /// If they do not come up.
    pub async fn start(blueprint: Blueprint, dead: &[u64]) -> Result<Cluster, ClusterError> {
        let (hears, heard) = mpsc::unbounded_channel();
        let members = blueprint.ids.iter().map(|id| (*id, Member::default())).collect();
        let mut cluster = Cluster {
            blueprint,
            members,
            heard,
            hears,
            zero: (Instant::now(), unix_now()),
            begun: false,
            ended: None,
            notes: Vec::new(),
            foretold: BTreeMap::new(),
            next_foretold: 0,
            cut: Vec::new(),
            cuts_lose: false,
            standing: Vec::new(),
            standing_for: BTreeMap::new(),
            records: 0,
            has_led: false,
            postponed: VecDeque::new(),
        };
        if cluster.blueprint.stretch != 1.0 {
            cluster.standing.push(SupervisorCommand::Drift(1.0 / cluster.blueprint.stretch));
        }
        let ids = cluster.blueprint.ids.clone();
        for id in &ids {
            // What an earlier run recorded is not part of this one.
            let _ = std::fs::remove_file(
                cluster.blueprint.directory.join(format!("node-{id}")).join("trace.jsonl"),
            );
        }
        for id in ids.iter().filter(|id| !dead.contains(id)) {
            cluster.spawn(*id)?;
        }
        let deadline = Instant::now() + START_LIMIT;
        while cluster.members.values().any(|it| it.is_alive() && it.address.is_none()) {
            if cluster.attend(deadline).await?.is_none() {
                return Err(ClusterError::Slow(START_LIMIT));
            }
        }
        loop {
            let alive: Vec<u64> = cluster.alive().collect();
            let overviews = cluster.overviews(deadline).await?;
            let found = |overview: &Overview| overview.connected.len() + 1 >= alive.len();
            if overviews.values().all(found) {
                return Ok(cluster);
            }
            if Instant::now() > deadline {
                return Err(ClusterError::Slow(START_LIMIT));
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Lets all processes begin, at the same time.
    pub fn begin(&mut self) {
        // Far enough ahead that every node has read the command by then.
        let lead = Duration::from_millis(100);
        self.zero = (Instant::now() + lead, unix_now() + lead.as_nanos() as u64);
        self.begun = true;
        let alive: Vec<u64> = self.alive().collect();
        for id in alive {
            self.tell(id, SupervisorCommand::Begin { zero: self.zero.1, at: 0 });
        }
    }

    /// The run ends so long after it began.
    fn end_at(&mut self, time: Duration) {
        self.ended = Some(time.mul_f64(self.blueprint.stretch).as_nanos() as u64);
    }

    /// Those that are up, paused or not.
    pub fn alive(&self) -> impl Iterator<Item = u64> + '_ {
        self.members.iter().filter(|(_, member)| member.is_alive()).map(|(id, _)| *id)
    }

    /// The identifiers, in the order of their addresses.
    pub fn ids(&self) -> &[u64] {
        &self.blueprint.ids
    }

    /// Whether a node is stopped by SIGSTOP.
    pub fn is_paused(&self, id: u64) -> bool {
        self.members.get(&id).is_some_and(|member| member.paused)
    }

    /// Where a node serves HTTP, if it lives and does.
    pub fn http(&self, id: u64) -> Option<&str> {
        self.members.get(&id).and_then(|member| member.http.as_deref())
    }

    /// The operating system's number of a node that lives.
    pub fn pid(&self, id: u64) -> Option<u32> {
        self.members.get(&id).and_then(Member::pid)
    }

    /// What a node's process is, as far as its reports have come; `None` while it is down.
    pub fn status(&self, id: u64) -> Option<Status> {
        self.members.get(&id).filter(|member| member.is_alive()).map(|member| member.status)
    }

    /// The leader that all live nodes name and that leads, if there is one.
    pub fn agreed_leader(&self) -> Option<u64> {
        let mut leader = None;
        let alive: Vec<u64> = self.alive().collect();
        for id in &alive {
            let named = match self.status(*id)? {
                Status::Leading => *id,
                Status::Following(Some(leader)) => leader.0,
                Status::Following(None) => continue,
                _ => return None,
            };
            if *leader.get_or_insert(named) != named {
                return None;
            }
        }
        leader.filter(|leader| self.status(*leader) == Some(Status::Leading))
    }

    /// Waits until all live nodes agree on a leader, and says who it is; `None` if they do not until
    /// `deadline`.
    ///
    /// # Errors
    /// If a node ended by itself.
    pub async fn leader_by(&mut self, deadline: Instant) -> Result<Option<u64>, ClusterError> {
        while self.agreed_leader().is_none() && Instant::now() < deadline {
            self.attend(deadline).await?;
        }
        Ok(self.agreed_leader())
    }

    /// How many records were reported.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How long the run has lasted.
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(self.zero.0)
    }

    /// The instant that is `time` after the beginning of the run, stretched.
    pub fn instant(&self, time: Duration) -> Instant {
        self.zero.0 + time.mul_f64(self.blueprint.stretch)
    }

    /// Gives a command to one node; one that is down does not hear it.
    pub fn tell(&self, id: u64, command: SupervisorCommand) {
        if let Some(member) = self.members.get(&id) {
            member.tell(command);
        }
    }

    /// Gives a command of the problem to the process of one node.
    pub fn command(&self, id: u64, word: &str) {
        self.tell(id, SupervisorCommand::Command { word: word.to_owned(), name: String::new() });
    }

    /// Gives a command to all nodes, and to all that start later.
    pub fn tell_all(&mut self, command: SupervisorCommand) {
        for member in self.members.values() {
            member.tell(command.clone());
        }
        self.standing.push(command);
    }

    /// Gives a command to one node, and again whenever it starts.
    pub fn tell_always(&mut self, id: u64, command: SupervisorCommand) {
        self.tell(id, command.clone());
        self.standing_for.entry(id).or_default().push(command);
    }

    /// Waits until a node reports something, or until `deadline`; what the oracle has to say is said
    /// meanwhile.
    ///
    /// # Errors
    /// If a node ended by itself.
    pub async fn attend(&mut self, deadline: Instant) -> Result<Option<(u64, NodeReport)>, ClusterError> {
        match self.postponed.pop_front() {
            Some(report) => Ok(Some(report)),
            None => self.attend_anew(deadline).await,
        }
    }

    /// As [`attend`](Cluster::attend), without what was postponed.
    async fn attend_anew(&mut self, deadline: Instant) -> Result<Option<(u64, NodeReport)>, ClusterError> {
        loop {
            let due = self.foretold.first_key_value().map(|((due, _), _)| *due);
            tokio::select! {
                heard = self.heard.recv() => {
                    let Some((id, life, heard)) = heard else { return Ok(None) };
                    if let Some(report) = self.note(id, life, heard)? {
                        return Ok(Some((id, report)));
                    }
                }
                () = sleep_until(due.unwrap_or(deadline).min(deadline)) => {
                    if due.is_none_or(|due| due > Instant::now()) {
                        return Ok(None);
                    }
                    if let Some(((_, _), (id, life, command))) = self.foretold.pop_first()
                        && self.members.get(&id).is_some_and(|member| member.life == life)
                    {
                        self.tell(id, command);
                    }
                }
            }
        }
    }

    /// Takes note of what a node said.
    fn note(&mut self, id: u64, life: u32, heard: FromNode) -> Result<Option<NodeReport>, ClusterError> {
        let Some(member) = self.members.get_mut(&id).filter(|member| member.life == life) else {
            return Ok(None);
        };
        match heard {
            FromNode::End if member.is_there() => {
                let log = self.blueprint.directory.join(format!("node-{id}")).join("log.txt");
                let text = std::fs::read_to_string(&log).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let last = lines[lines.len().saturating_sub(5)..].join("\n");
                Err(ClusterError::Ended { id, log, last })
            }
            FromNode::End => Ok(None),
            FromNode::Report(report) => {
                match report.as_ref() {
                    NodeReport::Listening { address, http } => {
                        member.address = Some(address.clone());
                        member.http.clone_from(http);
                        self.introduce(id);
                    }
                    NodeReport::Record { name, record } => {
                        self.records += 1;
                        let status = match &record.what {
                            Happening::Start { .. } => Some(Status::Idle),
                            Happening::Command { status, .. } if member.status == Status::Idle => *status,
                            Happening::Output { status, .. } => *status,
                            _ => None,
                        };
                        if let (Some(status), true) = (status, name.is_empty()) {
                            member.status = status;
                            self.has_led |= status == Status::Leading;
                        }
                    }
                    _ => {}
                }
                Ok(Some(*report))
            }
        }
    }

    /// Asks every node that can answer how things are.
    ///
    /// # Errors
    /// If a node ended by itself.
    pub async fn overviews(&mut self, deadline: Instant) -> Result<BTreeMap<u64, Overview>, ClusterError> {
        let asked: Vec<u64> = self.alive().filter(|id| !self.is_paused(*id)).collect();
        for id in &asked {
            self.tell(*id, SupervisorCommand::Status);
        }
        let mut answers = BTreeMap::new();
        while answers.len() < asked.len() {
            match self.attend_anew(deadline).await? {
                Some((id, NodeReport::Status(overview))) => {
                    answers.insert(id, overview);
                }
                // It stands still and cannot answer.
                Some(reached @ (_, NodeReport::Reached(_))) => {
                    self.postponed.push_back(reached);
                    break;
                }
                Some(_) => {}
                None => break,
            }
        }
        Ok(answers)
    }

    fn spawn(&mut self, id: u64) -> Result<(), ClusterError> {
        let hears = self.hears.clone();
        let member = self.members.get_mut(&id).expect("only members are spawned");
        member.spawn(id, &self.blueprint, hears)?;
        for command in self.standing.iter().chain(self.standing_for.get(&id).into_iter().flatten()) {
            member.tell(command.clone());
        }
        let cut: Vec<u64> = self.cut.iter().filter(|(from, _)| *from == id).map(|(_, to)| *to).collect();
        if !cut.is_empty() {
            member.tell(SupervisorCommand::Cut { to: cut, loses: self.cuts_lose });
        }
        Ok(())
    }

    /// Tells a node where the others are, and the others where it is.
    fn introduce(&self, id: u64) {
        let Some(newcomer) = self.members.get(&id) else { return };
        for (other, member) in self.members.iter().filter(|(other, _)| **other != id) {
            if let Some(address) = &newcomer.address {
                member.tell(SupervisorCommand::Peer { id, address: address.clone() });
            }
            if let Some(address) = &member.address {
                newcomer.tell(SupervisorCommand::Peer { id: *other, address: address.clone() });
            }
        }
    }

    fn write_down(&mut self, process: Option<u64>, what: Happening) {
        let at = self.elapsed().as_nanos() as u64;
        self.notes.push(Record { at, process, clock: BTreeMap::new(), what });
    }

    /// What all nodes have recorded so far, merged, as the trace of one run.
    ///
    /// # Errors
    /// If a trace cannot be read, or none was written.
    pub fn trace(&self, title: Option<&str>) -> Result<Trace, ClusterError> {
        let mut trace = self.merged()?.ok_or(ClusterError::Untraced)?;
        trace.header.title = title.map(str::to_owned);
        Ok(trace)
    }

    /// The same under this header, also of a run that was cut off before any node had recorded anything.
    ///
    /// # Errors
    /// If a trace cannot be read.
    pub fn trace_under(&self, header: Header) -> Result<Trace, ClusterError> {
        let records = self.merged()?.map_or_else(|| self.notes.clone(), |trace| trace.records);
        Ok(Trace { header, records })
    }

    fn merged(&self) -> Result<Option<Trace>, ClusterError> {
        let end = self.ended.unwrap_or_else(|| self.elapsed().as_nanos() as u64);
        let directory = |id: &u64| self.blueprint.directory.join(format!("node-{id}")).join("trace.jsonl");
        let traces = self.ids().iter().map(|id| merge::read(&directory(id)).map(|trace| (*id, trace)));
        let mut merged = merge::merge(traces.collect::<Result<Vec<_>, _>>()?, &self.notes);
        if let Some(trace) = &mut merged {
            trace.records.retain(|record| record.at <= end);
        }
        Ok(merged)
    }

    /// Kills all nodes.
    pub async fn end(&mut self) {
        for member in self.members.values_mut() {
            member.kill().await;
        }
    }
}

fn by_sender(links: &[(u64, u64)]) -> BTreeMap<u64, Vec<u64>> {
    let mut by_sender: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (from, to) in links {
        by_sender.entry(*from).or_default().push(*to);
    }
    by_sender
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// The clients of a scenario's workload, as a command.
fn clients(workload: &habemus_scenario::Workload, id: u64, stretch: f64) -> SupervisorCommand {
    let takes_part = workload.clients.is_empty() || workload.clients.contains(&id);
    let longer = |(min, max): (Duration, Duration)| (min.mul_f64(stretch), max.mul_f64(stretch));
    SupervisorCommand::Clients(Clients {
        entries: if takes_part { workload.entries } else { 0 },
        hold: longer(workload.hold),
        think: longer(workload.think),
        wish_every: (workload.rate > 0.0).then(|| Duration::from_secs_f64(stretch / workload.rate)),
    })
}

/// What a scenario waits for, as a node knows it; `None` for what only the cluster knows.
fn moment(kind: &habemus_scenario::TriggerKind) -> Option<Moment> {
    use habemus_scenario::TriggerKind;
    Some(match kind {
        TriggerKind::Sends(kind) => Moment::Sends(kind.clone()),
        TriggerKind::Receives(kind) => Moment::Receives(kind.clone()),
        TriggerKind::Leads => Moment::Leads,
        TriggerKind::Follows => Moment::Follows,
        TriggerKind::Enters => Moment::Enters,
        TriggerKind::Leaves => Moment::Leaves,
        TriggerKind::Suspects => Moment::Suspects,
        TriggerKind::Decides => Moment::Decides,
        TriggerKind::Crashes => return None,
    })
}
