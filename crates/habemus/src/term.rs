//! Terms, ballots, rounds and epochs: numbers that only grow, and of which nothing matters but which is
//! later.
//!
//! They grow for ever, and with them the states of whatever counts them. But a process that compares terms
//! with each other, takes the next one of one that it knows, and does nothing else with them, cannot tell a
//! term from another with the same neighbours. So the model checker may rename them: see [`TermInvariant`].

use std::fmt;

use crate::Process;

/// A term, ballot, round or epoch.
///
/// It is opaque: there is a first one, two can be compared, and one has a next one. That is all, so no
/// process can mind the number itself.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Term(u64);

impl Term {
    /// Before the first: nothing was counted yet.
    pub const ZERO: Term = Term(0);

    /// The next one. There is none after the last, which would take longer than the universe to reach.
    pub fn next(self) -> Option<Term> {
        self.0.checked_add(1).map(Term)
    }

    /// The number, to be told to an application or to people. A process that computes with it is not
    /// [`TermInvariant`], and the model checker finds it out.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The term with a number, for a driver that renames terms, and for tests. Processes make none.
    pub fn of(number: u64) -> Term {
        Term(number)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What is counted. Terms of different sorts are never compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sort(pub u8);

impl Sort {
    /// Terms of which applications hear: those in outputs are of this sort.
    pub const TERM: Sort = Sort(0);
    /// Whatever else is counted.
    pub const ROUND: Sort = Sort(1);
}

/// A part of a system that may hold terms.
#[derive(Debug)]
pub enum TermPart<'a, P: Process> {
    /// The variables of a process.
    Process(&'a mut P),
    /// A message.
    Message(&'a mut P::Message),
    /// A timer.
    Timer(&'a mut P::Timer),
    /// What is on stable storage.
    Stable(&'a mut P::Stable),
}

/// A process that does nothing with its terms but compare those of one sort and take the next one, at most
/// once in a step for each that it knows: were they renamed so that the order, zero and who comes next after
/// whom stay the same, it would do the same, with terms renamed.
pub trait TermInvariant: Process {
    /// Visits every term in a part, with its sort. Those that are left out are told apart by their numbers.
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term));
}

/// How to visit the terms of a part, as a value.
pub type VisitTerms<P> = fn(TermPart<'_, P>, &mut dyn FnMut(Sort, &mut Term));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_has_a_later_one_but_for_the_last() {
        let first = Term::ZERO.next().expect("there is a first one");
        assert!(first > Term::ZERO && first.next() > Some(first));
        assert_eq!(Term::of(u64::MAX).next(), None);
        assert_eq!((format!("{first:?}"), first.to_string()), ("1".to_owned(), "1".to_owned()));
    }
}
