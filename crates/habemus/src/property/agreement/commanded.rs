//! IC2: what a loyal commander orders is obeyed.

use std::collections::BTreeMap;

use super::ledger::{Ledger, show};
use crate::Address;
use crate::agreement::{Agreement, Output, Value};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation};

/// IC2 (Lamport, Shostak and Pease): if a commander is loyal, every loyal process obeys the order he gave. In
/// interactive consistency each process commands for its own place of the vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Commanded {
    ledger: Ledger,
    orders: BTreeMap<Address, Value>,
}

impl Monitor<Agreement> for Commanded {
    fn name(&self) -> &'static str {
        "IC2"
    }

    fn demand(&self) -> &'static str {
        "If a commander is loyal and stays up, every loyal process obeys his order."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, _: &Population) -> Result<(), Violation> {
        self.ledger.observe(seen);
        if let ObservedEvent::Output(Output::Proposed(value)) = seen.what {
            self.orders.insert(seen.process, *value);
        }
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // A loyal commander is up, and a loyal process has decided.
        let loyal = |commander: &Address| self.ledger.is_loyal(*commander) && self.ledger.is_up(*commander);
        self.orders.keys().any(loyal) && self.ledger.loyal_decisions().next().is_some()
    }

    fn at_end(&self, _: End, who: &Population) -> Verdict {
        let loyal = |commander: Address| self.ledger.is_loyal(commander) && self.ledger.is_up(commander);
        for (&commander, order) in self.orders.iter().filter(|(commander, _)| loyal(**commander)) {
            let disobeys = |decision: &[Value]| match decision {
                [one] => one != order,
                vector => vector.get(commander.index()) != Some(order),
            };
            if let Some((process, decision)) =
                self.ledger.loyal_decisions().find(|(_, decision)| disobeys(decision))
            {
                let (commander, process) = (who.id(commander), who.id(process));
                let sentence =
                    format!("{commander} ordered {order}, but {process} decided {}", show(decision));
                return Verdict::Violated(Violation(sentence));
            }
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::rehearsal::Rehearsal;

    fn ordered(value: Value) -> Rehearsal<Agreement, Commanded> {
        let mut run = Rehearsal::started([5, 6, 7], |_| Commanded::default());
        run.output(5, Output::Proposed(value));
        run
    }

    #[test]
    fn a_loyal_commander_is_obeyed() {
        let mut run = ordered(Value::Attack);
        run.output(5, Output::Decided(Value::Attack));
        run.output(6, Output::Decided(Value::Attack));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.output(7, Output::Decided(Value::Retreat));
        let broken = Violation("5 ordered attack, but 7 decided retreat".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(broken));
    }

    #[test]
    fn a_traitor_need_neither_be_obeyed_nor_obey() {
        let mut run = ordered(Value::Attack);
        run.output(5, Output::Betrays);
        run.output(6, Output::Decided(Value::Retreat));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        let mut run = ordered(Value::Attack);
        run.output(7, Output::Betrays);
        run.output(7, Output::Decided(Value::Retreat));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn in_a_vector_each_commands_for_its_own_place() {
        let mut run = ordered(Value::Number(5));
        run.output(6, Output::DecidedVector(vec![Value::Number(5), Value::Retreat, Value::Retreat]));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.output(7, Output::DecidedVector(vec![Value::Retreat, Value::Number(5), Value::Number(5)]));
        let broken = Violation("5 ordered 5, but 7 decided (retreat, 5, 5)".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(broken));
    }
}
