//! A quorum of coordinators (S4): enter with the permission of m > n/2 of them.
//!
//! Any two quorums share a coordinator, which grants to one at a time. The coordinators that are left suffice
//! when some have crashed. S4's coordinators keep their grants in memory only: one that is restarted with
//! amnesia grants again, and if all that two quorums share are restarted, two are inside. If they store them
//! (a recovery without amnesia), that cannot happen.
//!
//! S4: "E se cada participante obtiver o ok de um coordenador?" Then all wait for ever, unless a timer breaks
//! the deadlock: whoever does not get its quorum in time gives back what it has and tries again after a
//! while, which grows with every failure. "Aborts podem levar a espera infinita."

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::{Command, Mutex, Output};
use crate::term::{Sort, Term, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process};

/// S4's n and m, and the patience of those who ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many coordinate, from the first process on: S4's n. All may take part.
    pub coordinators: u32,
    /// How many grants it takes to enter: S4's m.
    pub quorum: u32,
    /// How long to wait for them before giving up for the time being; `None`: for ever.
    pub timeout: Option<Duration>,
    /// At most how long to wait after the first failure before trying again; twice as long after each further
    /// one.
    pub back_off: Duration,
    /// Whose rules.
    pub variant: Variant,
}

impl Config {
    /// S4's: so many coordinators, a majority of which must agree, and a timer.
    pub fn new(coordinators: u32) -> Self {
        Config {
            coordinators,
            quorum: coordinators / 2 + 1,
            timeout: Some(Duration::from_millis(100)),
            back_off: Duration::from_millis(20),
            variant: Variant::Complete,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// S4's.
    #[default]
    Complete,
    /// A mutant: one grant less is enough, kept to show that the checker catches it.
    MutantOneShort,
}

/// After this many failures the pause between two attempts grows no more.
const MAX_DOUBLINGS: u32 = 10;

/// What participants and coordinators send each other. Each says which attempt of the participant it is
/// about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Let me in." The coordinator answers [`Grant`](Message::Grant) when it is my turn.
    Request(Term),
    /// "Go in, as far as I am concerned." The participant answers [`Release`](Message::Release) when it has
    /// left or given up.
    Grant(Term),
    /// "I have left, or do not want to enter any more."
    Release(Term),
    /// "I have been restarted, and my notes say that I granted you this." The participant takes it for a
    /// grant, or answers [`Release`](Message::Release) if it has left in the meantime.
    Reminder(Term),
}
crate::kinds!(Message: Request, Grant, Release, Reminder);

/// What a participant is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to give this attempt up.
    GiveUp(Term),
    /// When to try again after this attempt.
    TryAgain(Term),
}

/// Where a participant stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// Outside.
    #[default]
    Outside,
    /// It waits for its quorum.
    Trying,
    /// It has given up, and will try again.
    BackingOff,
    /// Inside.
    Inside,
}

/// An attempt of a participant, as a coordinator knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// Whose.
    pub of: Address,
    /// The how manyth.
    pub number: Term,
}

/// What must survive a crash if two are never to be inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stored {
    /// To whom I have granted, as a coordinator.
    pub granted: Option<Attempt>,
    /// How often I have tried, as a participant.
    pub attempts: Term,
}

/// The variables of one process: those of a participant, and those of a coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quorum {
    /// Where I am, as a participant.
    pub place: Place,
    /// Who has granted my present attempt.
    pub grants: BTreeSet<Address>,
    /// How often I have failed since I was asked to enter.
    pub failures: u32,
    /// What I store.
    pub stored: Stored,
    /// Who waits, as a coordinator.
    pub queue: VecDeque<Attempt>,
}

impl Process for Quorum {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Stored;

    fn on_start(recovered: Option<Stored>, cx: &mut Context<'_, Self>) -> Self {
        let mut process = Quorum { stored: recovered.unwrap_or_default(), ..Quorum::default() };
        if let Some(Attempt { of, number }) = process.stored.granted {
            process.tell(of, Message::Reminder(number), cx);
        }
        if process.stored.attempts > Term::ZERO {
            // I am outside, whatever I was before.
            process.tell_coordinators(Message::Release(process.stored.attempts), cx);
        }
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.place) {
            (Command::Acquire | Command::Share, Place::Outside) => self.attempt(cx),
            (Command::Release, Place::Inside) => {
                self.place = Place::Outside;
                cx.output(Output::Left);
                self.tell_coordinators(Message::Release(self.stored.attempts), cx);
            }
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request(number) => self.on_request(Attempt { of: from, number }, cx),
            Message::Release(number) => self.on_release(Attempt { of: from, number }, cx),
            Message::Grant(number) => self.on_grant(from, number, cx),
            Message::Reminder(number) => self.on_reminder(from, number, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match (timer, self.place) {
            (Timer::GiveUp(number), Place::Trying) if number == self.stored.attempts => self.back_off(cx),
            (Timer::TryAgain(number), Place::BackingOff) if number == self.stored.attempts => {
                self.attempt(cx);
            }
            _ => {}
        }
    }
}

/// The participant's rules.
impl Quorum {
    /// S4: "Envia requisição de acesso aos n coordenadores; espera por resposta de m coordenadores".
    fn attempt(&mut self, cx: &mut Context<'_, Self>) {
        // Nobody tries so often; who has is not let in by a number that was used before.
        let Some(number) = self.stored.attempts.next() else { return };
        self.place = Place::Trying;
        self.stored.attempts = number;
        cx.persist(self.stored);
        if let Some(timeout) = cx.config().timeout {
            cx.set_timer(Timer::GiveUp(self.stored.attempts), timeout);
        }
        self.tell_coordinators(Message::Request(self.stored.attempts), cx);
    }

    fn on_grant(&mut self, from: Address, number: Term, cx: &mut Context<'_, Self>) {
        if self.place != Place::Trying || number != self.stored.attempts {
            return; // More than I need, or too late: it is given back with the others, or has been.
        }
        self.grants.insert(from);
        let short = u32::from(cx.config().variant == Variant::MutantOneShort);
        if self.grants.len() as u32 + short >= cx.config().quorum {
            self.place = Place::Inside;
            self.grants.clear();
            self.failures = 0;
            if cx.config().timeout.is_some() {
                cx.cancel_timer(Timer::GiveUp(number));
            }
            cx.output(Output::Entered { token: None });
        }
    }

    fn on_reminder(&mut self, from: Address, number: Term, cx: &mut Context<'_, Self>) {
        let current = matches!(self.place, Place::Trying | Place::Inside) && number == self.stored.attempts;
        if current {
            self.on_grant(from, number, cx);
        } else {
            self.tell(from, Message::Release(number), cx);
        }
    }

    /// S4: "Temporizador para quebrar o deadlock?"
    fn back_off(&mut self, cx: &mut Context<'_, Self>) {
        self.place = Place::BackingOff;
        self.grants.clear();
        let longest = cx.config().back_off.saturating_mul(1 << self.failures);
        self.failures = MAX_DOUBLINGS.min(self.failures + 1);
        self.tell_coordinators(Message::Release(self.stored.attempts), cx);
        cx.set_timer(Timer::TryAgain(self.stored.attempts), Duration::ZERO..=longest);
    }

    fn tell_coordinators(&mut self, message: Message, cx: &mut Context<'_, Self>) {
        for coordinator in (0..cx.config().coordinators).map(Address) {
            self.tell(coordinator, message, cx);
        }
    }

    /// A process may act in both roles; then it need not send.
    fn tell(&mut self, to: Address, message: Message, cx: &mut Context<'_, Self>) {
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }
}

/// The coordinator's rules: S4's coordinator "executa o mesmo protocolo que antes".
impl Quorum {
    /// S4: "Ao receber uma requisição, a enfileira".
    fn on_request(&mut self, attempt: Attempt, cx: &mut Context<'_, Self>) {
        self.queue.push_back(attempt);
        self.grant_next(cx);
    }

    /// S4: "Ao receber uma liberação, marca o recurso como livre"; and whoever still waits waits no more.
    /// Earlier attempts are over, too: their release may have come while I was down.
    fn on_release(&mut self, attempt: Attempt, cx: &mut Context<'_, Self>) {
        let is_over = |other: &Attempt| other.of == attempt.of && other.number <= attempt.number;
        self.queue.retain(|waiting| !is_over(waiting));
        if self.stored.granted.as_ref().is_some_and(is_over) {
            self.stored.granted = None;
            cx.persist(self.stored);
            self.grant_next(cx);
        }
    }

    /// S4: "Sempre que recurso estiver marcado como livre E a fila não estiver vazia".
    fn grant_next(&mut self, cx: &mut Context<'_, Self>) {
        if self.stored.granted.is_some() {
            return;
        }
        let Some(next) = self.queue.pop_front() else { return };
        self.stored.granted = Some(next);
        cx.persist(self.stored);
        self.tell(next.of, Message::Grant(next.number), cx);
    }
}

/// Attempts are numbered for ever, and of their numbers only matters which is later.
impl TermInvariant for Quorum {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        let mut visit = |number: &mut Term| visit(Sort::ROUND, number);
        match part {
            TermPart::Process(process) => {
                process.stored.visit_terms(&mut visit);
                process.queue.iter_mut().for_each(|attempt| visit(&mut attempt.number));
            }
            TermPart::Message(
                Message::Request(number)
                | Message::Grant(number)
                | Message::Release(number)
                | Message::Reminder(number),
            )
            | TermPart::Timer(Timer::GiveUp(number) | Timer::TryAgain(number)) => visit(number),
            TermPart::Stable(stored) => stored.visit_terms(&mut visit),
        }
    }
}

impl Stored {
    fn visit_terms(&mut self, visit: &mut dyn FnMut(&mut Term)) {
        visit(&mut self.attempts);
        if let Some(attempt) = &mut self.granted {
            visit(&mut attempt.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);
    const THIRD: Address = Address(2);
    const ONE: Address = Address(3);
    const OTHER: Address = Address(4);

    fn number(number: u64) -> Term {
        Term::of(number)
    }

    /// Three coordinators, two of which must agree, and two participants.
    fn process(me: Address) -> Harness<Quorum> {
        Harness::new(Complete::new(5), 1..=5, Config::new(3), me)
    }

    /// A coordinator after a crash that left this on its disk.
    fn restarted(stored: Option<Stored>) -> Harness<Quorum> {
        Harness::recovered(Complete::new(5), 1..=5, Config::new(3), FIRST, stored)
    }

    fn to_coordinators(message: Message) -> Vec<(Address, Message)> {
        [FIRST, SECOND, THIRD].map(|coordinator| (coordinator, message)).to_vec()
    }

    /// S4: "Envia requisição de acesso aos n coordenadores; espera por resposta de m coordenadores; acessa o
    /// recurso; envia liberação".
    #[test]
    fn a_participant_asks_all_enters_with_a_quorum_and_releases_all() {
        let mut p = process(ONE);
        assert_eq!(p.command(Command::Acquire).sent(), to_coordinators(Message::Request(number(1))));
        assert!(p.message(SECOND, Message::Grant(number(1))).is_empty());
        assert!(p.message(SECOND, Message::Grant(number(1))).is_empty(), "twice from one is once");
        assert_eq!(p.message(FIRST, Message::Grant(number(1))).outputs(), [Output::Entered { token: None }]);
        assert!(p.message(THIRD, Message::Grant(number(1))).is_empty(), "more than it needs");
        let left = p.command(Command::Release);
        assert_eq!(left.outputs(), [Output::Left]);
        assert_eq!(left.sent(), to_coordinators(Message::Release(number(1))));
    }

    /// S4: "remove primeiro processo da fila; envia liberação para processo removido; marca o recurso como
    /// ocupado".
    #[test]
    fn a_coordinator_grants_in_the_order_of_the_requests_one_at_a_time() {
        let mut c = process(FIRST);
        let step = c.message(ONE, Message::Request(number(1)));
        assert_eq!(step.sent(), [(ONE, Message::Grant(number(1)))]);
        let granted = Some(Attempt { of: ONE, number: number(1) });
        assert_eq!(step.persist, Some(Stored { granted, attempts: number(0) }));
        assert!(c.message(OTHER, Message::Request(number(7))).is_empty());
        assert_eq!(c.message(ONE, Message::Release(number(1))).sent(), [(OTHER, Message::Grant(number(7)))]);
    }

    #[test]
    fn a_request_that_is_given_up_leaves_the_queue() {
        let mut c = process(FIRST);
        c.message(ONE, Message::Request(number(1)));
        c.message(OTHER, Message::Request(number(1)));
        assert!(c.message(OTHER, Message::Release(number(1))).is_empty());
        assert!(c.message(ONE, Message::Release(number(1))).sent().is_empty());
    }

    #[test]
    fn a_release_ends_earlier_attempts_too_and_nothing_else() {
        let mut c = process(FIRST);
        c.message(ONE, Message::Request(number(3)));
        c.message(OTHER, Message::Request(number(1)));
        assert!(c.message(ONE, Message::Release(number(2))).is_empty(), "it is about the past");
        assert_eq!(c.message(ONE, Message::Release(number(4))).sent(), [(OTHER, Message::Grant(number(1)))]);
    }

    /// S4: "Temporizador para quebrar o deadlock?"
    #[test]
    fn who_does_not_get_a_quorum_in_time_gives_back_what_it_has_and_tries_again() {
        let mut p = process(ONE);
        let asked = p.command(Command::Acquire);
        let timer =
            Effect::SetTimer { timer: Timer::GiveUp(number(1)), after: Duration::from_millis(100).into() };
        assert!(asked.effects.contains(&timer));
        p.message(SECOND, Message::Grant(number(1)));
        for (failures, max) in [(1, 20), (2, 40)] {
            let step = p.timer(Timer::GiveUp(number(failures)));
            assert_eq!(step.sent(), to_coordinators(Message::Release(number(failures))));
            let after = (Duration::ZERO..=Duration::from_millis(max)).into();
            let again = Effect::SetTimer { timer: Timer::TryAgain(number(failures)), after };
            assert!(step.effects.contains(&again), "{step:?}");
            assert!(p.message(FIRST, Message::Grant(number(failures))).is_empty(), "too late");
            let step = p.timer(Timer::TryAgain(number(failures)));
            assert_eq!(step.sent(), to_coordinators(Message::Request(number(failures + 1))));
        }
    }

    #[test]
    fn who_got_its_quorum_in_time_does_not_give_up() {
        let mut p = process(ONE);
        p.command(Command::Acquire);
        p.message(FIRST, Message::Grant(number(1)));
        let entered = p.message(THIRD, Message::Grant(number(1)));
        assert!(entered.effects.contains(&Effect::CancelTimer(Timer::GiveUp(number(1)))));
        assert!(p.timer(Timer::GiveUp(number(1))).is_empty());
    }

    /// S4: "Quando um coordenador falha, esquece que deu ok e reinicia seu estado".
    #[test]
    fn a_coordinator_with_amnesia_grants_again() {
        let mut c = restarted(None);
        assert_eq!(
            c.message(OTHER, Message::Request(number(1))).sent(),
            [(OTHER, Message::Grant(number(1)))]
        );
    }

    #[test]
    fn a_coordinator_that_has_stored_its_grant_keeps_it_and_reminds_the_holder() {
        let granted = Some(Attempt { of: ONE, number: number(4) });
        let mut c = restarted(Some(Stored { granted, attempts: number(0) }));
        assert_eq!(c.started().sent(), [(ONE, Message::Reminder(number(4)))]);
        assert!(c.message(OTHER, Message::Request(number(1))).is_empty());
        assert_eq!(c.message(ONE, Message::Release(number(4))).sent(), [(OTHER, Message::Grant(number(1)))]);
    }

    #[test]
    fn a_reminder_is_a_grant_or_is_answered() {
        let mut p = process(ONE);
        assert_eq!(
            p.message(FIRST, Message::Reminder(number(3))).sent(),
            [(FIRST, Message::Release(number(3)))]
        );
        p.command(Command::Acquire);
        p.message(FIRST, Message::Reminder(number(1)));
        assert_eq!(p.message(SECOND, Message::Grant(number(1))).outputs().len(), 1);
        assert!(p.message(THIRD, Message::Reminder(number(1))).is_empty(), "it is still inside");
    }

    #[test]
    fn a_participant_that_comes_back_gives_everything_back() {
        let stored = Some(Stored { granted: None, attempts: number(6) });
        let p = Harness::<Quorum>::recovered(Complete::new(5), 1..=5, Config::new(3), ONE, stored);
        assert_eq!(p.started().sent(), to_coordinators(Message::Release(number(6))));
    }

    #[test]
    fn a_process_may_act_in_both_roles_without_messages() {
        let mut p = process(SECOND);
        let requests = [(FIRST, Message::Request(number(1))), (THIRD, Message::Request(number(1)))];
        assert_eq!(p.command(Command::Acquire).sent(), requests);
        assert_eq!(p.process.grants, BTreeSet::from([SECOND]));
        assert_eq!(p.message(THIRD, Message::Grant(number(1))).outputs().len(), 1);
    }

    #[test]
    fn the_mutant_enters_one_grant_short() {
        let config = Config { variant: Variant::MutantOneShort, ..Config::new(3) };
        let mut p = Harness::<Quorum>::new(Complete::new(5), 1..=5, config, ONE);
        p.command(Command::Acquire);
        assert_eq!(p.message(SECOND, Message::Grant(number(1))).outputs().len(), 1);
    }
}
