//! The terms of a state, and its canonical forms: see [`terms`](crate::terms).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Worker;
use super::local_transition::LocalTransition;
use crate::memo::entry;
use crate::row::{Situation, append, put, situation};
use crate::terms::{Image, Renaming, Terms, canonical_forms, gaps, in_order};

/// What terms parts of states hold, and what becomes of the parts where terms are renamed, by number.
#[derive(Debug, Default)]
pub(super) struct TermTable {
    of_locals: Vec<Option<Terms>>,
    of_inboxes: Vec<Option<Terms>>,
    of_monitors: Vec<Option<Terms>>,
    locals: FxHashMap<(u32, Image), u32>,
    inboxes: FxHashMap<(u32, Image), u32>,
    monitors: FxHashMap<(u32, Image), u32>,
    splits: Vec<Option<SmallVec<[u32; 1]>>>,
    /// Whether a step was taken since this was unset that has several canonical forms because a term was
    /// made.
    pub(super) has_forked: bool,
}

impl Worker<'_> {
    /// Adds every canonical form of a state to others: one for each term that monitors may watch, and for
    /// each distance that a term that was just made may have.
    pub(super) fn push_forms(&mut self, row: &[u32], to: &mut Vec<u32>) {
        let monitors_at = self.world.monitors_at();
        let mut row: SmallVec<[u32; 16]> = SmallVec::from_slice(row);
        for monitors in self.split(row[monitors_at]) {
            row[monitors_at] = monitors;
            let terms = self.terms(&row);
            let forms = canonical_forms(&terms);
            self.terms.has_forked |= forms.len() > 1;
            for form in forms {
                let renaming = Renaming { from: &terms, to: &form };
                if renaming.is_identity() {
                    append(to, &row);
                } else {
                    let renamed = self.renamed(&row, &renaming);
                    append(to, &renamed);
                }
            }
        }
    }

    /// The monitors of a state, each of which remembers one term at most, that are together as good as these.
    pub(super) fn split(&mut self, monitors: u32) -> SmallVec<[u32; 1]> {
        let watching = &self.world.system.watching;
        entry(&mut self.terms.splits, monitors).get_or_insert_with(|| watching.split(monitors)).clone()
    }

    /// The gaps between the terms of a state.
    pub(crate) fn gaps(&mut self, row: &[u32]) -> Vec<u64> {
        gaps(&self.terms(row))
    }

    /// Whether a local transition makes a term that the process did not know before.
    pub(super) fn makes_term(&mut self, (before, _): Situation, transition: &LocalTransition) -> bool {
        let mut known = self.terms_of_local(before).clone();
        known.extend(self.world.system.terms_of_item(transition.subject));
        in_order(&mut known);
        let after = self.terms_of_local(transition.reflex.local);
        after.iter().any(|term| term.1 != 0 && known.binary_search(term).is_err())
    }

    /// All terms of a state, in order.
    fn terms(&mut self, row: &[u32]) -> Terms {
        let mut terms = Terms::new();
        for address in 0..self.world.processes {
            let (local, inbox) = situation(row, address);
            terms.extend_from_slice(self.terms_of_local(local));
            if inbox != 0 {
                terms.extend_from_slice(self.terms_of_inbox(inbox));
            }
        }
        terms.extend_from_slice(self.terms_of_monitors(row[self.world.monitors_at()]));
        in_order(&mut terms);
        terms
    }

    fn terms_of_local(&mut self, local: u32) -> &Terms {
        let system = &self.world.system;
        entry(&mut self.terms.of_locals, local).get_or_insert_with(|| system.terms_of_local(local))
    }

    fn terms_of_inbox(&mut self, inbox: u32) -> &Terms {
        let (system, mail) = (&self.world.system, &self.mail);
        entry(&mut self.terms.of_inboxes, inbox).get_or_insert_with(|| {
            let mut terms = Terms::new();
            for &item in mail.items(inbox) {
                terms.extend(system.terms_of_item(item));
            }
            in_order(&mut terms);
            terms
        })
    }

    fn terms_of_monitors(&mut self, monitors: u32) -> &Terms {
        let watching = &self.world.system.watching;
        entry(&mut self.terms.of_monitors, monitors).get_or_insert_with(|| {
            let mut terms = watching.terms(monitors);
            in_order(&mut terms);
            terms
        })
    }

    fn renamed(&mut self, row: &[u32], renaming: &Renaming<'_>) -> SmallVec<[u32; 16]> {
        let mut renamed = SmallVec::from_slice(row);
        for address in 0..self.world.processes {
            let (local, inbox) = situation(row, address);
            put(
                &mut renamed,
                address,
                (self.renamed_local(local, renaming), self.renamed_inbox(inbox, renaming)),
            );
        }
        let monitors_at = self.world.monitors_at();
        renamed[monitors_at] = self.renamed_monitors(row[monitors_at], renaming);
        renamed
    }

    fn renamed_local(&mut self, local: u32, renaming: &Renaming<'_>) -> u32 {
        let Some(image) = image(self.terms_of_local(local), renaming) else { return local };
        let system = &self.world.system;
        *self.terms.locals.entry((local, image)).or_insert_with(|| {
            system.renamed_local(local, renaming).expect("all terms of a state are renamed")
        })
    }

    fn renamed_inbox(&mut self, inbox: u32, renaming: &Renaming<'_>) -> u32 {
        let Some(image) = image(self.terms_of_inbox(inbox), renaming) else { return inbox };
        let (system, mail) = (&self.world.system, &mut self.mail);
        *self
            .terms
            .inboxes
            .entry((inbox, image))
            .or_insert_with(|| mail.with_each(inbox, |item| system.renamed_item(item, renaming)))
    }

    fn renamed_monitors(&mut self, monitors: u32, renaming: &Renaming<'_>) -> u32 {
        let Some(image) = image(self.terms_of_monitors(monitors), renaming) else { return monitors };
        let watching = &self.world.system.watching;
        *self.terms.monitors.entry((monitors, image)).or_insert_with(|| {
            let rename = |term| renaming.of(habemus::term::Sort::TERM, term).unwrap_or(term);
            watching.with_terms(monitors, &rename)
        })
    }
}

/// What the terms of a part are renamed to; `None` if they stay what they are.
fn image(terms: &Terms, renaming: &Renaming<'_>) -> Option<Image> {
    let renamed = |&(sort, term): &(_, u64)| renaming.of(sort, term).unwrap_or(term);
    let stays = terms.iter().all(|term| renamed(term) == term.1);
    (!stays).then(|| terms.iter().map(renamed).collect())
}
