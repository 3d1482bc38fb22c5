//! A one-shot election as a service: it is held again whenever the leader fails.
//!
//! Most elections of the notes run once. Here each run is an *epoch*. Who learns that the leader has failed, or
//! that anybody has while an election is under way, begins the next epoch; who hears of a later epoch joins it
//! with fresh variables; and messages of an earlier one are discarded, so that an old election cannot disturb a
//! new one. In each epoch the network is what is left of it: a ring closes over those that are suspected (S0's
//! "próximo processo operacional"), so a process that fails during the election does not hang it.
//!
//! The epoch is kept on stable storage: one who comes back must not begin an epoch that has been.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};

use super::{Command, Election, Output};
use crate::{Address, Context, Effect, Process, Step, Suspicion, System, Topology};

/// A message and the epoch in which it was sent.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Message<M> {
    /// The election it belongs to.
    pub epoch: u64,
    /// What the election says.
    pub message: M,
}

impl<M: Debug> Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.message)?;
        if self.epoch > 1 { write!(f, " #{}", self.epoch) } else { Ok(()) }
    }
}

impl<M: crate::Message> crate::Message for Message<M> {
    fn kind(&self) -> &'static str {
        self.message.kind()
    }

    fn is_background(&self) -> bool {
        self.message.is_background()
    }
}

/// A timer and the epoch in which it was set.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer<T> {
    epoch: u64,
    timer: T,
}

impl<T: Debug> Debug for Timer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timer.fmt(f)
    }
}

/// The variables of one process: the election of the present epoch, and what is known beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recurring<P: Process> {
    /// The number of the present election; 0 before the first.
    pub epoch: u64,
    /// Its variables.
    pub election: P,
    /// Whether it has come to a result here.
    pub decided: bool,
    /// The leader, if known by address.
    pub leader: Option<Address>,
    /// Those that the detector takes for dead.
    pub suspected: BTreeSet<Address>,
}

impl<P> Process for Recurring<P>
where
    P: Process<Problem = Election>,
{
    type Problem = Election;
    type Topology = P::Topology;
    type Config = System<P>;
    type Message = Message<P::Message>;
    type Timer = Timer<P::Timer>;
    /// The last epoch heard of.
    type Stable = u64;

    const READS_CLOCK: bool = P::READS_CLOCK;

    fn is_background(timer: &Self::Timer) -> bool {
        P::is_background(&timer.timer)
    }

    fn on_start(recovered: Option<u64>, cx: &mut Context<'_, Self>) -> Self {
        let system = cx.config();
        let (election, step) = cx.inner(system, |cx| P::on_start(None, cx));
        let mut recurring = Recurring {
            epoch: recovered.unwrap_or(0),
            election,
            decided: false,
            leader: None,
            suspected: BTreeSet::new(),
        };
        recurring.pass_on(step, cx);
        if recovered.is_some() {
            // The others may have a leader that this one does not know: it asks by standing.
            recurring.hold(cx);
        }
        recurring
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.decided || self.epoch == 0) {
            // The application believes that there is no leader any more.
            (Command::Elect, true) => self.hold(cx),
            // An election is under way: this process takes part in it.
            (Command::Elect, false) => self.run(cx, |election, cx| election.on_command(command, cx)),
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        match suspicion {
            Suspicion::Restore(restored) => {
                // It stands by itself when it is back; until then nothing changes.
                self.suspected.remove(&restored);
            }
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                let missed = self.leader == Some(suspect) || (self.epoch > 0 && !self.decided);
                if missed {
                    self.hold(cx);
                }
            }
        }
    }

    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>) {
        if message.epoch < self.epoch {
            return; // Of an election that is over.
        }
        if message.epoch > self.epoch {
            self.enter(message.epoch, cx);
        }
        // Whoever speaks is alive.
        self.suspected.remove(&from);
        self.run(cx, |election, cx| election.on_message(from, message.message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Context<'_, Self>) {
        if timer.epoch == self.epoch {
            self.run(cx, |election, cx| election.on_timer(timer.timer, cx));
        }
    }
}

impl<P> Recurring<P>
where
    P: Process<Problem = Election>,
{
    /// Begins the next epoch and stands in it.
    fn hold(&mut self, cx: &mut Context<'_, Self>) {
        self.enter(self.epoch + 1, cx);
        self.run(cx, |election, cx| election.on_command(Command::Elect, cx));
    }

    /// Enters an epoch with fresh variables.
    fn enter(&mut self, epoch: u64, cx: &mut Context<'_, Self>) {
        self.epoch = epoch;
        cx.persist(epoch);
        if self.decided {
            cx.output(Output::Leaderless);
        }
        self.decided = false;
        self.leader = None;
        let system = self.what_is_left(cx);
        let (election, step) = cx.inner(&system, |cx| P::on_start(None, cx));
        self.election = election;
        self.pass_on(step, cx);
    }

    fn run(&mut self, cx: &mut Context<'_, Self>, handler: impl FnOnce(&mut P, &mut Context<'_, P>)) {
        let system = self.what_is_left(cx);
        let ((), step) = cx.inner(&system, |inner| handler(&mut self.election, inner));
        self.pass_on(step, cx);
    }

    /// The system without those that are suspected.
    fn what_is_left(&self, cx: &Context<'_, Self>) -> System<P> {
        let system = cx.config();
        System { topology: system.topology.without(&self.suspected), ..system.clone() }
    }

    fn pass_on(&mut self, step: Step<P>, cx: &mut Context<'_, Self>) {
        let epoch = self.epoch;
        for effect in step.effects {
            match effect {
                Effect::Send { to, message } => cx.send(to, Message { epoch, message }),
                Effect::SetTimer { timer, after } => cx.set_timer(Timer { epoch, timer }, after),
                Effect::CancelTimer(timer) => cx.cancel_timer(Timer { epoch, timer }),
                Effect::Suspicion(suspicion) => cx.report(suspicion),
                Effect::Output(output) => self.decide(output, cx),
            }
        }
    }

    /// The epoch is the term of what the election found.
    fn decide(&mut self, output: Output, cx: &mut Context<'_, Self>) {
        let term = self.epoch;
        let output = match output {
            Output::Leads { .. } => {
                self.leader = Some(cx.me());
                Output::Leads { term }
            }
            Output::Follows { leader, .. } => {
                let everyone = || (0..cx.topology().len() as u32).map(Address);
                let ids = &cx.config().ids;
                self.leader = leader.and_then(|leader| everyone().find(|a| ids[a.index()] == leader));
                Output::Follows { leader, term }
            }
            Output::Leaderless => {
                self.leader = None;
                Output::Leaderless
            }
        };
        self.decided = !matches!(output, Output::Leaderless);
        cx.output(output);
        if let Some(leader) = self.leader
            && self.suspected.contains(&leader)
        {
            // It won and died: the next election, at once.
            self.hold(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::election::chang_roberts::{self, ChangRoberts};
    use crate::testing::Harness;
    use crate::topology::Ring;

    type Subject = Recurring<ChangRoberts>;

    fn system() -> System<ChangRoberts> {
        let ids: Vec<Id> = [3, 17, 24, 9].into_iter().map(Id).collect();
        System::new(Ring::logical(4), ids, chang_roberts::Config::default()).expect("well formed")
    }

    /// The process 17 on the logical ring 3 → 17 → 24 → 9.
    fn seventeen() -> Harness<Subject> {
        Harness::new(Ring::logical(4), [3, 17, 24, 9], system(), Address(1))
    }

    fn election(epoch: u64, id: u64) -> Message<chang_roberts::Message> {
        Message { epoch, message: chang_roberts::Message::Election(Id(id)) }
    }

    fn elected(epoch: u64, id: u64) -> Message<chang_roberts::Message> {
        Message { epoch, message: chang_roberts::Message::Elected(Id(id)) }
    }

    /// S4: "Uma nova eleição deve acontecer sempre que o líder se tornar indisponível".
    #[test]
    fn when_the_leader_fails_the_next_epoch_begins_and_the_ring_closes_over_it() {
        let mut p = seventeen();
        p.message(Address(0), election(1, 24));
        p.message(Address(0), elected(1, 24));
        let step = p.suspicion(Suspicion::Suspect(Address(2)));
        assert_eq!(step.persist, Some(2));
        assert_eq!(step.outputs(), [Output::Leaderless]);
        assert_eq!(step.sent(), [(Address(3), election(2, 17))]);
    }

    #[test]
    fn messages_of_an_earlier_epoch_are_discarded_and_a_later_one_is_joined() {
        let mut p = seventeen();
        p.message(Address(0), election(3, 24));
        assert_eq!(p.process.epoch, 3);
        assert!(p.message(Address(0), elected(2, 3)).is_empty());
    }

    /// S0: "O que acontece se processo falha durante eleição?"
    #[test]
    fn a_failure_during_the_election_begins_another() {
        let mut p = seventeen();
        p.command(Command::Elect);
        let step = p.suspicion(Suspicion::Suspect(Address(3)));
        assert_eq!(step.sent(), [(Address(2), election(2, 17))]);
    }

    #[test]
    fn the_failure_of_a_follower_disturbs_nobody_once_there_is_a_leader() {
        let mut p = seventeen();
        p.message(Address(0), election(1, 24));
        p.message(Address(0), elected(1, 24));
        assert!(p.suspicion(Suspicion::Suspect(Address(3))).is_empty());
    }

    /// S4: "Quando um processo falho se recupera: inicia uma eleição".
    #[test]
    fn one_who_comes_back_stands_in_a_new_epoch() {
        let p =
            Harness::<Subject>::recovered(Ring::logical(4), [3, 17, 24, 9], system(), Address(1), Some(5));
        assert_eq!(p.started().persist, Some(6));
        assert_eq!(p.started().sent(), [(Address(2), election(6, 17))]);
    }

    #[test]
    fn a_leader_that_dies_before_it_is_announced_is_replaced() {
        let mut p = seventeen();
        p.message(Address(0), election(1, 24));
        p.process.suspected.insert(Address(2));
        let step = p.message(Address(0), elected(1, 24));
        assert_eq!(p.process.epoch, 2);
        assert!(step.sent().contains(&(Address(3), election(2, 17))));
    }
}
