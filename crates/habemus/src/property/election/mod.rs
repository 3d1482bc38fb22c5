//! The properties of an election (S1: E1 and E2; S3: eventual accuracy; S4: termination, uniqueness,
//! agreement, stability, terms).

use super::Population;
use super::dispatch::dispatch;
use crate::election::Election;

mod begun;
mod beliefs;
mod best_leads;
mod correct_leader;
mod everyone_knows;
mod leader_stays;
mod one_leader;
mod one_leader_per_term;
mod same_leader;
mod someone_leads;

pub use best_leads::BestLeads;
pub use correct_leader::CorrectLeader;
pub use everyone_knows::EveryoneKnows;
pub use leader_stays::LeaderStays;
pub use one_leader::OneLeader;
pub use one_leader_per_term::OneLeaderPerTerm;
pub use same_leader::SameLeader;
pub use someone_leads::SomeoneLeads;

dispatch! {
    /// A property of an election, watched.
    ElectionMonitor watches Election:
        BestLeads, EveryoneKnows, SomeoneLeads, OneLeader, OneLeaderPerTerm, SameLeader, CorrectLeader,
        LeaderStays,
}

impl ElectionMonitor {
    /// The monitors of every property that makes sense for this population: E1 only where some process is
    /// better suited than another.
    pub fn all(who: &Population) -> Vec<Self> {
        let best_leads = who.preference.is_some().then(|| Self::BestLeads(BestLeads::new(who)));
        let others = [
            Self::EveryoneKnows(EveryoneKnows::default()),
            Self::SomeoneLeads(SomeoneLeads::default()),
            Self::OneLeader(OneLeader::default()),
            Self::OneLeaderPerTerm(OneLeaderPerTerm::default()),
            Self::SameLeader(SameLeader::new(who)),
            Self::CorrectLeader(CorrectLeader::new(who)),
            Self::LeaderStays(LeaderStays::default()),
        ];
        best_leads.into_iter().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::election::Output;
    use crate::property::rehearsal::Rehearsal;
    use crate::property::{End, Monitor, Verdict};

    fn names(preference: Option<Vec<u32>>) -> Vec<&'static str> {
        let who = Population { ids: vec![Id(1), Id(2)], preference, permits: 1, is_sure_to_start: false };
        ElectionMonitor::all(&who).iter().map(ElectionMonitor::name).collect()
    }

    #[test]
    fn the_best_need_lead_only_where_there_is_a_best() {
        let always = [
            "E2",
            "termination",
            "uniqueness",
            "one-leader-per-term",
            "agreement",
            "eventual-accuracy",
            "stability",
        ]
        .as_slice();
        assert_eq!(names(None), always);
        assert_eq!(names(Some(vec![1, 2])), [&["E1"], always].concat());
    }

    #[test]
    fn a_textbook_election_has_every_property() {
        for index in 0..8 {
            let mut run = Rehearsal::started([1, 2, 3], |who| ElectionMonitor::all(who).swap_remove(index));
            run.output(3, Output::Leads { term: 1 });
            run.output(1, Output::follows(Id(3)));
            run.output(2, Output::follows(Id(3)));
            assert_eq!(run.violation(), None, "{}", run.monitor.name());
            assert_eq!(run.at_end(End::Quiet), Verdict::Holds, "{}", run.monitor.name());
        }
    }

    #[test]
    fn where_nobody_leads_only_these_are_at_stake() {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for index in 0..8 {
            let mut run = Rehearsal::started([1, 2, 3], |who| ElectionMonitor::all(who).swap_remove(index));
            before.extend(run.monitor.is_at_stake(&run.who).then(|| run.monitor.name()));
            run.output(3, Output::leads());
            after.extend((!run.monitor.is_at_stake(&run.who)).then(|| run.monitor.name()));
        }
        assert_eq!(before, ["E2", "termination", "agreement", "eventual-accuracy"]);
        // Term 0 stands for no terms.
        assert_eq!(after, ["one-leader-per-term"]);
    }

    #[test]
    fn a_run_in_which_nothing_happens_lacks_a_leader_by_these_properties() {
        let mut lacking = Vec::new();
        for index in 0..8 {
            let run = Rehearsal::started([1, 2, 3], |who| ElectionMonitor::all(who).swap_remove(index));
            if matches!(run.at_end(End::Quiet), Verdict::Violated(_)) {
                lacking.push(run.monitor.name());
            }
        }
        assert_eq!(lacking, ["E2", "termination", "agreement", "eventual-accuracy"]);
    }
}
