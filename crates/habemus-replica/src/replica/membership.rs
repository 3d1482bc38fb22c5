//! How a replica takes part in changes of the membership.

use raft::StateRole;
use raft::eraftpb::{ConfChangeSingle, ConfChangeType, ConfChangeV2};

use super::{Pending, Replica};
use crate::batch::RequestId;
use crate::effect::{Effect, Unanswered};
use crate::member::{self, Change, MemberId};
use crate::wire::{Entry, EntryKind, PeerMessage};

impl Replica {
    /// A client of this member wants the membership changed.
    ///
    /// # Errors
    /// If nobody leads, another change is under way, or the change makes no sense. If another member leads,
    /// it may still refuse: then the request is given up.
    pub fn change(&mut self, request: RequestId, change: &Change) -> Result<(), Unanswered> {
        if self.role.leads && *change == Change::Remove(self.settings.id) && self.makes_sense(change) {
            self.hand_over();
            self.leaving = Some(request);
            self.pending.insert(request, Pending { since: self.ticks, sent: false });
            return Ok(());
        }
        if self.role.leads {
            self.propose_change(request, change)?;
        } else {
            let leader = self.role.leader.ok_or(Unanswered::NoLeader)?;
            if !self.makes_sense(change) {
                return Err(Unanswered::Unchangeable);
            }
            let message = PeerMessage::Change { term: self.role.term, request, change: change.clone() };
            self.effects.push(Effect::Send { to: leader, message });
        }
        self.pending.insert(request, Pending { since: self.ticks, sent: true });
        Ok(())
    }

    /// Another member's client wants the membership changed. Only the leader of that term may do it, so that
    /// it is not done twice.
    pub(super) fn receive_change(&mut self, from: MemberId, term: u64, request: RequestId, change: &Change) {
        if !self.role.leads || term != self.role.term || request.origin != from {
            return;
        }
        let proposed = if *change == Change::Remove(self.settings.id) && self.makes_sense(change) {
            self.hand_over();
            Err(Unanswered::NoLeader)
        } else {
            self.propose_change(request, change)
        };
        if let Err(why) = proposed {
            self.effects.push(Effect::Send { to: from, message: PeerMessage::Refused { request, why } });
        }
    }

    /// Nobody leads until its own removal is committed: it would be the only one who knows that it is, and
    /// the others might wait for its vote for ever. So somebody else is to lead, and remove this one.
    fn hand_over(&mut self) {
        let own = self.settings.id;
        let voters = self.replicated.members.iter().filter(|(id, it)| **id != own && !it.learner);
        let fitness = |id: &MemberId| self.node.raft.prs().get(id.0).map(|it| (it.recent_active, it.matched));
        if let Some(to) = voters.map(|(id, _)| *id).max_by_key(fitness) {
            self.node.transfer_leader(to.0);
        }
    }

    /// Whether an entry removes this member.
    pub(super) fn is_own_removal(&self, entry: &Entry) -> bool {
        entry.kind == EntryKind::Change
            && entry.change().is_ok_and(|(_, change)| change == Change::Remove(self.settings.id))
    }

    /// Its own removal, which another one has proposed, may be committed while this member leads. Then nobody
    /// else may know it, and again somebody else is to lead, who comes to know it.
    pub(super) fn let_another_remove(&mut self) {
        if self.role.leads && !self.held.is_empty() && self.node.raft.lead_transferee.is_none() {
            self.hand_over();
        }
    }

    /// Lets the new leader remove this member, if that was wanted while this one led; again until it is done.
    pub(super) fn leave_by_another(&mut self) {
        let (Some(request), Some(to), false) = (self.leaving, self.role.leader, self.role.leads) else {
            return;
        };
        if self.ticks.is_multiple_of(self.settings.heartbeat_ticks as u64) {
            let change = Change::Remove(self.settings.id);
            let message = PeerMessage::Change { term: self.role.term, request, change };
            self.effects.push(Effect::Send { to, message });
            self.pending.entry(request).and_modify(|pending| pending.sent = true);
        }
    }

    fn propose_change(&mut self, request: RequestId, change: &Change) -> Result<(), Unanswered> {
        if self.restoring.is_some() || self.clock.now(self.now).is_none() {
            return Err(Unanswered::NoLeader);
        }
        let is_caught_up = match change {
            Change::Promote(id) => self.is_caught_up(*id),
            _ => true,
        };
        if self.node.raft.has_pending_conf() || !self.makes_sense(change) || !is_caught_up {
            return Err(Unanswered::Unchangeable);
        }
        let context =
            postcard::to_extend(&(request, change), Vec::new()).expect("memory takes what is written");
        let proposed = self.node.propose_conf_change(context, self.to_engine(change));
        proposed.map_err(|_| Unanswered::Unchangeable)
    }

    pub(super) fn apply_change(&mut self, entry: &Entry) {
        let (request, change) = entry.change().expect("nothing else is let into the log");
        // A leader proposes nothing else. If one that is not honest does, all members ignore it alike.
        if !self.makes_sense(&change) {
            return;
        }
        let conf = self.node.apply_conf_change(&self.to_engine(&change));
        self.node.mut_store().set_conf(conf.expect("it makes sense"));
        member::change(&mut self.replicated.members, &change);
        if let Change::Remove(id) = change {
            self.replicated.removed.insert(id);
            // The engine takes for granted that whoever leads is a member.
            if id == self.settings.id && self.node.raft.state == StateRole::Leader {
                self.node.raft.become_follower(self.node.raft.term, raft::INVALID_ID);
            }
        }
        self.leaving.take_if(|leaving| *leaving == request);
        let request = self.pending.remove(&request).map(|_| request);
        self.changed.push(Effect::Changed { request, change });
    }

    fn makes_sense(&self, change: &Change) -> bool {
        let members = &self.replicated.members;
        let known = members.get(&change.member());
        match change {
            Change::Add(id, member) => {
                known.is_none() && !self.replicated.removed.contains(id) && member.learner
            }
            Change::Promote(_) => known.is_some_and(|member| member.learner),
            Change::Remove(_) => match known {
                None => false,
                Some(member) => member.learner || members.values().filter(|it| !it.learner).count() > 1,
            },
            Change::Update(..) => known.is_some(),
        }
    }

    /// Whether a learner knows nearly all that is committed: one with a vote that knows little may hold up
    /// everybody.
    fn is_caught_up(&self, id: MemberId) -> bool {
        let committed = self.node.raft.raft_log.committed;
        let matched = self.node.raft.prs().get(id.0).map_or(0, |progress| progress.matched);
        matched >= committed - committed / 10
    }

    fn to_engine(&self, change: &Change) -> ConfChangeV2 {
        let learns = |id: &MemberId| self.replicated.members.get(id).is_some_and(|member| member.learner);
        let kind = match change {
            Change::Add(..) => ConfChangeType::AddLearnerNode,
            Change::Promote(_) => ConfChangeType::AddNode,
            Change::Remove(_) => ConfChangeType::RemoveNode,
            // The engine knows no addresses: for it, nothing changes.
            Change::Update(id, _) if learns(id) => ConfChangeType::AddLearnerNode,
            Change::Update(..) => ConfChangeType::AddNode,
        };
        let mut single = ConfChangeSingle::default();
        single.set_change_type(kind);
        single.node_id = change.member().0;
        let mut all = ConfChangeV2::default();
        all.set_changes(vec![single].into());
        all
    }
}
