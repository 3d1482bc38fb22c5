//! A one-shot election as a service: it is held again whenever the leader fails.
//!
//! Most elections of the notes run once. Here each run is an *epoch*. Who learns that the leader has failed, or
//! that anybody has while an election is under way, begins the next epoch; who hears of a later epoch joins it
//! with fresh variables; and messages of an earlier one are discarded, so that an old election cannot disturb a
//! new one. In each epoch the network is what is left of it: a ring closes over those that are suspected (S0's
//! "próximo processo operacional"), so a process that fails during the election does not hang it. One who is back
//! was not part of the present epoch, whatever it says; when the detector trusts it again, the next one begins.
//!
//! So everybody who lives follows one leader again, the best of those that live if the election finds the
//! best, after the last crash, recovery or end of a partition: an election after the detector has noticed. If
//! it notices nothing, because messages were cut off and nobody died, an election that comes to nothing is
//! held again after a second and fifty milliseconds for each process, or up to twice that. So it is after one who
//! called to an epoch, or won it, while the detector took it for dead, and was dead by then.
//!
//! The epoch is kept on stable storage: one who comes back must not begin an epoch that it knows has been.
//!
//! A synchronous election needs pulses that all have in common, so there whoever begins an epoch calls everybody to
//! it. The call arrives within a pulse of the network, and nobody enters later than that after the first. Epochs
//! therefore beat at half the speed: what is sent in a pulse has a whole pulse of the network to arrive even at one
//! who is that much ahead. Who calls when the first pulse has been, or was never called, is out of step and begins
//! another epoch.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::time::Duration;

use super::{Command, Election, Output};
use crate::{Address, Context, Process, Said, Step, Suspicion, System, Topology};

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
    /// "A new epoch begins." The call to a synchronous election, which all must enter at about the same time; an
    /// asynchronous one does without, since its own messages tell.
    Call {
        /// The epoch.
        epoch: u64,
    },
    /// "Your election is over, or was never ours." Answers what one who was away, or is behind, sends; it joins the
    /// present epoch, or begins the next.
    Later {
        /// The epoch of what is answered.
        answers: u64,
        /// The present one.
        epoch: u64,
        /// Whether the present one is over, or held without the one who is answered.
        over: bool,
    },
}

impl<M: Debug> Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Of { epoch: 1, message } => message.fmt(f),
            Message::Of { epoch, message } => write!(f, "{message:?} #{epoch}"),
            Message::Call { epoch } => write!(f, "Call #{epoch}"),
            Message::Later { epoch, .. } => write!(f, "Later #{epoch}"),
        }
    }
}

impl<M: crate::Message> crate::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Of { message, .. } => message.kind(),
            Message::Call { .. } => "Call",
            Message::Later { .. } => "Later",
        }
    }

    fn vocabulary() -> Vec<&'static str> {
        [M::vocabulary(), vec!["Call", "Later"]].concat()
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
    /// Whether its first pulse has been, if it has pulses.
    pub under_way: bool,
    /// Whether it has come to a result here.
    pub decided: bool,
    /// The leader, if known by address.
    pub leader: Option<Address>,
    /// Those that the detector takes for dead.
    pub suspected: BTreeSet<Address>,
    /// Those that were taken for dead when the epoch began: it was held without them.
    pub excluded: BTreeSet<Address>,
    /// Who called me to the epoch, though the detector takes it for dead: it has a part in it. Only the detector
    /// knows whether it still lives, and what it has said once it does not say again.
    pub admitted: Option<Address>,
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
    const SYNCHRONOUS: bool = P::SYNCHRONOUS;

    fn is_background(timer: &Self::Timer) -> bool {
        matches!(timer, Timer::Of { timer, .. } if P::is_background(timer))
    }

    fn on_start(recovered: Option<u64>, cx: &mut Context<'_, Self>) -> Self {
        let system = cx.config();
        let (election, step) = cx.inner(system, |cx| P::on_start(None, cx));
        let mut recurring = Recurring {
            epoch: recovered.unwrap_or(0),
            election,
            under_way: false,
            decided: false,
            leader: None,
            suspected: BTreeSet::new(),
            excluded: BTreeSet::new(),
            admitted: None,
        };
        if !P::SYNCHRONOUS {
            recurring.pass_on(step, cx);
        }
        // Otherwise pulses do not beat before the first epoch.
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
                let was_suspected = self.suspected.remove(&restored);
                if self.admitted == Some(restored) {
                    self.admitted = None;
                    self.rest(cx);
                } else if was_suspected && self.epoch > 0 {
                    self.hold(cx);
                }
            }
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                // Where nobody has a name, anybody who fails may have been the leader.
                let missed = self.leader.map_or(self.epoch > 0, |leader| leader == suspect);
                if missed {
                    self.hold(cx);
                }
            }
        }
    }

    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Of { epoch, message } => {
                if P::SYNCHRONOUS && epoch > self.epoch {
                    // I was not there when everybody was called.
                    self.epoch = epoch;
                    self.hold(cx);
                } else if self.is_in(from, epoch, cx) {
                    self.run(cx, |election, cx| election.on_message(from, message, cx));
                }
            }
            Message::Call { epoch } => {
                if self.is_in(from, epoch, cx) && self.under_way {
                    cx.send(from, Message::Later { answers: epoch, epoch, over: true });
                }
            }
            // To enter one after another, each an epoch of its own, would be a storm.
            Message::Later { answers, epoch, over: false } if answers == self.epoch && !P::SYNCHRONOUS => {
                self.enter(epoch, Some(from), cx);
                self.run(cx, |election, cx| election.on_command(Command::Elect, cx));
            }
            Message::Later { answers, epoch, .. } if answers == self.epoch => {
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
                self.under_way = P::SYNCHRONOUS;
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
    /// Whether the one who speaks of this epoch and I are both in it. I enter it if it is news.
    fn is_in(&mut self, from: Address, epoch: u64, cx: &mut Context<'_, Self>) -> bool {
        if epoch > self.epoch {
            self.enter(epoch, Some(from), cx);
        } else if epoch < self.epoch || self.excluded.contains(&from) {
            // Of an election that is over, or of another one with the same number.
            let over = self.decided || self.excluded.contains(&from);
            cx.send(from, Message::Later { answers: epoch, epoch: self.epoch, over });
            return false;
        }
        true
    }

    /// Begins the next epoch and stands in it.
    fn hold(&mut self, cx: &mut Context<'_, Self>) {
        self.enter(self.epoch + 1, None, cx);
        if P::SYNCHRONOUS {
            let others: Vec<Address> = self.what_is_left(cx).topology.neighbours(cx.me()).collect();
            for other in others {
                cx.send(other, Message::Call { epoch: self.epoch });
            }
        }
        self.run(cx, |election, cx| election.on_command(Command::Elect, cx));
    }

    /// Enters an epoch with fresh variables; `caller` has called me, if anybody has.
    fn enter(&mut self, epoch: u64, caller: Option<Address>, cx: &mut Context<'_, Self>) {
        self.epoch = epoch;
        cx.persist(epoch);
        if self.decided {
            cx.output(Output::Leaderless);
        }
        self.under_way = false;
        self.decided = false;
        self.leader = None;
        self.admitted = caller.filter(|caller| self.suspected.contains(caller));
        self.excluded = self.absent();
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

    /// The system without those that are suspected, and with pulses as long as it takes.
    fn what_is_left(&self, cx: &Context<'_, Self>) -> System<P> {
        let system = cx.config();
        let topology = system.topology.without(&self.absent());
        System { topology, pulse: 2 * system.pulse, ..system.clone() }
    }

    /// Those without whom the epoch is held.
    fn absent(&self) -> BTreeSet<Address> {
        let suspected = self.suspected.iter().copied();
        suspected.filter(|&suspect| self.admitted != Some(suspect)).collect()
    }

    fn pass_on(&mut self, step: Step<P>, cx: &mut Context<'_, Self>) {
        let epoch = self.epoch;
        for effect in step.effects {
            let message_of = |message| Message::Of { epoch, message };
            match cx.carry_out(effect, message_of, |timer| Timer::Of { epoch, timer }) {
                Some(Said::Output(output)) => self.decide(output, cx),
                Some(Said::Suspicion(suspicion)) => cx.report(suspicion),
                None => {}
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
        self.rest(cx);
        cx.output(output);
        if self.leader.is_some_and(|leader| self.absent().contains(&leader)) {
            // It won and died: the next election, at once.
            self.hold(cx);
        }
    }

    /// The election is over, unless it was won by one of whom only the detector can say whether it lives.
    fn rest(&self, cx: &mut Context<'_, Self>) {
        if self.decided && (self.leader.is_none() || self.leader != self.admitted) {
            cx.cancel_timer(Timer::Undecided);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT_PULSE;
    use crate::election::all_to_all::{self, AllToAll};
    use crate::election::anonymous_ring::{self, AnonymousRing};
    use crate::election::chang_roberts::{self, ChangRoberts};
    use crate::rounds::{Beat, Synchronous};
    use crate::testing::Harness;
    use crate::topology::{Complete, Ring};
    use crate::{Effect, Id};

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
        let later = Message::Later { answers: 2, epoch: 3, over: false };
        assert_eq!(
            p.message(Address(0), elected(2, 3)).effects,
            [Effect::Send { to: Address(0), message: later }]
        );
    }

    #[test]
    fn one_who_is_behind_joins_the_present_epoch_or_begins_the_next_if_that_is_over() {
        for (over, next) in [(false, 7), (true, 8)] {
            let mut p = seventeen();
            p.command(Command::Elect);
            let step = p.message(Address(2), Message::Later { answers: 1, epoch: 7, over });
            assert_eq!((step.persist, step.sent()), (Some(next), vec![(Address(2), election(next, 17))]));
            // An answer to what was said before is old news.
            assert!(p.message(Address(2), Message::Later { answers: 1, epoch: 9, over }).is_empty());
        }
    }

    #[test]
    fn who_is_behind_hears_that_the_present_epoch_is_over_once_it_is() {
        let mut p = seventeen();
        p.message(Address(0), election(3, 24));
        p.message(Address(0), elected(3, 24));
        let later = Message::Later { answers: 2, epoch: 3, over: true };
        assert_eq!(p.message(Address(0), elected(2, 3)).sent(), [(Address(0), later)]);
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
        let later = Message::Later { answers: 2, epoch: 2, over: true };
        assert_eq!(p.message(Address(0), election(2, 3)).sent(), [(Address(0), later)]);
        let step = p.suspicion(Suspicion::Restore(Address(0)));
        assert_eq!((step.persist, step.sent()), (Some(3), vec![(Address(2), election(3, 17))]));
    }

    /// The detector says only once that somebody is dead.
    #[test]
    fn who_calls_to_an_epoch_has_a_part_in_it_and_none_in_the_next_unless_it_is_trusted_by_then() {
        let mut p = seventeen();
        p.suspicion(Suspicion::Suspect(Address(2)));
        p.message(Address(2), election(1, 24));
        let won = p.message(Address(0), elected(1, 24));
        assert!(p.process.decided && !won.effects.contains(&Effect::CancelTimer(Timer::Undecided)));
        let mut trusted = p.clone();
        assert_eq!(p.timer(Timer::Undecided).sent(), [(Address(3), election(2, 17))], "it was dead");
        let step = trusted.suspicion(Suspicion::Restore(Address(2)));
        assert_eq!(step.effects, [Effect::CancelTimer(Timer::Undecided)]);
    }

    #[test]
    fn where_nobody_has_a_name_any_failure_begins_another_election() {
        let ring = Ring::logical(4);
        let ids: Vec<Id> = (1..=4).map(Id).collect();
        let system: System<AnonymousRing> =
            System::new(ring.clone(), ids, anonymous_ring::Config::default()).expect("well formed");
        let mut p = Harness::<Recurring<AnonymousRing>>::new(ring, 1..=4, system, Address(1));
        let vote = |epoch| Message::Of { epoch, message: anonymous_ring::Message::VoteForMe };
        p.message(Address(0), vote(1));
        p.message(Address(0), Message::Of { epoch: 1, message: anonymous_ring::Message::HabemosLeader });
        assert!(p.process.decided && p.process.leader.is_none());
        assert_eq!(p.suspicion(Suspicion::Suspect(Address(3))).sent(), [(Address(2), vote(2))]);
    }

    type Pulsing = Recurring<Synchronous<AllToAll>>;

    /// The process at address 1 of four that all tell all.
    fn pulsing() -> Harness<Pulsing> {
        let ids: Vec<Id> = (1..=4).map(Id).collect();
        let system = System::new(Complete::new(4), ids, all_to_all::Config::default());
        Harness::new(Complete::new(4), 1..=4, system.expect("well formed"), Address(1))
    }

    /// S2: "todo nó recebeu a identificação dos outros candidatos" needs pulses that all have in common.
    #[test]
    fn to_a_synchronous_election_everybody_who_is_left_is_called() {
        let mut p = pulsing();
        assert!(p.started().effects.is_empty(), "pulses beat within epochs only");
        p.suspicion(Suspicion::Suspect(Address(3)));
        let call = Message::Call { epoch: 1 };
        let step = p.command(Command::Elect);
        assert_eq!(step.sent(), [(Address(0), call.clone()), (Address(2), call)]);
    }

    #[test]
    fn the_called_enter_at_once_and_pulses_are_long_enough_for_the_first_and_the_last() {
        let mut p = pulsing();
        let step = p.message(Address(0), Message::Call { epoch: 1 });
        let beat = Timer::Of { epoch: 1, timer: Beat };
        // Half a pulse of start-up, a pulse being two of the network.
        let begins = Effect::SetTimer { timer: beat.clone(), after: DEFAULT_PULSE.into() };
        assert!(step.effects.contains(&begins) && step.sent().is_empty());
        assert!(p.message(Address(2), Message::Call { epoch: 1 }).is_empty(), "it is in already");
        let sent = p.timer(beat).sent();
        assert_eq!(sent.len(), 3, "it stands, as everybody does");
    }

    #[test]
    fn who_calls_when_pulses_beat_already_is_told_to_call_again() {
        let mut p = pulsing();
        p.message(Address(0), Message::Call { epoch: 1 });
        p.timer(Timer::Of { epoch: 1, timer: Beat });
        let later = Message::Later { answers: 1, epoch: 1, over: true };
        assert_eq!(p.message(Address(2), Message::Call { epoch: 1 }).sent(), [(Address(2), later)]);
    }

    #[test]
    fn who_missed_the_call_calls_everybody_to_another_epoch() {
        let mut sender = pulsing();
        sender.message(Address(0), Message::Call { epoch: 4 });
        let beat = Timer::Of { epoch: 4, timer: Beat };
        let (_, candidate) = sender.timer(beat).sent().remove(0);
        let step = pulsing().message(Address(0), candidate);
        assert_eq!(step.sent(), [0, 2, 3].map(|to| (Address(to), Message::Call { epoch: 5 })));
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
