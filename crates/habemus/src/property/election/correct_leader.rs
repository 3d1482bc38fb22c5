//! Eventual accuracy: in the end everybody follows somebody who is alive.

use super::begun::Begun;
use super::beliefs::{Belief, Beliefs};
use crate::election::Election;
use crate::property::{End, Monitor, Observation, Population, Verdict, Violation, crowd};

/// Eventual accuracy (S3, "precisão após um tempo"): from some time on every correct process has a correct
/// process as its leader. Not necessarily the same one: that is agreement.
///
/// Who is up in the end of a run that was left in peace is correct. On an anonymous ring a leader has no
/// name, so whoever follows one is right as long as somebody leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CorrectLeader {
    beliefs: Beliefs,
    begun: Begun,
}

impl CorrectLeader {
    /// The monitor before the run.
    pub fn new(who: &Population) -> Self {
        CorrectLeader { beliefs: Beliefs::new(who), begun: Begun::default() }
    }

    fn lacking(&self, who: &Population) -> Option<String> {
        let leads = self.beliefs.live().any(|(_, belief)| belief == Belief::Itself);
        let is_wrong = |belief: Belief| match belief {
            Belief::Down | Belief::Itself => false,
            Belief::Nobody => true,
            Belief::Other(None) => !leads,
            Belief::Other(Some(id)) => {
                who.address(id).is_none_or(|leader| self.beliefs.of(leader) == Belief::Down)
            }
        };
        let wrong: Vec<_> = self.beliefs.live().filter(|(_, belief)| is_wrong(*belief)).collect();
        let wrong = wrong.into_iter().map(|(address, _)| address);
        (wrong.len() > 0).then(|| format!("{} ended without a leader that is alive", crowd(wrong, who)))
    }
}

impl Monitor<Election> for CorrectLeader {
    fn name(&self) -> &'static str {
        "eventual-accuracy"
    }

    fn demand(&self) -> &'static str {
        "In the end every live process has a live process as its leader."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, _: &Population) -> Result<(), Violation> {
        self.beliefs.observe(seen);
        self.begun.observe(seen);
        Ok(())
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody is up and has to follow somebody.
        self.begun.is_at_stake(who) && self.beliefs.live().next().is_some()
    }

    fn at_end(&self, end: End, who: &Population) -> Verdict {
        self.begun.judge(who, || match self.lacking(who) {
            None => Verdict::Holds,
            Some(lacking) => Verdict::missing(end, lacking),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::election::Output;
    use crate::property::rehearsal::Rehearsal;

    fn run(outputs: [Output; 3]) -> Rehearsal<Election, CorrectLeader> {
        let mut run = Rehearsal::started([1, 2, 3], CorrectLeader::new);
        for (id, output) in (1..).zip(outputs) {
            run.output(id, output);
        }
        run
    }

    fn follows(leader: u64) -> Output {
        Output::follows(Id(leader))
    }

    #[track_caller]
    fn assert_lacking(run: &Rehearsal<Election, CorrectLeader>, who: &str) {
        let what = format!("{who} ended without a leader that is alive");
        assert_eq!(run.at_end(End::Quiet), Verdict::Violated(Violation(what.clone())));
        assert_eq!(run.at_end(End::CutOff), Verdict::Open(what));
    }

    #[test]
    fn live_leaders_will_do_even_if_they_are_two() {
        assert_eq!(run([follows(2), Output::leads(), Output::leads()]).at_end(End::Quiet), Verdict::Holds);
        let nameless = Output::Follows { leader: None, term: 0 };
        assert_eq!(run([nameless, nameless, Output::leads()]).at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn a_leader_that_is_down_or_nobody_will_not_do() {
        let mut crashed = run([follows(3), Output::leads(), Output::leads()]);
        crashed.crash(3);
        assert_lacking(&crashed, "1");
        assert_lacking(&run([Output::Leaderless, follows(9), Output::leads()]), "1 and 2");
    }
}
