//! EM1: mutual exclusion itself.

use super::inside::Inside;
use crate::Address;
use crate::mutex::{Mutex, Output};
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation, What, at, crowd};

/// EM1 (S1, safety): at most one process at a time is in the critical section.
///
/// A process is inside until it is told that it has left; a crash takes it out as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OneInside {
    inside: Inside,
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
        if !matches!(seen.what, What::Output(Output::Entered { .. })) {
            return Ok(());
        }
        let others: Vec<Address> = self.inside.others(seen.process).collect();
        let were = match others.len() {
            0 => return Ok(()),
            1 => "was",
            _ => "were",
        };
        let (process, time, others) = (who.id(seen.process), at(seen.at), crowd(others, who));
        Err(Violation(format!("{process} entered {time} while {others} {were} inside")))
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

    #[test]
    fn to_ask_for_leave_is_not_to_have_left() {
        let mut run = Rehearsal::started([1, 2], |_| OneInside::default());
        run.output(1, ENTERED);
        run.command(1, Command::Release);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), Some("2 entered at 5ms while 1 was inside"));
    }
}
