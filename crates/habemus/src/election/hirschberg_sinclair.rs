//! Hirschberg and Sinclair's election on a two-way ring: candidates probe ever larger neighbourhoods.
//!
//! D. Hirschberg and J. Sinclair, *Decentralized extrema-finding in circular configurations of
//! processors*, 1980. In phase k a candidate probes 2ᵏ processes on each side and goes on only if none of
//! them is better; the probe that comes all the way round has won. Two that survive phase k are more than 2ᵏ
//! apart, so at most n/(2ᵏ+1) enter phase k+1, each for at most 4·2ᵏ⁺¹ messages, and phase ⌈log₂ n⌉ is the
//! last: at most 8n(1 + ⌈log₂ n⌉) messages, and n to announce. Every message is about one candidate and one
//! phase, so links need not be FIFO.

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
    /// The paper's, with an announcement. A worse probe is dropped; the paper has it refused, which costs a
    /// message for each hop back and tells the candidate nothing that the announcement does not.
    #[default]
    Announced,
    /// A mutant: who is clear on both sides leads at once, kept to show that the checker catches it.
    MutantLocalWinner,
}

/// What travels along the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This process wants to lead; is a better one near?" It dies at a better one. The last process of the
    /// neighbourhood answers with [`Clear`](Message::Clear).
    Probe {
        /// Whose.
        candidate: Id,
        /// The phase: it goes 2^phase hops far.
        phase: u8,
        /// How many hops it has made when it arrives.
        hops: u32,
        /// Which way it goes.
        way: Way,
    },
    /// "No better one on this side." It goes back to the candidate, which needs one from each side.
    Clear {
        /// Whose probe it answers.
        candidate: Id,
        /// Of which phase.
        phase: u8,
        /// Which way it goes.
        way: Way,
    },
    /// "This process leads." It goes round once.
    Elected(Id),
}
crate::kinds!(Message: Probe, Clear, Elected);

/// What a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It has neither stood nor heard anything.
    #[default]
    Asleep,
    /// It probes.
    Candidate {
        /// The present phase.
        phase: u8,
        /// From which side it has heard that no better one is there.
        clear: [bool; 2],
    },
    /// It has heard of a better one.
    Lost,
    /// It has won.
    Leader,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HirschbergSinclair {
    /// What it is.
    pub role: Role,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Process for HirschbergSinclair {
    type Problem = Election;
    type Topology = TwoWayRing;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        HirschbergSinclair::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.wake(cx);
    }

    #[inline]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Probe { candidate, phase, hops, way } => self.on_probe(candidate, phase, hops, way, cx),
            Message::Clear { candidate, phase, way } => self.on_clear(candidate, phase, way, cx),
            Message::Elected(leader) => self.on_elected(leader, cx),
        }
    }
}

impl HirschbergSinclair {
    #[inline]
    fn on_probe(&mut self, candidate: Id, phase: u8, hops: u32, way: Way, cx: &mut Context<'_, Self>) {
        if candidate == cx.id() {
            // The probe that went the other way comes home later; one is enough.
            if matches!(self.role, Role::Candidate { .. }) {
                self.become_leader(cx);
            }
        } else if cx.config().wins.better(&candidate, &cx.id()) {
            self.role = Role::Lost;
            pass_on(candidate, phase, hops, way, cx);
        } else {
            self.wake(cx);
        }
    }

    #[inline]
    fn on_clear(&mut self, candidate: Id, phase: u8, way: Way, cx: &mut Context<'_, Self>) {
        if candidate != cx.id() {
            cx.send(way.ahead(cx), Message::Clear { candidate, phase, way });
            return;
        }
        match &mut self.role {
            Role::Candidate { phase: present, clear } if *present == phase => {
                clear[way.index()] = true;
                if *clear != [true, true] {
                    return;
                }
                if cx.config().variant == Variant::MutantLocalWinner {
                    self.become_leader(cx);
                } else {
                    self.probe(phase.saturating_add(1), cx);
                }
            }
            // A better one has been heard of since.
            _ => {}
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

    /// A sleeping process stands as soon as it hears of a worse candidate.
    fn wake(&mut self, cx: &mut Context<'_, Self>) {
        if self.role == Role::Asleep {
            self.probe(0, cx);
        }
    }

    fn probe(&mut self, phase: u8, cx: &mut Context<'_, Self>) {
        self.role = Role::Candidate { phase, clear: [false; 2] };
        for way in Way::BOTH {
            cx.send(way.ahead(cx), Message::Probe { candidate: cx.id(), phase, hops: 1, way });
        }
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Leader;
        self.elected = Some(cx.id());
        cx.output(Output::leads());
        cx.send(cx.right(), Message::Elected(cx.id()));
    }
}

/// Sends a probe on, or back with the good news if it has come far enough.
#[inline]
fn pass_on(candidate: Id, phase: u8, hops: u32, way: Way, cx: &mut Context<'_, HirschbergSinclair>) {
    let far = 1_u64.checked_shl(phase.into()).unwrap_or(u64::MAX);
    if u64::from(hops) < far {
        cx.send(way.ahead(cx), Message::Probe { candidate, phase, hops: hops.saturating_add(1), way });
    } else {
        let way = way.opposite();
        cx.send(way.ahead(cx), Message::Clear { candidate, phase, way });
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
    fn seventeen(config: Config) -> Harness<HirschbergSinclair> {
        Harness::new(TwoWayRing::new(4), [9, 3, 17, 24], config, Address(2))
    }

    fn awake(config: Config) -> Harness<HirschbergSinclair> {
        let mut p = seventeen(config);
        p.command(Command::Elect);
        p
    }

    fn probe(candidate: u64, phase: u8, hops: u32, way: Way) -> Message {
        Message::Probe { candidate: Id(candidate), phase, hops, way }
    }

    fn clear(candidate: u64, phase: u8, way: Way) -> Message {
        Message::Clear { candidate: Id(candidate), phase, way }
    }

    fn both(phase: u8) -> [(Address, Message); 2] {
        [(LEFT, probe(17, phase, 1, Way::Left)), (RIGHT, probe(17, phase, 1, Way::Right))]
    }

    #[test]
    fn who_starts_probes_both_its_neighbours() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.command(Command::Elect).sent(), both(0));
        assert!(p.command(Command::Elect).is_empty(), "it stands already");
    }

    #[test]
    fn a_better_probe_goes_on_until_it_has_come_far_enough() {
        let mut p = awake(Config::default());
        let step = p.message(RIGHT, probe(24, 1, 1, Way::Left));
        assert_eq!(step.sent(), [(LEFT, probe(24, 1, 2, Way::Left))]);
        let step = p.message(RIGHT, probe(24, 1, 2, Way::Left));
        assert_eq!(step.sent(), [(RIGHT, clear(24, 1, Way::Right))]);
        assert_eq!(p.process.role, Role::Lost);
    }

    #[test]
    fn a_worse_probe_dies_and_wakes_a_sleeper() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.message(LEFT, probe(3, 0, 1, Way::Right)).sent(), both(0));
        assert!(p.message(LEFT, probe(3, 0, 1, Way::Right)).is_empty());
    }

    #[test]
    fn a_sleeper_that_hears_of_a_better_one_never_stands() {
        let mut p = seventeen(Config::default());
        p.message(RIGHT, probe(24, 0, 1, Way::Left));
        assert!(p.command(Command::Elect).is_empty());
    }

    #[test]
    fn when_both_sides_are_clear_it_probes_twice_as_far() {
        let mut p = awake(Config::default());
        assert!(p.message(LEFT, clear(17, 0, Way::Right)).is_empty());
        assert!(p.message(LEFT, clear(17, 0, Way::Right)).is_empty(), "the same side again is not the other");
        assert_eq!(p.message(RIGHT, clear(17, 0, Way::Left)).sent(), both(1));
    }

    #[test]
    fn the_news_for_another_is_passed_on() {
        let step = awake(Config::default()).message(LEFT, clear(24, 3, Way::Right));
        assert_eq!(step.sent(), [(RIGHT, clear(24, 3, Way::Right))]);
    }

    #[test]
    fn who_has_heard_of_a_better_one_gives_up_even_if_its_sides_are_clear() {
        let mut p = awake(Config::default());
        p.message(LEFT, clear(17, 0, Way::Right));
        p.message(RIGHT, probe(24, 1, 1, Way::Left));
        assert!(p.message(RIGHT, clear(17, 0, Way::Left)).is_empty());
    }

    #[test]
    fn whose_probe_comes_home_leads_and_says_so_once() {
        let mut p = awake(Config::default());
        let step = p.message(LEFT, probe(17, 0, 4, Way::Right));
        let announce = Effect::Send { to: RIGHT, message: Message::Elected(Id(17)) };
        assert_eq!(step.effects, [Effect::Output(Output::leads()), announce]);
        assert!(p.message(RIGHT, probe(17, 0, 4, Way::Left)).is_empty());
        assert!(p.message(LEFT, Message::Elected(Id(17))).is_empty());
    }

    #[test]
    fn the_announcement_is_learnt_and_passed_on() {
        let mut p = awake(Config::default());
        let step = p.message(LEFT, Message::Elected(Id(24)));
        let onward = Effect::Send { to: RIGHT, message: Message::Elected(Id(24)) };
        assert_eq!(step.effects, [Effect::Output(Output::follows(Id(24))), onward]);
    }

    #[test]
    fn the_order_can_be_turned_round() {
        let mut p = awake(Config { wins: Wins::Lowest, ..Config::default() });
        let step = p.message(LEFT, probe(3, 0, 1, Way::Right));
        assert_eq!(step.sent(), [(LEFT, clear(3, 0, Way::Left))]);
    }

    #[test]
    fn the_mutant_is_content_with_beating_its_neighbours() {
        let mut p = awake(Config { variant: Variant::MutantLocalWinner, ..Config::default() });
        p.message(LEFT, clear(17, 0, Way::Right));
        assert_eq!(p.message(RIGHT, clear(17, 0, Way::Left)).outputs(), [Output::leads()]);
    }
}
