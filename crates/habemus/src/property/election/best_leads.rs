//! E1: the best process leads.

use std::collections::BTreeSet;
use std::time::Duration;

use super::beliefs::{Belief, Beliefs};
use crate::election::Election;
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at, crowd};
use crate::{Address, Id};

/// E1 (S1, safety): `elected` is ⊥ or the live process with the best identifier.
///
/// Nobody learns of a crash or a recovery at once, so a process may for a while name a leader that is down,
/// or miss one that came back. Two things admit no excuse: to name a leader that is worse than some process
/// which has been up without a break since the run began, and to do so still when nothing more can happen.
///
/// The run begins with the processes' starts and with what each says as it starts, before anything else is
/// seen; that is judged as soon as all have started. A driver that does not say when that is
/// ([`Monitor::all_started`]) leaves it to the first event at another process, or the first command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BestLeads {
    beliefs: Beliefs,
    /// Whether each process, by address, has been up without a break since the run began.
    steady: Vec<bool>,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// Processes start; this one was the last.
    Starting(Option<Address>),
    /// They have started. What is kept here follows from `steady`; it is looked up at every output, and
    /// changes only when the best of the steady crashes, so that a large system can be watched.
    Running {
        /// The best of the steady processes, if any is left.
        best: Option<Address>,
        /// It and all that are at least as good: those that may be named.
        eligible: BTreeSet<Id>,
    },
}

impl BestLeads {
    /// The monitor before the run.
    pub fn new(who: &Population) -> Self {
        BestLeads { beliefs: Beliefs::new(who), steady: vec![false; who.len()], stage: Stage::Starting(None) }
    }

    /// Finds the best of the steady processes, and who may be named beside it.
    fn survey(&mut self, who: &Population, preference: &[u32]) {
        let steady = (0..).map(Address).zip(&self.steady).filter(|(_, steady)| **steady);
        let best = steady.map(|(address, _)| address).max_by_key(|address| preference[address.index()]);
        let eligible = best.map_or_else(BTreeSet::new, |best| {
            let floor = preference[best.index()];
            let all = who.ids.iter().zip(preference);
            all.filter(|(_, preference)| **preference >= floor).map(|(id, _)| *id).collect()
        });
        self.stage = Stage::Running { best, eligible };
    }

    /// All have started: judges what they have said so far.
    fn begin(&mut self, time: Duration, who: &Population, preference: &[u32]) -> Result<(), Violation> {
        self.survey(who, preference);
        self.beliefs.live().try_for_each(|(process, belief)| self.judge(process, belief, time, who))
    }

    /// Whether `process` may believe this.
    fn judge(
        &self,
        process: Address,
        belief: Belief,
        time: Duration,
        who: &Population,
    ) -> Result<(), Violation> {
        let Stage::Running { best, eligible } = &self.stage else {
            return Ok(());
        };
        let Some(leader) = belief.leader(process, who) else {
            return Ok(());
        };
        if eligible.contains(&leader) {
            return Ok(());
        }
        let objection = match (who.address(leader), best) {
            (None, _) => "which is not one of the processes".to_owned(),
            (Some(_), Some(best)) => {
                format!("though {} is better and has been up since the run began", who.id(*best))
            }
            (Some(_), None) => return Ok(()),
        };
        let (process, time) = (who.id(process), at(time));
        Err(Violation(match belief {
            Belief::Itself => format!("{process} considered itself the leader {time}, {objection}"),
            _ => format!("{process} followed {leader} {time}, {objection}"),
        }))
    }
}

impl Monitor<Election> for BestLeads {
    fn name(&self) -> &'static str {
        "E1"
    }

    fn demand(&self) -> &'static str {
        "A process knows no leader, or its leader is the best live process."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, who: &Population) -> Result<(), Violation> {
        let Some(preference) = &who.preference else {
            return Ok(());
        };
        let process = seen.process;
        self.beliefs.observe(seen);
        let mut verdict = Ok(());
        if let Stage::Starting(last) = &mut self.stage {
            match seen.what {
                ObservedEvent::Started => {
                    *last = Some(process);
                    self.steady[process.index()] = true;
                    return Ok(());
                }
                ObservedEvent::Output(_) if *last == Some(process) => return Ok(()),
                _ => {}
            }
            verdict = self.begin(seen.at, who, preference);
        }
        match seen.what {
            ObservedEvent::Started | ObservedEvent::Crashed => {
                self.steady[process.index()] = false;
                if matches!(self.stage, Stage::Running { best, .. } if best == Some(process)) {
                    self.survey(who, preference);
                }
            }
            ObservedEvent::Output(_) => {
                verdict = verdict.and(self.judge(process, self.beliefs.of(process), seen.at, who));
            }
            ObservedEvent::Command(_) => {}
        }
        verdict
    }

    fn all_started(&mut self, at: Duration, who: &Population) -> Result<(), Violation> {
        match (&who.preference, &self.stage) {
            (Some(preference), Stage::Starting(_)) => self.begin(at, who, preference),
            _ => Ok(()),
        }
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody names a leader.
        self.beliefs.live().any(|(process, belief)| belief.leader(process, who).is_some())
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        let Some(preference) = &who.preference else {
            return Verdict::Holds;
        };
        let rank = |address: Address| preference[address.index()];
        let Some(best) = self.beliefs.live().map(|(address, _)| address).max_by_key(|&address| rank(address))
        else {
            return Verdict::Holds;
        };
        // Where several are equally good, any of them will do.
        let equals = self.beliefs.live().filter(|(address, _)| rank(*address) == rank(best));
        let eligible: BTreeSet<Id> = equals.map(|(address, _)| who.id(address)).collect();
        let mistaken = self.beliefs.live().filter(|(address, belief)| {
            belief.leader(*address, who).is_some_and(|leader| !eligible.contains(&leader))
        });
        let mut mistaken = mistaken.map(|(address, _)| address).peekable();
        if mistaken.peek().is_none() {
            return Verdict::Holds;
        }
        let (mistaken, best) = (crowd(mistaken, who), who.id(best));
        Verdict::missing(
            end,
            format!("{mistaken} ended with another leader than {best}, the best live process"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::{Command, Output};
    use crate::property::rehearsal::Rehearsal;

    fn follows(leader: u64) -> Output {
        Output::follows(Id(leader))
    }

    #[test]
    fn nobody_needs_to_have_a_leader() {
        let mut run = Rehearsal::started([1, 2, 3], BestLeads::new);
        run.output(1, follows(3));
        run.output(1, Output::Leaderless);
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn whoever_leads_past_a_better_process_that_never_failed_is_wrong_at_once() {
        let mut run = Rehearsal::started([1, 3, 2], BestLeads::new);
        run.command(2, Command::Elect);
        run.output(2, Output::leads());
        let wrong =
            "2 considered itself the leader at 5ms, though 3 is better and has been up since the run began";
        assert_eq!(run.violation(), Some(wrong));
    }

    #[test]
    fn whoever_follows_past_a_better_process_that_never_failed_is_wrong_at_once() {
        let mut run = Rehearsal::started([1, 3, 2], BestLeads::new);
        run.output(1, follows(2));
        let wrong = "1 followed 2 at 4ms, though 3 is better and has been up since the run began";
        assert_eq!(run.violation(), Some(wrong));
    }

    #[test]
    fn a_leader_must_be_one_of_the_processes() {
        let mut run = Rehearsal::started([1, 2, 3], BestLeads::new);
        run.output(1, follows(9));
        assert_eq!(run.violation(), Some("1 followed 9 at 4ms, which is not one of the processes"));
    }

    #[test]
    fn when_the_best_has_crashed_the_next_best_leads_and_none_below_it() {
        let mut run = Rehearsal::started([1, 2, 3], BestLeads::new);
        run.crash(3);
        run.output(2, Output::leads());
        run.output(1, follows(2));
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.output(1, Output::leads());
        let wrong =
            "1 considered itself the leader at 7ms, though 2 is better and has been up since the run began";
        assert_eq!(run.violation(), Some(wrong));
    }

    #[test]
    fn news_of_a_crash_may_take_until_the_end_but_not_longer() {
        let mut run = Rehearsal::started([1, 2, 3], BestLeads::new);
        run.output(3, Output::leads());
        run.crash(3);
        run.output(1, follows(3));
        run.output(2, follows(3));
        assert_eq!(run.violation(), None);
        let late = "1 and 2 ended with another leader than 2, the best live process";
        for end in [End::Quiet, End::CutOff] {
            assert_eq!(run.at_end(end), Verdict::missing(end, late.to_owned()));
        }
    }

    #[test]
    fn news_of_a_recovery_may_take_until_the_end_but_not_longer() {
        let mut run = Rehearsal::started([1, 2, 3], BestLeads::new);
        run.crash(3);
        run.start(3);
        run.output(2, Output::leads());
        run.output(1, follows(2));
        assert_eq!(run.violation(), None);
        let late = "1 and 2 ended with another leader than 3, the best live process";
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(late.to_owned())));
    }

    #[test]
    fn a_process_that_joins_late_is_news_too() {
        let mut run = Rehearsal::of([1, 2, 3], BestLeads::new);
        run.start(1);
        run.start(2);
        run.command(1, Command::Elect);
        run.start(3);
        run.output(2, Output::leads());
        assert_eq!(run.violation(), None);
        run.output(1, Output::leads());
        assert!(run.violation().is_some());
    }

    #[test]
    fn what_a_process_says_as_it_starts_is_judged_when_all_have_started() {
        let mut run = Rehearsal::of([1, 2], BestLeads::new);
        run.start(1);
        run.output(1, Output::leads());
        run.start(2);
        assert_eq!(run.violation(), None);
        run.command(2, Command::Elect);
        let wrong =
            "1 considered itself the leader at 4ms, though 2 is better and has been up since the run began";
        assert_eq!(run.violation(), Some(wrong));
    }

    #[test]
    fn once_all_have_started_the_last_one_has_no_excuse_either() {
        let mut run = Rehearsal::started([2, 1], BestLeads::new);
        assert_eq!(run.monitor.all_started(Duration::ZERO, &run.who), Ok(()));
        run.output(1, Output::leads());
        let wrong =
            "1 considered itself the leader at 3ms, though 2 is better and has been up since the run began";
        assert_eq!(run.violation(), Some(wrong));
    }

    #[test]
    fn when_nobody_has_been_up_throughout_only_the_end_counts() {
        let mut run = Rehearsal::started([1, 2], BestLeads::new);
        for id in [1, 2] {
            run.crash(id);
            run.start(id);
        }
        run.output(1, Output::leads());
        assert_eq!(run.violation(), None);
        assert_ne!(run.at_end(End::Quiet), Verdict::Holds);
        run.output(1, follows(2));
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn of_equally_good_processes_any_may_lead() {
        let who = Population {
            ids: vec![Id(7), Id(8), Id(9)],
            preference: Some(vec![5, 5, 1]),
            permits: 1,
            is_sure_to_start: false,
        };
        for (leader, right) in [(0, true), (1, true), (2, false)] {
            let mut monitor = BestLeads::new(&who);
            let mut see = |process, what| {
                let seen = Observation { at: Duration::ZERO, process: Address(process), clock: None, what };
                monitor.observe(&seen, &who)
            };
            for process in 0..3 {
                see(process, ObservedEvent::Started).expect("a start is no claim");
            }
            see(0, ObservedEvent::Command(&Command::Elect)).expect("a command is no claim");
            assert_eq!(see(leader, ObservedEvent::Output(&Output::leads())).is_ok(), right);
            assert_eq!(monitor.at_end(End::Quiet, &who) == Verdict::Holds, right);
        }
    }
}
