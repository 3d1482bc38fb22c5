//! IC1: all loyal lieutenants obey the same order.

use super::ledger::{Ledger, difference};
use crate::agreement::Agreement;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation, crowd};

/// IC1 (Lamport, Shostak and Pease): all loyal lieutenants obey the same order. It asks for a decision of
/// each and for the same of all; an order that never comes is no excuse.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LoyalObeyAlike {
    ledger: Ledger,
}

impl Monitor<Agreement> for LoyalObeyAlike {
    fn name(&self) -> &'static str {
        "IC1"
    }

    fn demand(&self) -> &'static str {
        "All loyal processes that are up obey the same order."
    }

    fn observe(&mut self, seen: &Observation<'_, Agreement>, _: &Population) -> Result<(), Violation> {
        self.ledger.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // A loyal process has decided or has still to decide.
        self.ledger.loyal_decisions().next().is_some() || self.ledger.undecided().next().is_some()
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        if let Some(difference) = difference(&self.ledger, who) {
            return Verdict::Violated(Violation(difference));
        }
        let mut undecided = self.ledger.undecided().peekable();
        match undecided.peek() {
            None => Verdict::Holds,
            Some(_) => Verdict::missing(end, format!("{} obeyed no order", crowd(undecided, who))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::{Output, Value};
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn the_loyal_obey_the_same_order_or_break_it() {
        let mut run = Rehearsal::started([1, 2, 3], |_| LoyalObeyAlike::default());
        run.output(1, Output::Betrays);
        run.output(2, Output::Decided(Value::Attack));
        assert_eq!(run.at_end(End::CutOff), Verdict::Open("3 obeyed no order".to_owned()));
        run.output(3, Output::Decided(Value::Retreat));
        let broken = Violation("2 decided attack, but 3 decided retreat".to_owned());
        assert_eq!(run.at_end(End::CutOff), Verdict::Violated(broken));
    }
}
