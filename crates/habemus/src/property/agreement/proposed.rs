//! Validity: only what was proposed is decided.

use std::collections::BTreeSet;

use super::ledger::{Ledger, show};
use crate::agreement::{Agreement, Output, Value};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Validity: what a loyal process decides, somebody has proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Proposed {
    ledger: Ledger,
    proposals: BTreeSet<Value>,
}

impl Monitor<Agreement> for Proposed {
    fn name(&self) -> &'static str {
        "validity"
    }

    fn demand(&self) -> &'static str {
        "What a loyal process decides, somebody has proposed."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, who: &Population) -> Result<(), Violation> {
        self.ledger.observe(seen);
        match seen.what {
            ObservedEvent::Command(command) => {
                self.proposals.insert(command.value(who.id(seen.process)));
            }
            ObservedEvent::Output(Output::Proposed(value)) => {
                self.proposals.insert(*value);
            }
            ObservedEvent::Output(output) if self.ledger.is_loyal(seen.process) => {
                let decision = output.decision().unwrap_or_default();
                if decision.iter().any(|value| !self.proposals.contains(value)) {
                    let (when, process) = (at(seen.at), who.id(seen.process));
                    let decision = show(decision);
                    return Err(Violation(format!(
                        "{when} {process} decided {decision}, which nobody had proposed"
                    )));
                }
            }
            ObservedEvent::Output(_) | ObservedEvent::Started | ObservedEvent::Crashed => {}
        }
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // A loyal process has decided.
        self.ledger.loyal_decisions().next().is_some()
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Command;
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn a_value_or_an_identifier_is_proposed() {
        let mut run = Rehearsal::started([1, 2], |_| Proposed::default());
        run.command(1, Command::Propose(Some(Value::Number(7))));
        run.command(2, Command::Propose(None));
        run.output(1, Output::Decided(Value::Number(7)));
        run.output(2, Output::Decided(Value::Number(2)));
        assert_eq!(run.violation(), None);
        run.output(2, Output::Decided(Value::Number(1)));
        assert_eq!(run.violation(), Some("at 7ms 2 decided 1, which nobody had proposed"));
    }

    #[test]
    fn an_order_is_a_proposal() {
        let mut run = Rehearsal::started([1, 2], |_| Proposed::default());
        run.output(1, Output::Proposed(Value::Attack));
        run.output(2, Output::Decided(Value::Attack));
        assert_eq!(run.violation(), None);
    }
}
