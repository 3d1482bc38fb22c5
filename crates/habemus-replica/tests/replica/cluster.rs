//! A cluster in virtual time: replicas, their disks, and a network between them, all from one seed.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus_replica::{
    Effect, Member, MemberId, PeerMessage, Recovered, Replica, RequestId, Role, Settings, Unanswered,
};
use habemus_store::{Applied, Command, Revision};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::disk::Disk;

/// A tick, in microseconds of virtual time.
pub(crate) const TICK: u64 = 5_000;

/// What the network does to messages, in parts of a thousand.
#[derive(Clone, Copy, Default)]
pub(crate) struct Network {
    pub(crate) loss: u32,
    pub(crate) duplication: u32,
    /// Messages take up to so many microseconds.
    pub(crate) max_delay: u64,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Applied(Applied),
    Readable(Revision),
    Changed,
    Unanswered(Unanswered),
}

pub(crate) struct Cluster {
    pub(crate) now: u64,
    pub(crate) nodes: BTreeMap<MemberId, Node>,
    pub(crate) network: Network,
    /// Pairs between which nothing passes, one way.
    pub(crate) cut: Vec<(MemberId, MemberId)>,
    pub(crate) outcomes: BTreeMap<RequestId, Outcome>,
    /// Sessions that ended, and when the first member saw it.
    pub(crate) ended: BTreeMap<i64, u64>,
    /// What every member must have after an index, as the first one had it that got there.
    states: BTreeMap<u64, Vec<u8>>,
    /// The leader of each term.
    leaders: BTreeMap<u64, MemberId>,
    messages: BTreeMap<(u64, u64), (MemberId, MemberId, PeerMessage)>,
    pub(crate) random: Pcg32,
    numbers: u64,
    tune: fn(&mut Settings),
}

pub(crate) struct Node {
    pub(crate) replica: Option<Replica>,
    pub(crate) disk: Disk,
    next_tick: u64,
}

fn member(id: MemberId, learner: bool) -> Member {
    Member { name: format!("m{id}"), peer_addresses: vec![], client_addresses: vec![], learner }
}

impl Cluster {
    pub(crate) fn new(members: u64, seed: u64) -> Cluster {
        Cluster::tuned(members, seed, |_| {})
    }

    pub(crate) fn tuned(members: u64, seed: u64, tune: fn(&mut Settings)) -> Cluster {
        let ids = (1..=members).map(MemberId);
        let first = Recovered::first(ids.clone().map(|id| (id, member(id, false))));
        let mut cluster = Cluster {
            now: 0,
            nodes: BTreeMap::new(),
            network: Network { max_delay: 1_000, ..Network::default() },
            cut: Vec::new(),
            outcomes: BTreeMap::new(),
            ended: BTreeMap::new(),
            states: BTreeMap::new(),
            leaders: BTreeMap::new(),
            messages: BTreeMap::new(),
            random: Pcg32::new(seed, 0xcafe),
            numbers: 0,
            tune,
        };
        for id in ids {
            cluster.nodes.insert(id, Node { replica: None, disk: Disk::new(first.clone()), next_tick: 0 });
            cluster.start(id);
        }
        cluster
    }

    /// A new machine for a member that the others are told of apart.
    pub(crate) fn add_machine(&mut self, id: MemberId) -> Member {
        let disk = Disk::new(Recovered::added());
        self.nodes.insert(id, Node { replica: None, disk, next_tick: self.now });
        self.start(id);
        member(id, true)
    }

    pub(crate) fn draw(&mut self, bound: u64) -> u64 {
        u64::from(self.random.next_u32()) % bound
    }

    pub(crate) fn start(&mut self, id: MemberId) {
        let mut settings = Settings::new(id, self.random.next_u64());
        (self.tune)(&mut settings);
        let recovered = self.nodes[&id].disk.recover();
        let replica = Replica::start(settings, &recovered, Duration::from_micros(self.now));
        let node = self.nodes.get_mut(&id).expect("there is a machine");
        node.replica = Some(replica.expect("what a disk holds makes sense"));
        node.next_tick = self.now;
    }

    pub(crate) fn crash(&mut self, id: MemberId) {
        let kept = self.draw(3) as usize;
        let node = self.nodes.get_mut(&id).expect("there is a machine");
        node.replica = None;
        node.disk.crash(kept);
    }

    pub(crate) fn replica(&mut self, id: MemberId) -> Option<&mut Replica> {
        self.nodes.get_mut(&id)?.replica.as_mut()
    }

    pub(crate) fn request(&mut self, origin: MemberId) -> RequestId {
        self.numbers += 1;
        RequestId { origin, number: self.numbers }
    }

    /// Lets a client of `origin` propose a command, if that one is up.
    pub(crate) fn propose(&mut self, origin: MemberId, command: Command) -> Option<RequestId> {
        let request = self.request(origin);
        self.replica(origin)?.propose(request, command);
        self.flush(origin);
        Some(request)
    }

    pub(crate) fn read(&mut self, origin: MemberId) -> Option<RequestId> {
        let request = self.request(origin);
        self.replica(origin)?.read(request);
        self.flush(origin);
        Some(request)
    }

    /// Who leads, as the one says that leads in the latest term.
    pub(crate) fn leader(&self) -> Option<MemberId> {
        let roles = self.nodes.iter().filter_map(|(id, node)| Some((*id, node.replica.as_ref()?.role())));
        roles.filter(|(_, role)| role.leads).max_by_key(|(_, role)| role.term).map(|(id, _)| id)
    }

    pub(crate) fn run_for(&mut self, micros: u64) {
        let end = self.now + micros;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until `done`, or a minute has passed.
    pub(crate) fn run_until(&mut self, what: &str, mut done: impl FnMut(&mut Cluster) -> bool) {
        let end = self.now + 60_000_000;
        while !done(self) {
            assert!(self.now < end, "after a minute still not: {what}");
            self.step();
        }
    }

    /// What became of a request, once something has.
    pub(crate) fn outcome(&mut self, request: RequestId) -> Outcome {
        self.run_until("a request is answered", |cluster| cluster.outcomes.contains_key(&request));
        self.outcomes[&request].clone()
    }

    /// The next half millisecond.
    fn step(&mut self) {
        self.now += 500;
        let due: Vec<(u64, u64)> =
            self.messages.range(..=(self.now, u64::MAX)).map(|(key, _)| *key).collect();
        for key in due {
            let (from, to, message) = self.messages.remove(&key).expect("it is due");
            if self.cut.contains(&(from, to)) {
                continue;
            }
            let now = Duration::from_micros(self.now);
            if let Some(replica) = self.replica(to) {
                replica.receive(from, message, now);
                self.flush(to);
            }
        }
        let ids: Vec<MemberId> = self.nodes.keys().copied().collect();
        for id in ids {
            self.step_node(id);
        }
    }

    fn step_node(&mut self, id: MemberId) {
        let now = self.now;
        let node = self.nodes.get_mut(&id).expect("there is a machine");
        let Some(replica) = &mut node.replica else { return };
        while let Some(number) = node.disk.next_done(now) {
            replica.persisted(number);
        }
        if node.next_tick <= now {
            node.next_tick = now + TICK;
            let now = Duration::from_micros(now);
            let before = replica.flush(now);
            let is_idle =
                replica.idle_ticks() > 0 && replica.next_deadline_in(now).is_none_or(|left| !left.is_zero());
            replica.tick(now);
            let after = replica.flush(now);
            assert!(!is_idle || after.is_empty(), "an idle tick did something: {after:?}");
            for effect in before.into_iter().chain(after) {
                self.carry_out(id, effect);
            }
        }
        self.flush(id);
    }

    fn flush(&mut self, id: MemberId) {
        let now = Duration::from_micros(self.now);
        let Some(replica) = self.replica(id) else { return };
        let effects = replica.flush(now);
        for effect in effects {
            self.carry_out(id, effect);
        }
        self.compare_states(id);
    }

    fn carry_out(&mut self, id: MemberId, effect: Effect) {
        match effect {
            Effect::Send { to, message } => self.send(id, to, &message),
            Effect::Write(write) => {
                let done_at = self.now + self.draw(2_000);
                self.nodes.get_mut(&id).expect("there is a machine").disk.write(done_at, write);
            }
            Effect::Snapshot(snapshot) => {
                self.nodes.get_mut(&id).expect("there is a machine").disk.compact(snapshot.to_stored());
            }
            Effect::Offer(snapshot) => {
                self.replica(id).expect("it spoke").offer(&snapshot.to_stored());
            }
            Effect::Applied { request, applied, .. } => {
                for session in &applied.ended {
                    self.ended.entry(session.0).or_insert(self.now);
                }
                self.conclude(request, Outcome::Applied(applied));
            }
            Effect::Unanswered { request, why } => self.conclude(Some(request), Outcome::Unanswered(why)),
            Effect::Readable { request } => {
                let revision = self.replica(id).expect("it spoke").store().revision();
                self.conclude(Some(request), Outcome::Readable(revision));
            }
            Effect::Changed { request, .. } => self.conclude(request, Outcome::Changed),
            Effect::Restored => {}
            Effect::Role(Role { term, leads, .. }) => {
                if leads {
                    let other = self.leaders.insert(term, id);
                    assert!(other.is_none_or(|other| other == id), "two lead in term {term}");
                }
            }
        }
    }

    fn conclude(&mut self, request: Option<RequestId>, outcome: Outcome) {
        if let Some(request) = request {
            let earlier = self.outcomes.insert(request, outcome);
            assert!(earlier.is_none(), "{request:?} was answered twice");
        }
    }

    fn send(&mut self, from: MemberId, to: MemberId, message: &PeerMessage) {
        if self.draw(1000) < u64::from(self.network.loss) {
            return;
        }
        let copies = 1 + u64::from(self.draw(1000) < u64::from(self.network.duplication));
        for _ in 0..copies {
            let at = self.now + 1 + self.draw(self.network.max_delay.max(1));
            self.numbers += 1;
            self.messages.insert((at, self.numbers), (from, to, message.clone()));
        }
    }

    /// Whoever has applied as much has the same store, byte for byte.
    fn compare_states(&mut self, id: MemberId) {
        let Some(replica) = self.nodes[&id].replica.as_ref() else { return };
        let index = replica.applied();
        if index % 8 == 0 {
            let state = replica.store().to_bytes();
            match self.states.get(&index) {
                None => drop(self.states.insert(index, state)),
                Some(other) => assert!(*other == state, "{id} has another store after index {index}"),
            }
        }
    }
}
