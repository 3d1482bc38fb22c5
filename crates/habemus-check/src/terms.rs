//! Which terms are one: the canonical form of a set of terms.
//!
//! A process compares terms and takes the next one of a term that it knows. So of the terms that are anywhere
//! in a state only their order counts, which of them is the next one after which, and which is zero. Terms
//! that are nowhere any more are dead. The canonical form keeps neighbours neighbours, and puts all others
//! equally far apart: a *wide gap* stands for any distance of two or more.
//!
//! What a step makes is a term that was there, or the next one of it. The next one after a term below a wide
//! gap lies just below the other side of the gap, or further from it, as it was two wide or more: both are
//! explored. So whatever a run can do, some explored run does, and what is proved is proved. The opposite
//! need not be so: distances are forgotten, so an explored run may take a gap for wide again that was two. A
//! counterexample is therefore walked again with the terms as they were, and if none of its runs can be
//! walked nothing is claimed.

use habemus::term::Sort;
use smallvec::SmallVec;

/// A term, with its sort.
pub(crate) type SortedTerm = (Sort, u64);

/// The terms of a part of a state, in order and each once: few, nearly always.
pub(crate) type Terms = SmallVec<[SortedTerm; 4]>;

/// What each of a list of terms is renamed to.
pub(crate) type Image = SmallVec<[u64; 4]>;

/// How far apart terms are in canonical form that are not neighbours. It is far more than the terms of a run,
/// so that a gap says how many wide ones it is made of.
pub(crate) const WIDE: u64 = 1 << 20;

/// Brings terms in order, each once.
pub(crate) fn in_order(terms: &mut Terms) {
    terms.sort_unstable();
    terms.dedup();
}

/// What a gap between two terms in a row may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Known(u64),
    /// The next one, or further away: it was wide before the lower one was made.
    NextOrWide,
}

impl Gap {
    fn of(distance: u64) -> Gap {
        let wide = (distance + WIDE / 2) / WIDE;
        let rest = distance as i64 - (wide * WIDE) as i64;
        // A wide gap is two at least.
        match rest + 2 * wide as i64 {
            _ if wide == 0 && distance < 2 => Gap::Known(distance),
            1 => Gap::NextOrWide,
            min => {
                assert!(min > 1, "a step takes the next term once, or it would have been found out");
                Gap::Known(WIDE)
            }
        }
    }
}

/// Every canonical form of these terms, which are in order; nearly always one.
pub(crate) fn canonical_forms(terms: &[SortedTerm]) -> SmallVec<[Image; 1]> {
    let mut forms: SmallVec<[Image; 1]> = SmallVec::new();
    forms.push(Image::new());
    // Zero is always there: whoever starts begins with it.
    let mut before: SortedTerm = (Sort(0), 0);
    for &(sort, term) in terms {
        let is_first = before.0 != sort;
        if is_first {
            before = (sort, 0);
        }
        let gap = Gap::of(term - before.1);
        let last = |form: &Image, starts: bool| if starts { 0 } else { form.last().copied().unwrap_or(0) };
        let starts = is_first || forms[0].is_empty();
        match gap {
            Gap::Known(gap) => forms.iter_mut().for_each(|form| form.push(last(form, starts) + gap)),
            Gap::NextOrWide => {
                let mut wide = forms.clone();
                forms.iter_mut().for_each(|form| form.push(last(form, starts) + 1));
                wide.iter_mut().for_each(|form| form.push(last(form, starts) + WIDE));
                forms.extend(wide);
            }
        }
        before = (sort, term);
    }
    forms
}

/// The gaps between these terms, which are in order: below each, down to the one before or to zero.
pub(crate) fn gaps(terms: &[SortedTerm]) -> Vec<u64> {
    let mut before: Option<SortedTerm> = None;
    let gap = |&(sort, term): &SortedTerm| {
        let below = before.replace((sort, term)).filter(|(other, _)| *other == sort);
        term - below.map_or(0, |(_, term)| term)
    };
    terms.iter().map(gap).collect()
}

/// A renaming of some terms, and of those next to them.
pub(crate) struct Renaming<'a> {
    pub(crate) from: &'a [SortedTerm],
    pub(crate) to: &'a [u64],
}

impl Renaming<'_> {
    /// What a term is renamed to; `None` if it is neither one of them nor zero, nor the next one of one of
    /// these.
    pub(crate) fn of(&self, sort: Sort, term: u64) -> Option<u64> {
        let known = |term: u64| match self.from.binary_search(&(sort, term)) {
            Ok(index) => Some(self.to[index]),
            Err(_) => (term == 0).then_some(0),
        };
        known(term).or_else(|| known(term.checked_sub(1)?).map(|renamed| renamed + 1))
    }

    /// Whether it changes nothing.
    pub(crate) fn is_identity(&self) -> bool {
        self.from.iter().map(|(_, term)| term).eq(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Sort = Sort(0);
    const B: Sort = Sort(1);

    fn forms(terms: &[SortedTerm]) -> Vec<Vec<u64>> {
        canonical_forms(terms).iter().map(|form| form.to_vec()).collect()
    }

    #[test]
    fn neighbours_stay_neighbours_and_all_others_are_equally_far_apart() {
        assert_eq!(forms(&[]), [Vec::<u64>::new()]);
        assert_eq!(forms(&[(A, 0), (A, 1), (A, 2)]), [[0, 1, 2]]);
        assert_eq!(forms(&[(A, 2), (A, 3), (A, 9)]), [[WIDE, WIDE + 1, 2 * WIDE + 1]]);
        // Sorts have nothing to do with each other.
        assert_eq!(forms(&[(A, 1), (B, 1), (B, 7)]), [[1, 1, WIDE + 1]]);
    }

    #[test]
    fn a_canonical_form_is_its_own() {
        for terms in [[1, WIDE + 1, WIDE + 2], [0, WIDE, 2 * WIDE], [WIDE, WIDE + 1, WIDE + 2]] {
            let terms = terms.map(|term| (A, term));
            assert_eq!(forms(&terms), [terms.map(|(_, term)| term)]);
        }
    }

    #[test]
    fn what_was_made_below_a_wide_gap_is_next_to_its_other_side_or_not() {
        // From 0, 1 and a later one, the next one after 1 was taken.
        let terms = [(A, 1), (A, 2), (A, WIDE + 1)];
        assert_eq!(forms(&terms), [[1, 2, 3], [1, 2, WIDE + 2]]);
        // If what is above has died meanwhile, a gap of two or more and another one are more than one.
        assert_eq!(forms(&[(A, 2), (A, WIDE + 2)]), [[WIDE, 2 * WIDE]]);
        assert_eq!(forms(&[(A, 2), (A, 2 * WIDE + 1)]), [[WIDE, 2 * WIDE]]);
    }

    #[test]
    fn gaps_are_those_below_each_term() {
        assert_eq!(gaps(&[(A, 2), (A, 3), (B, 5)]), [2, 1, 5]);
    }

    #[test]
    fn what_is_next_to_a_renamed_term_is_renamed_with_it() {
        let renaming = Renaming { from: &[(A, 4), (A, 9)], to: &[2, 5] };
        let of = |term| renaming.of(A, term);
        assert_eq!([of(0), of(1), of(4), of(5), of(9), of(10)], [0, 1, 2, 3, 5, 6].map(Some));
        assert_eq!((of(2), of(6), renaming.of(B, 4)), (None, None, None));
    }
}
