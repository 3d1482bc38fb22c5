//! Majority election with terms and weights (S4 "Split-brain"): never two leaders in one term.
//!
//! It is the election of D. Ongaro and J. Ousterhout, *In search of an understandable consensus algorithm*,
//! 2014, without the log. A leader needs votes that carry more than half of the total weight, and a process
//! votes once in a term; any two majorities share a voter, so no term has two leaders, whatever messages are
//! lost, delayed, doubled or reordered and whoever crashes and recovers. Term and vote are stored before they
//! are spoken of. After C. Gray and D. Cheriton, *Leases*, 1989, a leader with a *lease* leads only while a
//! quorum is bound to it: whoever has heard its heartbeat votes for nobody for the least timeout by its own
//! clock, and the leader relies on that only for as long, counted from when it *sent* the heartbeat and
//! shortened by the drift of clocks. Without a quorum it steps down. 6(n−1) messages from the first doubt to
//! the first answered heartbeat if nobody interferes, then 2(n−1) per interval.
//!
//! Two leases are never valid at once. Yet a process that is *paused* cannot say that its lease has run out:
//! it looks like a leader until it resumes, and then, before anything else that came later, its timer takes
//! the leadership away. So uniqueness in the eyes of others holds only without pauses; what holds always is
//! one leader per term, and whoever takes orders from leaders must refuse older terms.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Command, Election, Output};
use crate::symmetry::{Permutation, PermutationSymmetric};
use crate::term::{Sort, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process, System, Term, Topology};

mod config;
mod leading;
mod message;
pub use config::{Config, Variant, is_majority};
pub use message::Message;

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to stand for election, because there seems to be no leader.
    Election,
    /// When one is no longer bound to the leader that was heard last.
    Loyalty,
    /// When to send the next heartbeat.
    Beat,
    /// When a heartbeat's answers are no longer to be relied on.
    Reliance {
        /// The term in which it was sent: a later leadership is not concerned.
        term: Term,
        /// Which heartbeat.
        round: Term,
    },
}

/// What survives a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stable {
    /// The latest term heard of.
    pub term: Term,
    /// Who got the vote in it, if anybody.
    pub voted_for: Option<Address>,
}

/// What a process is in its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It waits for a leader, or has one.
    Follower,
    /// It asks whether it would be elected.
    Asking {
        /// Those who would, itself included.
        votes: BTreeSet<Address>,
    },
    /// It stands.
    Candidate {
        /// Those who voted for it, itself included.
        votes: BTreeSet<Address>,
    },
    /// It was elected; with a lease, it leads once a quorum has heard of it.
    Leader {
        /// The heartbeats sent in this term.
        round: Term,
        /// The latest heartbeat that each follower has answered.
        heard: BTreeMap<Address, Term>,
    },
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Majority {
    /// What is on stable storage.
    pub stable: Stable,
    /// What it is.
    pub role: Role,
    /// The leader of the term, as the application was told.
    pub leader: Option<Address>,
    /// Whether it has heard of a leader so lately that it votes for nobody.
    pub loyal: bool,
}

impl Process for Majority {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Stable;

    fn is_background(timer: &Timer) -> bool {
        *timer != Timer::Election
    }

    fn on_start(recovered: Option<Stable>, cx: &mut Context<'_, Self>) -> Self {
        let stable = recovered.unwrap_or_default();
        let mut process = Majority { stable, role: Role::Follower, leader: None, loyal: false };
        let Config { lease, variant, .. } = cx.config();
        if recovered.is_some() && *lease && *variant != Variant::UnboundRecovery {
            // It may have been bound to a leader when it crashed.
            process.be_loyal(cx);
        } else {
            process.await_leader(cx);
        }
        process
    }

    /// The application misses a leader; one that has just heard of one, or is one, knows better.
    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if !self.loyal && !self.is_leader() {
            self.stand(cx);
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        let term = message.term();
        if term < self.stable.term && cx.config().variant != Variant::NoTermCheck {
            // S4: "mensagens recebidas de mandatos anteriores são sumariamente descartadas".
            if message.is_request() {
                cx.send(from, Message::Outdated { term: self.stable.term });
            }
            return;
        }
        if message.asks_for_vote() && self.is_bound(cx) {
            return; // Not even the term is looked at: nobody is to disturb a leader that works.
        }
        if term > self.stable.term {
            self.enter(term, cx);
        }
        match message {
            Message::PreVote { term } => self.on_pre_vote(from, term, cx),
            Message::PreGranted { .. } => self.on_pre_granted(from, cx),
            Message::VoteForMe { term } => self.on_vote_for_me(from, term, cx),
            Message::Granted { .. } => self.on_granted(from, cx),
            Message::Heartbeat { term, round } => self.on_heartbeat(from, term, round, cx),
            Message::Heard { round, .. } => self.on_heard(from, round, cx),
            Message::Resign { heir, .. } => self.on_resign(from, heir, cx),
            Message::Outdated { .. } => {} // It has done its work: the newer term is entered.
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::Election => self.stand(cx),
            Timer::Loyalty => self.on_loyalty_over(cx),
            Timer::Beat => self.beat(cx),
            Timer::Reliance { term, round } => self.on_reliance_over(term, round, cx),
        }
    }

    /// A leader that stops need not be missed first.
    fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
        if self.is_leader() {
            self.resign(cx);
        }
    }

    fn lease(&self, system: &System<Self>) -> Option<Timer> {
        let round = self.relied_on(system).filter(|_| system.config.lease)?;
        Some(Timer::Reliance { term: self.stable.term, round })
    }

    fn leadership(&self, system: &System<Self>) -> Option<Output> {
        let term = self.stable.term.number();
        let said = match self.leader {
            None => Output::Leaderless,
            Some(_) if self.is_leader() => Output::Leads { term },
            Some(leader) => Output::Follows { leader: Some(system.id_of(leader)), term },
        };
        system.config.lease.then_some(said)
    }

    /// It has voted in its term, for somebody whose address may be another's now: it goes on in the next.
    fn renumbered(Stable { term, .. }: Stable) -> Option<Stable> {
        Some(Stable { term: term.next()?, voted_for: None })
    }

    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        system.config.lease.then(|| system.config.loyalty())
    }
}

impl TermInvariant for Majority {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => {
                visit(Sort::TERM, &mut process.stable.term);
                if let Role::Leader { round, heard } = &mut process.role {
                    visit(Sort::ROUND, round);
                    heard.values_mut().for_each(|round| visit(Sort::ROUND, round));
                }
            }
            TermPart::Message(message) => message.visit_terms(visit),
            TermPart::Timer(Timer::Reliance { term, round }) => {
                visit(Sort::TERM, term);
                visit(Sort::ROUND, round);
            }
            TermPart::Timer(Timer::Election | Timer::Loyalty | Timer::Beat) => {}
            TermPart::Stable(stable) => visit(Sort::TERM, &mut stable.term),
        }
    }
}

impl PermutationSymmetric for Majority {
    /// Whoever misses its leader stands in the order in which they come after it.
    const MINDS_ORDER: bool = true;

    fn permute(part: TermPart<'_, Self>, permutation: &Permutation<'_>) {
        let renamed = |address: Option<Address>| address.map(|address| permutation.address(address));
        match part {
            TermPart::Process(process) => {
                process.stable.voted_for = renamed(process.stable.voted_for);
                process.leader = renamed(process.leader);
                match &mut process.role {
                    Role::Follower => {}
                    Role::Asking { votes } | Role::Candidate { votes } => {
                        *votes = permutation.addresses(votes);
                    }
                    Role::Leader { heard, .. } => {
                        *heard = heard.iter().map(|(&by, &round)| (permutation.address(by), round)).collect();
                    }
                }
            }
            TermPart::Message(Message::Resign { heir, .. }) => *heir = permutation.address(*heir),
            TermPart::Message(_) | TermPart::Timer(_) => {}
            TermPart::Stable(stable) => stable.voted_for = renamed(stable.voted_for),
        }
    }
}

/// Elections; what comes after them is in `leading`.
impl Majority {
    /// With a lease no vote is given while a leader was heard of; without, only no encouragement, see
    /// [`on_pre_vote`](Majority::on_pre_vote).
    fn is_bound(&self, cx: &Context<'_, Self>) -> bool {
        cx.config().lease && (self.loyal || self.is_leader())
    }

    fn stand(&mut self, cx: &mut Context<'_, Self>) {
        self.tell(None, cx);
        if !cx.config().pre_vote {
            self.become_candidate(cx);
            return;
        }
        self.role = Role::Asking { votes: BTreeSet::new() };
        cx.broadcast(&Message::PreVote { term: self.stable.term });
        self.await_leader(cx);
        self.on_pre_granted(cx.me(), cx);
    }

    fn on_pre_vote(&mut self, from: Address, term: Term, cx: &mut Context<'_, Self>) {
        if !self.loyal && !self.is_leader() {
            cx.send(from, Message::PreGranted { term });
        }
    }

    fn on_pre_granted(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        let Role::Asking { votes } = &mut self.role else { return }; // Late: it is asking no more.
        votes.insert(from);
        if cx.config().is_quorum(votes.iter().copied(), cx.process_count()) {
            self.become_candidate(cx);
        }
    }

    /// S4: "é necessário que rodadas sucessivas do algoritmo invalidem as eleições anteriores".
    fn become_candidate(&mut self, cx: &mut Context<'_, Self>) {
        // The last term cannot be used twice; it would take longer than the universe to reach it.
        let Some(term) = self.stable.term.next() else { return };
        self.store(Stable { term, voted_for: Some(cx.me()) }, cx);
        self.role = Role::Candidate { votes: BTreeSet::new() };
        cx.broadcast(&Message::VoteForMe { term });
        self.await_leader(cx);
        self.on_granted(cx.me(), cx);
    }

    fn on_vote_for_me(&mut self, from: Address, term: Term, cx: &mut Context<'_, Self>) {
        let is_bound = self.stable.voted_for.is_some_and(|other| other != from);
        if is_bound && cx.config().variant != Variant::VotesTwice {
            return; // One vote in a term; silence is refusal enough.
        }
        self.store(Stable { voted_for: Some(from), ..self.stable }, cx);
        self.role = Role::Follower;
        cx.send(from, Message::Granted { term });
        self.await_leader(cx);
    }

    fn on_granted(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        let Role::Candidate { votes } = &mut self.role else { return }; // Late: it has won or given up.
        votes.insert(from);
        if cx.config().is_quorum(votes.iter().copied(), cx.process_count()) {
            self.become_leader(cx);
        }
    }

    /// A newer term: whatever one was in the older one is over.
    fn enter(&mut self, term: Term, cx: &mut Context<'_, Self>) {
        self.store(Stable { term, voted_for: None }, cx);
        if self.is_leader() {
            self.step_down(cx);
        }
        self.role = Role::Follower;
        self.tell(None, cx);
    }

    /// The latest heartbeat of this term that a quorum has answered, the leader itself included.
    fn relied_on(&self, system: &System<Self>) -> Option<Term> {
        let Role::Leader { round, heard } = &self.role else { return None };
        let me = self.leader?;
        let mut rounds: Vec<Term> = heard.values().copied().chain([*round]).collect();
        rounds.sort_unstable();
        let quorum = |first: &Term| {
            let lately = heard.iter().filter(|(_, round)| **round >= *first).map(|(&address, _)| address);
            system.config.is_quorum(lately.chain([me]), system.topology.present())
        };
        rounds.into_iter().rev().find(quorum)
    }

    fn store(&mut self, stable: Stable, cx: &mut Context<'_, Self>) {
        self.stable = stable;
        cx.persist(match cx.config().variant {
            Variant::NoPersistedVote => Stable { voted_for: None, ..stable },
            _ => stable,
        });
    }
}

#[cfg(test)]
mod tests;
