//! No starvation: whoever wants to enter does.

use super::stages::{Stage, Stages};
use crate::mutex::Mutex;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation};

/// No starvation (S4's property 3, "não-inanição"): all processes that want to enter get in at some time. It
/// is EM2 without the requests to leave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoStarvation {
    stages: Stages,
}

impl Monitor<Mutex> for NoStarvation {
    fn name(&self) -> &'static str {
        "no-starvation"
    }

    fn demand(&self) -> &'static str {
        "Whoever wants to enter does in the end."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, _: &Population) -> Result<(), Violation> {
        self.stages.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        self.stages.has(Stage::Waiting)
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        match self.stages.those(Stage::Waiting, who) {
            Some(waiting) => Verdict::missing(end, format!("{waiting} asked in vain to enter")),
            None => Verdict::Holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutex::{Command, Output};
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn one_that_waits_for_ever_starves_however_often_others_enter() {
        let mut run = Rehearsal::started([1, 2], |_| NoStarvation::default());
        run.command(1, Command::Acquire);
        for _ in 0..3 {
            run.command(2, Command::Acquire);
            run.output(2, Output::Entered { token: None });
            run.output(2, Output::Left);
        }
        let starved = Violation("1 asked in vain to enter".to_owned());
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(starved));
    }

    #[test]
    fn one_that_leaves_in_vain_does_not_starve() {
        let mut run = Rehearsal::started([1, 2], |_| NoStarvation::default());
        run.command(1, Command::Acquire);
        run.output(1, Output::Entered { token: None });
        run.command(1, Command::Release);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }
}
