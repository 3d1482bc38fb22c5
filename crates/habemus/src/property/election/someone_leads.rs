//! Termination: an election comes to a result.

use super::begun::Begun;
use crate::election::{Election, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation};

/// Termination (S4): some process considers itself the leader at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SomeoneLeads {
    elected: bool,
    begun: Begun,
}

impl Monitor<Election> for SomeoneLeads {
    fn name(&self) -> &'static str {
        "termination"
    }

    fn demand(&self) -> &'static str {
        "Some process considers itself the leader at some time."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, _: &Population) -> Result<(), Violation> {
        self.begun.observe(seen);
        self.elected |= matches!(seen.what, ObservedEvent::Output(Output::Leads { .. }));
        Ok(())
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody has to lead.
        self.begun.is_at_stake(who)
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        self.begun.judge(who, || match self.elected {
            true => Verdict::Holds,
            false => Verdict::missing(end, "no process ever considered itself the leader".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn a_leader_that_has_crashed_since_has_led() {
        let mut run = Rehearsal::started([1, 2], |_| SomeoneLeads::default());
        run.output(2, Output::leads());
        run.crash(2);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn followers_alone_are_no_result() {
        let mut run = Rehearsal::started([1, 2], |_| SomeoneLeads::default());
        run.output(1, Output::follows(Id(2)));
        for end in [End::Quiet, End::CutOff] {
            let missing = "no process ever considered itself the leader".to_owned();
            assert_eq!(run.at_end(end), Verdict::missing(end, missing));
        }
    }
}
