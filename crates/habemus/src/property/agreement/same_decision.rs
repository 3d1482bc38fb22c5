//! Agreement: nobody decides otherwise than the others.

use super::ledger::{Ledger, difference};
use crate::agreement::Agreement;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation, at};

/// Agreement, in its uniform form: no two loyal processes decide differently, not even one that crashes right
/// after it has decided, for its application may have acted on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SameDecision {
    ledger: Ledger,
}

impl Monitor<Agreement> for SameDecision {
    fn name(&self) -> &'static str {
        "agreement"
    }

    fn demand(&self) -> &'static str {
        "No two loyal processes decide differently."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, who: &Population) -> Result<(), Violation> {
        self.ledger.observe(seen);
        match difference(&self.ledger, who) {
            Some(difference) => Err(Violation(format!("{} {difference}", at(seen.at)))),
            None => Ok(()),
        }
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

    #[test]
    fn one_who_crashes_after_its_decision_has_decided() {
        let mut run = Rehearsal::started([1, 2, 3], |_| SameDecision::default());
        run.output(1, Output::Decided(Value::Number(4)));
        run.crash(1);
        run.output(2, Output::Decided(Value::Number(4)));
        assert_eq!(run.violation(), None);
        run.output(3, Output::Decided(Value::Number(5)));
        assert_eq!(run.violation(), Some("at 7ms 1 decided 4, but 3 decided 5"));
    }

    #[test]
    fn a_traitor_may_decide_as_it_likes() {
        let mut run = Rehearsal::started([1, 2], |_| SameDecision::default());
        run.output(2, Output::Betrays);
        run.output(1, Output::Decided(Value::Attack));
        run.output(2, Output::Decided(Value::Retreat));
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn vectors_must_agree_in_every_place() {
        let mut run = Rehearsal::started([1, 2], |_| SameDecision::default());
        run.output(1, Output::DecidedVector(vec![Value::Attack, Value::Number(3)]));
        run.output(2, Output::DecidedVector(vec![Value::Attack, Value::Number(4)]));
        assert_eq!(run.violation(), Some("at 4ms 1 decided (attack, 3), but 2 decided (attack, 4)"));
    }
}
