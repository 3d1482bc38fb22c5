//! The simulation: processes, virtual time, and the loop that brings the one to the other.

mod calls;
mod counted;
mod events;
mod faults;
mod limits;
mod stage;
#[cfg(feature = "stepper")]
mod steps;

use std::time::Duration;

use habemus::{Address, Command, Id, Process, Status, Step, Suspicion, System, Topology};
use habemus_report::{CueError, Stream, Use};
use habemus_scenario::{self as scenario, TimeModel, Until};
use rustc_hash::FxHashMap;

use crate::by_process::ByProcess;
use crate::choices::Choices;
use crate::network::Network;
use crate::observer::Observer;
use crate::plan::{Deed, Plan, Surroundings};
use crate::queue::Queue;
use crate::time::{Time, nanos};
use crate::timers::Timers;
pub use calls::Refusal;
pub use limits::{Control, Limits, Stop};
use stage::Stage;

/// The processes of this many events are fetched from memory together,
const LOOK_AHEAD: usize = 16;
/// if more than this many events wait: of fewer there is little to fetch together.
const CROWD: usize = 64;

/// and if the processes take more bytes than this: fewer lie in the cache anyway.
const NEAR: usize = 1 << 20;

/// A run looks up from its work each time after this many events.
const LOOK_UP: u64 = 1 << 14;

/// Something that will happen at a process.
#[derive(Clone)]
enum Pending<P: Process, S> {
    Deliver {
        from: Address,
        to: Address,
        message: P::Message,
        stamp: S,
    },
    Timer {
        at: Address,
        timer: P::Timer,
        number: u32,
    },
    /// What is rare is boxed, to keep the common events small.
    Rare(Box<Rare<P>>),
}

impl<P: Process, S> Pending<P, S> {
    /// The process that it concerns.
    #[inline]
    fn at(&self) -> Address {
        match self {
            Pending::Deliver { to, .. } => *to,
            Pending::Timer { at, .. } => *at,
            Pending::Rare(rare) => rare.at,
        }
    }
}

#[derive(Clone)]
struct Rare<P: Process> {
    at: Address,
    /// The life of the process for which it is meant.
    life: u32,
    what: RareEvent<P>,
}

#[derive(Clone)]
enum RareEvent<P: Process> {
    /// What the oracle detector says, unless it is no longer true by then.
    Truth(Suspicion),
    /// What the script makes it say.
    Suspicion(Suspicion),
    Client(Command<P>),
}

/// A process. Whatever most events do not need lies elsewhere: of a million processes, many should find room
/// in the cache. It is aligned so that a small one does not lie across two lines of it.
#[derive(Clone)]
#[repr(align(32))]
struct Slot<P> {
    /// `None` while it is down.
    process: Option<P>,
    /// Counts starts, so that nothing meant for one life reaches the next.
    life: u32,
}

/// A clock that does not run at the rate of time.
#[derive(Clone, Copy, Debug)]
struct LocalClock {
    rate: f64,
    /// It has run at this rate since then,
    since: Time,
    /// when it showed this.
    showed: Time,
}

impl LocalClock {
    fn at(&self, now: Time) -> Time {
        self.showed + ((now - self.since) as f64 * self.rate) as Time
    }
}

/// What the clients of a lock do.
#[derive(Clone, Debug)]
struct Clients {
    workload: scenario::Workload,
    /// How many more times each process asks.
    remaining: Vec<u32>,
    /// When the latest wish of each process came up, if they come up at a rate.
    wishes: Vec<Time>,
}

impl Clients {
    fn new(workload: scenario::Workload, ids: &[Id]) -> Self {
        let asks = |id: &Id| workload.clients.is_empty() || workload.clients.contains(&id.0);
        let remaining = ids.iter().map(|id| if asks(id) { workload.entries } else { 0 }).collect();
        let wishes = vec![0; if workload.rate > 0.0 { ids.len() } else { 0 }];
        Clients { workload, remaining, wishes }
    }
}

/// What a scenario brings about, whatever the processes are.
struct Circumstances {
    plan: Plan,
    network: Network,
    clients: Option<Clients>,
    choices: Choices,
    jitter: Stream,
}

impl Circumstances {
    fn new(
        scenario: &scenario::Scenario,
        surroundings: &Surroundings<'_>,
        is_ring: bool,
    ) -> Result<Self, CueError> {
        let ids = surroundings.ids;
        let by_link = surroundings.latencies(&scenario.network.links);
        let ring = is_ring.then_some(ids.len());
        Ok(Circumstances {
            plan: Plan::new(scenario, surroundings)?,
            network: Network::new(&scenario.network, &by_link, ring, scenario.seed),
            clients: scenario.workload.clone().map(|workload| Clients::new(workload, ids)),
            choices: Choices::new(&scenario.choices, scenario.seed),
            jitter: Stream::new(scenario.seed, Use::Jitter),
        })
    }
}

/// A running system.
#[derive(Clone)]
pub struct Simulation<P: Process, O: Observer<P>> {
    system: System<P>,
    slots: Vec<Slot<P>>,
    /// What each process is, as its application sees it.
    status: Vec<Status>,
    timers: Timers<P::Timer>,
    stable: ByProcess<P::Stable>,
    queue: Queue<Pending<P, O::Stamp>>,
    network: Network,
    plan: Plan,
    /// How many of the plan's timed deeds are done.
    played: usize,
    /// The delay after which the oracle detector speaks; `None`: there is no oracle.
    oracle: Option<Time>,
    clients: Option<Clients>,
    /// The paused processes, and what waits for them.
    held_back: ByProcess<Vec<Pending<P, O::Stamp>>>,
    drift: FxHashMap<Address, LocalClock>,
    /// What waits for the script, while there is one that calls everything.
    stage: Option<Stage<P, O::Stamp>>,
    /// The lines of the script that called what was not there.
    missed: Vec<String>,
    choices: Choices,
    jitter: Stream,
    now: Time,
    events: u64,
    delivered: u64,
    /// The handlers' out-buffer, reused.
    step: Step<P>,
    observer: O,
}

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// A system in which nothing has happened yet: call [`start`](Simulation::start) and then
    /// [`run`](Simulation::run). Network, script, clients and seed are the scenario's; `oracle` is the delay
    /// after which the simulation speaks as an oracle detector, if it shall.
    ///
    /// # Errors
    /// If the script does not fit the system.
    pub fn new(
        system: System<P>,
        scenario: &scenario::Scenario,
        oracle: Option<Duration>,
        observer: O,
    ) -> Result<Self, CueError> {
        let neighbours = |of: Address| system.topology.neighbours(of).collect();
        let is_ring = system.topology.neighbours(Address(0)).nth(1).is_none() && system.len() > 2;
        let Circumstances { plan, network, clients, choices, jitter } =
            Circumstances::new(scenario, &Surroundings::of(&system, &neighbours), is_ring)?;
        Ok(Simulation {
            slots: system.addresses().map(|_| Slot { process: None, life: 0 }).collect(),
            status: vec![Status::Idle; system.len()],
            timers: Timers::default(),
            system,
            stable: ByProcess::default(),
            queue: Queue::default(),
            network,
            plan,
            played: 0,
            oracle: oracle.map(nanos),
            clients,
            held_back: ByProcess::default(),
            drift: FxHashMap::default(),
            stage: (scenario.network.model == TimeModel::Scripted).then(Stage::new),
            missed: Vec::new(),
            choices,
            jitter,
            now: 0,
            events: 0,
            delivered: 0,
            step: Step::default(),
            observer,
        })
    }

    /// A plain system for measurements: everybody starts at once, nothing goes wrong.
    pub fn plain(system: System<P>, network: &scenario::Network, seed: u64, observer: O) -> Self {
        let scenario = scenario::Scenario { seed, network: network.clone(), ..scenario::Scenario::default() };
        Self::new(system, &scenario, None, observer).expect("there is no script that could misfit")
    }

    /// Starts every process, except those that the script has crash at the very beginning, and the clients.
    pub fn start(&mut self) {
        let dead = self.plan.dead_from_the_beginning();
        for address in self.system.addresses() {
            if dead.is_empty() || !dead.contains(&address) {
                self.start_process(address, None);
            }
        }
        self.observer.all_started(self.now);
        for address in self.system.addresses() {
            self.client_reacts(address, Status::Idle);
        }
    }

    /// Gives a command now.
    pub fn command(&mut self, process: Address, command: Command<P>) {
        if self.held_back.contains(process) {
            let later = self.in_this_life(process, RareEvent::Client(command));
            if let Some(waiting) = self.held_back.get_mut(process) {
                waiting.push(later);
            }
        } else if self.is_up(process) {
            self.give_command(process, command);
        }
    }

    /// Runs until it is over or a limit is reached.
    pub fn run(&mut self, limits: Limits<'_>) -> Stop {
        let (end, stop) = match limits.until {
            Until::Time(time) if nanos(time) <= limits.time => (nanos(time), Stop::Time),
            _ => (limits.time, Stop::TimeLimit),
        };
        let (last, stop_events) = match limits.until {
            Until::Events(events) if events <= limits.events => (events, Stop::Events),
            _ => (limits.events, Stop::EventLimit),
        };
        let until_agreed = limits.until == Until::Agree;
        // When to look up from the work: nothing else need be asked after each event.
        let mut look_up = self.next_look_up(last);
        let far_apart = size_of::<Slot<P>>() * self.slots.len() > NEAR;
        loop {
            if self.events < last && self.play_counted(last) {
                look_up = self.next_look_up(last);
            }
            let scripted = self.plan.timed.get(self.played).map(|(time, _)| *time);
            if scripted.is_none() && self.stage.is_some() {
                self.leave_stage();
            }
            // What is scripted for an instant comes before what happens at it.
            let horizon = match scripted {
                Some(time) if time <= end => match time.checked_sub(1) {
                    Some(before) => before,
                    None => {
                        if !self.play_next_unless_stopped(0, &limits) {
                            return Stop::Interrupted;
                        }
                        continue;
                    }
                },
                _ => end,
            };
            let mut fetched = 0;
            let mut calm = self.is_calm();
            while let Some((time, pending)) = self.queue.pop(horizon) {
                if far_apart {
                    if fetched > 0 {
                        fetched -= 1;
                    } else if self.queue.len() > CROWD {
                        fetched = self.look_ahead(pending.at());
                    }
                }
                if !self.happen_at(time, pending, calm) {
                    continue;
                }
                self.events += 1;
                if self.events >= look_up {
                    if self.events >= last {
                        return stop_events;
                    }
                    if limits.interrupted(self.events) {
                        return Stop::Interrupted;
                    }
                    self.play_counted(last);
                    calm = self.is_calm();
                    look_up = self.next_look_up(last);
                }
                if until_agreed && self.script_is_over() && self.observer.agreed() {
                    return Stop::Agreed;
                }
            }
            match scripted {
                Some(time) if time <= end => {
                    if !self.play_next_unless_stopped(time, &limits) {
                        return Stop::Interrupted;
                    }
                }
                _ if self.queue.is_empty() && limits.until != Until::Agree => {
                    if let Until::Time(_) = limits.until {
                        self.now = end;
                        return stop;
                    }
                    return Stop::Quiet;
                }
                _ if self.queue.is_empty() => {
                    return if self.observer.agreed() { Stop::Agreed } else { Stop::Quiet };
                }
                _ => {
                    self.now = end;
                    return stop;
                }
            }
        }
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events have taken place: deliveries, timers and the like.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many messages have been handed to a process.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The variables of a process; `None` while it is down.
    pub fn process(&self, address: Address) -> Option<&P> {
        self.slots[address.index()].process.as_ref()
    }

    /// What the process at `address` is, as its application sees it.
    pub fn status(&self, address: Address) -> Status {
        self.status[address.index()]
    }

    /// The lines of a script that called for a message or a timer that was not there, in words.
    pub fn missed(&self) -> &[String] {
        &self.missed
    }

    /// The lines of the script whose occasion has not come, counted from 0.
    pub fn unmet(&self) -> Vec<usize> {
        let counted = self.plan.counted.iter().map(|counted| counted.line);
        self.plan.triggered.iter().map(|waiting| waiting.line).chain(counted).collect()
    }

    /// Whoever watches.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Whoever watches, to be asked for what it has written.
    #[cfg(feature = "stepper")]
    pub(crate) fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Ends the simulation and gives the observer back.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// Touches the processes that the present event and the next ones meet, so that they come from memory
    /// together and not one after the other; gives the number of the next ones.
    #[inline(never)]
    fn look_ahead(&self, present: Address) -> usize {
        let next = self.queue.upcoming().take(LOOK_AHEAD);
        let touch = |process| self.system.id_of(process).0 ^ u64::from(self.is_up(process));
        let (mut count, mut seen) = (0, touch(present));
        for pending in next {
            count += 1;
            seen ^= touch(pending.at());
        }
        std::hint::black_box(seen);
        count
    }

    #[inline]
    fn is_up(&self, process: Address) -> bool {
        self.slots[process.index()].process.is_some()
    }

    fn script_is_over(&self) -> bool {
        self.played == self.plan.timed.len() && self.plan.counted.is_empty()
    }

    /// As `play_next`; false if somebody stopped it meanwhile. A command to very many processes takes long,
    /// for each of them may send to all.
    fn play_next_unless_stopped(&mut self, time: Time, limits: &Limits<'_>) -> bool {
        let Some((_, Deed::Processes(processes, deed))) = self.plan.timed.get(self.played) else {
            self.play_next(time);
            return true;
        };
        let (processes, deed) = (processes.clone(), deed.clone());
        self.now = time;
        self.played += 1;
        self.events += 1;
        processes.into_iter().all(|process| {
            self.perform_at(process, &deed);
            !limits.interrupted(self.events)
        })
    }

    fn play_next(&mut self, time: Time) {
        self.now = time;
        let deed = self.plan.timed[self.played].1.clone();
        self.played += 1;
        self.events += 1;
        self.perform(deed);
    }
}
