//! Leading and following: heartbeats, what they bind whom to, and for how long.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Majority, Message, Role, Timer, Variant};
use crate::election::Output;
use crate::{Address, Context, Term};

impl Majority {
    pub(super) fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader { .. })
    }

    pub(super) fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Leader { round: Term::ZERO, heard: BTreeMap::new() };
        cx.cancel_timer(Timer::Election);
        if !cx.config().lease {
            self.tell(Some(cx.me()), cx);
        }
        self.beat(cx);
    }

    pub(super) fn beat(&mut self, cx: &mut Context<'_, Self>) {
        let Role::Leader { round, .. } = &mut self.role else { return };
        *round = round.next().unwrap_or(*round);
        let (term, round) = (self.stable.term, *round);
        cx.broadcast(&Message::Heartbeat { term, round });
        cx.set_timer(Timer::Beat, cx.config().interval);
        cx.set_timer(Timer::Reliance { term, round }, cx.config().reliance());
        self.lead_if_heard_after(Term::ZERO, cx);
    }

    pub(super) fn on_heard(&mut self, from: Address, round: Term, cx: &mut Context<'_, Self>) {
        let Role::Leader { heard, .. } = &mut self.role else { return };
        let latest = heard.entry(from).or_default();
        *latest = round.max(*latest);
        if cx.config().variant == Variant::LeaseFromAnswers {
            cx.set_timer(Timer::Reliance { term: self.stable.term, round }, cx.config().reliance());
        }
        if self.leader.is_none() {
            self.lead_if_heard_after(Term::ZERO, cx);
        }
    }

    /// Leads if a quorum, itself included, has answered a later heartbeat than this one; says whether it has.
    fn lead_if_heard_after(&mut self, last: Term, cx: &mut Context<'_, Self>) -> bool {
        let Role::Leader { heard, .. } = &self.role else { return false };
        let lately = heard.iter().filter(|(_, round)| **round > last).map(|(&address, _)| address);
        let quorum = cx.config().is_quorum(lately.chain([cx.me()]), cx.process_count());
        if quorum {
            self.tell(Some(cx.me()), cx);
        }
        quorum
    }

    /// The answers to this heartbeat count no more. A quorum must have answered a later one.
    pub(super) fn on_reliance_over(&mut self, term: Term, round: Term, cx: &mut Context<'_, Self>) {
        if cx.config().variant == Variant::IgnoresLease {
            return;
        }
        if term == self.stable.term && self.is_leader() && !self.lead_if_heard_after(round, cx) {
            self.step_down(cx);
        }
    }

    pub(super) fn step_down(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Follower;
        self.tell(None, cx);
        cx.cancel_timer(Timer::Beat);
        self.await_leader(cx);
    }

    /// Steps down and names an heir: whoever has answered last is the likeliest to be there.
    pub(super) fn resign(&mut self, cx: &mut Context<'_, Self>) {
        let Role::Leader { heard, .. } = &self.role else { return };
        let heir = heard.iter().max_by_key(|(_, round)| **round).map(|(&address, _)| address);
        let term = self.stable.term;
        self.step_down(cx);
        if let Some(heir) = heir {
            cx.broadcast(&Message::Resign { term, heir });
        }
    }

    /// Nobody is bound to a leader that says itself that it leads no longer.
    pub(super) fn on_resign(&mut self, from: Address, heir: Address, cx: &mut Context<'_, Self>) {
        if self.leader != Some(from) {
            return; // It is late: there is another leader, or the term is over.
        }
        self.tell(None, cx);
        self.await_leader(cx);
        if heir == cx.me() {
            // A moment later, so that those whose votes it needs have heard, too, that they are free.
            cx.set_timer(Timer::Election, cx.config().interval / 10);
        }
    }

    pub(super) fn on_heartbeat(
        &mut self,
        from: Address,
        term: Term,
        round: Term,
        cx: &mut Context<'_, Self>,
    ) {
        if self.is_leader() {
            return; // A term has one leader: only a mutant comes here.
        }
        self.role = Role::Follower;
        self.be_loyal(cx);
        cx.send(from, Message::Heard { term, round });
        self.tell(Some(from), cx);
    }

    pub(super) fn be_loyal(&mut self, cx: &mut Context<'_, Self>) {
        if !std::mem::replace(&mut self.loyal, true) {
            cx.cancel_timer(Timer::Election);
        }
        cx.set_timer(Timer::Loyalty, cx.config().loyalty());
    }

    /// Whoever misses its leader stands, but not all at once: in the order in which they come after that
    /// leader, each in a part of the range of timeouts. So the first need not wait for chance, and two stand
    /// together less often.
    pub(super) fn on_loyalty_over(&mut self, cx: &mut Context<'_, Self>) {
        self.loyal = false;
        let (min, max) = cx.config().timeout.clone().into_inner();
        let range = max.saturating_sub(min);
        let Some(leader) = self.leader else {
            cx.set_timer(Timer::Election, Duration::ZERO..=range);
            return;
        };
        let count = cx.process_count() as u32;
        let turn = (cx.me().0 + count - leader.0 - 1) % count;
        // A little later than the part begins, for the others' loyalty to be over, too.
        let (part, quarter) = (range / count, range / count / 4);
        cx.set_timer(Timer::Election, part * turn + quarter..=part * turn + 3 * quarter);
    }

    pub(super) fn await_leader(&mut self, cx: &mut Context<'_, Self>) {
        if std::mem::take(&mut self.loyal) {
            cx.cancel_timer(Timer::Loyalty);
        }
        cx.set_timer(Timer::Election, cx.config().timeout.clone());
    }

    /// Tells the application who leads, if that is news.
    pub(super) fn tell(&mut self, leader: Option<Address>, cx: &mut Context<'_, Self>) {
        if self.leader == leader {
            return;
        }
        self.leader = leader;
        let term = self.stable.term.number();
        cx.output(match leader {
            None => Output::Leaderless,
            Some(leader) if leader == cx.me() => Output::Leads { term },
            Some(leader) => Output::Follows { leader: Some(cx.id_of(leader)), term },
        });
    }
}
