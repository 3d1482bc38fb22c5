//! The simulation: processes, virtual time, and the loop that brings the one to the other.

mod faults;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use habemus::{
    Address, Command, Context, Effect, Message, Output, Problem, Process, Status, Step, Suspicion, System,
    Topology,
};
use habemus_scenario::{self as scenario, Until};
use habemus_trace::Dropped;
use rustc_hash::FxHashMap;

use crate::network::{Fate, Network};
use crate::observer::{Notice, Observer};
use crate::plan::{Deed, Occurrence, Plan, PlanError};
use crate::queue::Queue;
use crate::random::{Stream, Use};
use crate::time::{Time, nanos};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing can happen any more.
    Quiet,
    /// All live processes have the same leader.
    Agreed,
    /// The time that was asked for has come.
    Time,
    /// The number of events that was asked for has been reached.
    Events,
    /// The limit on virtual time was reached first.
    TimeLimit,
    /// The limit on events was reached first.
    EventLimit,
    /// Somebody stopped it.
    Interrupted,
}

/// A hand on a run, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    /// How many events have taken place so far, about.
    pub events: AtomicU64,
    /// Set it to stop the run.
    pub stop: Arc<AtomicBool>,
}

/// A run looks up from its work each time after this many events, a power of two.
const LOOK_UP: u64 = 1 << 14;

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// When it is over.
    pub until: Until,
    /// Virtual time at which it is cut off.
    pub time: Time,
    /// Events after which it is cut off.
    pub events: u64,
    /// Whoever may stop it, and wants to know how far it is.
    pub control: Option<&'a Control>,
}

impl Limits<'_> {
    /// Until nothing can happen any more, however long it takes.
    pub fn quiet() -> Self {
        Limits { until: Until::Quiet, time: Time::MAX, events: u64::MAX, control: None }
    }

    fn interrupted(&self, events: u64) -> bool {
        let Some(control) = self.control else { return false };
        control.events.store(events, Ordering::Relaxed);
        control.stop.load(Ordering::Relaxed)
    }
}

/// Something that will happen at a process.
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
        generation: u32,
    },
    /// What is rare is boxed, to keep the common events small.
    Rare(Box<Rare<P>>),
}

struct Rare<P: Process> {
    at: Address,
    /// The life of the process for which it is meant.
    life: u32,
    what: RareEvent<P>,
}

enum RareEvent<P: Process> {
    Suspicion(Suspicion),
    Client(Command<P>),
}

/// One process and what the driver keeps about it.
struct Slot<P: Process> {
    /// `None` while it is down.
    process: Option<P>,
    /// The timers that run, each with the number that tells it from its predecessors.
    timers: Vec<(P::Timer, u32)>,
    next_generation: u32,
    /// Counts starts, so that nothing meant for one life reaches the next.
    life: u32,
    status: Status,
    paused: bool,
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
#[derive(Debug)]
struct Clients {
    workload: scenario::Workload,
    /// How many more times each process asks.
    remaining: Vec<u32>,
}

/// A running system.
pub struct Simulation<P: Process, O: Observer<P>> {
    system: System<P>,
    slots: Vec<Slot<P>>,
    stable: FxHashMap<Address, P::Stable>,
    queue: Queue<Pending<P, O::Stamp>>,
    network: Network,
    plan: Plan<P>,
    /// How many of the plan's timed deeds are done.
    played: usize,
    /// The delay after which the oracle detector speaks; `None`: there is no oracle.
    oracle: Option<Time>,
    clients: Option<Clients>,
    /// What waits for paused processes.
    held_back: FxHashMap<Address, Vec<Pending<P, O::Stamp>>>,
    drift: FxHashMap<Address, LocalClock>,
    choices: Stream,
    jitter: Stream,
    now: Time,
    events: u64,
    delivered: u64,
    /// The handler's out-buffers, reused. There is more than one only while a trigger interrupts a step.
    spare: Vec<Step<P>>,
    observer: O,
}

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// A system in which nothing has happened yet: call [`start`](Simulation::start) and then
    /// [`run`](Simulation::run). Network, script, clients and seed are the scenario's; `oracle` is the delay after
    /// which the simulation speaks as an oracle detector, if it shall.
    ///
    /// # Errors
    /// If the script does not fit the system.
    pub fn new(
        system: System<P>,
        scenario: &scenario::Scenario,
        oracle: Option<Duration>,
        observer: O,
    ) -> Result<Self, PlanError> {
        let plan = Plan::new(scenario, &system)?;
        let directory = (!scenario.network.links.is_empty()).then(|| system.directory());
        let by_link = scenario.network.links.iter().filter_map(|((from, to), latency)| {
            let directory = directory.as_ref()?;
            let address = |id: &u64| directory.get(&habemus::Id(*id)).copied();
            Some(((address(from)?, address(to)?), latency.clone()))
        });
        let network = Network::new(&scenario.network, by_link, &system.topology, scenario.seed);
        let clients = scenario.workload.clone().map(|workload| {
            let asks = |id: &habemus::Id| workload.clients.is_empty() || workload.clients.contains(&id.0);
            let remaining = system.ids.iter().map(|id| if asks(id) { workload.entries } else { 0 }).collect();
            Clients { workload, remaining }
        });
        let slot = |_| Slot {
            process: None,
            timers: Vec::new(),
            next_generation: 0,
            life: 0,
            status: Status::Idle,
            paused: false,
        };
        Ok(Simulation {
            slots: (0..system.len()).map(slot).collect(),
            system,
            stable: FxHashMap::default(),
            queue: Queue::default(),
            network,
            plan,
            played: 0,
            oracle: oracle.map(nanos),
            clients,
            held_back: FxHashMap::default(),
            drift: FxHashMap::default(),
            choices: Stream::new(scenario.seed, Use::Choices),
            jitter: Stream::new(scenario.seed, Use::Jitter),
            now: 0,
            events: 0,
            delivered: 0,
            spare: Vec::new(),
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
        let mut dead: std::collections::BTreeSet<Address> = std::collections::BTreeSet::new();
        for (_, deed) in self.plan.timed.iter().take_while(|(time, _)| *time == 0) {
            if let Deed::Crash(processes) = deed {
                dead.extend(processes);
            }
        }
        for address in self.system.addresses() {
            if dead.is_empty() || !dead.contains(&address) {
                self.start_process(address, None);
            }
        }
        for address in self.system.addresses() {
            self.client_reacts(address, Status::Idle);
        }
    }

    /// Gives a command now.
    pub fn command(&mut self, process: Address, command: Command<P>) {
        if self.slots[process.index()].paused {
            let life = self.slots[process.index()].life;
            let rare = Rare { at: process, life, what: RareEvent::Client(command) };
            self.hold_back(process, Pending::Rare(Box::new(rare)));
        } else if self.slots[process.index()].process.is_some() {
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
        loop {
            let scripted = self.plan.timed.get(self.played).map(|(time, _)| *time);
            // What is scripted for an instant comes before what happens at it.
            let horizon = match scripted {
                Some(time) if time <= end => match time.checked_sub(1) {
                    Some(before) => before,
                    None => {
                        self.play_next(0);
                        continue;
                    }
                },
                _ => end,
            };
            while let Some((time, pending)) = self.queue.pop(horizon) {
                let before = std::mem::replace(&mut self.now, time);
                if !self.happen(pending) {
                    // A timer that was cancelled or replaced is nothing that happens.
                    self.now = before;
                    continue;
                }
                self.events += 1;
                if self.events >= last {
                    return stop_events;
                }
                if self.events.is_multiple_of(LOOK_UP) && limits.interrupted(self.events) {
                    return Stop::Interrupted;
                }
                if until_agreed && self.script_is_over() && self.observer.agreed() {
                    return Stop::Agreed;
                }
            }
            match scripted {
                Some(time) if time <= end => self.play_next(time),
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
        self.slots[address.index()].status
    }

    /// Whoever watches.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Ends the simulation and gives the observer back.
    pub fn into_observer(self) -> O {
        self.observer
    }

    fn script_is_over(&self) -> bool {
        self.played == self.plan.timed.len()
    }

    fn play_next(&mut self, time: Time) {
        self.now = time;
        let deed = self.plan.timed[self.played].1.clone();
        self.played += 1;
        self.events += 1;
        self.perform(deed);
    }
}

/// Events and their handlers.
impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// Lets an event take place; says whether it did.
    #[inline]
    fn happen(&mut self, pending: Pending<P, O::Stamp>) -> bool {
        let at = match &pending {
            Pending::Deliver { to, .. } => *to,
            Pending::Timer { at, .. } => *at,
            Pending::Rare(rare) => rare.at,
        };
        if self.slots[at.index()].paused {
            self.hold_back(at, pending);
            return false;
        }
        match pending {
            Pending::Deliver { from, to, message, stamp } => self.deliver(from, to, message, &stamp),
            Pending::Timer { at, timer, generation } => return self.ring(at, timer, generation),
            Pending::Rare(rare) => return self.rare(*rare),
        }
        true
    }

    #[inline]
    fn deliver(&mut self, from: Address, to: Address, message: P::Message, stamp: &O::Stamp) {
        let slot = &mut self.slots[to.index()];
        let Some(process) = &mut slot.process else {
            self.observer.dropped(self.now, from, to, stamp, Dropped::Down);
            return;
        };
        self.delivered += 1;
        self.observer.delivered(self.now, from, to, &message, stamp);
        let kind = if self.plan.triggered.is_empty() { None } else { Some(message.kind()) };
        let mut step = self.spare.pop().unwrap_or_default();
        let now = local_time(&self.drift, to, self.now);
        let mut cx = Context::new(to, &self.system, now, &mut step, &mut self.choices);
        process.on_message(from, message, &mut cx);
        if let Some(kind) = kind
            && self.interrupted(to, Occurrence::Receives(kind))
        {
            return;
        }
        self.carry_out(to, step);
    }

    fn ring(&mut self, at: Address, timer: P::Timer, generation: u32) -> bool {
        let slot = &mut self.slots[at.index()];
        let Some(running) = slot.timers.iter().position(|(_, number)| *number == generation) else {
            return false; // Cancelled, replaced, or of a former life.
        };
        slot.timers.swap_remove(running);
        self.observer.noticed(self.now, at, Notice::Timer(&timer));
        self.handle(at, |process, cx| process.on_timer(timer, cx));
        true
    }

    fn rare(&mut self, rare: Rare<P>) -> bool {
        let slot = &self.slots[rare.at.index()];
        if slot.life != rare.life || slot.process.is_none() {
            return false;
        }
        match rare.what {
            RareEvent::Client(command) => self.give_command(rare.at, command),
            RareEvent::Suspicion(suspicion) => {
                self.observer.noticed(self.now, rare.at, Notice::Suspicion(suspicion));
                if matches!(suspicion, Suspicion::Suspect(_))
                    && self.interrupted(rare.at, Occurrence::Suspects)
                {
                    return true;
                }
                self.handle(rare.at, |process, cx| process.on_suspicion(suspicion, cx));
            }
        }
        true
    }

    fn give_command(&mut self, at: Address, command: Command<P>) {
        self.observer.noticed(self.now, at, Notice::Command(&command));
        if let Some(status) = P::Problem::status_after_command(&command) {
            // A second request while inside or waiting changes nothing.
            if self.slots[at.index()].status == Status::Idle {
                self.slots[at.index()].status = status;
            }
        }
        self.handle(at, |process, cx| process.on_command(command, cx));
    }

    fn handle(&mut self, at: Address, handler: impl FnOnce(&mut P, &mut Context<'_, P>)) {
        let Some(process) = &mut self.slots[at.index()].process else { return };
        let mut step = self.spare.pop().unwrap_or_default();
        let now = local_time(&self.drift, at, self.now);
        handler(process, &mut Context::new(at, &self.system, now, &mut step, &mut self.choices));
        self.carry_out(at, step);
    }

    /// Carries out what a handler asked for. A trigger may crash the process in the midst of it: what it has
    /// not yet done is then lost.
    #[inline]
    fn carry_out(&mut self, at: Address, mut step: Step<P>) {
        if let Some(stable) = step.persist.take() {
            self.stable.insert(at, stable);
        }
        for effect in step.effects.drain(..) {
            let alive = match effect {
                Effect::Send { to, message } => self.send(at, to, message),
                Effect::SetTimer { timer, after } => {
                    self.set_timer(at, timer, nanos(after.least), nanos(after.most));
                    true
                }
                Effect::CancelTimer(timer) => {
                    self.slots[at.index()].timers.retain(|(running, _)| *running != timer);
                    true
                }
                Effect::Output(output) => self.output(at, &output),
                Effect::Suspicion(suspicion) => {
                    self.observer.noticed(self.now, at, Notice::Suspicion(suspicion));
                    !(matches!(suspicion, Suspicion::Suspect(_))
                        && self.interrupted(at, Occurrence::Suspects))
                }
            };
            if !alive {
                break;
            }
        }
        step.effects.clear();
        self.spare.push(step);
    }

    #[inline]
    fn send(&mut self, from: Address, to: Address, message: P::Message) -> bool {
        assert!(
            self.system.topology.linked(from, to),
            "bug in the algorithm: {from:?} sent to {to:?}, but there is no such link"
        );
        let stamp = self.observer.sent(self.now, from, to, &message);
        let kind = if self.plan.triggered.is_empty() { None } else { Some(message.kind()) };
        match self.network.route(self.now, from, to) {
            Fate::Arrives(at) => self.queue.push(at, Pending::Deliver { from, to, message, stamp }),
            Fate::Twice(first, second) => {
                let again = Pending::Deliver { from, to, message: message.clone(), stamp: stamp.clone() };
                self.queue.push(first, Pending::Deliver { from, to, message, stamp });
                self.queue.push(second, again);
            }
            Fate::Lost(why) => self.observer.dropped(self.now, from, to, &stamp, why),
        }
        !kind.is_some_and(|kind| self.interrupted(from, Occurrence::Sends(kind)))
    }

    fn set_timer(&mut self, at: Address, timer: P::Timer, least: Time, most: Time) {
        let mut after = self.jitter.between(least, most);
        if let Some(clock) = self.drift.get(&at) {
            after = (after as f64 / clock.rate) as Time;
        }
        let slot = &mut self.slots[at.index()];
        let generation = slot.next_generation;
        slot.next_generation = generation.wrapping_add(1);
        match slot.timers.iter_mut().find(|(running, _)| *running == timer) {
            Some(running) => running.1 = generation,
            None => slot.timers.push((timer.clone(), generation)),
        }
        self.queue.push(self.now.saturating_add(after), Pending::Timer { at, timer, generation });
    }

    #[inline]
    fn output(&mut self, at: Address, output: &Output<P>) -> bool {
        self.observer.noticed(self.now, at, Notice::Output(output));
        let Some(status) = P::Problem::status_after_output(output) else { return true };
        let before = std::mem::replace(&mut self.slots[at.index()].status, status);
        if !self.plan.triggered.is_empty() && self.interrupted(at, Occurrence::Becomes(before, status)) {
            return false;
        }
        if self.clients.is_some() {
            self.client_reacts(at, status);
        }
        true
    }

    /// Performs what was waiting for this; says whether it made an end of the process that it happened at.
    fn interrupted(&mut self, at: Address, occurrence: Occurrence<'_>) -> bool {
        if self.plan.triggered.is_empty() {
            return false;
        }
        let life = self.slots[at.index()].life;
        for deed in self.plan.occasion(at, occurrence) {
            self.perform(deed);
        }
        let slot = &self.slots[at.index()];
        slot.process.is_none() || slot.life != life
    }

    /// A client in a loop asks for what comes next.
    fn client_reacts(&mut self, at: Address, status: Status) {
        let Some(clients) = &mut self.clients else { return };
        let Some(command) = P::Problem::next_command(&status) else { return };
        let (least, most) = if status == Status::Inside {
            clients.workload.hold
        } else if clients.remaining[at.index()] > 0 {
            clients.remaining[at.index()] -= 1;
            clients.workload.think
        } else {
            return;
        };
        let wait = self.jitter.between(nanos(least), nanos(most));
        let life = self.slots[at.index()].life;
        let rare = Rare { at, life, what: RareEvent::Client(command) };
        self.queue.push(self.now + wait, Pending::Rare(Box::new(rare)));
    }

    fn hold_back(&mut self, at: Address, pending: Pending<P, O::Stamp>) {
        self.held_back.entry(at).or_default().push(pending);
    }
}

/// What the clock of a process shows: virtual time, unless it drifts.
#[inline]
fn local_time(drift: &FxHashMap<Address, LocalClock>, process: Address, now: Time) -> Duration {
    let drifted = if drift.is_empty() { None } else { drift.get(&process) };
    Duration::from_nanos(drifted.map_or(now, |clock| clock.at(now)))
}
