//! S4's "Anel 1": an election among processes that are all alike, kept as the counterexample.
//!
//! Nobody has an identifier, so a vote cannot be told from another's. A single candidate takes the vote that
//! comes round for its own, rightly; with two candidates each takes the other's, and both are elected. S4
//! draws the conclusion: since the processes see the same events, they must come to the same end, and
//! uniqueness cannot be had. [Itai–Rodeh](super::itai_rodeh) is the randomized cure. Messages: 2n, whoever
//! stands.

use super::{Command, Election, Output};
use crate::symmetry::{Part, Rotation, RotationSymmetric};
use crate::topology::Ring;
use crate::{Address, Context, Process};

/// The rules: without identifiers there is nothing else to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// S4's listing, by the letter.
    #[default]
    AsPrinted,
    /// A mutant: a candidate swallows the vote, kept to show that the checker catches it.
    MutantSwallow,
}

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Vote for me." Followers pass it on; the next candidate takes it for its own and is elected.
    VoteForMe,
    /// "We have a leader." Followers pass it on; the next elected process is invested.
    HabemosLeader,
}
crate::kinds!(Message: VoteForMe, HabemosLeader);

/// The notes' variable C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It passes on what comes.
    #[default]
    Follower,
    /// It has asked for votes.
    Candidate,
    /// A vote has come to it.
    Elected,
    /// It has heard that there is a leader, and takes itself for it.
    Invested,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AnonymousRing {
    /// What it is.
    pub role: Role,
}

impl Process for AnonymousRing {
    type Problem = Election;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        AnonymousRing::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if self.role == Role::Follower {
            self.role = Role::Candidate;
            cx.send(cx.successor(), Message::VoteForMe);
        }
    }

    #[inline]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::VoteForMe => self.on_vote(cx),
            Message::HabemosLeader => self.on_habemos(cx),
        }
    }
}

impl RotationSymmetric for AnonymousRing {
    fn rotate(_: Part<'_, Self>, _: &Rotation<'_>) {
        // Nobody is named.
    }
}

impl AnonymousRing {
    #[inline]
    fn on_vote(&mut self, cx: &mut Context<'_, Self>) {
        match self.role {
            Role::Follower => cx.send(cx.successor(), Message::VoteForMe),
            Role::Candidate if cx.config().variant == Variant::MutantSwallow => {}
            Role::Candidate => self.become_elected(cx),
            // The notes have no rule: the vote of somebody who stood too late ends here.
            Role::Elected | Role::Invested => {}
        }
    }

    #[inline]
    fn on_habemos(&mut self, cx: &mut Context<'_, Self>) {
        match self.role {
            Role::Follower => {
                cx.output(Output::Follows { leader: None, term: 0 });
                cx.send(cx.successor(), Message::HabemosLeader);
            }
            Role::Elected => self.role = Role::Invested,
            // The notes have no rule for a candidate: one that stood too late learns nothing, and neither
            // does whoever comes after it.
            Role::Candidate | Role::Invested => {}
        }
    }

    fn become_elected(&mut self, cx: &mut Context<'_, Self>) {
        self.role = Role::Elected;
        cx.output(Output::leads());
        cx.send(cx.successor(), Message::HabemosLeader);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    /// One of two processes; the identifiers are there for the reader, as in the notes.
    fn one_of_two(variant: Variant) -> Harness<AnonymousRing> {
        Harness::new(Ring::new(2), [1, 2], Config { variant }, Address(0))
    }

    fn follower() -> Harness<AnonymousRing> {
        one_of_two(Variant::AsPrinted)
    }

    fn candidate() -> Harness<AnonymousRing> {
        let mut p = follower();
        p.command(Command::Elect);
        p
    }

    fn send(message: Message) -> Effect<AnonymousRing> {
        Effect::Send { to: Address(1), message }
    }

    /// S4: "Quando um processo acha que o líder está morto: C ← Candidato; envia (VoteEmMim)".
    #[test]
    fn who_starts_stands_and_asks_for_votes() {
        let mut p = follower();
        assert_eq!(p.command(Command::Elect).effects, [send(Message::VoteForMe)]);
        assert_eq!(p.process.role, Role::Candidate);
        assert!(p.command(Command::Elect).is_empty(), "it stands already");
    }

    /// S4: "Se C = Seguidor, envia (VoteEmMim) para a direita".
    #[test]
    fn a_follower_passes_the_vote_on() {
        let mut p = follower();
        assert_eq!(p.message(Address(1), Message::VoteForMe).effects, [send(Message::VoteForMe)]);
        assert_eq!(p.process.role, Role::Follower);
    }

    /// S4: "Se C = Candidato: C ← Eleito; envia (HabemosLeader) para a direita".
    #[test]
    fn a_candidate_takes_the_vote_for_its_own() {
        let mut p = candidate();
        let step = p.message(Address(1), Message::VoteForMe);
        assert_eq!(step.effects, [Effect::Output(Output::leads()), send(Message::HabemosLeader)]);
        assert_eq!(p.process.role, Role::Elected);
        assert!(p.message(Address(1), Message::VoteForMe).is_empty(), "there is no rule for a second vote");
    }

    /// S4: "Quando um processo recebe (HabemosLeader): se C = Seguidor, envia (HabemosLeader)".
    #[test]
    fn a_follower_learns_that_there_is_a_leader_but_not_who() {
        let mut p = follower();
        let step = p.message(Address(1), Message::HabemosLeader);
        let follows = Effect::Output(Output::Follows { leader: None, term: 0 });
        assert_eq!(step.effects, [follows, send(Message::HabemosLeader)]);
    }

    /// S4: "Se C = Eleito, C ← Empossado".
    #[test]
    fn the_elected_is_invested_when_the_news_comes_round() {
        let mut p = candidate();
        p.message(Address(1), Message::VoteForMe);
        assert!(p.message(Address(1), Message::HabemosLeader).is_empty());
        assert_eq!(p.process.role, Role::Invested);
    }

    #[test]
    fn the_notes_leave_a_late_candidate_waiting_for_ever() {
        let mut p = candidate();
        assert!(p.message(Address(1), Message::HabemosLeader).is_empty());
        assert_eq!(p.process.role, Role::Candidate);
    }

    #[test]
    fn the_mutant_is_never_elected() {
        let mut p = one_of_two(Variant::MutantSwallow);
        p.command(Command::Elect);
        assert!(p.message(Address(1), Message::VoteForMe).is_empty());
    }
}
