//! EM1: mutual exclusion itself.

use super::inside::Inside;
use super::sharing::Sharing;
use crate::Address;
use crate::mutex::{Mutex, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at, crowd};

/// EM1 (S1, safety): at most one process at a time is in the critical section.
///
/// Where there are more permits, as in S1's car park, at most so many; and those who asked to share may be
/// inside together, but not with one who did not.
///
/// A process is inside until it is told that it has left; a crash takes it out as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OneInside {
    inside: Inside,
    sharing: Sharing,
}

impl Monitor<Mutex> for OneInside {
    fn name(&self) -> &'static str {
        "EM1"
    }

    fn demand(&self) -> &'static str {
        "At most one process at a time is in the critical section."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, who: &Population) -> Result<(), Violation> {
        self.inside.observe(seen);
        self.sharing.observe(seen, self.inside.contains(seen.process));
        if !matches!(seen.what, ObservedEvent::Output(Output::Entered { .. })) {
            return Ok(());
        }
        let shares = self.sharing.contains(seen.process);
        let others: Vec<Address> = self.inside.others(seen.process).collect();
        let in_harmony = others.iter().all(|other| self.sharing.contains(*other) == shares);
        if in_harmony && (shares || others.len() < who.permits) {
            return Ok(());
        }
        let were = if others.len() == 1 { "was" } else { "were" };
        let (process, time, others) = (who.id(seen.process), at(seen.at), crowd(others, who));
        Err(Violation(format!("{process} entered {time} while {others} {were} inside")))
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody is inside, so another may have to wait.
        !self.inside.is_empty()
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutex::Command;
    use crate::property::rehearsal::Rehearsal;

    const ENTERED: Output = Output::Entered { token: None };

    #[test]
    fn processes_may_enter_one_after_the_other() {
        let mut run = Rehearsal::started([1, 2, 3], |_| OneInside::default());
        run.output(1, ENTERED);
        run.output(1, Output::Left);
        run.output(2, ENTERED);
        run.crash(2);
        run.output(3, ENTERED);
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn nobody_may_enter_while_another_is_inside() {
        let mut run = Rehearsal::started([1, 2, 3], |_| OneInside::default());
        run.output(1, ENTERED);
        run.output(3, ENTERED);
        assert_eq!(run.violation(), Some("3 entered at 5ms while 1 was inside"));
    }

    /// S1's car park has N places.
    #[test]
    fn where_there_are_more_permits_more_may_enter() {
        let mut run = Rehearsal::started([1, 2, 3], |_| OneInside::default());
        run.who.permits = 2;
        run.output(1, ENTERED);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None);
        run.output(3, ENTERED);
        assert_eq!(run.violation(), Some("3 entered at 6ms while 1 and 2 were inside"));
    }

    #[test]
    fn those_who_share_may_be_inside_together_but_not_with_another() {
        let mut run = Rehearsal::started([1, 2, 3], |_| OneInside::default());
        for id in [1, 2] {
            run.command(id, Command::Share);
            run.output(id, ENTERED);
        }
        assert_eq!(run.violation(), None);
        run.command(3, Command::Acquire);
        run.output(3, ENTERED);
        assert_eq!(run.violation(), Some("3 entered at 9ms while 1 and 2 were inside"));
    }

    #[test]
    fn to_ask_for_leave_is_not_to_have_left() {
        let mut run = Rehearsal::started([1, 2], |_| OneInside::default());
        run.output(1, ENTERED);
        run.command(1, Command::Release);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), Some("2 entered at 5ms while 1 was inside"));
    }
}
