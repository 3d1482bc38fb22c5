//! Itai and Rodeh's randomized election: the cure for anonymous rings of known size.
//!
//! A. Itai and M. Rodeh, *Symmetry breaking in distributed networks*, 1981. S4 shows with its "Anel 1" that
//! processes which are all alike cannot elect just one of them. Here each draws an identifier by lot and they
//! compete as in Chang–Roberts; a message counts its hops, so a process knows its own when it has made n of
//! them, and a bit tells whether an equal was met on the way. Equals draw again. With probability 1 the
//! election ends, with exactly one leader; no bound on the number of rounds is certain.
//!
//! On FIFO links the rounds cannot overtake each other and need not be numbered (W. Fokkink and J. Pang,
//! *Simplifying Itai-Rodeh leader election for anonymous rings*, 2005): the variant `Unnumbered` has finitely
//! many states. With numbers, links need not be FIFO. Messages: 2n if one starts; O(n log n) on average.

use std::fmt;

use super::{Command, Election, Output};
use crate::symmetry::{Part, Rotation, RotationSymmetric};
use crate::term::{Sort, TermInvariant, TermPart};
use crate::topology::Ring;
use crate::{Address, Context, Process, Term};

/// The rules: identifiers are drawn, not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Rounds are numbered: messages may overtake each other.
    #[default]
    Numbered,
    /// Every round has the number 0: for FIFO links only.
    Unnumbered,
    /// A mutant: an equal leaves the bit alone, kept to show that the checker catches it.
    MutantIgnoresTies,
}

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Somebody with this lot wants to lead." It goes on while it meets no greater lot. After n hops it is
    /// at home: its sender leads if it met no equal, and draws again if it did.
    Candidate {
        /// What its sender drew.
        lot: Lot,
        /// How many hops it has made when it arrives.
        hops: u32,
        /// Whether it has met no equal.
        unique: bool,
    },
    /// "We have a leader." It goes round once.
    Elected,
}
crate::kinds!(Message: Candidate, Elected);

/// What a candidate competes with: a later round beats an earlier one, then the greater identifier counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lot {
    /// The round in which it was drawn.
    pub round: Term,
    /// The identifier drawn, below n.
    pub id: u32,
}

/// Short, because diagrams are full of it.
impl fmt::Debug for Lot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (round {})", self.id, self.round)
    }
}

/// What a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It has neither stood nor heard anything.
    #[default]
    Asleep,
    /// It competes with this lot.
    Active(Lot),
    /// It passes on what comes.
    Passive,
    /// It has won.
    Leader,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItaiRodeh {
    /// What it is.
    pub role: Role,
}

impl Process for ItaiRodeh {
    type Problem = Election;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        ItaiRodeh::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        // Whoever has passed a message on is part of an election already.
        if self.role == Role::Asleep {
            self.stand(Term::ZERO, cx);
        }
    }

    #[inline]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Candidate { lot, hops, unique } => self.on_candidate(lot, hops, unique, cx),
            Message::Elected => self.on_elected(cx),
        }
    }
}

impl RotationSymmetric for ItaiRodeh {
    fn rotate(_: Part<'_, Self>, _: &Rotation<'_>) {
        // Nobody is named.
    }
}

impl TermInvariant for ItaiRodeh {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(ItaiRodeh { role: Role::Active(lot) })
            | TermPart::Message(Message::Candidate { lot, .. }) => visit(Sort::ROUND, &mut lot.round),
            TermPart::Process(_) | TermPart::Message(_) | TermPart::Timer(()) | TermPart::Stable(()) => {}
        }
    }
}

impl ItaiRodeh {
    #[inline]
    fn on_candidate(&mut self, lot: Lot, hops: u32, unique: bool, cx: &mut Context<'_, Self>) {
        let home = hops as usize >= cx.process_count();
        match self.role {
            Role::Active(mine) if home => self.on_own(lot == mine, unique, mine, cx),
            // Mine, but I have lost: it was overtaken by whoever beat me.
            Role::Asleep | Role::Passive if home => {}
            Role::Active(mine) if lot == mine => {
                let unique = unique && cx.config().variant == Variant::MutantIgnoresTies;
                pass_on(lot, hops, unique, cx);
            }
            Role::Active(mine) if lot < mine => {}
            Role::Asleep | Role::Active(_) | Role::Passive => {
                self.role = Role::Passive;
                pass_on(lot, hops, unique, cx);
            }
            // Whatever still travels has lost.
            Role::Leader => {}
        }
    }

    /// My own message has come home; it is stale if it is not `current`, which takes a duplicating network.
    fn on_own(&mut self, current: bool, unique: bool, mine: Lot, cx: &mut Context<'_, Self>) {
        match (current, unique) {
            (false, _) => {}
            (true, true) => self.become_leader(cx),
            (true, false) => {
                let numbered = cx.config().variant != Variant::Unnumbered;
                let next = mine.round.next().filter(|_| numbered);
                self.stand(next.unwrap_or(mine.round), cx);
            }
        }
    }

    fn on_elected(&mut self, cx: &mut Context<'_, Self>) {
        if self.role == Role::Leader {
            return; // Everybody knows.
        }
        self.role = Role::Passive;
        cx.output(Output::Follows { leader: None, term: 0 });
        cx.send(cx.successor(), Message::Elected);
    }

    /// Draws a lot and competes with it.
    fn stand(&mut self, round: Term, cx: &mut Context<'_, Self>) {
        let lot = Lot { round, id: cx.choose(cx.process_count() as u32) };
        self.role = Role::Active(lot);
        cx.send(cx.successor(), Message::Candidate { lot, hops: 1, unique: true });
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Leader;
        cx.output(Output::leads());
        cx.send(cx.successor(), Message::Elected);
    }
}

#[inline]
fn pass_on(lot: Lot, hops: u32, unique: bool, cx: &mut Context<'_, ItaiRodeh>) {
    cx.send(cx.successor(), Message::Candidate { lot, hops: hops + 1, unique });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    /// One of three processes that are all alike.
    fn one_of_three(variant: Variant) -> Harness<ItaiRodeh> {
        Harness::new(Ring::new(3), [1, 2, 3], Config { variant }, Address(0))
    }

    /// One that has drawn 1 in round 0.
    fn active(variant: Variant) -> Harness<ItaiRodeh> {
        let mut p = one_of_three(variant);
        p.will_choose([1, 2]);
        p.command(Command::Elect);
        p
    }

    fn candidate(round: u64, id: u32, hops: u32, unique: bool) -> Message {
        Message::Candidate { lot: Lot { round: Term::of(round), id }, hops, unique }
    }

    fn send(message: Message) -> Effect<ItaiRodeh> {
        Effect::Send { to: Address(1), message }
    }

    #[test]
    fn who_starts_draws_a_lot_and_sends_it_round() {
        let mut p = one_of_three(Variant::Numbered);
        p.will_choose([2]);
        assert_eq!(p.command(Command::Elect).effects, [send(candidate(0, 2, 1, true))]);
        assert_eq!(p.process.role, Role::Active(Lot { round: Term::ZERO, id: 2 }));
        assert!(p.command(Command::Elect).is_empty(), "it stands already");
    }

    #[test]
    fn a_bystander_passes_on_and_takes_no_part_any_more() {
        let mut p = one_of_three(Variant::Numbered);
        let step = p.message(Address(2), candidate(0, 0, 1, true));
        assert_eq!(step.effects, [send(candidate(0, 0, 2, true))]);
        assert!(p.command(Command::Elect).is_empty());
    }

    #[test]
    fn a_greater_lot_wins_and_a_smaller_one_dies() {
        let mut p = active(Variant::Numbered);
        assert!(p.message(Address(2), candidate(0, 0, 1, true)).is_empty());
        let step = p.message(Address(2), candidate(0, 2, 1, true));
        assert_eq!(step.effects, [send(candidate(0, 2, 2, true))]);
        assert_eq!(p.process.role, Role::Passive);
    }

    #[test]
    fn a_later_round_beats_a_greater_identifier() {
        let mut p = active(Variant::Numbered);
        p.message(Address(2), candidate(1, 0, 1, true));
        assert_eq!(p.process.role, Role::Passive);
    }

    #[test]
    fn an_equal_is_marked_and_passed_on() {
        let mut p = active(Variant::Numbered);
        let step = p.message(Address(2), candidate(0, 1, 2, true));
        assert_eq!(step.effects, [send(candidate(0, 1, 3, false))]);
        assert_eq!(p.process.role, Role::Active(Lot { round: Term::ZERO, id: 1 }));
    }

    #[test]
    fn who_was_alone_with_its_lot_leads_and_says_so() {
        let mut p = active(Variant::Numbered);
        let step = p.message(Address(2), candidate(0, 1, 3, true));
        assert_eq!(step.effects, [Effect::Output(Output::leads()), send(Message::Elected)]);
        assert!(p.message(Address(2), candidate(0, 0, 2, true)).is_empty());
        assert!(p.message(Address(2), Message::Elected).is_empty());
    }

    #[test]
    fn who_met_an_equal_draws_again() {
        let mut p = active(Variant::Numbered);
        assert_eq!(
            p.message(Address(2), candidate(0, 1, 3, false)).effects,
            [send(candidate(1, 2, 1, true))]
        );
        let mut p = active(Variant::Unnumbered);
        assert_eq!(
            p.message(Address(2), candidate(0, 1, 3, false)).effects,
            [send(candidate(0, 2, 1, true))]
        );
    }

    #[test]
    fn a_message_that_comes_home_too_late_is_of_no_consequence() {
        let mut p = active(Variant::Numbered);
        p.message(Address(2), candidate(1, 0, 1, true));
        assert!(p.message(Address(2), candidate(0, 1, 3, false)).is_empty());
    }

    #[test]
    fn the_others_learn_that_there_is_a_leader_but_not_who() {
        let mut p = one_of_three(Variant::Numbered);
        let step = p.message(Address(2), Message::Elected);
        let follows = Effect::Output(Output::Follows { leader: None, term: 0 });
        assert_eq!(step.effects, [follows, send(Message::Elected)]);
    }

    #[test]
    fn the_mutant_does_not_mark_an_equal() {
        let mut p = active(Variant::MutantIgnoresTies);
        let step = p.message(Address(2), candidate(0, 1, 2, true));
        assert_eq!(step.effects, [send(candidate(0, 1, 3, true))]);
    }
}
