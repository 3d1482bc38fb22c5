//! Terms, ballots, rounds and epochs: numbers that only grow, and of which nothing matters but which is
//! later.
//!
//! They grow for ever, and with them the states of whatever counts them. But a process that compares terms
//! with each other, takes the next one of one that it knows, and does nothing else with them, cannot tell a
//! term from another with the same neighbours. So the model checker may rename them: see [`TermInvariant`].

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::Process;
use crate::opaque::peek;

/// A term, ballot, round or epoch.
///
/// It is opaque: there is a first one, two can be compared, and one has a next one. That is all, so no
/// process can mind the number itself. Whoever makes one that is two or more beyond all that it knows, and
/// compares with that, [is noticed](crate::symmetry::has_peeked) where terms are [out of reach](Far).
#[derive(Clone, Copy, Default)]
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

impl Term {
    /// Both numbers, to be compared.
    #[inline]
    fn with(self, other: Term) -> (u64, u64) {
        if self.0 ^ other.0 >= Far::APART && !Far::is_between(self.0.min(other.0), self.0.max(other.0)) {
            peek();
        }
        (self.0, other.0)
    }
}

impl PartialEq for Term {
    #[inline]
    fn eq(&self, other: &Term) -> bool {
        let (one, other) = self.with(*other);
        one == other
    }
}

impl Eq for Term {}

impl Ord for Term {
    #[inline]
    fn cmp(&self, other: &Term) -> Ordering {
        let (one, other) = self.with(*other);
        one.cmp(&other)
    }
}

impl PartialOrd for Term {
    #[inline]
    fn partial_cmp(&self, other: &Term) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Term {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Names for terms that are so far apart that no process gets from one to another by taking the next one.
///
/// Terms with nothing between them are a *run*. Those that zero begins keep their numbers. Each other run
/// ends at the same place within its own stretch of numbers, so that a number says how far beyond its run it
/// is; and it says where the run of zero ends.
#[derive(Clone, Copy, Debug)]
pub struct Far {
    /// The last term of the run that zero begins.
    zero_to: u64,
}

impl Far {
    /// Numbers that differ by less are of one run.
    const APART: u64 = 1 << 48;
    /// Where a stretch says how far the run of zero goes.
    const ZERO_TO: u32 = 40;
    /// Where runs end.
    const END: u64 = 1 << 20;

    /// The names where the run of zero ends with this term; `None` if it is too long.
    pub fn beyond(zero_to: u64) -> Option<Far> {
        (zero_to < Self::APART >> Self::ZERO_TO).then_some(Far { zero_to })
    }

    /// The name of a term of the run with this number, the first of which is 1, with so many of the run after
    /// it.
    pub fn name(self, run: u64, after: u64) -> u64 {
        (run * Self::APART) + (self.zero_to << Self::ZERO_TO) + Self::END - after
    }

    /// Whether a term is surely below one of a later run: it is one of its own run or the next one after
    /// that.
    fn is_between(below: u64, above: u64) -> bool {
        if below < Self::APART {
            below <= ((above % Self::APART) >> Self::ZERO_TO) + 1
        } else {
            below % (1 << Self::ZERO_TO) <= Self::END + 1
        }
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
    use crate::opaque::has_peeked;

    #[test]
    fn each_term_has_a_later_one_but_for_the_last() {
        let first = Term::ZERO.next().expect("there is a first one");
        assert!(first > Term::ZERO && first.next() > Some(first));
        assert_eq!(Term::of(u64::MAX).next(), None);
        assert_eq!((format!("{first:?}"), first.to_string()), ("1".to_owned(), "1".to_owned()));
    }

    #[test]
    fn a_term_beyond_all_that_are_known_is_compared_with_none() {
        // 0, 1, some later one and the next one after that, and a still later one.
        let far = Far::beyond(1).expect("it is near");
        let [lower, upper, last] = [(1, 1), (1, 0), (2, 0)].map(|(run, after)| Term(far.name(run, after)));
        let after = |term: Term, times: usize| {
            (0..times).fold(term, |term, _| term.next().expect("there is a later one"))
        };
        let peeks = |one: Term, other: Term| {
            has_peeked();
            let _ = one < other;
            has_peeked()
        };
        assert_eq!((after(lower, 1), lower < upper && upper < last), (upper, true));
        let known = [Term::ZERO, after(Term::ZERO, 2), lower, after(upper, 1), last, after(last, 1)];
        assert!(known.iter().all(|&one| known.iter().all(|&other| !peeks(one, other))));
        for made in [after(Term::ZERO, 3), after(Term::ZERO, 9), after(upper, 2)] {
            assert!(peeks(made, last) && peeks(last, made), "{made}");
        }
        // How far apart neighbours are is known.
        assert!(!peeks(after(upper, 2), lower) && !peeks(after(Term::ZERO, 9), Term::ZERO));
        assert!(Far::beyond(1 << 8).is_none());
    }
}
