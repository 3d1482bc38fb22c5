//! The proposer: a ballot of its own, a majority's promises, a majority's acceptance.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attempt, Ballot, Message, Paxos, Variant, is_quorum};
use crate::agreement::Value;
use crate::{Address, Context, Id};

/// The proposer.
impl Paxos {
    pub(super) fn on_request(&mut self, value: Value, cx: &mut Context<'_, Self>) {
        if self.stable.proposal.is_none() {
            self.propose(value, cx);
        }
    }

    pub(super) fn propose(&mut self, value: Value, cx: &mut Context<'_, Self>) {
        self.stable.proposal = Some(value);
        cx.persist(self.stable);
        self.pursue(cx);
    }

    /// Does what this process owes: as leader it leads a ballot, as another it asks the leader to; and once
    /// it knows the decision it tells those that it has to tell.
    pub(super) fn pursue(&mut self, cx: &mut Context<'_, Self>) {
        let leader = self.leader(cx);
        match (self.stable.decided, self.value()) {
            (Some(value), _) => {
                for other in self.to_be_told(cx) {
                    cx.send(other, Message::Decide(value));
                }
            }
            (None, Some(_)) if leader == cx.me() => self.prepare(cx),
            (None, Some(value)) => cx.send(leader, Message::Request(value)),
            (None, None) => {}
        }
        self.wait_if_needed(cx);
    }

    /// What this process would have decided: its proposal, or what it has accepted for another.
    pub(super) fn value(&self) -> Option<Value> {
        self.stable.proposal.or(self.stable.accepted.map(|(_, value)| value))
    }

    /// Ω: the process with the lowest identifier of those that are not suspected.
    pub(super) fn leader(&self, cx: &Context<'_, Self>) -> Address {
        let trusted = cx.neighbours().filter(|other| !self.suspected.contains(other)).chain([cx.me()]);
        trusted.min_by_key(|address| cx.id_of(*address)).unwrap_or(cx.me())
    }

    /// Begins a ballot later than any that it has heard of; its own promise comes first.
    pub(super) fn prepare(&mut self, cx: &mut Context<'_, Self>) {
        let latest = self.latest_round.max(self.stable.promised.round);
        self.latest_round = latest.next().unwrap_or(latest);
        let Id(leader) = cx.id();
        let ballot = Ballot { round: self.latest_round, leader };
        self.stable.promised = ballot;
        cx.persist(self.stable);
        let promises = BTreeMap::from([(cx.me(), self.stable.accepted)]);
        self.attempt = Attempt::Preparing { ballot, promises };
        cx.broadcast(&Message::Prepare(ballot));
        self.accept_if_promised(cx);
    }

    pub(super) fn on_promise(
        &mut self,
        from: Address,
        ballot: Ballot,
        accepted: Option<(Ballot, Value)>,
        cx: &mut Context<'_, Self>,
    ) {
        // A promise for an earlier ballot of mine binds nobody any more.
        if let Attempt::Preparing { ballot: mine, promises } = &mut self.attempt
            && *mine == ballot
        {
            promises.insert(from, accepted);
            self.accept_if_promised(cx);
        }
    }

    pub(super) fn accept_if_promised(&mut self, cx: &mut Context<'_, Self>) {
        let Attempt::Preparing { ballot, promises } = &self.attempt else { return };
        // Another may have made me promise a later one meanwhile.
        if !is_quorum(promises.len(), cx) || self.stable.promised != *ballot {
            return;
        }
        let accepted = promises.values().flatten();
        let latest = match cx.config().variant {
            Variant::MutantEarliestAccepted => accepted.min(),
            _ => accepted.max(),
        };
        let latest = latest.map(|(_, value)| *value);
        let bound = latest.filter(|_| cx.config().variant != Variant::MutantIgnoresAccepted);
        let (ballot, Some(value)) = (*ballot, bound.or(self.value())) else { return };
        self.stable.accepted = Some((ballot, value));
        cx.persist(self.stable);
        self.attempt = Attempt::Accepting { ballot, value, accepted: BTreeSet::from([cx.me()]) };
        cx.broadcast(&Message::Accept(ballot, value));
        self.learn_if_accepted(cx);
    }

    pub(super) fn on_accepted(&mut self, from: Address, ballot: Ballot, cx: &mut Context<'_, Self>) {
        if let Attempt::Accepting { ballot: mine, accepted, .. } = &mut self.attempt
            && *mine == ballot
        {
            accepted.insert(from);
            self.learn_if_accepted(cx);
        }
    }

    pub(super) fn learn_if_accepted(&mut self, cx: &mut Context<'_, Self>) {
        if let Attempt::Accepting { value, accepted, .. } = &self.attempt
            && is_quorum(accepted.len(), cx)
        {
            self.learn(*value, cx);
        }
    }
}
