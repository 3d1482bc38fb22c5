//! Integrity: a decision is final.

use super::ledger::{Ledger, show};
use crate::agreement::Agreement;
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Integrity: no loyal process decides twice. One that has crashed and recovered may tell its application
/// again, for the first time may have been lost in the crash, but nothing else than before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DecidesOnce {
    ledger: Ledger,
}

impl Monitor<Agreement> for DecidesOnce {
    fn name(&self) -> &'static str {
        "integrity"
    }

    fn demand(&self) -> &'static str {
        "No loyal process decides twice; after a crash it may repeat what it had decided."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, who: &Population) -> Result<(), Violation> {
        let process = seen.process;
        let before = self.ledger.decision(process).cloned();
        let again = self.ledger.has_decided(process);
        self.ledger.observe(seen);
        let (ObservedEvent::Output(output), Some(before)) = (seen.what, before) else { return Ok(()) };
        let Some(decision) = output.decision() else { return Ok(()) };
        if self.ledger.is_loyal(process) && (again || before != decision) {
            let (before, decision) = (show(&before), show(decision));
            let sentence = format!("{} decided {decision} after it had decided {before}", who.id(process));
            return Err(Violation(format!("{} {sentence}", at(seen.at))));
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
    use crate::agreement::{Output, Value};
    use crate::property::rehearsal::Rehearsal;

    fn seven() -> Output {
        Output::Decided(Value::Number(7))
    }

    #[test]
    fn nobody_decides_twice() {
        let mut run = Rehearsal::started([1, 2], |_| DecidesOnce::default());
        run.output(1, seven());
        run.output(2, seven());
        assert_eq!(run.violation(), None);
        run.output(2, seven());
        assert_eq!(run.violation(), Some("at 5ms 2 decided 7 after it had decided 7"));
    }

    #[test]
    fn after_a_crash_a_decision_may_be_repeated_but_not_changed() {
        let mut run = Rehearsal::started([1], |_| DecidesOnce::default());
        run.output(1, seven());
        run.crash(1);
        run.start(1);
        run.output(1, seven());
        assert_eq!(run.violation(), None);
        run.crash(1);
        run.start(1);
        run.output(1, Output::Decided(Value::Number(8)));
        assert_eq!(run.violation(), Some("at 8ms 1 decided 8 after it had decided 7"));
    }
}
