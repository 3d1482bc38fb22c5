//! A one-shot election as a service: it is held again whenever the leader fails.
//!
//! Most elections of the notes run once. Here each run is an *epoch*. Who learns that the leader has failed,
//! or that anybody has while an election is under way, begins the next epoch; who hears of a later epoch
//! joins it with fresh variables; and messages of an earlier one are discarded, so that an old election
//! cannot disturb a new one. In each epoch the network is what is left of it: a ring closes over those that
//! are suspected (S0's "próximo processo operacional"), so a process that fails during the election does not
//! hang it. One who is back was not part of the present epoch, whatever it says; when the detector trusts it
//! again, the next one begins.
//!
//! So everybody who lives follows one leader again, the best of those that live if the election finds the
//! best, after the last crash, recovery or end of a partition: an election after the detector has noticed. If
//! it notices nothing, because messages were cut off and nobody died, an election that comes to nothing is
//! held again after a second and fifty milliseconds for each process, or up to twice that. Who is taken for
//! dead calls nobody to an epoch: what the dead have said would go round a ring for ever. If it lives, the
//! next epoch begins when the detector trusts it again.
//!
//! The epoch is kept on stable storage: one who comes back must not begin an epoch that it knows has been.
//!
//! A synchronous election needs pulses that all have in common, so there whoever begins an epoch calls
//! everybody to it. The call arrives within a pulse of the network, and nobody enters later than that after
//! the first. Epochs therefore beat at half the speed: what is sent in a pulse has a whole pulse of the
//! network to arrive even at one who is that much ahead. Who calls when the first pulse has been, or was
//! never called, is out of step and begins another epoch.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::time::Duration;

use super::{Command, Election, Output};
use crate::term::{Sort, Term, TermInvariant, TermPart};
use crate::{Address, Context, Process, Said, Step, Suspicion, System, Topology};

/// What processes send each other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// What the election of an epoch says.
    Of {
        /// The epoch.
        epoch: Term,
        /// What it says.
        message: M,
    },
    /// "A new epoch begins." The call to a synchronous election, which all must enter at about the same time;
    /// an asynchronous one does without, since its own messages tell.
    Call {
        /// The epoch.
        epoch: Term,
    },
    /// "Your election is over, or was never ours." Answers what one who was away, or is behind, sends; it
    /// joins the present epoch, or begins the next.
    Later {
        /// The epoch of what is answered.
        answers: Term,
        /// The present one.
        epoch: Term,
        /// Whether the present one is over, or held without the one who is answered.
        over: bool,
    },
}

impl<M: Debug> Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Of { epoch, message } if epoch.number() == 1 => message.fmt(f),
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
        epoch: Term,
        /// The election's timer.
        timer: T,
    },
    /// When to begin the next epoch because this one has come to nothing: a message of it must have been
    /// lost, at a process that crashed and was back before anybody noticed.
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
    pub epoch: Term,
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
    /// Who called me to a later epoch, and to which, while the detector took it for dead. What it has said
    /// once it does not say again, so if it lives, I am to call it to the one after that.
    pub unheeded: Option<(Address, Term)>,
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
    type Stable = Term;

    const READS_CLOCK: bool = P::READS_CLOCK;
    const SYNCHRONOUS: bool = P::SYNCHRONOUS;

    fn is_background(timer: &Self::Timer) -> bool {
        matches!(timer, Timer::Of { timer, .. } if P::is_background(timer))
    }

    fn on_start(recovered: Option<Term>, cx: &mut Context<'_, Self>) -> Self {
        let system = cx.config();
        let (election, step) = cx.inner(system, |cx| P::on_start(None, cx));
        let mut recurring = Recurring {
            epoch: recovered.unwrap_or_default(),
            election,
            under_way: false,
            decided: false,
            leader: None,
            suspected: BTreeSet::new(),
            excluded: BTreeSet::new(),
            unheeded: None,
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
        match (command, self.decided || self.epoch == Term::ZERO) {
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
                if let Some((_, epoch)) = self.unheeded.filter(|&(caller, _)| caller == restored) {
                    self.epoch = epoch;
                }
                if was_suspected && self.epoch > Term::ZERO {
                    self.hold(cx);
                }
            }
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                // Where nobody has a name, anybody who fails may have been the leader.
                let missed = self.leader.map_or(self.epoch > Term::ZERO, |leader| leader == suspect);
                if missed {
                    self.hold(cx);
                }
            }
        }
    }

    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Of { epoch, message } => {
                if P::SYNCHRONOUS && epoch > self.epoch && !self.suspected.contains(&from) {
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
                self.enter(epoch, cx);
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
    fn is_in(&mut self, from: Address, epoch: Term, cx: &mut Context<'_, Self>) -> bool {
        if epoch > self.epoch && self.suspected.contains(&from) {
            if self.unheeded.is_none_or(|(_, known)| known < epoch) {
                self.unheeded = Some((from, epoch));
            }
            return false;
        } else if epoch > self.epoch {
            self.enter(epoch, cx);
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
        // After the last one, which nobody reaches by counting, there is none.
        let Some(next) = self.epoch.next() else { return };
        self.enter(next, cx);
        if P::SYNCHRONOUS {
            let others: Vec<Address> = self.what_is_left(cx).topology.neighbours(cx.me()).collect();
            for other in others {
                cx.send(other, Message::Call { epoch: self.epoch });
            }
        }
        self.run(cx, |election, cx| election.on_command(Command::Elect, cx));
    }

    /// Enters an epoch with fresh variables.
    fn enter(&mut self, epoch: Term, cx: &mut Context<'_, Self>) {
        self.epoch = epoch;
        cx.persist(epoch);
        if self.decided {
            cx.output(Output::Leaderless);
        }
        self.under_way = false;
        self.decided = false;
        self.leader = None;
        self.unheeded = None;
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

    /// The system without those that are suspected, and with pulses as long as it takes.
    fn what_is_left(&self, cx: &Context<'_, Self>) -> System<P> {
        let system = cx.config();
        let topology = system.topology.without(&self.suspected);
        System { topology, pulse: 2 * system.pulse, ..system.clone() }
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
        let term = self.epoch.number();
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
        if self.leader.is_some_and(|leader| self.suspected.contains(&leader)) {
            // It won and died: the next election, at once.
            self.hold(cx);
        }
    }
}

/// Epochs are terms, and what the election counts besides are rounds, which begin anew in each of them.
impl<P> TermInvariant for Recurring<P>
where
    P: TermInvariant<Problem = Election>,
{
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => {
                visit(Sort::TERM, &mut process.epoch);
                if let Some((_, epoch)) = &mut process.unheeded {
                    visit(Sort::TERM, epoch);
                }
                P::visit_terms(TermPart::Process(&mut process.election), visit);
            }
            TermPart::Message(Message::Of { epoch, message }) => {
                visit(Sort::TERM, epoch);
                P::visit_terms(TermPart::Message(message), visit);
            }
            TermPart::Message(Message::Call { epoch }) | TermPart::Stable(epoch) => visit(Sort::TERM, epoch),
            TermPart::Message(Message::Later { answers, epoch, .. }) => {
                visit(Sort::TERM, answers);
                visit(Sort::TERM, epoch);
            }
            TermPart::Timer(Timer::Of { epoch, timer }) => {
                visit(Sort::TERM, epoch);
                P::visit_terms(TermPart::Timer(timer), visit);
            }
            TermPart::Timer(Timer::Undecided) => {}
        }
    }
}

#[cfg(test)]
mod tests;
