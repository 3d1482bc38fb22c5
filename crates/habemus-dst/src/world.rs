//! The world: machines, a network and clients, in virtual time, all from one seed.

mod backups;
mod calamities;
mod disks;
mod ending;
mod people;
mod service;

use std::collections::{BTreeMap, BTreeSet};

use habemus_journal::Life;
use habemus_replica::{Effect, EntryKind, Member, MemberId, PeerMessage, Recovered, RequestId, Role, Write};
use habemus_store::{Command, Revision};
use habemus_trace::Dropped;

use crate::agenda::{Agenda, Due};
use crate::agreed::Agreed;
use crate::calamity::{Calamity, DRIFT_BOUND, Script};
use crate::client::CallId;
use crate::clock::{Micros, SkewedClock};
use crate::disk::CruelDisk;
use crate::history::{History, Judge};
use crate::machine::{Job, Machine};
use crate::pace::Pace;
use crate::random::Random;
use crate::seen::Seen;
use crate::shape::SeedShape;
use crate::story::{Story, Told};
use disks::Copy;
use people::Person;

/// The whole store is compared at every index that is a multiple of this.
const DIGEST_EVERY: u64 = 128;

/// What was sent twice may come so late the second time.
const LATE: Micros = 2_000_000;

/// To write down a snapshot takes no longer than this; meanwhile everything goes on.
const FREEZING: Micros = 200_000;

/// What the network does to messages.
#[derive(Clone, Copy)]
struct Weather {
    loss: u64,
    duplication: u64,
    max_delay: Micros,
}

const CALM: Weather = Weather { loss: 0, duplication: 0, max_delay: 1_000 };

/// At which moment of a change of the membership somebody stops.
#[derive(Clone, Copy, Debug)]
enum Trap {
    /// The next leader that has a change written, after so many more effects.
    Written(u64),
    /// The next member that tells of a change, at once.
    Told,
}

/// Whether what happens is written down to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    Nothing,
    All,
}

/// Everything there is.
pub(crate) struct World {
    now: Micros,
    agenda: Agenda,
    random: Random,
    script: Script,
    pace: Pace,
    machines: Vec<Machine>,
    /// How many members a cluster has at first.
    members: u64,
    people: Vec<Person>,
    weather: Weather,
    /// Pairs between which nothing passes, one way.
    cut: BTreeSet<(MemberId, MemberId)>,
    /// Machines that no client reaches.
    unreachable: BTreeSet<usize>,
    /// With which disks machines have spoken, in each of their lives.
    faces: BTreeMap<(MemberId, u64), Life>,
    /// A copy of the disk of a machine, if somebody has made one.
    copy: Option<Copy>,
    /// A backup of the cluster, if somebody has made one.
    backup: Option<Vec<u8>>,
    /// Somebody stops at a moment that is still to come.
    trap: Option<Trap>,
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
    pub(crate) fn new(seed: u64, shape: &SeedShape, script: Script, told: Telling) -> World {
        let mut random = Random::new(seed, 0x0d57);
        let ids: Vec<MemberId> = (1..=shape.members).map(MemberId).collect();
        let first = Recovered::first(ids.iter().map(|id| (*id, member(*id, false))));
        let mut world = World {
            now: 0,
            agenda: Agenda::default(),
            machines: Vec::new(),
            members: shape.members,
            people: Vec::new(),
            weather: CALM,
            cut: BTreeSet::new(),
            unreachable: BTreeSet::new(),
            faces: BTreeMap::new(),
            copy: None,
            backup: None,
            trap: None,
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
            let added = world.script.iter().map(|(_, it)| match it {
                Calamity::Add => 1,
                Calamity::Restore => ids.len(),
                _ => 0,
            });
            let added: usize = added.sum();
            world.story = Some(Story::new(seed, ids.len() + added, shape.clients()));
        }
        for id in ids {
            world.add_machine(id, &first);
        }
        world.add_people(shape);
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

    /// Starts a machine that does not run, unless it is to stay away.
    fn start(&mut self, index: usize) {
        let seed = self.random.number();
        let machine = &mut self.machines[index];
        if machine.gone || machine.dismissed || machine.running.is_some() {
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
                self.faces.extend(machine.running.as_ref().map(|running| ((id, life), running.face)));
                if let Some(story) = &mut self.story {
                    story.started(self.now, id, life > 1);
                }
                let first = self.now + 1 + seed % self.pace.tick;
                self.agenda.plan(first, Due::Tick { machine: index, life });
            }
            Err(_) if machine.rotten || machine.older || machine.disk.is_full() => {}
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
            Due::Message { from, life, to, message, told } => self.receive((from, life), to, message, told),
            Due::Disks { from, life, to, disks } => self.learn((from, life), to, &disks),
            Due::Dismissed { machine, life } => self.dismiss(machine, life),
            Due::Frozen { machine, life, snapshot } => {
                if self.machines[machine].life == life {
                    self.give(machine, Job::Compact(*snapshot));
                    self.keep_disk_busy(machine);
                }
            }
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
            self.tell_of_disks(index);
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

    /// A message arrives, which `from` sent in this life.
    fn receive(&mut self, sender: (MemberId, u64), to: MemberId, message: PeerMessage, told: Option<Told>) {
        let (from, life) = sender;
        let Some(index) = self.machines.iter().position(|machine| machine.id == to) else { return };
        if self.cut.contains(&(from, to)) {
            return self.tell_loss(to, told.as_ref(), Dropped::Cut);
        }
        if let Some(until) = self.sleeps(index) {
            return self.agenda.plan(until, Due::Message { from, life, to, message, told });
        }
        if self.machines[index].running.is_none() || !self.lets_in(index, sender) {
            return self.tell_loss(to, told.as_ref(), Dropped::Down);
        }
        let machine = &mut self.machines[index];
        let Some(running) = &mut machine.running else { return };
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
            Effect::Send { to, message } => self.send(index, to, message),
            Effect::Write(write) => {
                self.spring_at_write(index, &write);
                self.give(index, Job::Write(write));
            }
            Effect::Snapshot(snapshot) => {
                let (life, snapshot) = (self.machines[index].life, Box::new(snapshot.to_stored()));
                let at = self.now + self.random.between(1, FREEZING);
                self.agenda.plan(at, Due::Frozen { machine: index, life, snapshot });
            }
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
            Effect::Changed { change, .. } => {
                self.membership_changed(&change);
                if self.trap.take_if(|trap| matches!(trap, Trap::Told)).is_some() {
                    self.machines[index].stops_after = Some(0);
                }
            }
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

    /// Whoever leads and has a change written may have stepped into a trap.
    fn spring_at_write(&mut self, index: usize, write: &Write) {
        let Some(Trap::Written(effects)) = self.trap else { return };
        let machine = &mut self.machines[index];
        let leads = machine.running.as_ref().is_some_and(|running| running.replica.role().leads);
        if leads && write.entries.iter().any(|entry| entry.kind == EntryKind::Change) {
            machine.stops_after = Some(effects);
            self.trap = None;
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

    fn send(&mut self, index: usize, to: MemberId, message: PeerMessage) {
        let (from, life) = (self.machines[index].id, self.machines[index].life);
        let told = self.story.as_mut().map(|story| story.sent(self.now, from, to, &message));
        if self.cut.contains(&(from, to)) {
            return self.tell_loss(to, told.as_ref(), Dropped::Cut);
        }
        if self.random.happens(self.weather.loss) {
            return self.tell_loss(to, told.as_ref(), Dropped::Loss);
        }
        let longest = self.weather.max_delay.max(50);
        if self.random.happens(self.weather.duplication) {
            // The second copy may come when everything has changed.
            let at = self.now + self.random.between(50, longest.max(LATE));
            let (message, told) = (message.clone(), told.clone());
            self.agenda.plan(at, Due::Message { from, life, to, message, told });
        }
        let at = self.now + self.random.between(50, longest);
        self.agenda.plan(at, Due::Message { from, life, to, message, told });
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
