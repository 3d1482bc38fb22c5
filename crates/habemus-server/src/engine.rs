//! The engine: one task that owns the replica, and carries out what it wants.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use habemus_replica::{
    Change, Effect, Member, MemberId, PeerMessage, Replica, RequestId, Role, StoredSnapshot, Unanswered,
};
use habemus_store::{Applied, Author, ClusterTime, Command, Revision, Store};
use tokio::sync::{mpsc, oneshot, watch};

use crate::admin::chronicle::{Chronicle, Why};
use crate::clock;
use crate::metrics::Metrics;
use crate::peers::Peers;
use crate::quota::{Ages, Quota};
use crate::status::Refused;
use crate::wakers::{Wake, Wakers};
use crate::writer::Writer;

/// What the replica counts time in.
const TICK: Duration = Duration::from_millis(5);

/// So many inputs wait, at most; whoever has another one waits with it.
pub(crate) const INPUTS: usize = 4096;

/// So many of one kind are taken before others have their turn.
const SHARE: usize = 1024;

/// So many requests are under way, at most; what is more is refused.
const UNDER_WAY: usize = 1 << 16;

/// What the engine is told.
pub(crate) enum Input {
    /// A client wants this applied.
    Propose(Command, oneshot::Sender<Result<Applied, Refused>>),
    /// A client wants to look at the store when it has all that was answered before.
    Read(Look),
    /// A client wants to look at the store as it is.
    Look(Look),
    /// Somebody wants to be woken when something changes, for as long as it lives.
    Wake(Wake),
    /// A client waits until this key, which was created then, is inside its queue, or gone.
    AwaitGrant(Bytes, Revision, oneshot::Sender<Granted>),
    /// A client wants the membership changed.
    Change(Change, oneshot::Sender<Result<(), Refused>>),
    /// Another member says this.
    Peer(MemberId, PeerMessage),
    /// Another member says nothing more: its connection broke.
    Gone(MemberId),
    /// Everything up to this write is durable.
    Persisted(u64),
    /// A snapshot for those who are behind is written down.
    Offer(StoredSnapshot),
    /// Somebody else shall lead.
    MoveLeader(MemberId),
    /// This member was removed, and does nothing more.
    Leave(oneshot::Sender<()>),
}

/// What a client wants with the store.
pub(crate) type Look = Box<dyn FnOnce(Result<View<'_>, Refused>) + Send>;

/// What became of somebody who waited in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    /// It is inside.
    Inside,
    /// Its session has ended, or it was thrown out.
    Gone,
}

/// What there is to see.
pub(crate) struct View<'a> {
    pub(crate) store: &'a Store,
    pub(crate) replica: &'a Replica,
    pub(crate) quota: &'a Quota,
    pub(crate) chronicle: &'a Chronicle,
    /// What time it is in the cluster, as far as this member knows.
    pub(crate) now: ClusterTime,
}

impl View<'_> {
    pub(crate) fn members(&self) -> Vec<(MemberId, Member)> {
        self.replica.members().map(|(id, member)| (id, member.clone())).collect()
    }
}

/// The replica, and who waits for it.
pub(crate) struct Engine {
    replica: Replica,
    writer: Writer,
    peers: Peers,
    quota: Quota,
    roles: watch::Sender<Role>,
    metrics: Metrics,
    next_number: u64,
    /// Who waits for what was proposed, and since when.
    proposed: BTreeMap<RequestId, (Duration, oneshot::Sender<Result<Applied, Refused>>)>,
    changing: BTreeMap<RequestId, oneshot::Sender<Result<(), Refused>>>,
    reading: BTreeMap<RequestId, Look>,
    /// The request by which history is being compacted.
    compacting: Option<RequestId>,
    ages: Ages,
    chronicle: Chronicle,
    /// This member was removed, and does nothing more.
    has_left: bool,
    /// Whose connection broke, since somebody leads or nobody does.
    broke: Option<MemberId>,
    wakers: Wakers,
    waiting: BTreeMap<Bytes, Vec<(Revision, oneshot::Sender<Granted>)>>,
}

impl Engine {
    /// `life` is drawn at random, so that no number of an earlier life comes back.
    pub(crate) fn new(
        replica: Replica,
        writer: Writer,
        peers: Peers,
        quota: Quota,
        roles: watch::Sender<Role>,
        metrics: Metrics,
        life: u32,
    ) -> Engine {
        Engine {
            chronicle: Chronicle::new(replica.id(), replica.role(), clock::now()),
            replica,
            writer,
            peers,
            quota,
            roles,
            metrics,
            next_number: u64::from(life) << 32,
            proposed: BTreeMap::new(),
            changing: BTreeMap::new(),
            reading: BTreeMap::new(),
            compacting: None,
            ages: Ages::default(),
            has_left: false,
            broke: None,
            wakers: Wakers::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// Runs until nobody can tell it anything any more.
    pub(crate) async fn run(
        mut self,
        mut urgent: mpsc::Receiver<Input>,
        mut renewals: mpsc::Receiver<Input>,
        mut inputs: mpsc::Receiver<Input>,
    ) {
        let mut batch = Vec::new();
        let mut ticked = clock::now();
        loop {
            // What members and the disk say comes first, so that no flood of requests looks like a silence.
            let input = tokio::select! {
                biased;
                input = urgent.recv() => input,
                input = renewals.recv() => input,
                input = inputs.recv() => input,
                () = tokio::time::sleep(self.quiet_for(ticked)) => None,
            };
            batch.extend(input);
            // The others have their share in any case.
            for (queue, share) in [(&mut urgent, INPUTS), (&mut renewals, SHARE), (&mut inputs, SHARE)] {
                batch.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(share));
            }
            if inputs.is_closed() && batch.is_empty() {
                return;
            }
            let now = clock::now();
            let mut due = now.saturating_sub(ticked).as_nanos() / TICK.as_nanos();
            // Ticks that do nothing but count are counted in their place. Of those that do something the
            // first is enough, and comes after what was heard: whoever was stopped for a while has missed
            // nothing yet.
            for _ in 0..due.min(self.replica.idle_ticks().into()) {
                self.replica.tick(now);
                ticked += TICK;
                due -= 1;
            }
            for input in batch.drain(..) {
                self.on_input(input);
            }
            if due > 0 {
                self.on_tick(now);
                ticked = now;
            }
            let begun = clock::now();
            let effects = self.replica.flush(begun);
            self.chronicle.note(&effects, clock::now());
            let applies = effects.iter().any(|effect| matches!(effect, Effect::Applied { .. }));
            for effect in effects {
                self.carry_out(effect);
            }
            self.writer.flush();
            if applies {
                self.metrics.applied_in(clock::now().saturating_sub(begun));
            }
        }
    }

    /// How long nothing will happen by itself.
    fn quiet_for(&self, ticked: Duration) -> Duration {
        let now = clock::now();
        let ticks = u32::try_from(self.replica.idle_ticks()).unwrap_or(u32::MAX).saturating_add(1);
        let until_tick = (ticked + TICK * ticks).saturating_sub(now);
        // A session that has ended is not waited for in vain, but nobody turns round and round until it is
        // gone.
        let until_end = self.replica.next_deadline_in(now).map(|left| left.max(TICK));
        until_end.map_or(until_tick, |until_end| until_tick.min(until_end))
    }

    fn on_tick(&mut self, now: Duration) {
        self.replica.tick(now);
        let forget = self.quota.forget(self.replica.store(), &mut self.ages, now);
        if self.replica.role().leads
            && self.compacting.is_none()
            && let Some(revision) = forget
        {
            let request = self.number();
            self.compacting = Some(request);
            self.replica.propose(request, Command::As(Author::Member, Command::Compact(revision).into()));
        }
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Propose(_, answer) if self.has_left => answer_to(answer, Err(Refused::Removed)),
            Input::Change(_, answer) if self.has_left => answer_to(answer, Err(Refused::Removed)),
            Input::Read(look) if self.has_left => look(Err(Refused::Removed)),
            Input::Propose(command, answer) => self.on_propose(command, answer),
            Input::Read(look) => {
                let request = self.number();
                self.reading.insert(request, look);
                self.replica.read(request);
            }
            Input::Look(look) => self.look(look),
            Input::Wake(wake) => self.wakers.add(wake),
            Input::AwaitGrant(key, token, answer) => self.await_grant(key, token, answer),
            Input::Change(change, answer) => {
                let request = self.number();
                match self.replica.change(request, &change) {
                    Ok(()) => drop(self.changing.insert(request, answer)),
                    Err(why) => answer_to(answer, Err(Refused::Unanswered(why))),
                }
            }
            Input::Peer(from, message) => {
                let now = clock::now();
                self.chronicle.hear(from, &message, now);
                self.replica.receive(from, message, now);
            }
            Input::Gone(member) => {
                self.broke = Some(member);
                self.replica.suspect(member);
            }
            Input::Persisted(number) => self.replica.persisted(number),
            Input::Offer(snapshot) => self.replica.offer(&snapshot),
            Input::MoveLeader(to) => self.replica.transfer_leadership(to),
            Input::Leave(answer) => {
                self.leave();
                answer_to(answer, ());
            }
        }
    }

    /// Answers whoever waits: nobody learns here any more what becomes of anything.
    fn leave(&mut self) {
        self.has_left = true;
        for (_, (_, answer)) in std::mem::take(&mut self.proposed) {
            answer_to(answer, Err(Refused::Removed));
        }
        for (_, answer) in std::mem::take(&mut self.changing) {
            answer_to(answer, Err(Refused::Removed));
        }
        for (_, look) in std::mem::take(&mut self.reading) {
            look(Err(Refused::Removed));
        }
    }

    fn on_propose(&mut self, command: Command, answer: oneshot::Sender<Result<Applied, Refused>>) {
        self.metrics.proposed.inc();
        if self.proposed.len() >= UNDER_WAY {
            self.metrics.refused.inc();
            return answer_to(answer, Err(Refused::Unanswered(Unanswered::Overloaded)));
        }
        if let Err(refused) = self.quota.check(self.replica.store(), &command) {
            self.metrics.refused.inc();
            return answer_to(answer, Err(refused));
        }
        let request = self.number();
        self.proposed.insert(request, (clock::now(), answer));
        self.replica.propose(request, command);
    }

    fn number(&mut self) -> RequestId {
        self.next_number += 1;
        RequestId { origin: self.replica.id(), number: self.next_number }
    }

    fn look(&self, look: Look) {
        let store = self.replica.store();
        let now = self.replica.cluster_time(clock::now()).unwrap_or(store.now());
        look(Ok(View { store, replica: &self.replica, quota: &self.quota, chronicle: &self.chronicle, now }));
    }

    fn await_grant(&mut self, key: Bytes, token: Revision, answer: oneshot::Sender<Granted>) {
        let store = self.replica.store();
        if store.get(&key).is_none_or(|present| present.created != token) {
            answer_to(answer, Granted::Gone);
        } else if store.is_inside(&key, token) {
            answer_to(answer, Granted::Inside);
        } else {
            let waiting = self.waiting.entry(key).or_default();
            // Whoever has left in the meantime is forgotten when the next one comes.
            waiting.retain(|(_, answer)| !answer.is_closed());
            waiting.push((token, answer));
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send { to, message } => self.peers.send(to, message),
            Effect::Write(write) => self.writer.write(write),
            Effect::Snapshot(snapshot) => self.writer.compact(*snapshot),
            Effect::Offer(snapshot) => self.writer.offer(*snapshot),
            Effect::Applied { request, applied, .. } => {
                self.metrics.count(&applied, self.replica.store());
                self.tell_waiters(&applied);
                self.wakers.wake(&applied);
                self.end_compaction(request);
                if let Some((since, answer)) = request.and_then(|request| self.proposed.remove(&request)) {
                    self.metrics.committed_after(clock::now().saturating_sub(since));
                    answer_to(answer, Ok(applied));
                }
            }
            Effect::Unanswered { request, why } => self.give_up(request, why),
            Effect::Readable { request } => {
                if let Some(look) = self.reading.remove(&request) {
                    self.look(look);
                }
            }
            Effect::Restored => self.begin_anew(),
            Effect::Changed { request, change } => {
                log_change(&change);
                self.peers.follow(self.replica.members());
                self.peers.dismiss(self.replica.removed());
                if change == Change::Remove(self.replica.id()) {
                    self.peers.leave();
                }
                if let Some(answer) = request.and_then(|request| self.changing.remove(&request)) {
                    answer_to(answer, Ok(()));
                }
            }
            Effect::Role(role) => self.on_role(role),
        }
    }

    fn on_role(&mut self, role: Role) {
        let before = self.roles.send_replace(role);
        if role.leader.is_some() && role.leader != before.leader {
            self.metrics.leader_changes.inc();
        }
        let term = role.term;
        match role.leader {
            Some(leader) if role.leads => tracing::info!(term, %leader, "this member leads"),
            Some(leader) => tracing::info!(term, %leader, "another member leads"),
            None if before.leader.is_some() => {
                let broke = self.broke.is_some() && self.broke == before.leader;
                let why = why_lost(before.leads, broke, self.chronicle.last_loss());
                tracing::warn!(term, "{why}");
            }
            None => tracing::info!(term, "an election goes on"),
        }
        self.broke = None;
    }

    fn give_up(&mut self, request: RequestId, why: Unanswered) {
        self.metrics.unanswered.inc();
        self.end_compaction(Some(request));
        if let Some((_, answer)) = self.proposed.remove(&request) {
            answer_to(answer, Err(Refused::Unanswered(why)));
        }
        if let Some(answer) = self.changing.remove(&request) {
            answer_to(answer, Err(Refused::Unanswered(why)));
        }
        if let Some(look) = self.reading.remove(&request) {
            look(Err(Refused::Unanswered(why)));
        }
    }

    fn end_compaction(&mut self, request: Option<RequestId>) {
        if request.is_some() && request == self.compacting {
            self.compacting = None;
        }
    }

    fn tell_waiters(&mut self, applied: &Applied) {
        if self.waiting.is_empty() {
            return;
        }
        for grant in applied.queues.iter().flat_map(|change| &change.granted) {
            self.tell(&grant.key, grant.token, Granted::Inside);
        }
        for event in applied.revised.iter().flat_map(|revised| revised.events.iter()) {
            if let (None, Some(before)) = (&event.now, &event.before) {
                self.tell(&event.key, before.created, Granted::Gone);
            }
        }
    }

    fn tell(&mut self, key: &Bytes, token: Revision, granted: Granted) {
        let Some(waiting) = self.waiting.get_mut(key) else { return };
        for (_, answer) in waiting.extract_if(.., |(waited, _)| *waited == token) {
            answer_to(answer, granted);
        }
        if waiting.is_empty() {
            self.waiting.remove(key);
        }
    }

    /// A snapshot came: whoever waits looks again.
    fn begin_anew(&mut self) {
        self.wakers.wake_all();
        for (key, waiting) in std::mem::take(&mut self.waiting) {
            for (token, answer) in waiting {
                self.await_grant(key.clone(), token, answer);
            }
        }
        self.peers.follow(self.replica.members());
        self.peers.dismiss(self.replica.removed());
    }
}

/// Why nobody leads any more, as far as this member knows.
fn why_lost(led: bool, broke: bool, loss: Option<(Why, Duration)>) -> String {
    let (why, silent) = loss.unwrap_or((Why::Silence, Duration::ZERO));
    match (led, why) {
        (true, Why::HandedOver) => "leads no more: it has handed over".to_owned(),
        (true, Why::LaterTerm) => "leads no more: others have a later term".to_owned(),
        (true, Why::Silence) => "leads no more: no majority answers".to_owned(),
        (false, Why::HandedOver) => "the leader hands over to this member".to_owned(),
        (false, Why::LaterTerm) => "leaves the leader: another member stands for election".to_owned(),
        (false, Why::Silence) if broke => "the leader's connection broke: an election begins".to_owned(),
        (false, Why::Silence) => {
            format!("nothing was heard of the leader for {} ms: an election begins", silent.as_millis())
        }
    }
}

fn log_change(change: &Change) {
    let member = change.member();
    match change {
        Change::Add(_, new) => tracing::info!(%member, peer = ?new.peer_addresses, "a learner was added"),
        Change::Promote(_) => tracing::info!(%member, "a learner has a vote now"),
        Change::Remove(_) => tracing::info!(%member, "a member was removed"),
        Change::Update(_, now) => {
            let (peer, clients) = (&now.peer_addresses, &now.client_addresses);
            tracing::info!(%member, name = now.name, ?peer, ?clients, "a member is reached here");
        }
    }
}

/// Whoever does not listen any more has left.
fn answer_to<T>(answer: oneshot::Sender<T>, what: T) {
    drop(answer.send(what));
}
