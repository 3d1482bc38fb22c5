//! E2: everyone knows a leader in the end.

use super::begun::Begun;
use crate::election::{Election, Output};
use crate::property::addresses::Addresses;
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, crowd};

/// E2 (S1, liveness): every process takes part and ends with `elected` ≠ ⊥, unless it crashes.
///
/// A crash takes the variable with it, so a process that comes back has to learn its leader again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EveryoneKnows {
    /// The live processes whose `elected` is ⊥.
    ignorant: Addresses,
    begun: Begun,
}

impl Monitor<Election> for EveryoneKnows {
    fn name(&self) -> &'static str {
        "E2"
    }

    fn demand(&self) -> &'static str {
        "In the end every live process knows a leader."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, _: &Population) -> Result<(), Violation> {
        self.begun.observe(seen);
        match seen.what {
            ObservedEvent::Started | ObservedEvent::Output(Output::Leaderless) => {
                self.ignorant.insert(seen.process);
            }
            ObservedEvent::Crashed | ObservedEvent::Output(Output::Leads { .. } | Output::Follows { .. }) => {
                self.ignorant.remove(seen.process);
            }
            ObservedEvent::Command(_) => {}
        }
        Ok(())
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody has to learn of a leader.
        self.begun.is_at_stake(who) && !self.ignorant.is_empty()
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        if self.ignorant.is_empty() {
            return Verdict::Holds;
        }
        self.begun.judge(who, || {
            Verdict::missing(end, format!("{} ended without a leader", crowd(self.ignorant.iter(), who)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::election::Command;
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn whoever_leads_or_follows_or_is_down_lacks_nothing() {
        let mut run = Rehearsal::started([1, 2, 3, 4], |_| EveryoneKnows::default());
        run.output(3, Output::leads());
        run.output(2, Output::follows(Id(3)));
        run.output(1, Output::Follows { leader: None, term: 0 });
        run.crash(4);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn an_election_that_nobody_started_lacks_nothing() {
        let mut run = Rehearsal::started([1, 2], |_| EveryoneKnows::default());
        run.who.is_sure_to_start = false;
        run.crash(1);
        assert_eq!(run.at_end(End::Quiet), Verdict::DoesNotApply("nobody started an election".to_owned()));
        run.command(2, Command::Elect);
        let lacking = Violation("2 ended without a leader".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(lacking));
    }

    #[test]
    fn whoever_was_told_nothing_lacks_a_leader() {
        let mut run = Rehearsal::started([1, 2, 3], |_| EveryoneKnows::default());
        run.output(3, Output::leads());
        for end in [End::Quiet, End::CutOff] {
            assert_eq!(run.at_end(end), Verdict::missing(end, "1 and 2 ended without a leader".to_owned()));
        }
    }

    #[test]
    fn whoever_lost_its_leader_or_its_memory_lacks_a_leader_again() {
        let mut run = Rehearsal::started([1, 2], |_| EveryoneKnows::default());
        run.output(1, Output::follows(Id(2)));
        run.output(2, Output::leads());
        run.output(1, Output::Leaderless);
        run.crash(2);
        run.start(2);
        let lacking = Violation("1 and 2 ended without a leader".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(lacking));
    }
}
