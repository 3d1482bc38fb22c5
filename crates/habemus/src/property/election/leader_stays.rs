//! Stability: a leader stays.

use crate::Address;
use crate::election::{Election, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Stability (S4): once a leader is elected, another process becomes leader only if that one fails.
///
/// To crash is to fail. A leader that says it follows another, or that it knows of no leader, and then is
/// replaced has been deposed: that is what instability is, so it excuses nothing. Nor does it matter why it
/// gave up: one that was cut off and came back is S4's own example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeaderStays {
    /// Who became leader last, unless it has failed since.
    leader: Option<Address>,
}

impl Monitor<Election> for LeaderStays {
    fn name(&self) -> &'static str {
        "stability"
    }

    fn demand(&self) -> &'static str {
        "Once a leader is elected, another process becomes leader only if that one has failed."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, who: &Population) -> Result<(), Violation> {
        let process = seen.process;
        match seen.what {
            ObservedEvent::Output(Output::Leads { .. }) => match self.leader.replace(process) {
                Some(before) if before != process => {
                    let (process, time, before) = (who.id(process), at(seen.at), who.id(before));
                    Err(Violation(format!("{process} became leader {time}, though {before} had not failed")))
                }
                _ => Ok(()),
            },
            ObservedEvent::Started | ObservedEvent::Crashed => {
                self.leader.take_if(|leader| *leader == process);
                Ok(())
            }
            ObservedEvent::Output(Output::Follows { .. } | Output::Leaderless)
            | ObservedEvent::Command(_) => Ok(()),
        }
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // There is a leader that has not failed.
        self.leader.is_some()
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
    fn a_leader_that_crashed_may_be_replaced() {
        let mut run = Rehearsal::started([1, 2, 3], |_| LeaderStays::default());
        run.output(3, Output::leads());
        run.crash(3);
        run.start(3);
        run.output(2, Output::leads());
        run.output(2, Output::Leads { term: 5 });
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn a_leader_that_gave_up_and_lives_may_lead_again_and_nobody_else() {
        let mut run = Rehearsal::started([4, 5], |_| LeaderStays::default());
        run.output(4, Output::leads());
        run.output(4, Output::Leaderless);
        run.output(4, Output::leads());
        assert_eq!(run.violation(), None);
        run.output(4, Output::Leaderless);
        run.output(5, Output::leads());
        assert_eq!(run.violation(), Some("5 became leader at 7ms, though 4 had not failed"));
    }

    #[test]
    fn a_leader_that_was_only_slow_may_not_be_replaced() {
        let mut run = Rehearsal::started([4, 5], |_| LeaderStays::default());
        run.output(5, Output::leads());
        run.output(4, Output::leads());
        assert_eq!(run.violation(), Some("4 became leader at 4ms, though 5 had not failed"));
    }

    #[test]
    fn to_yield_to_another_is_no_failure() {
        let mut run = Rehearsal::started([4, 5], |_| LeaderStays::default());
        run.output(4, Output::leads());
        run.output(4, Output::follows(Id(5)));
        run.output(5, Output::leads());
        assert_eq!(run.violation(), Some("5 became leader at 5ms, though 4 had not failed"));
    }

    #[test]
    fn the_crash_of_a_follower_excuses_nothing() {
        let mut run = Rehearsal::started([1, 2, 3], |_| LeaderStays::default());
        run.output(2, Output::leads());
        run.crash(1);
        run.output(3, Output::Leaderless);
        run.output(3, Output::leads());
        assert_eq!(run.violation(), Some("3 became leader at 7ms, though 2 had not failed"));
    }
}
