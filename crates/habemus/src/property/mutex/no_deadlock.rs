//! No deadlock: if somebody wants to enter, somebody does.

use super::stages::{Stage, Stages};
use crate::mutex::Mutex;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation};

/// No deadlock (S4's property 2, "ausência de deadlocks"): if processes try to enter, then some process gets
/// in, as long as nobody stays inside for ever. Others may starve meanwhile: see
/// [`NoStarvation`](super::NoStarvation).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoDeadlock {
    stages: Stages,
}

impl Monitor<Mutex> for NoDeadlock {
    fn name(&self) -> &'static str {
        "no-deadlock"
    }

    fn demand(&self) -> &'static str {
        "If somebody wants to enter, somebody does."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, _: &Population) -> Result<(), Violation> {
        self.stages.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody wants to enter, and nobody is inside.
        self.stages.has(Stage::Waiting) && !self.stages.has(Stage::Inside)
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        match self.stages.those(Stage::Waiting, who) {
            Some(waiting) if self.is_at_stake(who) => {
                Verdict::missing(end, format!("{waiting} asked to enter, and nobody got in"))
            }
            _ => Verdict::Holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutex::{Command, Output};
    use crate::property::rehearsal::Rehearsal;

    const ENTERED: Output = Output::Entered { token: None };

    fn run() -> Rehearsal<Mutex, NoDeadlock> {
        Rehearsal::started([1, 2, 3], |_| NoDeadlock::default())
    }

    #[test]
    fn who_waits_while_another_is_inside_is_not_in_a_deadlock() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.command(2, Command::Acquire);
        run.output(1, ENTERED);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds, "1 stays inside, and that is its own affair");
    }

    #[test]
    fn if_all_wait_or_one_leaves_in_vain_nobody_gets_in() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.command(3, Command::Acquire);
        let what = "1 and 3 asked to enter, and nobody got in".to_owned();
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(what.clone())));
        assert_eq!(run.at_end(End::CutOff), Verdict::Open(what));
        run.output(1, ENTERED);
        run.command(1, Command::Release);
        let what = "3 asked to enter, and nobody got in".to_owned();
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(what)));
    }
}
