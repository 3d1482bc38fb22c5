//! FloodSet: consensus in spite of crashes, in f+1 rounds (S1 poses the problem; N. Lynch, *Distributed
//! Algorithms*, 1996, section 6.2).
//!
//! In each round every process tells all others every value that it knows of. A process that crashes in the
//! midst of it may have told some and not others; but of f+1 rounds at least one is without a crash if at
//! most f processes fail, and after that round all know the same values and decide on the least. With f
//! rounds a chain of f crashes can hide a value from all but one. (f+1)·n(n−1) messages, exactly, if nobody
//! crashes.

use std::collections::BTreeSet;

use super::{Agreement, Command, Output, Value};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::topology::Complete;
use crate::{Address, Context};

/// How long values are flooded before everybody decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// How many rounds: one more than the crashes to withstand.
    pub rounds: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { variant: Variant::Everything, rounds: 2 }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Everyone sends everything it knows in each round.
    Everything,
    /// Everyone sends only what is new to it: what it has told before, all that are up have heard.
    NewsOnly,
    /// A mutant: everyone repeats only its own value, kept to show that the checker catches it: nobody passes
    /// on what a crashed process told it alone.
    MutantOwnValue,
}

/// What processes send each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "These values I know of." Sent to all in each round; nothing answers it.
    Values(BTreeSet<Value>),
}
crate::kinds!(Message: Values);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloodSet {
    /// What its application proposes. What counts is what it proposed before the first round.
    pub proposal: Option<Command>,
    /// The values it knows of: the paper's W.
    pub values: BTreeSet<Value>,
    /// Those of them that it has told the others.
    pub told: BTreeSet<Value>,
}

impl Round for FloodSet {
    type Problem = Agreement;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(_: &mut Context<'_, Synchronous<Self>>) -> Self {
        FloodSet::default()
    }

    fn on_command(&mut self, command: Command) {
        self.proposal.get_or_insert(command);
    }

    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next {
        if pulse == 0 {
            self.values.extend(self.proposal.map(|proposal| proposal.value(cx.context().id())));
        }
        for (_, Message::Values(values)) in arrived {
            self.values.extend(values);
        }
        if pulse < cx.context().config().rounds {
            self.tell(cx);
            return Next::Continue;
        }
        self.decide(cx);
        Next::Halt
    }
}

impl FloodSet {
    fn tell(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        let values = match cx.context().config().variant {
            Variant::Everything => self.values.clone(),
            Variant::NewsOnly => self.values.difference(&self.told).copied().collect(),
            Variant::MutantOwnValue => {
                self.proposal.map(|proposal| proposal.value(cx.context().id())).into_iter().collect()
            }
        };
        if cx.context().config().variant == Variant::NewsOnly {
            self.told.extend(&values);
            if values.is_empty() {
                return;
            }
        }
        cx.broadcast(&Message::Values(values));
    }

    /// The least value: any rule would do that makes the same of the same values. If nobody has proposed
    /// anything there is nothing to decide.
    fn decide(&self, cx: &mut Pulse<'_, '_, Self>) {
        if let Some(&smallest) = self.values.first() {
            cx.output(Output::Decided(smallest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Beat;
    use crate::testing::Harness;
    use crate::{Id, Step};

    type P = Synchronous<FloodSet>;

    /// The process 2 of 1, 2 and 3, at address 1, which proposes 5.
    fn two(config: Config) -> Harness<P> {
        let mut p = Harness::new(Complete::new(3), 1..=3, config, Address(1));
        p.command(Command::Propose(Some(Value::Number(5))));
        p
    }

    fn set<const N: usize>(numbers: [u64; N]) -> Message {
        Message::Values(numbers.into_iter().map(Value::Number).collect())
    }

    /// A message as the process at address 0 sends it in the first pulse of its own run.
    fn from_one(proposal: u64) -> (Address, <P as crate::Process>::Message) {
        let mut p = Harness::<P>::new(Complete::new(3), 1..=3, Config::default(), Address(0));
        p.command(Command::Propose(Some(Value::Number(proposal))));
        (Address(0), p.timer(Beat).sent().swap_remove(0).1)
    }

    fn sent(step: &Step<P>) -> Vec<(Address, String)> {
        step.sent().into_iter().map(|(to, message)| (to, format!("{message:?}"))).collect()
    }

    /// What is shown of a set that goes to both others.
    fn to_both(values: &Message) -> Vec<(Address, String)> {
        [0, 2].map(|to| (Address(to), format!("{values:?}"))).into()
    }

    /// Lynch: "each process broadcasts W, then adds all the elements of the received sets to W".
    #[test]
    fn it_tells_what_it_knows_in_each_round_and_decides_after_the_last() {
        let mut p = two(Config::default());
        assert_eq!(sent(&p.timer(Beat)), to_both(&set([5])));
        let (from, values) = from_one(3);
        p.message(from, values);
        assert_eq!(sent(&p.timer(Beat)), to_both(&set([3, 5])));
        let last = p.timer(Beat);
        assert_eq!((last.outputs(), last.effects.len()), (vec![Output::Decided(Value::Number(3))], 1));
    }

    #[test]
    fn with_one_round_it_decides_at_once() {
        let mut p = two(Config { rounds: 1, ..Config::default() });
        p.timer(Beat);
        assert_eq!(p.timer(Beat).outputs(), [Output::Decided(Value::Number(5))]);
    }

    #[test]
    fn a_proposal_without_a_value_is_the_identifier_and_a_second_one_counts_nothing() {
        let mut p = Harness::<P>::new(Complete::new(2), [8, 9], Config::default(), Address(1));
        p.command(Command::Propose(None));
        p.command(Command::Propose(Some(Value::Number(1))));
        p.timer(Beat);
        assert_eq!(p.process.round.values, BTreeSet::from([Value::Number(Id(9).0)]));
    }

    #[test]
    fn where_nobody_proposes_there_is_nothing_to_decide() {
        let mut p = Harness::<P>::new(Complete::new(3), 1..=3, Config::default(), Address(0));
        for _ in 0..3 {
            assert_eq!(p.timer(Beat).outputs(), []);
        }
    }

    #[test]
    fn with_news_only_nothing_is_said_twice() {
        let mut p = two(Config { variant: Variant::NewsOnly, rounds: 3 });
        assert_eq!(sent(&p.timer(Beat)), to_both(&set([5])));
        let (from, values) = from_one(3);
        p.message(from, values);
        assert_eq!(sent(&p.timer(Beat)), to_both(&set([3])));
        assert_eq!(sent(&p.timer(Beat)), []);
        assert_eq!(p.timer(Beat).outputs(), [Output::Decided(Value::Number(3))]);
    }

    #[test]
    fn the_mutant_passes_nothing_on() {
        let mut p = two(Config { variant: Variant::MutantOwnValue, ..Config::default() });
        p.timer(Beat);
        let (from, values) = from_one(3);
        p.message(from, values);
        assert_eq!(sent(&p.timer(Beat)), to_both(&set([5])));
    }
}
