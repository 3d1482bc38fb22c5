//! The properties of agreement (S1): agreement, validity, integrity and termination of consensus; and what
//! Lamport, Shostak and Pease ask of generals, IC1 and IC2, which covers interactive consistency, too.
//!
//! Nothing is asked of a traitor: all speak of the *loyal* processes, those that have not said that they
//! betray.

use super::dispatch::dispatch;
use crate::agreement::Agreement;

mod commanded;
mod decides_once;
mod everyone_decides;
mod ledger;
mod loyal_obey_alike;
mod proposed;
mod same_decision;

pub use commanded::Commanded;
pub use decides_once::DecidesOnce;
pub use everyone_decides::EveryoneDecides;
pub use loyal_obey_alike::LoyalObeyAlike;
pub use proposed::Proposed;
pub use same_decision::SameDecision;

dispatch! {
    /// A property of agreement, watched.
    AgreementMonitor watches Agreement:
        SameDecision, Proposed, DecidesOnce, EveryoneDecides, LoyalObeyAlike, Commanded,
}

impl AgreementMonitor {
    /// The monitors of every property: all make sense for any population.
    pub fn all() -> Vec<Self> {
        vec![
            Self::SameDecision(SameDecision::default()),
            Self::Proposed(Proposed::default()),
            Self::DecidesOnce(DecidesOnce::default()),
            Self::EveryoneDecides(EveryoneDecides::default()),
            Self::LoyalObeyAlike(LoyalObeyAlike::default()),
            Self::Commanded(Commanded::default()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::{Command, Output, Value};
    use crate::property::rehearsal::Rehearsal;
    use crate::property::{End, Monitor, Verdict};

    #[test]
    fn a_textbook_run_has_every_property() {
        let mut names = Vec::new();
        for index in 0..6 {
            let mut run = Rehearsal::started([1, 2, 3, 4], |_| AgreementMonitor::all().swap_remove(index));
            run.output(3, Output::Betrays);
            run.command(1, Command::Propose(Some(Value::Attack)));
            run.output(1, Output::Proposed(Value::Attack));
            for id in [1, 2, 4] {
                run.output(id, Output::Decided(Value::Attack));
            }
            assert_eq!(run.violation(), None, "{}", run.monitor.name());
            assert_eq!(run.at_end(End::Quiet), Verdict::Holds, "{}", run.monitor.name());
            names.push(run.monitor.name());
        }
        assert_eq!(names, ["agreement", "validity", "integrity", "termination", "IC1", "IC2"]);
    }
}
