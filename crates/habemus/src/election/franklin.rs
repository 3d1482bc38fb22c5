//! Franklin's election on a two-way ring (S4): in each round neighbours compare, and at most every other
//! stays.
//!
//! R. Franklin, *On an improved algorithm for decentralized extrema finding in circular configurations of
//! processors*, 1982. A round carries one identifier over every link in each direction, 2n messages, and
//! leaves at most every other active process; the last one meets only itself. So there are at most ⌊log₂ n⌋ +
//! 1 rounds: at most 2n(⌊log₂ n⌋ + 1) messages, and n to announce, whoever starts.
//!
//! Three things the notes leave open. A process that sleeps wakes on the first message, or its neighbours
//! would wait for it in vain. A neighbour may be one round ahead, never more, for it waits for what comes
//! through here: one message from each side has to be kept. Messages carry the number of their round, so
//! links need not be FIFO. S4's listing by the letter is [`as_printed`].

pub mod as_printed;

use super::way::Way;
use super::{Command, Election, Output, Wins};
use crate::topology::TwoWayRing;
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
    /// A mutant: who beats its two neighbours leads at once, kept to show that the checker catches it.
    MutantLocalWinner,
}

/// What travels along the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This process is active in this round." It goes as far as the next active process, which compares.
    Candidate {
        /// Who.
        id: Id,
        /// In which round.
        round: u32,
        /// Which way it goes.
        way: Way,
    },
    /// "This process leads." It goes round once.
    Elected(Id),
}
crate::kinds!(Message: Candidate, Elected);

/// What a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It has neither stood nor heard anything.
    #[default]
    Asleep,
    /// It competes.
    Active {
        /// The present round.
        round: u32,
        /// Whom it has heard of in this round, by the way the message went.
        heard: [Option<Id>; 2],
        /// Whom it has heard of in the next round already.
        early: [Option<Id>; 2],
    },
    /// It passes on what comes.
    Passive,
    /// It has won.
    Leader,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Franklin {
    /// What it is.
    pub role: Role,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Process for Franklin {
    type Problem = Election;
    type Topology = TwoWayRing;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Franklin::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.wake(cx);
    }

    #[inline]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Candidate { id, round, way } => self.on_candidate(id, round, way, cx),
            Message::Elected(leader) => self.on_elected(leader, cx),
        }
    }
}

impl Franklin {
    #[inline]
    fn on_candidate(&mut self, id: Id, round: u32, way: Way, cx: &mut Context<'_, Self>) {
        self.wake(cx);
        match &mut self.role {
            Role::Active { round: present, heard, .. } if round == *present => {
                heard[way.index()] = Some(id);
                self.decide(cx);
            }
            Role::Active { round: present, early, .. } if round == present.saturating_add(1) => {
                early[way.index()] = Some(id);
            }
            Role::Passive => cx.send(way.ahead(cx), Message::Candidate { id, round, way }),
            // What I sent the other way has come home, too; or the network repeats what is over.
            Role::Active { .. } | Role::Leader | Role::Asleep => {}
        }
    }

    #[inline]
    fn on_elected(&mut self, leader: Id, cx: &mut Context<'_, Self>) {
        if self.elected.is_some() {
            return; // Everybody knows.
        }
        self.elected = Some(leader);
        cx.output(Output::follows(leader));
        cx.send(cx.right(), Message::Elected(leader));
    }

    fn wake(&mut self, cx: &mut Context<'_, Self>) {
        if self.role == Role::Asleep {
            self.become_active(0, [None; 2], cx);
        }
    }

    /// Compares, once both sides have been heard.
    fn decide(&mut self, cx: &mut Context<'_, Self>) {
        let Role::Active { round, heard: [Some(one), Some(other)], early } = self.role else { return };
        let Config { variant, wins } = *cx.config();
        let rival = if wins.better(&one, &other) { one } else { other };
        if rival == cx.id() {
            self.become_leader(cx);
        } else if wins.better(&rival, &cx.id()) {
            self.become_passive(round.saturating_add(1), early, cx);
        } else if variant == Variant::MutantLocalWinner {
            self.become_leader(cx);
        } else {
            self.become_active(round.saturating_add(1), early, cx);
        }
    }

    fn become_active(&mut self, round: u32, heard: [Option<Id>; 2], cx: &mut Context<'_, Self>) {
        self.role = Role::Active { round, heard, early: [None; 2] };
        for way in Way::BOTH {
            cx.send(way.ahead(cx), Message::Candidate { id: cx.id(), round, way });
        }
        self.decide(cx);
    }

    /// What came early was not for a passive process: it goes on.
    fn become_passive(&mut self, round: u32, early: [Option<Id>; 2], cx: &mut Context<'_, Self>) {
        self.role = Role::Passive;
        for way in Way::BOTH {
            if let Some(id) = early[way.index()] {
                cx.send(way.ahead(cx), Message::Candidate { id, round, way });
            }
        }
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Leader;
        self.elected = Some(cx.id());
        cx.output(Output::leads());
        cx.send(cx.right(), Message::Elected(cx.id()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const LEFT: Address = Address(1);
    const RIGHT: Address = Address(3);

    /// The process 17 on the ring 9 - 3 - 17 - 24.
    fn seventeen(config: Config) -> Harness<Franklin> {
        Harness::new(TwoWayRing::new(4), [9, 3, 17, 24], config, Address(2))
    }

    fn awake(config: Config) -> Harness<Franklin> {
        let mut p = seventeen(config);
        p.command(Command::Elect);
        p
    }

    fn passive() -> Harness<Franklin> {
        let mut p = awake(Config::default());
        p.message(LEFT, candidate(3, 0, Way::Right));
        p.message(RIGHT, candidate(24, 0, Way::Left));
        p
    }

    fn candidate(id: u64, round: u32, way: Way) -> Message {
        Message::Candidate { id: Id(id), round, way }
    }

    fn both(round: u32) -> [(Address, Message); 2] {
        [(LEFT, candidate(17, round, Way::Left)), (RIGHT, candidate(17, round, Way::Right))]
    }

    /// S4: "Quando p acha que o líder está morto e se Ativo = 1: envia mensagem (p) à direita e à esquerda".
    #[test]
    fn who_starts_sends_its_identifier_both_ways() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.command(Command::Elect).sent(), both(0));
        assert!(p.command(Command::Elect).is_empty(), "it stands already");
    }

    #[test]
    fn a_sleeping_process_wakes_on_the_first_message() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.message(RIGHT, candidate(24, 0, Way::Left)).sent(), both(0));
    }

    /// S4: "Se max(e,d) < p: envia mensagem p à direita e à esquerda".
    #[test]
    fn who_beats_both_neighbours_goes_on() {
        let mut p = awake(Config::default());
        assert!(p.message(LEFT, candidate(3, 0, Way::Right)).is_empty(), "it waits for both");
        assert_eq!(p.message(RIGHT, candidate(9, 0, Way::Left)).sent(), both(1));
    }

    /// S4: "Se max(q,r) > p: Ativo ← 0"; "Se Ativo = 0: repassa cada messagem para o outro lado".
    #[test]
    fn who_is_beaten_passes_on_what_comes() {
        let mut p = passive();
        assert_eq!(p.process.role, Role::Passive);
        let onward = candidate(24, 1, Way::Left);
        assert_eq!(p.message(RIGHT, onward).sent(), [(LEFT, onward)]);
    }

    /// S4: "Se max(q,r) = p: p se declara líder".
    #[test]
    fn who_meets_only_itself_leads_and_says_so() {
        let mut p = awake(Config::default());
        p.message(LEFT, candidate(17, 0, Way::Right));
        let step = p.message(RIGHT, candidate(17, 0, Way::Left));
        let announce = Effect::Send { to: RIGHT, message: Message::Elected(Id(17)) };
        assert_eq!(step.effects, [Effect::Output(Output::leads()), announce]);
        assert!(p.message(LEFT, Message::Elected(Id(17))).is_empty(), "everybody knows");
    }

    #[test]
    fn what_comes_early_waits_for_its_round() {
        let mut p = awake(Config::default());
        p.message(LEFT, candidate(3, 0, Way::Right));
        assert!(p.message(LEFT, candidate(9, 1, Way::Right)).is_empty());
        assert_eq!(p.message(RIGHT, candidate(9, 0, Way::Left)).sent(), both(1));
        assert_eq!(p.message(RIGHT, candidate(3, 1, Way::Left)).sent(), both(2));
    }

    #[test]
    fn what_came_early_is_passed_on_by_the_beaten() {
        let mut p = awake(Config::default());
        p.message(LEFT, candidate(3, 0, Way::Right));
        let early = candidate(20, 1, Way::Right);
        p.message(LEFT, early);
        assert_eq!(p.message(RIGHT, candidate(24, 0, Way::Left)).sent(), [(RIGHT, early)]);
    }

    #[test]
    fn on_a_ring_of_two_the_way_tells_the_sides_apart() {
        let mut p = Harness::<Franklin>::new(TwoWayRing::new(2), [1, 2], Config::default(), Address(1));
        p.command(Command::Elect);
        assert!(p.message(Address(0), candidate(1, 0, Way::Left)).is_empty());
        assert_eq!(p.message(Address(0), candidate(1, 0, Way::Right)).sent().len(), 2);
    }

    #[test]
    fn the_announcement_is_learnt_and_passed_on() {
        let step = passive().message(LEFT, Message::Elected(Id(24)));
        let onward = Effect::Send { to: RIGHT, message: Message::Elected(Id(24)) };
        assert_eq!(step.effects, [Effect::Output(Output::follows(Id(24))), onward]);
    }

    #[test]
    fn the_order_can_be_turned_round() {
        let mut p = awake(Config { wins: Wins::Lowest, ..Config::default() });
        p.message(LEFT, candidate(20, 0, Way::Right));
        assert_eq!(p.message(RIGHT, candidate(24, 0, Way::Left)).sent(), both(1));
    }

    #[test]
    fn the_mutant_is_content_with_beating_its_neighbours() {
        let mut p = awake(Config { variant: Variant::MutantLocalWinner, ..Config::default() });
        p.message(LEFT, candidate(3, 0, Way::Right));
        assert_eq!(p.message(RIGHT, candidate(9, 0, Way::Left)).outputs(), [Output::leads()]);
    }
}
