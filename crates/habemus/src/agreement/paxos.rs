//! Single-decree Paxos, led by Ω (S1 poses consensus, S3 gives the leader; L. Lamport, *The Part-Time
//! Parliament*, 1998, and *Paxos Made Simple*, 2001).
//!
//! The leader asks a majority to promise that they will accept nothing of an earlier ballot, learns what they
//! have accepted so far, and asks them to accept the latest of it, or its own value if there is none. What a
//! majority has accepted is decided. Any two majorities have a process in common, which keeps its promises on
//! stable storage: so no two values are ever decided, whatever is lost, doubled or late, whoever crashes and
//! recovers, and however many believe to lead. That somebody decides takes a leader: Ω, here the best process
//! that the failure detector does not suspect. Once all have the same and messages arrive in time (after
//! GST), its ballot succeeds.
//!
//! Who proposes without leading hands its value to the leader. The decision is told until it is acknowledged,
//! so that one who was away learns it, too. 6(n−1) messages if the leader proposes and nothing fails: four
//! for the two phases and two to tell the decision; one more of each other that proposes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Agreement, Command, Output, Value};
use crate::term::{Sort, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process, Suspicion, Term};

mod acceptor;
mod message;
mod proposer;

pub use message::{Ballot, Message, Timer};

/// The rules, and the patience of a proposer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// How long to wait for answers before trying again; up to twice as long, lest two that believe to lead
    /// disturb each other for ever.
    pub retry: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config { variant: Variant::Paxos, retry: Duration::from_millis(100) }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Lamport's.
    Paxos,
    /// A mutant: a leader proposes its own value whatever has been accepted, kept to show that the checker
    /// catches it.
    MutantIgnoresAccepted,
    /// A mutant: half of the processes are enough, kept to show that the checker catches it.
    MutantHalfQuorum,
    /// A mutant: promises and acceptances are not kept on stable storage, kept to show what it is for.
    MutantForgetsPromise,
    /// A mutant: of what was accepted the earliest is proposed, not the latest, kept to show that the checker
    /// catches it.
    MutantEarliestAccepted,
    /// A mutant: who accepts does not promise, so that an earlier ballot may come after it, kept to show that
    /// the checker catches it.
    MutantUnboundAcceptance,
}

/// What survives a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stable {
    /// The latest ballot that it has promised to.
    pub promised: Ballot,
    /// What it has accepted last, and in which ballot.
    pub accepted: Option<(Ballot, Value)>,
    /// The value that its application proposed, or that somebody handed it.
    pub proposal: Option<Value>,
    /// The decision, if it knows it.
    pub decided: Option<Value>,
}

/// What a leader does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// It leads no ballot.
    None,
    /// It waits for promises.
    Preparing {
        /// The ballot.
        ballot: Ballot,
        /// Who has promised, and what each had accepted.
        promises: BTreeMap<Address, Option<(Ballot, Value)>>,
    },
    /// It waits for a majority to accept.
    Accepting {
        /// The ballot.
        ballot: Ballot,
        /// The value.
        value: Value,
        /// Who has accepted.
        accepted: BTreeSet<Address>,
    },
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Paxos {
    /// What is on stable storage.
    pub stable: Stable,
    /// The latest round heard of, to try a later one.
    pub latest_round: Term,
    /// What it does as leader.
    pub attempt: Attempt,
    /// Those that the detector suspects.
    pub suspected: BTreeSet<Address>,
    /// Those that are known to know the decision.
    pub informed: BTreeSet<Address>,
}

impl Process for Paxos {
    type Problem = Agreement;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Stable;

    fn on_start(recovered: Option<Stable>, cx: &mut Context<'_, Self>) -> Self {
        let mut stable = recovered.unwrap_or_default();
        if cx.config().variant == Variant::MutantForgetsPromise {
            stable = Stable { promised: Ballot::default(), accepted: None, ..stable };
        }
        let mut paxos = Paxos {
            latest_round: stable.promised.round,
            stable,
            attempt: Attempt::None,
            suspected: BTreeSet::new(),
            informed: BTreeSet::new(),
        };
        // The application of this life has not been told yet.
        if let Some(value) = stable.decided {
            cx.output(Output::Decided(value));
        }
        paxos.pursue(cx);
        paxos
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        if self.stable.proposal.is_none() {
            self.propose(command.value(cx.id()), cx);
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        let before = self.leader(cx);
        match suspicion {
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
                // It may have crashed before it learned, or before it could keep what it learned.
                self.informed.remove(&restored);
            }
        }
        let is_news = before != self.leader(cx) || self.stable.decided.is_some();
        if is_news {
            self.pursue(cx);
        }
    }

    fn on_timer(&mut self, Timer::Retry: Timer, cx: &mut Context<'_, Self>) {
        self.pursue(cx);
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request(value) if self.stable.decided.is_none() => self.on_request(value, cx),
            Message::Prepare(ballot) if self.stable.decided.is_none() => self.on_prepare(from, ballot, cx),
            Message::Accept(ballot, value) if self.stable.decided.is_none() => {
                self.on_accept(from, ballot, value, cx);
            }
            // Whoever asks for a decision that has been taken is told.
            Message::Request(_) | Message::Prepare(_) | Message::Accept(..) => self.answer(from, cx),
            Message::Promise(ballot, accepted) => self.on_promise(from, ballot, accepted, cx),
            Message::Accepted(ballot) => self.on_accepted(from, ballot, cx),
            Message::Refuse(ballot) => self.latest_round = self.latest_round.max(ballot.round),
            Message::Decide(value) => {
                self.informed.insert(from);
                cx.send(from, Message::Learned);
                self.learn(value, cx);
            }
            Message::Learned => {
                self.informed.insert(from);
                self.wait_if_needed(cx);
            }
        }
    }
}

impl TermInvariant for Paxos {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => {
                visit(Sort::ROUND, &mut process.latest_round);
                process.stable.visit_terms(visit);
                process.attempt.visit_terms(visit);
            }
            TermPart::Message(message) => message.visit_terms(visit),
            TermPart::Timer(Timer::Retry) => {}
            TermPart::Stable(stable) => stable.visit_terms(visit),
        }
    }
}

impl Stable {
    fn visit_terms(&mut self, visit: &mut dyn FnMut(Sort, &mut Term)) {
        visit(Sort::ROUND, &mut self.promised.round);
        if let Some((ballot, _)) = &mut self.accepted {
            visit(Sort::ROUND, &mut ballot.round);
        }
    }
}

impl Attempt {
    fn visit_terms(&mut self, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match self {
            Attempt::None => {}
            Attempt::Preparing { ballot, promises } => {
                visit(Sort::ROUND, &mut ballot.round);
                let accepted = promises.values_mut().flatten();
                accepted.for_each(|(ballot, _)| visit(Sort::ROUND, &mut ballot.round));
            }
            Attempt::Accepting { ballot, .. } => visit(Sort::ROUND, &mut ballot.round),
        }
    }
}

/// The learner.
impl Paxos {
    fn learn(&mut self, value: Value, cx: &mut Context<'_, Self>) {
        self.attempt = Attempt::None;
        if self.stable.decided.is_none() {
            self.stable.decided = Some(value);
            cx.persist(self.stable);
            cx.output(Output::Decided(value));
            self.pursue(cx);
        }
    }

    /// Tells one who asks, unless it is being told anyway.
    fn answer(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if let Some(value) = self.stable.decided
            && !self.to_be_told(cx).contains(&from)
        {
            self.informed.remove(&from);
            cx.send(from, Message::Decide(value));
            self.wait_if_needed(cx);
        }
    }

    /// Those that do not seem to know the decision: a leader cares for all that it trusts, another for its
    /// leader.
    fn to_be_told(&self, cx: &Context<'_, Self>) -> Vec<Address> {
        let (me, leader) = (cx.me(), self.leader(cx));
        let mine = |other: &Address| leader == me || *other == leader;
        let ignorant = |other: &Address| !self.suspected.contains(other) && !self.informed.contains(other);
        cx.neighbours().filter(|other| mine(other) && ignorant(other)).collect()
    }

    /// Whoever waits for an answer must be woken; whoever does not can rest.
    fn wait_if_needed(&mut self, cx: &mut Context<'_, Self>) {
        let waits = match self.stable.decided {
            Some(_) => !self.to_be_told(cx).is_empty(),
            None => self.value().is_some(),
        };
        let retry = cx.config().retry;
        if waits {
            cx.set_timer(Timer::Retry, retry..=retry * 2);
        } else {
            cx.cancel_timer(Timer::Retry);
        }
    }
}

/// Whether so many are a majority.
fn is_quorum(count: usize, cx: &Context<'_, Paxos>) -> bool {
    let all = cx.process_count();
    match cx.config().variant {
        Variant::MutantHalfQuorum => 2 * count >= all,
        _ => 2 * count > all,
    }
}

#[cfg(test)]
mod tests;
