//! EM2: nobody waits for ever.

use super::stages::{Stage, Stages};
use crate::mutex::Mutex;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation};

/// EM2 (S1, liveness): every request to enter or to leave succeeds in the end. S4 splits it into no deadlock
/// and no starvation, which are [`NoDeadlock`](super::NoDeadlock) and [`NoStarvation`](super::NoStarvation).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EveryRequestServed {
    stages: Stages,
}

impl Monitor<Mutex> for EveryRequestServed {
    fn name(&self) -> &'static str {
        "EM2"
    }

    fn demand(&self) -> &'static str {
        "Every request to enter or to leave succeeds in the end."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, _: &Population) -> Result<(), Violation> {
        self.stages.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody waits to be let in or out.
        self.stages.has(Stage::Waiting) || self.stages.has(Stage::Leaving)
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        let leaving = self.stages.those(Stage::Leaving, who);
        let mut lacking = Vec::new();
        if let Some(waiting) = self.stages.those(Stage::Waiting, who) {
            lacking.push(format!("{waiting} asked in vain to enter"));
            // Not the algorithm's fault, most likely, so the reader should know.
            if let Some(inside) = self.stages.those(Stage::Inside, who) {
                lacking.push(format!("{inside} stayed inside without having asked to leave"));
            }
        }
        lacking.extend(leaving.map(|leaving| format!("{leaving} asked in vain to leave")));
        if lacking.is_empty() { Verdict::Holds } else { Verdict::missing(end, lacking.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutex::{Command, Output};
    use crate::property::rehearsal::Rehearsal;

    const ENTERED: Output = Output::Entered { token: None };

    fn run() -> Rehearsal<Mutex, EveryRequestServed> {
        Rehearsal::started([1, 2, 3], |_| EveryRequestServed::default())
    }

    #[track_caller]
    fn assert_lacking(run: &Rehearsal<Mutex, EveryRequestServed>, what: &str) {
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(what.to_owned())));
        assert_eq!(run.at_end(End::CutOff), Verdict::Open(what.to_owned()));
    }

    #[test]
    fn whoever_asked_and_was_heard_lacks_nothing() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.output(1, ENTERED);
        run.command(1, Command::Release);
        run.output(1, Output::Left);
        run.command(2, Command::Acquire);
        run.output(2, ENTERED);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn whoever_still_waits_to_enter_asked_in_vain() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.command(3, Command::Acquire);
        assert_lacking(&run, "1 and 3 asked in vain to enter");
    }

    #[test]
    fn whoever_still_waits_to_leave_asked_in_vain() {
        let mut run = run();
        run.output(1, ENTERED);
        run.command(1, Command::Release);
        assert_lacking(&run, "1 asked in vain to leave");
    }

    #[test]
    fn a_holder_that_never_wanted_to_leave_is_mentioned() {
        let mut run = run();
        run.output(1, ENTERED);
        run.command(2, Command::Acquire);
        assert_lacking(&run, "2 asked in vain to enter; 1 stayed inside without having asked to leave");
    }

    #[test]
    fn a_crash_takes_requests_back() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.output(2, ENTERED);
        run.command(2, Command::Release);
        run.crash(1);
        run.crash(2);
        run.start(1);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn to_ask_for_what_one_has_is_no_request() {
        let mut run = run();
        run.output(1, ENTERED);
        run.command(1, Command::Acquire);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.output(1, Output::Left);
        run.command(1, Command::Release);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn a_request_that_was_withdrawn_need_not_be_served() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.command(1, Command::Release);
        assert_lacking(&run, "1 asked in vain to enter");
        run.output(1, Output::Left);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }
}
