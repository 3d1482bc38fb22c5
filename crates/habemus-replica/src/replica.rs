//! The replica: consensus, store, time and membership in one state machine.

mod applying;
mod membership;
mod snapshots;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use habemus_store::{ClusterTime, Command, Store};
use raft::eraftpb::{EntryType, Message, MessageType};
use raft::{Config, RawNode, StateRole};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::batch::{self, Batch, RequestId};
use crate::clock::LeaderClock;
use crate::effect::{Effect, Role, Unanswered, Write};
use crate::log::{Log, Recovered, StoredSnapshot, StoredState};
use crate::member::{Member, MemberId, Members};
use crate::outstanding::Outstanding;
use crate::reads::Reads;
use crate::replicated::Replicated;
use crate::settings::{Settings, StartError};
use crate::wire::{Entry, Envelope, PeerMessage};

/// One member of the service.
pub struct Replica {
    settings: Settings,
    node: RawNode<Log>,
    replicated: Replicated,
    applied: u64,
    now: Duration,
    ticks: u64,
    clock: LeaderClock,
    role: Role,
    random: Pcg32,
    /// Requests that were not sent on their way yet.
    proposals: Vec<(RequestId, Command)>,
    /// Requests of this member, and since when they are under way.
    pending: BTreeMap<RequestId, Pending>,
    /// Requests that were forwarded to this member in the present term: none is proposed twice.
    seen: BTreeSet<RequestId>,
    reads: Reads,
    outstanding: Outstanding,
    /// A received snapshot that is not durable yet, by the number of its write: the engine must not go on
    /// before.
    restoring: Option<u64>,
    /// Since when followers are being sent a snapshot.
    catching_up: BTreeMap<u64, u64>,
    /// When a snapshot was last made for those who are behind, and whether one is being written down.
    offered_at: u64,
    is_offering: bool,
    /// The snapshot that has just come, and what it says.
    looked_at: Option<(Bytes, Replicated)>,
    bytes_since_snapshot: usize,
    tick_is_proposed: bool,
    /// Whether it stands for election as soon as it can.
    stands: bool,
    /// A request to remove this member, which leads: it waits until another one does.
    leaving: Option<RequestId>,
    /// The write by which a change of the membership is durable here, and what is told then.
    settling: Option<u64>,
    changed: Vec<Effect>,
    /// What is committed up to here, another member that led has said in this life.
    told: u64,
    /// What is committed and not applied yet, from the removal of this member on: it waits until another one
    /// says that this is committed, for nobody else may know it.
    held: Vec<Entry>,
    effects: Vec<Effect>,
}

#[derive(Clone, Copy)]
struct Pending {
    since: u64,
    /// Whether it has left: then nobody knows what becomes of it.
    sent: bool,
}

impl Replica {
    /// Starts with what was found on the disk, when the driver's clock says `now`.
    ///
    /// # Errors
    /// If the settings make no sense, or what was found does not.
    pub fn start(settings: Settings, recovered: &Recovered, now: Duration) -> Result<Replica, StartError> {
        let replicated = match &recovered.snapshot {
            Some(snapshot) => {
                let replicated = Replicated::from_bytes(&snapshot.data)?;
                if !replicated.has_members_of(snapshot) {
                    return Err(StartError::Damaged("the snapshot tells two lists of members".to_owned()));
                }
                replicated
            }
            None => Replicated::new(Members::new()),
        };
        recovered.check()?;
        let applied = recovered.snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
        // However short its lives are, its log does not grow for ever.
        let bytes_since_snapshot = recovered.entries.iter().map(Entry::bytes).sum();
        let config = Config {
            id: settings.id.0,
            election_tick: settings.min_election_ticks,
            min_election_tick: settings.min_election_ticks,
            max_election_tick: settings.max_election_ticks,
            heartbeat_tick: settings.heartbeat_ticks,
            applied,
            max_size_per_msg: 1 << 20,
            max_inflight_msgs: 256,
            check_quorum: true,
            pre_vote: true,
            max_uncommitted_size: settings.max_uncommitted_bytes,
            max_committed_size_per_ready: 16 << 20,
            ..Config::default()
        };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        let node = RawNode::new(&config, Log::new(recovered), &logger)
            .map_err(|error| StartError::Settings(error.to_string()))?;
        let clock = LeaderClock::new(replicated.store.now(), now);
        let mut random = Pcg32::new(settings.seed, settings.id.0);
        let reads = Reads::new(settings.id.0, random.next_u64());
        let mut replica = Replica {
            node,
            replicated,
            applied,
            now,
            ticks: 0,
            clock,
            role: Role { term: recovered.state.term, leader: None, leads: false },
            random,
            proposals: Vec::new(),
            pending: BTreeMap::new(),
            seen: BTreeSet::new(),
            reads,
            outstanding: Outstanding::default(),
            restoring: None,
            catching_up: BTreeMap::new(),
            offered_at: 0,
            is_offering: false,
            looked_at: None,
            bytes_since_snapshot,
            tick_is_proposed: false,
            stands: false,
            leaving: None,
            settling: None,
            changed: Vec::new(),
            told: 0,
            held: Vec::new(),
            effects: Vec::new(),
            settings,
        };
        replica.draw_election_timeout();
        Ok(replica)
    }

    /// Who this is.
    pub fn id(&self) -> MemberId {
        self.settings.id
    }

    /// Who leads, as far as this member knows.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The store, with everything that was applied here. Whoever must see all that was answered elsewhere
    /// asks [`read`](Replica::read) first.
    pub fn store(&self) -> &Store {
        &self.replicated.store
    }

    /// Who belongs to the cluster.
    pub fn members(&self) -> impl Iterator<Item = (MemberId, &Member)> {
        self.replicated.members.iter().map(|(id, member)| (*id, member))
    }

    /// Who belonged to the cluster once, and was removed.
    pub fn removed(&self) -> &BTreeSet<MemberId> {
        &self.replicated.removed
    }

    /// The index of the last entry that was applied here.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// The driver's clock says `now`. Called at regular intervals.
    pub fn tick(&mut self, now: Duration) {
        self.now = self.now.max(now);
        self.ticks += 1;
        if self.restoring.is_some() {
            return;
        }
        self.node.tick();
        self.draw_election_timeout();
        self.give_up_the_late();
        self.retry_snapshots();
        self.leave_by_another();
        self.let_another_remove();
    }

    /// How many ticks will do nothing but count, if nothing else comes. Whoever drives the replica need not
    /// wake for these, as long as it counts them before anything else.
    pub fn idle_ticks(&self) -> u64 {
        let has_work = self.stands
            || !self.held.is_empty()
            || !self.proposals.is_empty()
            || !self.pending.is_empty()
            || !self.reads.is_empty();
        let raft = &self.node.raft;
        if has_work || raft.lead_transferee.is_some() || self.receiving_snapshots().next().is_some() {
            return 0;
        }
        let longest = self.settings.min_election_ticks;
        let left = if raft.state == StateRole::Leader {
            let heartbeat = raft.heartbeat_timeout().saturating_sub(raft.heartbeat_elapsed());
            heartbeat.min(raft.election_timeout().saturating_sub(raft.election_elapsed))
        } else if raft.promotable() {
            raft.randomized_election_timeout().saturating_sub(raft.election_elapsed)
        } else {
            longest
        };
        left.clamp(1, longest) as u64 - 1
    }

    /// How long it is until a session may have ended, if this member counts the time.
    pub fn next_deadline_in(&self, now: Duration) -> Option<Duration> {
        let now = self.clock.now(now)?;
        self.replicated.store.next_deadline().map(|deadline| deadline.0.saturating_sub(now.0))
    }

    /// A message came from another member, when the driver's clock said `now`. What it must not send is
    /// dropped.
    pub fn receive(&mut self, from: MemberId, message: PeerMessage, now: Duration) {
        self.now = self.now.max(now);
        if self.replicated.removed.contains(&from) || self.restoring.is_some() {
            return;
        }
        match message {
            PeerMessage::Forward { term, requests } => self.receive_forwarded(term, requests),
            PeerMessage::Change { term, request, change } => {
                self.receive_change(from, term, request, &change);
            }
            PeerMessage::Refused { request, why } => {
                // A new leader may not be ready yet to remove the old one, which asks again.
                if self.role.leader == Some(from) && self.leaving != Some(request) {
                    self.give_up(request, why);
                }
            }
            PeerMessage::Consensus(envelope) => {
                let message = envelope.to_engine(from, self.settings.id);
                let message = message.filter(|it| self.is_sound(it) && self.can_read(it));
                if let Some(message) = message {
                    let (kind, term, commit) = (message.get_msg_type(), message.term, message.commit);
                    if self.role.leader == Some(from) && self.role.term == message.term {
                        self.clock.hear(self.now);
                    }
                    // What the engine refuses (it is from somebody unknown, say) is as good as lost.
                    drop(self.node.step(message));
                    self.draw_election_timeout();
                    let leads = self.node.raft.leader_id == from.0 && self.node.raft.term == term;
                    if leads && matches!(kind, MessageType::MsgAppend | MessageType::MsgHeartbeat) {
                        self.told = self.told.max(commit);
                    }
                }
            }
        }
    }

    /// A client of this member wants this command applied. Its number must be new.
    pub fn propose(&mut self, request: RequestId, command: Command) {
        self.pending.insert(request, Pending { since: self.ticks, sent: false });
        self.proposals.push((request, command));
    }

    /// A client of this member wants to read what is there now.
    pub fn read(&mut self, request: RequestId) {
        self.reads.add(request, self.ticks);
    }

    /// Everything up to the write with this number is durable.
    pub fn persisted(&mut self, number: u64) {
        self.outstanding.persisted(number);
        self.release();
        if self.restoring.is_some_and(|restoring| restoring <= number) {
            self.restoring = None;
            self.node.advance_apply_to(self.applied);
        }
        if self.settling.take_if(|settling| *settling <= number).is_some() {
            self.effects.append(&mut self.changed);
        }
    }

    /// What this member says has stopped coming: its connection broke, say. That is a hint that it may have
    /// died, and no proof. If it led, this member is ready to let somebody else lead, and asks the others
    /// soon, in the order of their numbers so that not two of them ask at once. They refuse for as long as
    /// they hear of the leader, and whoever hears of it again follows it again.
    pub fn suspect(&mut self, member: MemberId) {
        if self.role.leader != Some(member) || self.role.leads || self.restoring.is_some() {
            return;
        }
        let own = self.settings.id;
        let before = |(id, it): (&MemberId, &Member)| !it.learner && *id != member && *id < own;
        let rank = self.replicated.members.iter().filter(|it| before(*it)).count();
        let raft = &mut self.node.raft;
        raft.become_follower(raft.term, raft::INVALID_ID);
        self.draw_election_timeout();
        let raft = &mut self.node.raft;
        let left = 1 + rank * self.settings.turn_ticks;
        raft.election_elapsed = raft.randomized_election_timeout().saturating_sub(left);
        self.follow_role();
    }

    /// Lets another member lead, if it can.
    pub fn transfer_leadership(&mut self, to: MemberId) {
        if self.role.leads && self.restoring.is_none() {
            self.node.transfer_leader(to.0);
        }
    }

    /// Stands for election as soon as all is applied that is known to be committed: a member that is alone
    /// need not wait for others.
    pub fn stand_for_election(&mut self) {
        self.stands = true;
    }

    /// What time it is in the cluster, if this member counts it.
    pub fn cluster_time(&self, now: Duration) -> Option<ClusterTime> {
        self.clock.now(now)
    }

    /// What is to be done now, after whatever came since the last time.
    pub fn flush(&mut self, now: Duration) -> Vec<Effect> {
        self.now = self.now.max(now);
        if self.restoring.is_none() {
            self.apply_held();
            self.propose_due_tick();
            self.send_proposals();
            if self.role.leader.is_some()
                && let Some(question) = self.reads.question(self.ticks)
            {
                self.node.read_index(question);
            }
        }
        self.handle_all_ready();
        // The engine takes for granted that whoever stands has a vote.
        if std::mem::take(&mut self.stands) && self.node.raft.promotable() {
            // If it cannot, it stands when its time comes.
            drop(self.node.campaign());
            self.handle_all_ready();
        }
        self.offer_snapshot();
        // One that was not taken is as good as lost.
        if self.restoring.is_none() {
            self.looked_at = None;
        }
        let readable = self.reads.readable(self.applied);
        self.effects.extend(readable.into_iter().map(|request| Effect::Readable { request }));
        std::mem::take(&mut self.effects)
    }

    fn handle_all_ready(&mut self) {
        while self.restoring.is_none() && self.node.has_ready() {
            self.handle_ready();
            self.release();
        }
    }

    /// Whether a message can be given to the engine, which takes what members say for true.
    fn is_sound(&self, message: &Message) -> bool {
        let log = self.node.store();
        let committed = self.node.raft.raft_log.committed;
        let contradicts = |entry: &raft::eraftpb::Entry| {
            entry.index <= committed && log.term_at(entry.index).is_some_and(|term| term != entry.term)
        };
        // Nobody is so far ahead, and terms are counted up.
        if message.term > self.node.raft.term.saturating_add(u64::from(u32::MAX)) {
            return false;
        }
        // Whoever passes a question on says nothing of terms, and everybody else does.
        if (message.term == 0) != (message.get_msg_type() == MessageType::MsgReadIndex) {
            return false;
        }
        match message.get_msg_type() {
            MessageType::MsgHeartbeat => message.commit <= self.node.raft.raft_log.last_index(),
            MessageType::MsgAppend => !message.entries.iter().any(contradicts),
            _ => true,
        }
    }

    /// Whether a snapshot can be read, if it is one.
    fn can_read(&mut self, message: &Message) -> bool {
        if message.get_msg_type() != MessageType::MsgSnapshot {
            return true;
        }
        let snapshot = StoredSnapshot::from_engine(message.get_snapshot());
        let replicated =
            Replicated::from_bytes(&snapshot.data).ok().filter(|it| it.has_members_of(&snapshot));
        self.looked_at = replicated.map(|replicated| (snapshot.data, replicated));
        self.looked_at.is_some()
    }

    fn receive_forwarded(&mut self, term: u64, requests: Vec<(RequestId, Command)>) {
        // Whoever led then may lead again, but not in that term: so nothing is proposed twice.
        if !self.role.leads || term != self.role.term {
            return;
        }
        for (request, command) in requests {
            if request.origin != self.settings.id && self.seen.insert(request) {
                self.proposals.push((request, command));
            }
        }
    }

    /// A tick of the cluster's time, when a session may have ended and nothing else brings the time.
    fn propose_due_tick(&mut self) {
        let Some(now) = self.clock.now(self.now) else { return };
        let due = self.replicated.store.next_deadline().is_some_and(|deadline| deadline <= now);
        if due && !self.tick_is_proposed && self.proposals.is_empty() {
            let batch = Batch { at: now, commands: Vec::new() };
            self.tick_is_proposed = self.node.propose(Vec::new(), batch.to_bytes().into()).is_ok();
        }
    }

    fn send_proposals(&mut self) {
        if self.proposals.is_empty() {
            return;
        }
        if self.role.leads {
            // What comes while the disk writes goes together: it could not be written earlier, and one entry,
            // one message and one answer of each member cost as much for one request as for a hundred. Until
            // all of the last term is applied, nobody knows what time it is.
            if let Some(at) = self.clock.now(self.now).filter(|_| !self.outstanding.is_waiting()) {
                self.propose_batch(at);
            }
        } else if let Some(leader) = self.role.leader {
            let requests = std::mem::take(&mut self.proposals);
            self.mark_sent(&requests);
            for requests in batch::split(requests) {
                let message = PeerMessage::Forward { term: self.role.term, requests };
                self.effects.push(Effect::Send { to: leader, message });
            }
        }
    }

    fn propose_batch(&mut self, at: ClusterTime) {
        let commands = std::mem::take(&mut self.proposals);
        self.mark_sent(&commands);
        for commands in batch::split(commands) {
            let requests: Vec<RequestId> = commands.iter().map(|(request, _)| *request).collect();
            let batch = Batch { at, commands };
            if self.node.propose(Vec::new(), batch.to_bytes().into()).is_err() {
                for request in requests {
                    self.give_up(request, Unanswered::Overloaded);
                }
            }
        }
    }

    /// Lets go of what had to wait for the disk, up to where everything is durable.
    fn release(&mut self) {
        if let Some((number, messages)) = self.outstanding.take() {
            self.node.on_persist_ready(number);
            self.send(messages);
        }
    }

    fn mark_sent(&mut self, requests: &[(RequestId, Command)]) {
        for (request, _) in requests {
            if let Some(pending) = self.pending.get_mut(request) {
                pending.sent = true;
            }
        }
    }

    fn handle_ready(&mut self) {
        let mut ready = self.node.ready();
        let number = ready.number();
        let mut write = Write { number, sync: ready.must_sync(), ..Write::default() };
        let committed = ready.take_committed_entries();
        // That somebody was removed is said to nobody before this member would know it after a crash, too:
        // whoever was removed may be gone by then, and its vote would be waited for.
        if committed.iter().any(|entry| entry.get_entry_type() != EntryType::EntryNormal) {
            write.sync = true;
            self.settling = Some(number);
        }
        let messages = ready.take_messages();
        match self.settling {
            Some(_) => self.outstanding.push(number, !write.sync, messages),
            None => self.send(messages),
        }
        if !ready.snapshot().is_empty() {
            self.restore(ready.snapshot());
            write.snapshot = Some(StoredSnapshot::from_engine(ready.snapshot()));
            self.restoring = Some(number);
        }
        let entries = ready.take_entries();
        self.node.mut_store().append(&entries);
        write.entries = entries.iter().map(Entry::from_engine).collect();
        write.state =
            ready.hs().map(|state| StoredState { term: state.term, vote: state.vote, commit: state.commit });
        self.bytes_since_snapshot += write.entries.iter().map(Entry::bytes).sum::<usize>();
        self.outstanding.push(number, !write.sync, ready.take_persisted_messages());
        if write.sync || write.state.is_some() {
            self.effects.push(Effect::Write(write));
        }
        for read in ready.take_read_states() {
            self.reads.confirm(&read.request_ctx, read.index);
        }
        self.node.advance_append_async(ready);
        self.follow_role();
        self.held.extend(committed.iter().map(Entry::from_engine));
        self.apply_held();
    }

    /// Follows who leads, and gives up what was under way to somebody else.
    fn follow_role(&mut self) {
        let raft = &self.node.raft;
        let leader = Some(raft.leader_id).filter(|id| *id != 0).map(MemberId);
        let role = Role { term: raft.term, leader, leads: raft.state == StateRole::Leader };
        if role == self.role {
            return;
        }
        if role.term != self.role.term || role.leads != self.role.leads {
            self.clock.stop(self.now);
            self.seen.clear();
            self.tick_is_proposed = false;
            // What others forwarded, they give up themselves.
            self.proposals.retain(|(request, _)| request.origin == self.settings.id);
        }
        self.role = role;
        let lost: Vec<RequestId> =
            self.pending.iter().filter(|(_, pending)| pending.sent).map(|(request, _)| *request).collect();
        for request in lost {
            self.give_up(request, Unanswered::Unknown);
        }
        self.effects.push(Effect::Role(role));
    }

    fn give_up(&mut self, request: RequestId, why: Unanswered) {
        self.leaving.take_if(|leaving| *leaving == request);
        if self.pending.remove(&request).is_some() {
            self.effects.push(Effect::Unanswered { request, why });
        }
    }

    fn give_up_the_late(&mut self) {
        let late = |pending: &Pending| self.ticks >= pending.since + self.settings.patience_ticks;
        let late: Vec<(RequestId, Pending)> =
            self.pending.iter().filter(|(_, it)| late(it)).map(|(request, it)| (*request, *it)).collect();
        for (request, pending) in late {
            let why = if pending.sent { Unanswered::Unknown } else { Unanswered::NoLeader };
            self.proposals.retain(|(proposed, _)| *proposed != request);
            self.give_up(request, why);
        }
        let retry = self.settings.heartbeat_ticks as u64 * 2;
        for request in self.reads.tick(self.ticks, retry, self.settings.patience_ticks) {
            self.effects.push(Effect::Unanswered { request, why: Unanswered::NoLeader });
        }
    }

    fn send(&mut self, messages: Vec<Message>) {
        for message in messages {
            if let Some(envelope) = Envelope::from_engine(&message) {
                let to = MemberId(envelope.to);
                self.effects.push(Effect::Send { to, message: PeerMessage::Consensus(Box::new(envelope)) });
            }
        }
    }

    /// Election timeouts come from the one seed of the settings, not from a generator of the engine's own.
    fn draw_election_timeout(&mut self) {
        if self.node.raft.election_elapsed == 0 {
            let (min, max) = (self.settings.min_election_ticks, self.settings.max_election_ticks);
            let drawn = min + (self.random.next_u32() as usize) % (max - min);
            self.node.raft.set_randomized_election_timeout(drawn);
        }
    }
}
