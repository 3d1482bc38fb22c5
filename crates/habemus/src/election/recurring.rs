//! A one-shot election as a service: it is held again whenever the leader fails.
//!
//! Most elections of the notes run once. Here each run is an *epoch*. Who learns that the leader has failed, or
//! that anybody has while an election is under way, begins the next epoch; who hears of a later epoch joins it
//! with fresh variables; and messages of an earlier one are discarded, so that an old election cannot disturb a
//! new one. In each epoch the network is what is left of it: a ring closes over those that are suspected (S0's
//! "próximo processo operacional"), so a process that fails during the election does not hang it. One who is back
//! was not part of the present epoch, whatever it says; when the detector trusts it again, the next one begins.
//!
//! The epoch is kept on stable storage: one who comes back must not begin an epoch that it knows has been.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::time::Duration;

use super::{Command, Election, Output};
use crate::{Address, Context, Effect, Process, Step, Suspicion, System, Topology};

/// What processes send each other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// What the election of an epoch says.
    Of {
        /// The epoch.
        epoch: u64,
        /// What it says.
        message: M,
    },
    /// "Your election is over, or was never ours." Answers what one who was away sends; it begins a later epoch.
    Later {
        /// The epoch of what is answered.
        answers: u64,
        /// The present one.
        epoch: u64,
    },
}

impl<M: Debug> Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Of { epoch: 1, message } => message.fmt(f),
            Message::Of { epoch, message } => write!(f, "{message:?} #{epoch}"),
            Message::Later { epoch, .. } => write!(f, "Later #{epoch}"),
        }
    }
}

impl<M: crate::Message> crate::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Of { message, .. } => message.kind(),
            Message::Later { .. } => "Later",
        }
    }

    fn is_background(&self) -> bool {
        matches!(self, Message::Of { message, .. } if message.is_background())
    }
}

/// What a process is woken for.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer<T> {
    /// When the election of an epoch says so.
    Of {
        /// The epoch.
        epoch: u64,
        /// The election's timer.
        timer: T,
    },
    /// When to begin the next epoch because this one has come to nothing: a message of it must have been lost, at a
    /// process that crashed and was back before anybody noticed.
    Undecided,
}

impl<T: Debug> Debug for Timer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Of { timer, .. } => timer.fmt(f),
            Timer::Undecided => f.write_str("Undecided"),
        }
    }
}

/// How long an epoch may take at least before it is given up,
const PATIENCE: Duration = Duration::from_secs(1);
/// and how much longer for each process: a ring of many takes its time.
const PATIENCE_EACH: Duration = Duration::from_millis(50);

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
    /// Those that were taken for dead when the epoch began: it was held without them.
    pub excluded: BTreeSet<Address>,
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
        matches!(timer, Timer::Of { timer, .. } if P::is_background(timer))
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
            excluded: BTreeSet::new(),
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
                // It may have another leader: it crashed, or was on the other side of a partition.
                if self.suspected.remove(&restored) && self.epoch > 0 {
                    self.hold(cx);
                }
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
        match message {
            Message::Of { epoch, message } => self.on_election(from, epoch, message, cx),
            Message::Later { answers, epoch } if answers == self.epoch => {
                self.epoch = epoch;
                self.hold(cx);
            }
            // I have begun a later epoch since.
            Message::Later { .. } => {}
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::Of { epoch, timer } if epoch == self.epoch => {
                self.run(cx, |election, cx| election.on_timer(timer, cx));
            }
            Timer::Of { .. } => {}
            Timer::Undecided => self.hold(cx),
        }
    }
}

impl<P> Recurring<P>
where
    P: Process<Problem = Election>,
{
    fn on_election(&mut self, from: Address, epoch: u64, message: P::Message, cx: &mut Context<'_, Self>) {
        if epoch > self.epoch {
            // Whoever speaks is alive.
            self.suspected.remove(&from);
            self.enter(epoch, cx);
        } else if epoch < self.epoch || self.excluded.contains(&from) {
            // Of an election that is over, or of another one with the same number.
            cx.send(from, Message::Later { answers: epoch, epoch: self.epoch });
            return;
        }
        self.run(cx, |election, cx| election.on_message(from, message, cx));
    }

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
        self.excluded = self.suspected.clone();
        let patience = PATIENCE + PATIENCE_EACH * cx.topology().len() as u32;
        cx.set_timer(Timer::Undecided, patience..=2 * patience);
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
                Effect::Send { to, message } => cx.send(to, Message::Of { epoch, message }),
                Effect::SetTimer { timer, after } => cx.set_timer(Timer::Of { epoch, timer }, after),
                Effect::CancelTimer(timer) => cx.cancel_timer(Timer::Of { epoch, timer }),
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
        if self.decided {
            cx.cancel_timer(Timer::Undecided);
        }
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
        Message::Of { epoch, message: chang_roberts::Message::Election(Id(id)) }
    }

    fn elected(epoch: u64, id: u64) -> Message<chang_roberts::Message> {
        Message::Of { epoch, message: chang_roberts::Message::Elected(Id(id)) }
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
    fn a_later_epoch_is_joined_and_who_speaks_of_an_earlier_one_is_told() {
        let mut p = seventeen();
        p.message(Address(0), election(3, 24));
        assert_eq!(p.process.epoch, 3);
        let later = Message::Later { answers: 2, epoch: 3 };
        assert_eq!(
            p.message(Address(0), elected(2, 3)).effects,
            [Effect::Send { to: Address(0), message: later }]
        );
    }

    #[test]
    fn one_who_is_behind_begins_an_epoch_later_than_all_it_hears_of() {
        let mut p = seventeen();
        p.command(Command::Elect);
        let step = p.message(Address(2), Message::Later { answers: 1, epoch: 7 });
        assert_eq!((step.persist, step.sent()), (Some(8), vec![(Address(2), election(8, 17))]));
        // An answer to what was said before is old news.
        assert!(p.message(Address(2), Message::Later { answers: 1, epoch: 9 }).is_empty());
    }

    #[test]
    fn an_election_that_comes_to_nothing_is_held_again() {
        let mut p = seventeen();
        p.command(Command::Elect);
        assert_eq!(p.timer(Timer::Undecided).sent(), [(Address(2), election(2, 17))]);
        p.message(Address(0), elected(2, 24));
        assert!(p.process.decided);
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
    fn who_was_excluded_has_no_say_in_the_epoch_and_begins_the_next_when_it_is_trusted_again() {
        let mut p = seventeen();
        p.message(Address(0), election(1, 24));
        p.suspicion(Suspicion::Suspect(Address(0)));
        let later = Message::Later { answers: 2, epoch: 2 };
        assert_eq!(p.message(Address(0), election(2, 3)).sent(), [(Address(0), later)]);
        let step = p.suspicion(Suspicion::Restore(Address(0)));
        assert_eq!((step.persist, step.sent()), (Some(3), vec![(Address(2), election(3, 17))]));
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
