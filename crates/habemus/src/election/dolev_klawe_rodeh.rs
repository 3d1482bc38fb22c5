//! Dolev, Klawe and Rodeh's election on a one-way ring; Peterson's, found at the same time.
//!
//! D. Dolev, M. Klawe and M. Rodeh, *An O(n log n) unidirectional distributed algorithm for extrema finding
//! in a circle*, 1982; G. Peterson, *An O(n log n) unidirectional algorithm for the circular extrema
//! problem*, 1982. [Franklin](super::franklin) compares each active process with its two active neighbours,
//! which takes a two-way ring. On a one-way ring a process cannot hear its successor, so the comparison moves
//! on by one place: it is the next active process that holds a value against both its neighbours and carries
//! it from then on.
//!
//! In a phase every link carries one FIRST and one SECOND, 2n messages, and at most every other active
//! process survives. So there are at most ⌊log₂ n⌋ phases with rivals, then one in which the last FIRST comes
//! home, and the announcement: at most 2n⌊log₂ n⌋ + 2n messages. Links must be FIFO: a phase is not numbered.

use super::{Command, Election, Output, Wins};
use crate::topology::Ring;
use crate::{Address, Context, Id, Process};

/// The rules, and which identifier wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which end of the order wins.
    pub wins: Wins,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The paper's, with an announcement.
    #[default]
    Announced,
    /// A mutant: a survivor keeps its own value, kept to show that the checker catches it.
    MutantKeepsOwn,
}

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I carry this value." The next active process passes it on as [`Second`](Message::Second). Who gets
    /// its own value back is the last active one: that value has won.
    First(Id),
    /// "The one before me carries this value." The next active process then knows two values before its own.
    Second(Id),
    /// "This process leads." It goes round once.
    Elected(Id),
}
crate::kinds!(Message: First, Second, Elected);

/// What a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It has neither stood nor heard anything.
    #[default]
    Asleep,
    /// It competes.
    Active {
        /// The value that it carries, which is its own identifier only in the first phase.
        value: Id,
        /// The value of the active process before it, once heard in this phase.
        left: Option<Id>,
    },
    /// It passes on what comes.
    Passive,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DolevKlaweRodeh {
    /// What it is.
    pub role: Role,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Process for DolevKlaweRodeh {
    type Problem = Election;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        DolevKlaweRodeh::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.wake(cx);
    }

    #[inline]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::First(value) => self.on_first(value, cx),
            Message::Second(value) => self.on_second(value, cx),
            Message::Elected(leader) => self.on_elected(leader, cx),
        }
    }
}

impl DolevKlaweRodeh {
    #[inline]
    fn on_first(&mut self, before: Id, cx: &mut Context<'_, Self>) {
        self.wake(cx);
        match &mut self.role {
            Role::Active { value, .. } if *value == before => {
                self.learn(before, cx);
                self.role = Role::Passive;
            }
            Role::Active { left: left @ None, .. } => {
                *left = Some(before);
                cx.send(cx.successor(), Message::Second(before));
            }
            Role::Passive => cx.send(cx.successor(), Message::First(before)),
            // It has overtaken a SECOND, which cannot happen on FIFO links.
            Role::Active { .. } | Role::Asleep => {}
        }
    }

    #[inline]
    fn on_second(&mut self, before: Id, cx: &mut Context<'_, Self>) {
        let Config { variant, wins } = *cx.config();
        match self.role {
            Role::Active { value, left: Some(left) } => {
                if wins.better(&left, &before) && wins.better(&left, &value) {
                    let value = if variant == Variant::MutantKeepsOwn { value } else { left };
                    self.become_active(value, cx);
                } else {
                    self.role = Role::Passive;
                }
            }
            Role::Passive => cx.send(cx.successor(), Message::Second(before)),
            // It has overtaken a FIRST, which cannot happen on FIFO links.
            Role::Active { left: None, .. } | Role::Asleep => {}
        }
    }

    #[inline]
    fn on_elected(&mut self, leader: Id, cx: &mut Context<'_, Self>) {
        // Who knows already is the one that found out: everybody knows.
        if self.elected.is_none() {
            self.learn(leader, cx);
        }
    }

    /// A sleeping process takes part as soon as it hears of an election: it may be the best.
    #[inline]
    fn wake(&mut self, cx: &mut Context<'_, Self>) {
        if self.role == Role::Asleep {
            self.become_active(cx.id(), cx);
        }
    }

    fn become_active(&mut self, value: Id, cx: &mut Context<'_, Self>) {
        self.role = Role::Active { value, left: None };
        cx.send(cx.successor(), Message::First(value));
    }

    /// The value that won is known where it was carried last; its owner is told like everybody else.
    fn learn(&mut self, leader: Id, cx: &mut Context<'_, Self>) {
        self.elected = Some(leader);
        cx.output(if leader == cx.id() { Output::leads() } else { Output::follows(leader) });
        cx.send(cx.successor(), Message::Elected(leader));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    /// The process 17 on the ring 3 → 17 → 24.
    fn seventeen(config: Config) -> Harness<DolevKlaweRodeh> {
        Harness::new(Ring::new(3), [3, 17, 24], config, Address(1))
    }

    fn awake(config: Config) -> Harness<DolevKlaweRodeh> {
        let mut p = seventeen(config);
        p.command(Command::Elect);
        p
    }

    /// One that the first phase has made passive.
    fn passive() -> Harness<DolevKlaweRodeh> {
        let mut p = awake(Config::default());
        p.message(Address(0), Message::First(Id(3)));
        p.message(Address(0), Message::Second(Id(24)));
        p
    }

    fn send(message: Message) -> Effect<DolevKlaweRodeh> {
        Effect::Send { to: Address(2), message }
    }

    #[test]
    fn who_starts_carries_its_own_identifier() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.command(Command::Elect).effects, [send(Message::First(Id(17)))]);
        assert!(p.command(Command::Elect).is_empty(), "it takes part already");
    }

    #[test]
    fn a_sleeping_process_wakes_on_the_first_message() {
        let step = seventeen(Config::default()).message(Address(0), Message::First(Id(3)));
        assert_eq!(step.effects, [send(Message::First(Id(17))), send(Message::Second(Id(3)))]);
    }

    #[test]
    fn a_value_better_than_both_its_neighbours_is_carried_on() {
        let mut p = awake(Config::default());
        assert_eq!(p.message(Address(0), Message::First(Id(24))).effects, [send(Message::Second(Id(24)))]);
        assert_eq!(p.message(Address(0), Message::Second(Id(3))).effects, [send(Message::First(Id(24)))]);
        assert_eq!(p.process.role, Role::Active { value: Id(24), left: None });
    }

    #[test]
    fn any_other_value_is_given_up() {
        // The value before is worse than mine; or than the one before it.
        for (first, second) in [(3, 1), (24, 30)] {
            let mut p = awake(Config::default());
            p.message(Address(0), Message::First(Id(first)));
            assert!(p.message(Address(0), Message::Second(Id(second))).is_empty());
            assert_eq!(p.process.role, Role::Passive);
        }
    }

    #[test]
    fn a_passive_process_passes_everything_on() {
        let mut p = passive();
        for message in [Message::First(Id(24)), Message::Second(Id(3))] {
            assert_eq!(p.message(Address(0), message).effects, [send(message)]);
        }
    }

    #[test]
    fn the_last_active_process_announces_the_value_it_carries_whosever_it_is() {
        let mut p = awake(Config::default());
        p.message(Address(0), Message::First(Id(24)));
        p.message(Address(0), Message::Second(Id(3)));
        let step = p.message(Address(0), Message::First(Id(24)));
        assert_eq!(step.effects, [Effect::Output(Output::follows(Id(24))), send(Message::Elected(Id(24)))]);
        assert!(p.message(Address(0), Message::Elected(Id(24))).is_empty(), "everybody knows");
    }

    #[test]
    fn the_owner_of_the_value_learns_that_it_leads() {
        let step = passive().message(Address(0), Message::Elected(Id(17)));
        assert_eq!(step.effects, [Effect::Output(Output::leads()), send(Message::Elected(Id(17)))]);
    }

    #[test]
    fn the_order_can_be_turned_round() {
        let mut p = awake(Config { wins: Wins::Lowest, ..Config::default() });
        p.message(Address(0), Message::First(Id(3)));
        assert_eq!(p.message(Address(0), Message::Second(Id(24))).effects, [send(Message::First(Id(3)))]);
    }

    #[test]
    fn what_overtakes_is_ignored() {
        let mut p = awake(Config::default());
        assert!(p.message(Address(0), Message::Second(Id(3))).is_empty());
        p.message(Address(0), Message::First(Id(24)));
        assert!(p.message(Address(0), Message::First(Id(3))).is_empty());
    }

    #[test]
    fn the_mutant_survives_with_the_wrong_value() {
        let mut p = awake(Config { variant: Variant::MutantKeepsOwn, ..Config::default() });
        p.message(Address(0), Message::First(Id(24)));
        assert_eq!(p.message(Address(0), Message::Second(Id(3))).effects, [send(Message::First(Id(17)))]);
    }
}
