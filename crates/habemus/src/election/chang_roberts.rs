//! Chang and Roberts's election on a one-way ring (S1 with participant flags and an announcement; S4).
//!
//! E. Chang and R. Roberts, *An improved algorithm for decentralized extrema-finding in circular
//! configurations of processes*, 1979. Identifiers travel round the ring; a process lets pass only those
//! better than its own, so only the best comes home. Messages: 2n if the best starts alone, 3n−1 if its
//! successor does; if all start, n(n+1)/2 + n in the worst arrangement and n·Hₙ + n on average.

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
    /// S1: whoever is reached takes part, and the winner is announced.
    #[default]
    Announced,
    /// S4's listing: only initiators compete, and only the winner learns the result.
    AsPrinted,
}

/// What travels round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This process wants to lead." It goes on while it meets no better one, and wins when it comes home.
    Election(Id),
    /// "This process leads." It goes round once.
    Elected(Id),
}
crate::kinds!(Message: Election, Elected);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChangRoberts {
    /// Whether an identifier at least as good as mine is on its way because of me. S1's; S4's listing has no
    /// such variable, and there it stays false.
    pub participant: bool,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Process for ChangRoberts {
    type Problem = Election;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        ChangRoberts::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if !self.participant {
            self.stand(cx);
        }
    }

    // All that it does is part of its driver's loop, whatever a compiler thinks of the length: it takes less
    // than the call would, for which the context has to lie in memory.
    #[inline(always)]
    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Election(candidate) => self.on_election(candidate, cx),
            Message::Elected(leader) => self.on_elected(leader, cx),
        }
    }
}

impl ChangRoberts {
    #[inline(always)]
    fn on_election(&mut self, candidate: Id, cx: &mut Context<'_, Self>) {
        let Config { variant, wins } = *cx.config();
        if candidate == cx.id() {
            self.become_leader(cx);
        } else if wins.better(&candidate, &cx.id()) {
            self.participant = variant == Variant::Announced;
            cx.send(cx.successor(), Message::Election(candidate));
        } else if !self.participant && variant == Variant::Announced {
            self.stand(cx);
        }
        // Otherwise my own identifier, or a better one, is already ahead of this one: it dies here.
    }

    #[inline(always)]
    fn on_elected(&mut self, leader: Id, cx: &mut Context<'_, Self>) {
        if leader == cx.id() {
            return; // Everybody knows.
        }
        self.participant = false;
        self.elected = Some(leader);
        cx.output(Output::follows(leader));
        cx.send(cx.successor(), Message::Elected(leader));
    }

    #[inline(always)]
    fn stand(&mut self, cx: &mut Context<'_, Self>) {
        self.participant = cx.config().variant == Variant::Announced;
        cx.send(cx.successor(), Message::Election(cx.id()));
    }

    #[inline(always)]
    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.participant = false;
        self.elected = Some(cx.id());
        cx.output(Output::leads());
        if cx.config().variant == Variant::Announced {
            cx.send(cx.successor(), Message::Elected(cx.id()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    /// The process 17 on the ring 3 → 17 → 24.
    fn seventeen(config: Config) -> Harness<ChangRoberts> {
        Harness::new(Ring::new(3), [3, 17, 24], config, Address(1))
    }

    fn send(message: Message) -> Effect<ChangRoberts> {
        Effect::Send { to: Address(2), message }
    }

    /// S1: "processo começa a eleição, cria uma mensagem com seu identificador, marca a si próprio como
    /// participante e encaminha mensagem para o próximo processo".
    #[test]
    fn who_starts_sends_its_identifier_and_takes_part() {
        let mut p = seventeen(Config::default());
        assert_eq!(p.command(Command::Elect).effects, [send(Message::Election(Id(17)))]);
        assert!(p.process.participant);
    }

    /// S1: "se o processo que recebeu tem identificador menor, encaminha para o próximo e marca como
    /// participante".
    #[test]
    fn a_better_identifier_is_forwarded() {
        let mut p = seventeen(Config::default());
        let step = p.message(Address(0), Message::Election(Id(24)));
        assert_eq!(step.effects, [send(Message::Election(Id(24)))]);
        assert!(p.process.participant);
    }

    /// S1: "se o processo que recebeu tem identificador maior e é não participante, substitui o
    /// identificador, marca como participante e encaminha a mensagem".
    #[test]
    fn a_worse_identifier_is_replaced_by_one_who_did_not_take_part() {
        let mut p = seventeen(Config::default());
        let step = p.message(Address(0), Message::Election(Id(3)));
        assert_eq!(step.effects, [send(Message::Election(Id(17)))]);
        assert!(p.process.participant);
    }

    #[test]
    fn a_worse_identifier_dies_at_a_participant() {
        let mut p = seventeen(Config::default());
        p.command(Command::Elect);
        assert!(p.message(Address(0), Message::Election(Id(3))).is_empty());
    }

    /// S1: "se o processo que recebeu verifica que é seu próprio identificador, marca-se como não
    /// participante e anuncia a eleição via mensagem elected com seu identificador".
    #[test]
    fn whose_identifier_comes_home_leads_and_says_so() {
        let mut p = seventeen(Config::default());
        p.command(Command::Elect);
        let step = p.message(Address(0), Message::Election(Id(17)));
        assert_eq!(step.effects, [Effect::Output(Output::leads()), send(Message::Elected(Id(17)))]);
        assert_eq!(p.process, ChangRoberts { participant: false, elected: Some(Id(17)) });
    }

    /// S1: "todos os processos que são participantes e recebem a mensagem elected, marcam a si próprios como
    /// não participantes, configuram a variável elected para o identificador recebido".
    #[test]
    fn the_announcement_is_learnt_and_passed_on_and_ends_at_the_leader() {
        let mut p = seventeen(Config::default());
        p.message(Address(0), Message::Election(Id(24)));
        let step = p.message(Address(0), Message::Elected(Id(24)));
        assert_eq!(step.effects, [Effect::Output(Output::follows(Id(24))), send(Message::Elected(Id(24)))]);
        assert_eq!(p.process, ChangRoberts { participant: false, elected: Some(Id(24)) });
        assert!(p.message(Address(0), Message::Elected(Id(17))).is_empty());
    }

    /// S4: "no algoritmo um processo apenas se declara líder, mas os outros não necessariamente ficam
    /// sabendo".
    #[test]
    fn as_printed_the_winner_keeps_it_to_itself() {
        let mut p = seventeen(Config { variant: Variant::AsPrinted, ..Config::default() });
        p.command(Command::Elect);
        let step = p.message(Address(0), Message::Election(Id(17)));
        assert_eq!(step.effects, [Effect::Output(Output::leads())]);
    }

    /// S4 lists no rule for a better process that has not started: the candidate dies there unanswered.
    #[test]
    fn as_printed_a_bystander_swallows_a_worse_candidate() {
        let mut p = seventeen(Config { variant: Variant::AsPrinted, ..Config::default() });
        assert!(p.message(Address(0), Message::Election(Id(3))).is_empty());
    }

    /// S4: "Quando p acha que o líder está morto: envia mensagem (p) à direita", whatever has passed before.
    #[test]
    fn as_printed_who_has_let_a_better_one_pass_stands_all_the_same() {
        let mut p = seventeen(Config { variant: Variant::AsPrinted, ..Config::default() });
        p.message(Address(0), Message::Election(Id(24)));
        assert!(!p.process.participant);
        for _ in 0..2 {
            assert_eq!(p.command(Command::Elect).effects, [send(Message::Election(Id(17)))]);
        }
    }

    #[test]
    fn the_order_can_be_turned_round() {
        let mut p = seventeen(Config { wins: Wins::Lowest, ..Config::default() });
        let step = p.message(Address(0), Message::Election(Id(3)));
        assert_eq!(step.effects, [send(Message::Election(Id(3)))]);
    }
}
