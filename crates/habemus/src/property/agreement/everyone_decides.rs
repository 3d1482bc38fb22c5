//! Termination: in the end everybody has decided.

use std::collections::BTreeSet;

use super::ledger::Ledger;
use crate::Address;
use crate::agreement::{Agreement, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, crowd};

/// Termination: if a process that stays up has proposed, every live loyal process decides in the end. If all
/// that proposed have crashed, nobody else may ever have heard of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EveryoneDecides {
    ledger: Ledger,
    /// Those that have proposed and not crashed since.
    proposers: BTreeSet<Address>,
}

impl Monitor<Agreement> for EveryoneDecides {
    fn name(&self) -> &'static str {
        "termination"
    }

    fn demand(&self) -> &'static str {
        "If a process that stays up has proposed, in the end every live loyal process has decided."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, _: &Population) -> Result<(), Violation> {
        self.ledger.observe(seen);
        match seen.what {
            ObservedEvent::Command(_) | ObservedEvent::Output(Output::Proposed(_)) => {
                self.proposers.insert(seen.process);
            }
            ObservedEvent::Crashed => {
                self.proposers.remove(&seen.process);
            }
            ObservedEvent::Started | ObservedEvent::Output(_) => {}
        }
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // One who stays up has proposed, and somebody has still to decide.
        !self.proposers.is_empty() && self.ledger.undecided().next().is_some()
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        let mut undecided = self.ledger.undecided().peekable();
        if self.proposers.is_empty() || undecided.peek().is_none() {
            return Verdict::Holds;
        }
        Verdict::missing(end, format!("{} ended without a decision", crowd(undecided, who)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::{Command, Value};
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn whoever_is_live_and_loyal_must_decide() {
        let mut run = Rehearsal::started([1, 2, 3, 4], |_| EveryoneDecides::default());
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.command(1, Command::Propose(None));
        run.crash(3);
        run.output(4, Output::Betrays);
        let lacking = |end| Verdict::missing(end, "1 and 2 ended without a decision".to_owned());
        assert_eq!(run.at_end(End::Quiet), lacking(End::Quiet));
        assert_eq!(run.at_end(End::CutOff), lacking(End::CutOff));
        run.output(1, Output::Decided(Value::Number(1)));
        run.output(2, Output::Decided(Value::Number(1)));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        // One who recovers must tell its application again.
        run.start(3);
        let lacking = Violation("3 ended without a decision".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(lacking));
    }

    #[test]
    fn nobody_can_decide_what_died_with_its_proposer() {
        let mut run = Rehearsal::started([1, 2], |_| EveryoneDecides::default());
        run.command(1, Command::Propose(None));
        run.crash(1);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }
}
