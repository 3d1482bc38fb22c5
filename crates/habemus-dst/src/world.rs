//! The world: machines, a network and clients, in virtual time, all from one seed.

mod calamities;
mod ending;
mod service;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use habemus_replica::{Effect, Member, MemberId, PeerMessage, Recovered, RequestId, Role};
use habemus_store::{Command, Mode, Revision};
use habemus_trace::Dropped;

use crate::agenda::{Agenda, Due};
use crate::agreed::Agreed;
use crate::calamity::{Calamity, DRIFT_BOUND, Script};
use crate::client::{CallId, Client, Hands, KeyClient, LockClient, Reply, WatchClient};
use crate::clock::{Micros, SkewedClock};
use crate::disk::CruelDisk;
use crate::history::{History, Judge};
use crate::machine::{Job, Machine};
use crate::pace::Pace;
use crate::random::Random;
use crate::seen::Seen;
use crate::story::{Story, Told};

/// The whole store is compared at every index that is a multiple of this.
const DIGEST_EVERY: u64 = 128;

/// What the network does to messages.
#[derive(Clone, Copy)]
struct Weather {
    loss: u64,
    duplication: u64,
    max_delay: Micros,
}

const CALM: Weather = Weather { loss: 0, duplication: 0, max_delay: 1_000 };

/// So many clients there are.
const CLIENTS: usize = 17;

/// Whether what happens is written down to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    Nothing,
    All,
}

/// A client, where it stands and how it is.
struct Person {
    client: Client,
    clock: SkewedClock,
    /// Which machine it asks.
    machine: usize,
    paused_until: Micros,
    /// When it looks around next.
    wakes_at: Micros,
    /// What came while it stood still.
    held: VecDeque<(CallId, Reply, Option<Told>)>,
}

/// Everything there is.
pub(crate) struct World {
    now: Micros,
    agenda: Agenda,
    random: Random,
    script: Script,
    pace: Pace,
    machines: Vec<Machine>,
    people: Vec<Person>,
    weather: Weather,
    /// Pairs between which nothing passes, one way.
    cut: BTreeSet<(MemberId, MemberId)>,
    /// Machines that no client reaches.
    unreachable: BTreeSet<usize>,
    calls: u64,
    requests: u64,
    is_ending: bool,
    /// The leader of each term.
    leaders: BTreeMap<u64, MemberId>,
    /// What every member must have after an index, as the first one had it that got there.
    agreed: Agreed,
    /// When the last answer of a watch arrives, for those that are under way: a connection keeps them in
    /// order.
    streams: BTreeMap<CallId, Micros>,
    pub(crate) history: History,
    /// In a long run, everything up to this revision was judged when it was last judged.
    pub(crate) forgotten_up_to: Revision,
    /// What happens is told to this, if somebody wants to see it.
    pub(crate) story: Option<Story>,
    /// What went wrong, and what the service's code came to.
    pub(crate) seen: Seen,
    pub(crate) events: u64,
}

fn member(id: MemberId, learner: bool) -> Member {
    Member { name: format!("m{id}"), peer_addresses: vec![], client_addresses: vec![], learner }
}

fn skew(random: &mut Random) -> i64 {
    random.below(2 * DRIFT_BOUND.unsigned_abs() + 1).cast_signed() - DRIFT_BOUND
}

impl World {
    pub(crate) fn new(seed: u64, script: Script, told: Telling) -> World {
        let mut random = Random::new(seed, 0x0d57);
        let members = [1, 3, 3, 3, 5, 5, 2, 7][random.below(8) as usize];
        let ids: Vec<MemberId> = (1..=members).map(MemberId).collect();
        let first = Recovered::first(ids.iter().map(|id| (*id, member(*id, false))));
        let mut world = World {
            now: 0,
            agenda: Agenda::default(),
            machines: Vec::new(),
            people: Vec::new(),
            weather: CALM,
            cut: BTreeSet::new(),
            unreachable: BTreeSet::new(),
            calls: 0,
            requests: 0,
            is_ending: false,
            leaders: BTreeMap::new(),
            agreed: Agreed::default(),
            streams: BTreeMap::new(),
            history: History::new(script.clocks_are_right()),
            forgotten_up_to: Revision(0),
            story: None,
            seen: Seen::default(),
            events: 0,
            pace: Pace::draw(&mut random),
            random,
            script,
        };
        if told == Telling::All {
            let added = world.script.iter().filter(|(_, it)| *it == Calamity::Add).count();
            world.story = Some(Story::new(seed, ids.len() + added, CLIENTS));
        }
        for id in ids {
            world.add_machine(id, &first);
        }
        world.add_people();
        for (index, (at, _)) in world.script.0.iter().enumerate() {
            world.agenda.plan(*at, Due::Calamity(index));
        }
        world
    }

    fn add_machine(&mut self, id: MemberId, first: &Recovered) {
        let clock = SkewedClock::new(self.random.below(1 << 40), skew(&mut self.random));
        self.machines.push(Machine::new(id, self.random.number(), clock, first));
        self.start(self.machines.len() - 1);
    }

    fn add_people(&mut self) {
        let two = Mode::Permits(2.try_into().expect("it is not zero"));
        let mut clients = vec![Client::Watch(WatchClient::new()), Client::Watch(WatchClient::new())];
        clients.extend((0..4).map(|_| Client::Keys(KeyClient::default())));
        clients.extend((0..3).map(|_| Client::Lock(LockClient::new("orders", Mode::Exclusive))));
        clients.extend((0..2).map(|_| Client::Lock(LockClient::new("leader", Mode::Exclusive))));
        clients.extend((0..3).map(|_| Client::Lock(LockClient::new("park", two))));
        let shared = [Mode::Shared, Mode::Shared, Mode::Exclusive];
        clients.extend(shared.map(|mode| Client::Lock(LockClient::new("book", mode))));
        debug_assert_eq!(clients.len(), CLIENTS);
        for client in clients {
            // Where clocks are wilder than is allowed for, those of clients are, too.
            let wild = if self.script.clocks_are_right() { 1 } else { 30 };
            let clock = SkewedClock::new(self.random.below(1 << 40), wild * skew(&mut self.random));
            let machine = self.random.below(self.machines.len() as u64) as usize;
            let wakes_at = self.random.below(100_000);
            self.agenda.plan(wakes_at, Due::Wake { client: self.people.len(), at: wakes_at });
            self.people.push(Person {
                client,
                clock,
                machine,
                paused_until: 0,
                wakes_at,
                held: VecDeque::new(),
            });
        }
    }

    /// Starts a machine that does not run, unless it is to stay away.
    fn start(&mut self, index: usize) {
        let seed = self.random.number();
        let machine = &mut self.machines[index];
        if machine.gone || machine.running.is_some() {
            return;
        }
        let settings = self.pace.settings(machine.id, seed);
        let started = machine.start(self.now, settings, &mut self.seen);
        match started {
            Ok(()) if machine.rotten => {
                let id = machine.id;
                self.history
                    .violated(Judge::Disks, format!("member {id} does not notice that its disk rots"));
            }
            Ok(()) => {
                let (life, id) = (machine.life, machine.id);
                if let Some(story) = &mut self.story {
                    story.started(self.now, id, life > 1);
                }
                let first = self.now + 1 + seed % self.pace.tick;
                self.agenda.plan(first, Due::Tick { machine: index, life });
            }
            Err(_) if machine.rotten || machine.disk.is_full() => {}
            Err(why) => self.history.violated(Judge::Disks, why),
        }
    }

    /// Lets everything happen until `end`, or until something did that must not.
    pub(crate) fn run_until(&mut self, end: Micros) {
        while self.history.violation.is_none()
            && let Some((at, due)) = self.agenda.next(end)
        {
            self.now = at;
            self.events += 1;
            self.happen(due);
        }
        self.now = self.now.max(end);
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Tick { machine, life } => self.tick(machine, life),
            Due::Written { machine, life } => self.written(machine, life),
            Due::Message { from, to, message, told } => self.receive(from, to, message, told),
            Due::Request { machine, call, ask, told } => self.request(machine, call, ask, told),
            Due::Reply { call, reply, told } => self.reply(call, reply, told),
            Due::Wake { client, at } => self.wake(client, at),
            Due::Resume { client } => self.resume(client),
            Due::Calamity(index) => {
                let (_, calamity) = self.script.0[index];
                self.befall(calamity);
            }
        }
    }

    /// More goes wrong, from now on.
    pub(crate) fn trouble(&mut self, script: &Script) {
        for (at, calamity) in &script.0 {
            self.agenda.plan(self.now + at, Due::Calamity(self.script.0.len()));
            self.script.0.push((self.now + at, *calamity));
        }
    }

    /// Forgets what members agreed on long ago, answers that have arrived, and disks of machines that are
    /// gone.
    pub(crate) fn forget_answers(&mut self) {
        let applied = self.machines.iter().filter(|machine| !machine.gone);
        let applied = applied.filter_map(|machine| Some(machine.running.as_ref()?.replica.applied())).min();
        self.agreed.forget_before(applied.unwrap_or_default());
        let now = self.now;
        self.streams.retain(|_, at| (now..u64::MAX).contains(at));
        for machine in self.machines.iter_mut().filter(|it| it.gone && it.running.is_none()) {
            machine.disk = CruelDisk::new(0);
        }
        // Connections that nobody listens to any more are closed.
        let people = &self.people;
        for running in self.machines.iter_mut().filter_map(|machine| machine.running.as_mut()) {
            running.watching.retain(|call, _| people[call.client].client.listens_to(call.number));
        }
    }

    /// How many bytes the largest disk of a member has, and the largest store.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let here = self.machines.iter().filter(|machine| !machine.gone);
        let disk = here.clone().map(|machine| machine.disk.bytes()).max().unwrap_or_default();
        let stores = here.filter_map(|machine| machine.running.as_ref());
        let store = stores.map(|running| running.replica.store().to_bytes().len()).max();
        (disk, store.unwrap_or_default())
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Micros {
        self.now
    }

    /// When the machine is awake again, if it stands still.
    fn sleeps(&self, machine: usize) -> Option<Micros> {
        Some(self.machines[machine].paused_until).filter(|until| *until > self.now)
    }

    fn tick(&mut self, index: usize, life: u64) {
        let now = self.now;
        let until = self.sleeps(index);
        let machine = &mut self.machines[index];
        let Some(running) = machine.running.as_mut().filter(|_| machine.life == life) else { return };
        self.agenda.plan(until.unwrap_or(now + self.pace.tick), Due::Tick { machine: index, life });
        if until.is_none() {
            if running.replica.role().leads && running.replica.removed().contains(&machine.id) {
                let why = format!("member {} leads, and knows that it was removed", machine.id);
                self.history.violated(Judge::Members, why);
            }
            running.replica.tick(machine.clock.at(now));
            self.forget_history(index);
            self.flush(index);
        }
    }

    fn written(&mut self, index: usize, life: u64) {
        if let Some(until) = self.sleeps(index) {
            return self.agenda.plan(until, Due::Written { machine: index, life });
        }
        let machine = &mut self.machines[index];
        let Some(running) = machine.running.as_mut().filter(|_| machine.life == life) else { return };
        running.busy = false;
        match running.work() {
            Ok(durable) => {
                if let Some(number) = durable {
                    running.replica.persisted(number);
                }
                self.flush(index);
            }
            // A member whose disk fails stops.
            Err(_) => self.crash(index),
        }
    }

    fn crash(&mut self, index: usize) {
        let through = self.random.below(8);
        if let Some(story) = self.story.as_mut().filter(|_| self.machines[index].running.is_some()) {
            story.crashed(self.now, self.machines[index].id);
        }
        self.machines[index].crash(through);
    }

    fn receive(&mut self, from: MemberId, to: MemberId, message: PeerMessage, told: Option<Told>) {
        let Some(index) = self.machines.iter().position(|machine| machine.id == to) else { return };
        if self.cut.contains(&(from, to)) {
            return self.tell_loss(to, told.as_ref(), Dropped::Cut);
        }
        if let Some(until) = self.sleeps(index) {
            return self.agenda.plan(until, Due::Message { from, to, message, told });
        }
        let machine = &mut self.machines[index];
        let Some(running) = &mut machine.running else {
            return self.tell_loss(to, told.as_ref(), Dropped::Down);
        };
        if let (Some(story), Some(told)) = (&mut self.story, &told) {
            story.arrived_at_machine(self.now, to, told);
        }
        let was_removed = running.replica.removed().contains(&from);
        running.replica.receive(from, message, machine.clock.at(self.now));
        self.flush_unless_answered(index, Some(from).filter(|_| was_removed));
    }

    fn tell_loss(&mut self, to: MemberId, told: Option<&Told>, why: Dropped) {
        if let (Some(story), Some(told)) = (&mut self.story, told) {
            story.lost(self.now, to, told, why);
        }
    }

    /// Carries out what a replica wants done.
    fn flush(&mut self, index: usize) {
        self.flush_unless_answered(index, None);
    }

    /// The same after a message; `removed` is who sent it, if this member knows that it was removed and must
    /// not listen.
    fn flush_unless_answered(&mut self, index: usize, removed: Option<MemberId>) {
        let machine = &mut self.machines[index];
        let Some(running) = &mut machine.running else { return };
        let effects = running.replica.flush(machine.clock.at(self.now));
        for effect in effects {
            if let Effect::Send { to, message: PeerMessage::Consensus(_) } = &effect
                && removed == Some(*to)
            {
                let id = self.machines[index].id;
                let why = format!("member {id} answers {to}, and knows that it was removed");
                self.history.violated(Judge::Members, why);
            }
            self.seen.effect(&effect);
            if let Some(left) = &mut self.machines[index].stops_after {
                match left.checked_sub(1) {
                    Some(less) => *left = less,
                    None => return self.crash(index),
                }
            }
            self.carry_out(index, effect);
        }
        self.keep_disk_busy(index);
        self.compare(index);
    }

    fn carry_out(&mut self, index: usize, effect: Effect) {
        let id = self.machines[index].id;
        match effect {
            Effect::Send { to, message } => self.send(id, to, &message),
            Effect::Write(write) => self.give(index, Job::Write(write)),
            Effect::Snapshot(snapshot) => self.give(index, Job::Compact(snapshot.to_stored())),
            Effect::Offer(snapshot) => {
                if let Some(running) = &mut self.machines[index].running {
                    running.replica.offer(&snapshot.to_stored());
                }
            }
            Effect::Applied { index: at, request, applied } => {
                if let Some(running) = &mut self.machines[index].running {
                    let nth = running.nth_at(at);
                    if let Err(why) = self.agreed.compare(at, nth, &applied) {
                        self.history.violated(Judge::Members, format!("member {id}: {why}"));
                    }
                }
                self.history.applied(self.now, &applied);
                self.serve(index, request, &applied);
            }
            Effect::Unanswered { request, why } => self.not_served(index, request, why),
            Effect::Readable { request } => self.serve_read(index, request),
            Effect::Changed { change, .. } => self.membership_changed(&change),
            Effect::Restored => self.serve_anew(index),
            Effect::Role(role @ Role { term, leads, .. }) => {
                if let Some(story) = &mut self.story {
                    story.role(self.now, id, role);
                }
                if leads && self.leaders.insert(term, id).is_some_and(|other| other != id) {
                    self.history.violated(Judge::Members, format!("two lead in term {term}"));
                }
            }
        }
    }

    fn give(&mut self, index: usize, job: Job) {
        if let Some(running) = &mut self.machines[index].running {
            running.give(job);
        }
    }

    fn keep_disk_busy(&mut self, index: usize) {
        let takes = self.random.between(50, 2_000);
        let machine = &mut self.machines[index];
        let Some(running) = &mut machine.running else { return };
        if !running.busy && running.has_work() {
            running.busy = true;
            let (life, at) = (machine.life, self.now + takes + machine.slowness);
            self.agenda.plan(at, Due::Written { machine: index, life });
        }
    }

    fn send(&mut self, from: MemberId, to: MemberId, message: &PeerMessage) {
        let told = self.story.as_mut().map(|story| story.sent(self.now, from, to, message));
        if self.cut.contains(&(from, to)) {
            return self.tell_loss(to, told.as_ref(), Dropped::Cut);
        }
        if self.random.happens(self.weather.loss) {
            return self.tell_loss(to, told.as_ref(), Dropped::Loss);
        }
        let copies = 1 + u64::from(self.random.happens(self.weather.duplication));
        for _ in 0..copies {
            let at = self.now + self.random.between(50, self.weather.max_delay.max(50));
            let (message, told) = (message.clone(), told.clone());
            self.agenda.plan(at, Due::Message { from, to, message, told });
        }
    }

    /// Whoever has applied as much has the same store.
    fn compare(&mut self, index: usize) {
        let Some(running) = &mut self.machines[index].running else { return };
        let applied = running.replica.applied();
        if applied / DIGEST_EVERY == running.digested / DIGEST_EVERY || applied % DIGEST_EVERY != 0 {
            return;
        }
        running.digested = applied;
        if !self.agreed.has_same_store(applied, running.replica.store()) {
            let id = self.machines[index].id;
            self.history
                .violated(Judge::Members, format!("member {id} has another store after index {applied}"));
        }
    }

    /// As the server does: whoever leads has history forgotten that is longer than is wanted.
    fn forget_history(&mut self, index: usize) {
        let request = RequestId { origin: self.machines[index].id, number: self.requests + 1 };
        let Some(running) = &mut self.machines[index].running else { return };
        let store = running.replica.store();
        if running.replica.role().leads
            && running.forgetting.is_none()
            && store.remembered() > self.pace.history + self.pace.history / 8
        {
            let last = Revision(store.revision().0 - self.pace.history as u64);
            self.requests += 1;
            running.forgetting = Some(request);
            running.replica.propose(request, Command::Compact(last));
        }
    }

    fn wake(&mut self, client: usize, at: Micros) {
        let person = &mut self.people[client];
        if person.wakes_at != at {
            return;
        }
        let until = person.paused_until;
        if until > self.now {
            person.wakes_at = until;
            return self.agenda.plan(until, Due::Wake { client, at: until });
        }
        self.with_hands(client, Client::wake);
    }

    fn reply(&mut self, call: CallId, reply: Reply, told: Option<Told>) {
        let person = &mut self.people[call.client];
        // Whatever comes while it stands still waits at its door, in order.
        if person.paused_until > self.now || !person.held.is_empty() {
            if person.held.is_empty() {
                self.agenda.plan(person.paused_until, Due::Resume { client: call.client });
            }
            return person.held.push_back((call, reply, told));
        }
        self.hear(call, reply, told.as_ref());
    }

    fn hear(&mut self, call: CallId, reply: Reply, told: Option<&Told>) {
        if let (Some(story), Some(told)) = (&mut self.story, told) {
            story.arrived_at_client(self.now, call.client, told);
        }
        self.with_hands(call.client, |client, hands| client.hear(call.number, reply, hands));
    }

    /// A client that stood still hears what has waited for it.
    fn resume(&mut self, client: usize) {
        let person = &mut self.people[client];
        if person.paused_until > self.now {
            return self.agenda.plan(person.paused_until, Due::Resume { client });
        }
        for (call, reply, told) in std::mem::take(&mut person.held) {
            self.hear(call, reply, told.as_ref());
        }
    }

    fn with_hands(&mut self, index: usize, act: impl FnOnce(&mut Client, &mut Hands<'_>)) {
        let person = &mut self.people[index];
        let before = self.story.as_ref().and_then(|_| person.client.inside());
        let mut hands = Hands {
            client: index,
            now: self.now,
            clock: &person.clock,
            random: &mut self.random,
            history: &mut self.history,
            calls: &mut self.calls,
            think: self.pace.think,
            asks: Vec::new(),
            switches: false,
            is_ending: self.is_ending,
        };
        act(&mut person.client, &mut hands);
        let (asks, switches) = (hands.asks, hands.switches);
        let next = person.client.next_wake(&person.clock, self.is_ending).max(self.now + 1);
        if person.wakes_at <= self.now || next < person.wakes_at {
            person.wakes_at = next;
            self.agenda.plan(next, Due::Wake { client: index, at: next });
        }
        if switches {
            // Clients are told who belongs to the cluster, by hand or by its members.
            let here: Vec<usize> = (0..self.machines.len()).filter(|&it| !self.machines[it].gone).collect();
            person.machine = here[self.random.below(here.len() as u64) as usize];
        }
        let machine = person.machine;
        if let Some(story) = &mut self.story {
            let inside = person.client.inside();
            if inside != before {
                story.believes(self.now, index, inside.as_ref().map(|(name, token)| (&name[..], *token)));
            }
        }
        for (call, ask) in asks {
            let id = self.machines[machine].id;
            let told = self.story.as_mut().map(|story| story.asked(self.now, index, id, &ask));
            if self.unreachable.contains(&machine) {
                self.tell_loss(id, told.as_ref(), Dropped::Cut);
            } else {
                let at = self.now + self.random.between(50, self.weather.max_delay.max(50));
                self.agenda.plan(at, Due::Request { machine, call, ask, told });
            }
        }
    }

    fn next_request(&mut self, origin: MemberId) -> RequestId {
        self.requests += 1;
        RequestId { origin, number: self.requests }
    }

    /// The machine that leads in the latest term, if it runs.
    fn leader(&self) -> Option<usize> {
        let roles = self.machines.iter().enumerate();
        let roles =
            roles.filter_map(|(index, machine)| Some((index, machine.running.as_ref()?.replica.role())));
        roles.filter(|(_, role)| role.leads).max_by_key(|(_, role)| role.term).map(|(index, _)| index)
    }
}
