//! Franklin's election as S4 lists it, by the letter.
//!
//! The listing differs from the paper in three ways. A process that turns passive sends −p both ways; the
//! next active process takes that for the message of a neighbour that lost, and plays a whole round against
//! it. Every loser costs the winner such a round: the highest identifier still wins, but Θ(n²) messages are
//! sent. Nobody wakes: who has not started answers only once it has heard from both sides, so on a ring of
//! three or more a lone initiator waits for ever. And only the winner learns the result. Links must be FIFO.

use std::collections::VecDeque;

use super::super::way::Way;
use super::super::{Command, Election, Output, Wins};
use crate::topology::TwoWayRing;
use crate::{Address, Context, Id, Process};

/// The listing leaves one thing to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Which end of the order wins.
    pub wins: Wins,
}

/// What travels along the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// The listing's p: "this process is active."
    Candidate {
        /// Who.
        id: Id,
        /// Which way it goes.
        way: Way,
    },
    /// The listing's −p: "this process has turned passive." Nobody is beaten by it.
    Resigned {
        /// Who.
        id: Id,
        /// Which way it goes.
        way: Way,
    },
}
crate::kinds!(Message: Candidate, Resigned);

impl Message {
    fn way(self) -> Way {
        match self {
            Message::Candidate { way, .. } | Message::Resigned { way, .. } => way,
        }
    }

    /// Whom there is to beat.
    fn rival(self) -> Option<Id> {
        match self {
            Message::Candidate { id, .. } => Some(id),
            Message::Resigned { .. } => None,
        }
    }
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FranklinAsPrinted {
    /// The listing's Ativo.
    pub active: bool,
    /// Whether it has declared itself the leader.
    pub leader: bool,
    /// What has arrived, by the way it went, and waits for its counterpart from the other side.
    pub waiting: [VecDeque<Message>; 2],
}

impl Process for FranklinAsPrinted {
    type Problem = Election;
    type Topology = TwoWayRing;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        FranklinAsPrinted { active: true, leader: false, waiting: Default::default() }
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if self.active {
            send_both(|id, way| Message::Candidate { id, way }, cx);
        }
    }

    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        if self.leader {
            return; // Having declared itself, it is done: nothing may circle for ever.
        }
        self.waiting[message.way().index()].push_back(message);
        while self.active
            && let [Some(one), Some(other)] = self.waiting.each_ref().map(|side| side.front().copied())
        {
            for side in &mut self.waiting {
                side.pop_front();
            }
            self.on_both(one, other, cx);
        }
        if !self.active && !self.leader {
            for message in self.waiting.iter_mut().flat_map(|side| side.drain(..)) {
                cx.send(message.way().ahead(cx), message);
            }
        }
    }
}

impl FranklinAsPrinted {
    /// "Quando p recebe e e d, da esquerda e da direita".
    fn on_both(&mut self, one: Message, other: Message, cx: &mut Context<'_, Self>) {
        let wins = cx.config().wins;
        let beats = |rival: Option<Id>| rival.is_some_and(|rival| wins.better(&rival, &cx.id()));
        let rivals = [one.rival(), other.rival()];
        if rivals.into_iter().any(beats) {
            self.active = false;
            send_both(|id, way| Message::Resigned { id, way }, cx);
        } else if rivals.contains(&Some(cx.id())) {
            self.active = false;
            self.leader = true;
            cx.output(Output::leads());
        } else {
            send_both(|id, way| Message::Candidate { id, way }, cx);
        }
    }
}

fn send_both(message: impl Fn(Id, Way) -> Message, cx: &mut Context<'_, FranklinAsPrinted>) {
    for way in Way::BOTH {
        cx.send(way.ahead(cx), message(cx.id(), way));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    const LEFT: Address = Address(1);
    const RIGHT: Address = Address(3);

    /// The process 17 on the ring 9 - 3 - 17 - 24, which has started.
    fn seventeen() -> Harness<FranklinAsPrinted> {
        let mut p = Harness::new(TwoWayRing::new(4), [9, 3, 17, 24], Config::default(), Address(2));
        p.command(Command::Elect);
        p
    }

    fn candidate(id: u64, way: Way) -> Message {
        Message::Candidate { id: Id(id), way }
    }

    fn resigned(id: u64, way: Way) -> Message {
        Message::Resigned { id: Id(id), way }
    }

    /// S4: "Se max(q,r) > p: Ativo ← 0; envia mensagem −p à direita e à esquerda".
    #[test]
    fn who_is_beaten_says_so_both_ways_and_passes_on_what_comes() {
        let mut p = seventeen();
        p.message(LEFT, candidate(3, Way::Right));
        let step = p.message(RIGHT, candidate(24, Way::Left));
        assert_eq!(step.sent(), [(LEFT, resigned(17, Way::Left)), (RIGHT, resigned(17, Way::Right))]);
        let step = p.message(RIGHT, candidate(24, Way::Left));
        assert_eq!(step.sent(), [(LEFT, candidate(24, Way::Left))]);
    }

    #[test]
    fn a_resignation_counts_as_a_neighbour_to_beat() {
        let mut p = seventeen();
        p.message(LEFT, resigned(3, Way::Right));
        let step = p.message(RIGHT, resigned(24, Way::Left));
        assert_eq!(step.sent(), [(LEFT, candidate(17, Way::Left)), (RIGHT, candidate(17, Way::Right))]);
    }

    /// S4: "Se max(q,r) = p: p se declara líder".
    #[test]
    fn who_meets_itself_leads_and_tells_nobody() {
        let mut p = seventeen();
        p.message(LEFT, resigned(3, Way::Right));
        let step = p.message(RIGHT, candidate(17, Way::Left));
        assert_eq!((step.outputs(), step.sent()), (vec![Output::leads()], vec![]));
        assert!(p.message(RIGHT, candidate(17, Way::Left)).is_empty());
    }

    /// S4 has no rule for one message alone.
    #[test]
    fn who_has_not_started_answers_only_when_it_has_heard_both_sides() {
        let mut p = Harness::<FranklinAsPrinted>::new(
            TwoWayRing::new(4),
            [9, 3, 17, 24],
            Config::default(),
            Address(2),
        );
        assert!(p.message(LEFT, candidate(3, Way::Right)).is_empty());
        assert_eq!(p.message(RIGHT, candidate(9, Way::Left)).sent().len(), 2);
    }

    #[test]
    fn what_waited_goes_on_when_its_place_turns_passive() {
        let mut p = seventeen();
        p.message(LEFT, candidate(3, Way::Right));
        p.message(LEFT, candidate(9, Way::Right));
        let step = p.message(RIGHT, candidate(24, Way::Left));
        assert_eq!(step.sent()[2..], [(RIGHT, candidate(9, Way::Right))]);
    }
}
