//! Interactive consistency (S1; M. Pease, R. Shostak and L. Lamport, *Reaching Agreement in the Presence of
//! Faults*, 1980): all loyal processes agree on a vector with one value for each process.
//!
//! Every process is the commander of an OM(m) of its own, all at once; the vector is what comes of them. With
//! at most m traitors among n ≥ 3m+1 the vectors of all loyal processes are equal, and in the place of each
//! loyal process stands the value that it proposed. n times the messages of the Byzantine generals, exactly.

use super::hearsay::{Hearsay, Message, others};
use super::treason::Treason;
use super::{Agreement, Command, Output, Value};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::topology::Complete;
use crate::{Address, Context, Id};

/// How much treason to withstand, and how much there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// How many traitors to withstand.
    pub m: usize,
    /// Who betrays.
    pub treason: Treason,
}

impl Default for Config {
    fn default() -> Self {
        Config { variant: Variant::Majority, m: 1, treason: Treason::default() }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Those of the paper.
    Majority,
    /// A mutant: everyone believes what each process says of itself, kept to show that the checker catches
    /// it.
    MutantTrustsEveryone,
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct InteractiveConsistency {
    /// What its application proposes, before the first pulse.
    pub proposal: Option<Command>,
    /// What it has heard of the others' values.
    pub hearsay: Hearsay,
}

impl Round for InteractiveConsistency {
    type Problem = Agreement;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(cx: &mut Context<'_, Synchronous<Self>>) -> Self {
        if cx.config().treason.is_traitor(cx.me()) {
            cx.output(Output::Betrays);
        }
        InteractiveConsistency::default()
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
        let (length, me) = (pulse as usize, cx.context().id());
        let arrived = arrived.into_iter().map(|(from, message)| (cx.context().id_of(from), message));
        self.hearsay.hear(length, arrived, me);
        if pulse == 0 {
            self.propose(cx);
        } else if length <= cx.context().config().m {
            self.pass_on(length, cx);
        } else {
            self.decide(cx);
            return Next::Halt;
        }
        Next::Continue
    }
}

impl InteractiveConsistency {
    fn propose(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        let Some(value) = self.value(cx.context().id()) else { return };
        cx.output(Output::Proposed(value));
        let treason = &cx.context().config().treason;
        for (to, message) in Hearsay::order(value, treason, cx.context()) {
            cx.send(to, message);
        }
    }

    fn pass_on(&mut self, length: usize, cx: &mut Pulse<'_, '_, Self>) {
        let everyone = others(cx.context());
        let treason = &cx.context().config().treason;
        for (to, message) in self.hearsay.passed_on(&everyone, length, treason, cx.context()) {
            cx.send(to, message);
        }
    }

    /// The vector, by address; who has no value of its own stands with a retreat in it, as if it were silent.
    fn decide(&self, cx: &mut Pulse<'_, '_, Self>) {
        let Config { variant, m, treason } = cx.context().config();
        if treason.is_traitor(cx.context().me()) {
            return;
        }
        let (me, others) = (cx.context().id(), others(cx.context()));
        let everyone =
            (0..cx.context().process_count() as u32).map(|address| cx.context().id_of(Address(address)));
        let of = |process: Id| match variant {
            _ if process == me => self.value(me).unwrap_or(Value::Retreat),
            Variant::Majority => self.hearsay.judge(process, *m, &others),
            Variant::MutantTrustsEveryone => self.hearsay.direct(&[process]),
        };
        let vector = everyone.map(of).collect();
        cx.output(Output::DecidedVector(vector));
    }

    fn value(&self, id: Id) -> Option<Value> {
        self.proposal.map(|proposal| proposal.value(id))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::agreement::lockstep::lockstep;
    use crate::agreement::treason::{Lie, Lies};

    const ALL: [(u32, Command); 4] = [
        (0, Command::Propose(None)),
        (1, Command::Propose(None)),
        (2, Command::Propose(Some(Value::Attack))),
        (3, Command::Propose(None)),
    ];

    fn vectors(config: &Config, choices: &[(u32, Vec<u32>)]) -> Vec<Vec<Value>> {
        let outputs = lockstep::<InteractiveConsistency>(4, config, &ALL, choices);
        let vector = |outputs: Vec<Output>| {
            outputs.into_iter().find_map(|output| match output {
                Output::DecidedVector(values) => Some(values),
                _ => None,
            })
        };
        outputs.into_iter().filter_map(vector).collect()
    }

    /// Pease, Shostak and Lamport: "each nonfaulty processor computes the same vector of values, with an
    /// element for each of the n processors".
    #[test]
    fn where_all_are_loyal_all_know_everything() {
        let all = [Value::Number(1), Value::Number(2), Value::Attack, Value::Number(4)];
        assert_eq!(vectors(&Config::default(), &[]), [all; 4]);
    }

    /// And: "the element corresponding to a nonfaulty processor is its private value".
    #[test]
    fn no_lie_of_a_traitor_divides_the_others_or_touches_their_values() {
        let treason = Treason { traitors: BTreeSet::from([Address(3)]), lies: Lies::Drawn };
        let config = Config { treason, ..Config::default() };
        // Its own value to three, and to each other process what two others said.
        for lies in 0_u32..1 << 9 {
            let choices = (0..9).map(|letter| lies >> letter & 1).collect();
            let vectors = vectors(&config, &[(3, choices)]);
            assert_eq!(vectors.len(), 3);
            assert!(vectors.iter().all(|vector| *vector == vectors[0]), "{lies:b}: {vectors:?}");
            assert_eq!(vectors[0][..3], [Value::Number(1), Value::Number(2), Value::Attack]);
        }
    }

    #[test]
    fn whoever_has_no_value_stands_as_if_silent() {
        let outputs = lockstep::<InteractiveConsistency>(3, &Config::default(), &ALL[..1], &[]);
        let vector = vec![Value::Number(1), Value::Retreat, Value::Retreat];
        assert_eq!(outputs[2], [Output::DecidedVector(vector)]);
    }

    #[test]
    fn the_mutant_is_divided_by_one_who_tells_each_something_else() {
        let lies = [Value::Attack, Value::Retreat, Value::Attack].map(Lie::Say).to_vec();
        let treason = Treason { traitors: BTreeSet::from([Address(3)]), lies: Lies::Scripted(lies) };
        let vectors = vectors(&Config { variant: Variant::MutantTrustsEveryone, m: 1, treason }, &[]);
        assert_ne!(vectors[0][3], vectors[1][3]);
    }
}
