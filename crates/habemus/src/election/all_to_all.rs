//! Everybody tells everybody (S0 "Ideia 0"; S2's first synchronous version), in a complete graph.
//!
//! In pulse 0 every candidate sends its identifier to all others; in pulse 1 everybody has heard all
//! candidates and picks the best. Messages: n−1 for each candidate, so n(n−1) = O(n²) if all are; time: one
//! pulse, O(1).

use super::{Command, Election, Output, Wins};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::topology::Complete;
use crate::{Address, Context, Id};

/// Who stands, and which identifier wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Who stands.
    pub candidates: Candidates,
    /// Which end of the order wins.
    pub wins: Wins,
    /// Whether it will be held again, by all that are not suspected. If one of them is silent it is cut off,
    /// and to elect without it would make two leaders: then there is no result.
    pub service: bool,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Those of the notes.
    #[default]
    Plain,
    /// A mutant: a candidate leaves itself out when it picks the best, kept to show that the checker catches
    /// it.
    MutantForgetsItself,
}

/// Who stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Candidates {
    /// Everybody (S0).
    #[default]
    All,
    /// Those that were told to elect before pulse 0 (S2). Later commands change nothing: the election takes
    /// place once.
    Told,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This process wants to lead." Nothing answers it: the receiver hears all others in the same pulse.
    Candidate(Id),
}
crate::kinds!(Message: Candidate);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllToAll {
    /// Whether its application wants an election.
    pub told: bool,
    /// Whether it has sent its identifier.
    pub candidate: bool,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Round for AllToAll {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(_: &mut Context<'_, Synchronous<Self>>) -> Self {
        AllToAll::default()
    }

    fn on_command(&mut self, Command::Elect: Command) {
        self.told = true;
    }

    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next {
        if pulse == 0 {
            self.stand(cx);
            Next::Continue
        } else {
            self.decide(&arrived, cx);
            Next::Halt
        }
    }
}

impl AllToAll {
    fn stand(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        self.candidate = self.told || cx.context().config().candidates == Candidates::All;
        if self.candidate {
            let id = cx.context().id();
            cx.broadcast(&Message::Candidate(id));
        }
    }

    fn decide(&mut self, arrived: &[(Address, Message)], cx: &mut Pulse<'_, '_, Self>) {
        let (id, config) = (cx.context().id(), cx.context().config());
        if config.service && config.candidates == Candidates::All {
            let others = cx.context().neighbours().count();
            if arrived.len() < others {
                return;
            }
        }
        let counts_itself = self.candidate && config.variant != Variant::MutantForgetsItself;
        let others = arrived.iter().map(|(_, Message::Candidate(candidate))| *candidate);
        let candidates = others.chain(counts_itself.then_some(id));
        let better = |one, other| if config.wins.better(&one, &other) { one } else { other };
        self.elected = candidates.reduce(better);
        if let Some(leader) = self.elected {
            cx.output(if leader == id { Output::leads() } else { Output::follows(leader) });
        }
        // Otherwise nobody stood, and there is nothing to say.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Beat;
    use crate::testing::Harness;

    /// The process 5 of 3, 5 and 9.
    fn five(config: Config) -> Harness<Synchronous<AllToAll>> {
        Harness::new(Complete::new(3), [3, 5, 9], config, Address(1))
    }

    /// Runs pulse 0 and says to whom the identifier went.
    fn first_pulse(p: &mut Harness<Synchronous<AllToAll>>) -> Vec<Address> {
        let sent = p.timer(Beat).sent();
        assert!(sent.iter().all(|(_, message)| format!("{message:?}") == "Candidate(5)"));
        sent.into_iter().map(|(to, _)| to).collect()
    }

    /// What 5 says in pulse 1 if these others stand.
    fn decides(config: &Config, others: &[u32]) -> Vec<Output> {
        let mut p = five(config.clone());
        first_pulse(&mut p);
        for &other in others {
            let mut sender = Harness::<Synchronous<AllToAll>>::new(
                Complete::new(3),
                [3, 5, 9],
                Config { candidates: Candidates::All, ..config.clone() },
                Address(other),
            );
            let sent = sender.timer(Beat).sent();
            let (_, message) = sent.into_iter().find(|(to, _)| *to == Address(1)).expect("it sends to all");
            p.message(Address(other), message);
        }
        p.timer(Beat).outputs()
    }

    /// S0: "todos enviam mensagem para todos, para que todos conheçam os identificadores".
    #[test]
    fn everybody_sends_its_identifier_to_everybody() {
        assert_eq!(first_pulse(&mut five(Config::default())), [Address(0), Address(2)]);
    }

    /// S2: "no pulso s = 0, todo candidato envia sua identificação para todos os outros nós".
    #[test]
    fn only_candidates_send_where_not_all_are() {
        let config = Config { candidates: Candidates::Told, ..Config::default() };
        let mut p = five(config.clone());
        assert_eq!(first_pulse(&mut p), []);
        let mut p = five(config);
        p.command(Command::Elect);
        assert_eq!(first_pulse(&mut p), [Address(0), Address(2)]);
    }

    /// S2: "no pulso s = 1, todo nó recebeu a identificação dos outros candidatos e pode decidir sobre o
    /// líder".
    #[test]
    fn everybody_picks_the_best_candidate() {
        assert_eq!(decides(&Config::default(), &[0, 2]), [Output::follows(Id(9))]);
        assert_eq!(decides(&Config::default(), &[0]), [Output::leads()]);
        let lowest = Config { wins: Wins::Lowest, ..Config::default() };
        assert_eq!(decides(&lowest, &[0, 2]), [Output::follows(Id(3))]);
        let told = Config { candidates: Candidates::Told, ..Config::default() };
        assert_eq!(decides(&told, &[0]), [Output::follows(Id(3))]);
        assert_eq!(decides(&told, &[]), []);
    }

    /// A detector below would have said who is dead: whoever else is silent may lead on the other side of a
    /// cut.
    #[test]
    fn as_a_service_it_has_no_result_while_somebody_is_silent() {
        let service = Config { service: true, ..Config::default() };
        assert_eq!(decides(&service, &[0]), []);
        assert_eq!(decides(&service, &[0, 2]), [Output::follows(Id(9))]);
    }

    #[test]
    fn a_command_that_comes_too_late_makes_no_candidate() {
        let mut p = five(Config { candidates: Candidates::Told, ..Config::default() });
        first_pulse(&mut p);
        p.command(Command::Elect);
        assert_eq!(p.timer(Beat).outputs(), []);
    }

    #[test]
    fn the_mutant_follows_a_worse_process() {
        let mutant = Config { variant: Variant::MutantForgetsItself, ..Config::default() };
        assert_eq!(decides(&mutant, &[0]), [Output::follows(Id(3))]);
    }
}
