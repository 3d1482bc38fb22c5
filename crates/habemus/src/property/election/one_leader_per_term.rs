//! One leader per term: what remains of uniqueness when messages and clocks cannot be relied on.

use std::collections::BTreeMap;

use crate::Address;
use crate::election::{Election, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// One leader per term (S4): no two processes ever lead the same term.
///
/// A leader may not know yet that it was replaced, so two can lead at once; but not in the same term, and an
/// older term is told from a newer one. Term 0 stands for "no terms", where nothing is demanded. A crash
/// excuses nobody: the term has had its leader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OneLeaderPerTerm {
    leaders: BTreeMap<u64, Address>,
    /// Whether only the terms that have had a leader by now are watched.
    is_closed: bool,
}

impl Monitor<Election> for OneLeaderPerTerm {
    fn name(&self) -> &'static str {
        "one-leader-per-term"
    }

    fn demand(&self) -> &'static str {
        "No two processes ever lead the same term."
    }

    fn observe(&mut self, seen: &Observation<'_, Election>, who: &Population) -> Result<(), Violation> {
        let ObservedEvent::Output(&Output::Leads { term }) = seen.what else {
            return Ok(());
        };
        // Term 0 stands for no terms.
        if term == 0 || (self.is_closed && !self.leaders.contains_key(&term)) {
            return Ok(());
        }
        let first = *self.leaders.entry(term).or_insert(seen.process);
        if first == seen.process {
            return Ok(());
        }
        let (second, first, time) = (who.id(seen.process), who.id(first), at(seen.at));
        Err(Violation(format!("{second} led term {term} {time}, which {first} had led before")))
    }

    fn visit_terms(&mut self, visit: &mut dyn FnMut(&mut u64)) {
        let renamed = std::mem::take(&mut self.leaders).into_iter().map(|(mut term, leader)| {
            visit(&mut term);
            (term, leader)
        });
        self.leaders = renamed.collect();
    }

    fn split_off(&mut self) -> Option<Self> {
        let (term, leader) = if self.is_closed { None } else { self.leaders.pop_first() }?;
        Some(OneLeaderPerTerm { leaders: BTreeMap::from([(term, leader)]), is_closed: true })
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // A term has its leader, so it may have no other.
        !self.leaders.is_empty()
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        if self.leaders.is_empty() {
            return Verdict::DoesNotApply("nobody led a term".to_owned());
        }
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::rehearsal::Rehearsal;

    #[test]
    fn each_term_may_have_its_leader_and_hear_of_it_twice() {
        let mut run = Rehearsal::started([1, 2], |_| OneLeaderPerTerm::default());
        run.output(1, Output::Leads { term: 1 });
        run.output(2, Output::Leads { term: 2 });
        run.output(1, Output::Leads { term: 1 });
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn a_term_has_no_second_leader_even_when_the_first_is_down() {
        let mut run = Rehearsal::started([1, 2], |_| OneLeaderPerTerm::default());
        run.output(1, Output::Leads { term: 4 });
        run.crash(1);
        run.output(2, Output::Leads { term: 4 });
        assert_eq!(run.violation(), Some("2 led term 4 at 5ms, which 1 had led before"));
    }

    #[test]
    fn who_watches_one_term_only_sees_what_concerns_it() {
        let mut run = Rehearsal::started([1, 2], |_| OneLeaderPerTerm::default());
        run.output(1, Output::Leads { term: 4 });
        let of_four = run.monitor.split_off().expect("a term has had its leader");
        assert_eq!((run.monitor.split_off(), of_four.clone().split_off()), (None, None));
        // The one that goes on has forgotten that term, and the other minds no other.
        run.output(2, Output::Leads { term: 4 });
        assert_eq!(run.violation(), None);
        run.monitor = of_four;
        run.output(1, Output::Leads { term: 5 });
        run.output(2, Output::Leads { term: 5 });
        assert_eq!(run.violation(), None);
        run.output(2, Output::Leads { term: 4 });
        assert!(run.violation().is_some());
    }

    #[test]
    fn algorithms_without_terms_are_not_judged() {
        let mut run = Rehearsal::started([1, 2], |_| OneLeaderPerTerm::default());
        run.output(1, Output::leads());
        run.output(2, Output::leads());
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::DoesNotApply("nobody led a term".to_owned()));
    }
}
