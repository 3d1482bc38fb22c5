//! The terms of local states, items and monitors, and what they are renamed to. See [`terms`](crate::terms).
//!
//! A process says of itself that it does nothing with terms but compare them and take the next one
//! ([`TermInvariant`](habemus::term::TermInvariant)); here it is tried on every step, with gaps of other
//! widths.

use std::sync::atomic::Ordering;

use habemus::term::Far;

use super::{Numbered, Outcomes};
use crate::handlers::{Effect, TermPart};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};
use crate::terms::{Image, Renaming, SortedTerm, Terms, gaps, in_order};

/// So wide gaps become to see whether a process minds.
const WIDTHS: [u64; 4] = [2, 3, 5, 1_000_003];
/// On so many steps all of them are tried, and on the others one after the other.
const WHOLLY_WIDENED: usize = 200;

impl Numbered {
    /// The terms in a local state, in order.
    pub(crate) fn terms_of_local(&self, local: u32) -> Terms {
        let mut terms = self.terms_in(self.locals.value(local));
        in_order(&mut terms);
        terms
    }

    /// The terms in an item, in order.
    pub(crate) fn terms_of_item(&self, item: u32) -> Terms {
        let mut terms = match *self.items.value(item) {
            Item::Message { message, .. } => self.handlers.terms(TermPart::Message(message)),
            Item::Notice(_) => Terms::new(),
        };
        in_order(&mut terms);
        terms
    }

    /// Whether a timer holds a term.
    pub(crate) fn timer_has_terms(&self, timer: u32) -> bool {
        self.is_term_invariant && !self.handlers.terms(TermPart::Timer(timer)).is_empty()
    }

    /// What is left of an item without its terms: those that are the same now are the same after any
    /// renaming.
    pub(crate) fn shape(&self, item: u32) -> u32 {
        self.item_with_terms(item, &|_, _| 0)
    }

    /// The local state with its terms renamed.
    pub(crate) fn renamed_local(&self, local: u32, renaming: &Renaming<'_>) -> Option<u32> {
        self.local_with_terms(self.locals.value(local), renaming).map(|local| self.locals.number(local))
    }

    /// The item with its terms renamed.
    pub(crate) fn renamed_item(&self, item: u32, renaming: &Renaming<'_>) -> u32 {
        self.item_with_terms(item, &|sort, term| renaming.of(sort, term).unwrap_or(term))
    }

    fn item_with_terms(&self, item: u32, rename: &dyn Fn(habemus::term::Sort, u64) -> u64) -> u32 {
        let Item::Message { from, message, clock } = self.items.value(item) else { return item };
        let message = self.handlers.with_terms(TermPart::Message(*message), rename);
        self.message_item(*from, message, clock)
    }

    fn terms_in(&self, local: &Local) -> Terms {
        let mut terms = Terms::new();
        if let Body::Up { process, timers } = &local.body {
            terms.extend(self.handlers.terms(TermPart::Process(*process)));
            for running in timers {
                terms.extend(self.handlers.terms(TermPart::Timer(running.timer)));
            }
        }
        if let Some(stored) = local.stored {
            terms.extend(self.handlers.terms(TermPart::Stored(stored)));
        }
        terms
    }

    fn local_with_terms(&self, local: &Local, renaming: &Renaming<'_>) -> Option<Local> {
        let mut local = local.clone();
        if let Body::Up { process, timers } = &mut local.body {
            *process = self.part_with_terms(TermPart::Process(*process), renaming)?;
            for running in &mut *timers {
                running.timer = self.part_with_terms(TermPart::Timer(running.timer), renaming)?;
            }
            timers.sort_unstable_by(|one, other| self.handlers.compare_timers(one.timer, other.timer));
        }
        if let Some(stored) = &mut local.stored {
            *stored = self.part_with_terms(TermPart::Stored(*stored), renaming)?;
        }
        Some(local)
    }

    /// A part with its terms renamed; `None` if one of them has no other name.
    fn part_with_terms(&self, part: TermPart, renaming: &Renaming<'_>) -> Option<u32> {
        let terms = self.handlers.terms(part);
        if terms.is_empty() {
            return Some(part.number());
        }
        let is_known = terms.iter().all(|&(sort, term)| renaming.of(sort, term).is_some());
        is_known
            .then(|| self.handlers.with_terms(part, &|sort, term| renaming.of(sort, term).unwrap_or(term)))
    }

    /// Whether the process would do the same, but for the names of terms, if gaps were of other widths.
    pub(super) fn minds_no_renaming(
        &self,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        let mut from = self.terms_in(local);
        match cause {
            Cause::Item(item) => from.extend(self.terms_of_item(item)),
            Cause::Timer(timer) => from.extend(self.handlers.terms(TermPart::Timer(timer))),
            _ => {}
        }
        in_order(&mut from);
        let number = self.widened.fetch_add(1, Ordering::Relaxed);
        let one = number % WIDTHS.len();
        let tried = if number < WHOLLY_WIDENED { &WIDTHS[..] } else { &WIDTHS[one..=one] };
        // A step may do the same with gaps of these widths and not with others, if it compares terms with one
        // that it makes, two or more beyond all that it knows. So far apart, that is found out.
        let images = tried.iter().map(|&width| widened(&from, width)).chain(far_apart(&from));
        for to in images {
            if !self.does_the_same(&Renaming { from: &from, to: &to }, local, cause, outcomes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn does_the_same(
        &self,
        renaming: &Renaming<'_>,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        let Some(expected) = self.renamed_outcomes(outcomes, renaming) else { return Ok(false) };
        if renaming.is_identity() {
            return Ok(true);
        }
        let Some(local) = self.local_with_terms(local, renaming) else { return Ok(false) };
        let cause = match cause {
            Cause::Item(item) => Cause::Item(self.renamed_item(item, renaming)),
            Cause::Timer(timer) => match self.part_with_terms(TermPart::Timer(timer), renaming) {
                Some(timer) => Cause::Timer(timer),
                None => return Ok(false),
            },
            other => other,
        };
        Ok(self.outcomes(&local, cause)? == expected)
    }

    /// What a process did, with terms renamed; `None` if it made one that is not the next one of one that it
    /// knew.
    fn renamed_outcomes(&self, outcomes: &Outcomes, renaming: &Renaming<'_>) -> Option<Outcomes> {
        let renamed = |part| self.part_with_terms(part, renaming);
        let mut outcomes = outcomes.clone();
        for handled in outcomes.iter_mut().flatten() {
            handled.process = renamed(TermPart::Process(handled.process))?;
            if let Some(stored) = &mut handled.persist {
                *stored = renamed(TermPart::Stored(*stored))?;
            }
            for effect in &mut handled.effects {
                match effect {
                    Effect::Send { message, .. } => *message = renamed(TermPart::Message(*message))?,
                    Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer) => {
                        *timer = renamed(TermPart::Timer(*timer))?;
                    }
                    Effect::Output(output) => *output = renamed(TermPart::Output(*output))?,
                    Effect::Suspicion(_) => {}
                }
            }
        }
        Some(outcomes)
    }
}

/// Terms so far apart that none is made of another; `None` if there are too many next to zero.
fn far_apart(terms: &[SortedTerm]) -> Option<Image> {
    let mut image = Image::new();
    for terms in terms.chunk_by(|one, other| one.0 == other.0) {
        let gaps = gaps(terms);
        let neighbours = |from: usize| gaps[from..].iter().take_while(|&&gap| gap < 2).count();
        let near = neighbours(0);
        image.extend(terms[..near].iter().map(|&(_, term)| term));
        let far = Far::beyond(image.last().copied().filter(|_| near > 0).unwrap_or(0))?;
        let mut run = 0;
        for (index, &gap) in gaps.iter().enumerate().skip(near) {
            run += u64::from(gap >= 2);
            image.push(far.name(run, neighbours(index + 1) as u64));
        }
    }
    Some(image)
}

/// Terms with gaps so wide between those that are not neighbours.
fn widened(terms: &[SortedTerm], width: u64) -> Image {
    let mut last = None;
    let renamed = terms.iter().zip(gaps(terms)).map(|(&(sort, _), gap)| {
        let below = match last {
            Some((other, below)) if other == sort => below,
            _ => 0,
        };
        let term = below + if gap < 2 { gap } else { width };
        last = Some((sort, term));
        term
    });
    renamed.collect()
}
