//! Uniqueness: never two leaders at once.

use std::collections::BTreeSet;

use crate::Address;
use crate::election::{Election, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at, crowd};

/// Uniqueness (S4): only one process considers itself the leader at any time. Otherwise the brain is split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OneLeader {
    /// The live processes that consider themselves the leader.
    leaders: BTreeSet<Address>,
}

impl Monitor<Election> for OneLeader {
    fn name(&self) -> &'static str {
        "uniqueness"
    }

    fn demand(&self) -> &'static str {
        "Never do two live processes consider themselves the leader at the same time."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, who: &Population) -> Result<(), Violation> {
        match seen.what {
            ObservedEvent::Output(Output::Leads { .. }) => {
                self.leaders.insert(seen.process);
            }
            ObservedEvent::Started | ObservedEvent::Crashed | ObservedEvent::Output(_) => {
                self.leaders.remove(&seen.process);
                return Ok(());
            }
            ObservedEvent::Command(_) => return Ok(()),
        }
        if self.leaders.len() == 1 {
            return Ok(());
        }
        let others = crowd(self.leaders.iter().copied().filter(|other| *other != seen.process), who);
        let (process, time) = (who.id(seen.process), at(seen.at));
        Err(Violation(format!("{process} considered itself the leader {time}, and so did {others}")))
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody leads, so nobody else may.
        !self.leaders.is_empty()
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn leaders_may_follow_each_other() {
        let mut run = Rehearsal::started([1, 2, 3, 4], |_| OneLeader::default());
        run.output(1, Output::leads());
        run.output(1, Output::Leads { term: 2 });
        run.output(1, Output::follows(Id(2)));
        run.output(2, Output::leads());
        run.output(2, Output::Leaderless);
        run.output(3, Output::leads());
        run.crash(3);
        run.output(4, Output::leads());
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn two_at_once_are_one_too_many() {
        let mut run = Rehearsal::started([1, 2, 3], |_| OneLeader::default());
        run.output(1, Output::leads());
        run.output(3, Output::leads());
        assert_eq!(run.violation(), Some("3 considered itself the leader at 5ms, and so did 1"));
    }
}
