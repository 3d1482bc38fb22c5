//! Agreement: in the end all know the same leader.

use super::begun::Begun;
use super::beliefs::{Belief, Beliefs};
use crate::Address;
use crate::election::Election;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation, crowd};

/// Agreement (S4): in the end one live process leads, and all others know that it does.
///
/// On an anonymous ring a leader has no name, so its followers agree as long as exactly one process leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SameLeader {
    beliefs: Beliefs,
    begun: Begun,
}

impl SameLeader {
    /// The monitor before the run.
    pub fn new(who: &Population) -> Self {
        SameLeader { beliefs: Beliefs::new(who), begun: Begun::default() }
    }

    fn live_where(&self, belief: impl Fn(Belief) -> bool) -> Vec<Address> {
        self.beliefs.live().filter(|(_, held)| belief(*held)).map(|(address, _)| address).collect()
    }
}

impl Monitor<Election> for SameLeader {
    fn name(&self) -> &'static str {
        "agreement"
    }

    fn demand(&self) -> &'static str {
        "In the end one live process leads, and all other live processes know it as their leader."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, _: &Population) -> Result<(), Violation> {
        self.beliefs.observe(seen);
        self.begun.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody is up and has to agree with the others.
        self.begun.is_at_stake(who) && self.beliefs.live().next().is_some()
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        self.begun.judge(who, || self.agree(end, who))
    }
}

impl SameLeader {
    fn agree(&self, end: End, who: &Population) -> Verdict {
        let ignorant = self.live_where(|belief| belief == Belief::Nobody);
        if !ignorant.is_empty() {
            return Verdict::missing(end, format!("{} ended without a leader", crowd(ignorant, who)));
        }
        let leaders = self.live_where(|belief| belief == Belief::Itself);
        let (mistaken, mistake) = match *leaders {
            [leader] => {
                let leader = who.id(leader);
                let others = |belief| matches!(belief, Belief::Other(Some(other)) if other != leader);
                (self.live_where(others), format!("ended with another leader than {leader}, which leads"))
            }
            [] => (self.live_where(|_| true), "ended with a leader that is down or does not lead".to_owned()),
            _ => (leaders, "ended up as leaders all at once".to_owned()),
        };
        if mistaken.is_empty() {
            return Verdict::Holds;
        }
        Verdict::missing(end, format!("{} {mistake}", crowd(mistaken, who)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::election::Output;
    use crate::property::rehearsal::Rehearsal;

    const NAMELESS: Output = Output::Follows { leader: None, term: 0 };

    /// The run in which processes 1, 2, … told their applications these outputs.
    fn run(outputs: [Output; 3]) -> Rehearsal<Election, SameLeader> {
        let mut run = Rehearsal::started([1, 2, 3], SameLeader::new);
        for (id, output) in (1..).zip(outputs) {
            run.output(id, output);
        }
        run
    }

    fn follows(leader: u64) -> Output {
        Output::follows(Id(leader))
    }

    #[track_caller]
    fn assert_lacking(run: &Rehearsal<Election, SameLeader>, what: &str) {
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(what.to_owned())));
        assert_eq!(run.at_end(End::CutOff), Verdict::Open(what.to_owned()));
    }

    #[test]
    fn all_may_follow_the_one_that_leads_by_name_or_without() {
        assert_eq!(run([follows(3), follows(3), Output::leads()]).at_end(End::Quiet), Verdict::Holds);
        assert_eq!(run([NAMELESS, NAMELESS, Output::leads()]).at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn those_that_are_down_need_not_agree() {
        let mut run = run([follows(3), follows(2), Output::leads()]);
        run.crash(2);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
        run.crash(1);
        run.crash(3);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn those_without_a_leader_do_not_agree_yet() {
        let run = run([Output::Leaderless, follows(3), Output::leads()]);
        assert_lacking(&run, "1 ended without a leader");
    }

    #[test]
    fn those_that_follow_another_disagree() {
        let run = run([follows(3), follows(1), Output::leads()]);
        assert_lacking(&run, "2 ended with another leader than 3, which leads");
    }

    #[test]
    fn two_leaders_disagree() {
        let run = run([NAMELESS, Output::leads(), Output::leads()]);
        assert_lacking(&run, "2 and 3 ended up as leaders all at once");
    }

    #[test]
    fn a_leader_that_is_down_is_none() {
        let mut run = run([follows(3), follows(3), Output::leads()]);
        run.crash(3);
        assert_lacking(&run, "1 and 2 ended with a leader that is down or does not lead");
    }

    #[test]
    fn a_leader_that_knows_nothing_of_it_is_none() {
        let run = run([follows(3), follows(3), follows(2)]);
        assert_lacking(&run, "1, 2 and 3 ended with a leader that is down or does not lead");
    }
}
