//! The order of requests by Lamport's clock.

use std::collections::BTreeSet;

use super::Token;
use crate::clock::LamportClock;
use crate::topology::Complete;
use crate::{Context, Id, Process};

/// S1's ⟨T, p⟩: when a request was made, and by whom, which decides between requests of the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    /// What the clock of the process showed.
    pub time: LamportClock,
    /// The process.
    pub id: Id,
}

impl Timestamp {
    /// The fencing token of the entry that answers this request. Where processes enter in the order of their
    /// timestamps these tokens grow: the time counts, and the rank of the identifier breaks ties.
    pub(super) fn token<P: Process<Topology = Complete>>(self, cx: &Context<'_, P>) -> Token {
        let rank = cx.neighbours().filter(|&other| cx.id_of(other) < self.id).count();
        Token(self.time.numbered(rank, cx.process_count()))
    }
}

/// Shows the time of every item of an ordered set, which is ordered anew afterwards.
pub(super) fn visit_each<T: Ord>(
    set: &mut BTreeSet<T>,
    clock_in: impl Fn(&mut T) -> &mut LamportClock,
    visit: &mut dyn FnMut(&mut LamportClock),
) {
    let shown = std::mem::take(set).into_iter().map(|mut item| {
        visit(clock_in(&mut item));
        item
    });
    *set = shown.collect();
}
