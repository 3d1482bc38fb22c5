//! The canonical form of a state: one state for all that a symmetry makes the same. See
//! [`numbered::symmetry`](crate::numbered).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Successors, Worker};
use crate::environment::Environment;
use crate::memo::entry;
use crate::row::{Situation, put, situation};

/// There is no time there.
const NONE: u64 = u64::MAX;

/// What was shifted or rotated before, by number.
#[derive(Debug, Default)]
pub(super) struct SymmetryTable {
    min_times_of_locals: Vec<Option<u64>>,
    min_times_of_inboxes: Vec<Option<u64>>,
    earlier_locals: FxHashMap<(u32, u64), u32>,
    earlier_inboxes: FxHashMap<(u32, u64), u32>,
    /// By move.
    moved: Vec<MoveTable>,
    /// Room for a state that is moved.
    room: Vec<u32>,
}

/// What was moved before by one permutation, by number.
#[derive(Clone, Debug, Default)]
struct MoveTable {
    locals: Vec<Option<u32>>,
    inboxes: Vec<Option<u32>>,
    monitors: Vec<Option<Option<u32>>>,
}

impl Worker<'_> {
    /// Replaces each of these states by its canonical forms; there is one, but for terms.
    pub(super) fn canonicalize_all(&mut self, out: &mut Successors) {
        if self.world.system.is_term_invariant {
            self.replace_by_forms(out);
        }
        if self.world.system.is_shift_invariant || self.search.rotation {
            for row in out.states.chunks_exact_mut(self.world.width()) {
                self.canonicalize(row);
            }
        }
    }

    /// Replaces each of these states by those that it may be once terms are renamed.
    fn replace_by_forms(&mut self, out: &mut Successors) {
        let width = self.world.width();
        let states = std::mem::replace(&mut out.states, std::mem::take(&mut self.renamed));
        let transitions = out.transitions.as_mut().map(std::mem::take);
        out.states.clear();
        for (index, row) in states.chunks_exact(width).enumerate() {
            let before = out.states.len();
            self.push_forms(row, &mut out.states);
            if let (Some(all), Some(old)) = (&mut out.transitions, &transitions) {
                all.extend(std::iter::repeat_n(old[index], (out.states.len() - before) / width));
            }
        }
        self.renamed = states;
    }

    /// The canonical forms of a state, one after the other.
    pub(crate) fn canonical_forms(&mut self, row: &[u32]) -> Vec<u32> {
        let mut out = Successors { states: row.to_vec(), transitions: None };
        self.canonicalize_all(&mut out);
        out.states
    }

    /// Replaces a state by its canonical form: the earliest logical time is 0, and of its permutations it is
    /// the least.
    fn canonicalize(&mut self, row: &mut [u32]) {
        if self.world.system.is_shift_invariant {
            self.shift_to_zero(row);
        }
        if !self.search.rotation {
            return;
        }
        let as_it_was: SmallVec<[u32; 16]> = SmallVec::from_slice(row);
        let mut moved = std::mem::take(&mut self.symmetries.room);
        for by in 0..self.world.system.moves.len() {
            // What a monitor would have seen is not known of all.
            if !self.moved(&as_it_was, by, &mut moved) {
                row.copy_from_slice(&as_it_was);
                break;
            }
            if *moved < *row {
                row.copy_from_slice(&moved);
            }
        }
        self.symmetries.room = moved;
    }

    /// The state with monitors for which this is its canonical form, if there are such.
    pub(crate) fn becoming(&mut self, row: &[u32], canonical: &[u32]) -> Option<Vec<u32>> {
        let system = &self.world.system;
        if !system.is_term_invariant {
            if !system.is_shift_invariant && !self.search.rotation {
                return (row == canonical).then(|| row.to_vec());
            }
            return (self.canonical_forms(row) == canonical).then(|| row.to_vec());
        }
        let monitors_at = self.world.monitors_at();
        let mut row = row.to_vec();
        let splits = self.split(row[monitors_at]);
        splits.into_iter().find_map(|monitors| {
            row[monitors_at] = monitors;
            (self.canonical_forms(&row) == canonical).then(|| row.clone())
        })
    }

    /// Shifts all logical times so that the earliest is 0.
    fn shift_to_zero(&mut self, row: &mut [u32]) {
        let addresses = 0..self.world.processes;
        let mut min = NONE;
        for address in addresses.clone() {
            min = min.min(self.min_time(situation(row, address)));
            if min == 0 {
                return;
            }
        }
        if min == NONE {
            return;
        }
        for address in addresses {
            let earlier = self.earlier(situation(row, address), min);
            put(row, address, earlier);
        }
    }

    fn min_time(&mut self, (local, inbox): Situation) -> u64 {
        let system = &self.world.system;
        let in_local = *entry(&mut self.symmetries.min_times_of_locals, local)
            .get_or_insert_with(|| system.min_time(local).unwrap_or(NONE));
        let in_inbox = *entry(&mut self.symmetries.min_times_of_inboxes, inbox).get_or_insert_with(|| {
            let items = self.mail.items(inbox);
            items.iter().filter_map(|&item| system.min_time_of_item(item)).min().unwrap_or(NONE)
        });
        in_local.min(in_inbox)
    }

    fn earlier(&mut self, (local, inbox): Situation, by: u64) -> Situation {
        let system = &self.world.system;
        let tables = &mut self.symmetries;
        let local = *tables.earlier_locals.entry((local, by)).or_insert_with(|| system.earlier(local, by));
        let inbox = *tables
            .earlier_inboxes
            .entry((inbox, by))
            .or_insert_with(|| self.mail.with_each(inbox, |item| system.earlier_item(item, by)));
        (local, inbox)
    }

    /// The state with everybody where the permutation with this number puts it; says whether that can be
    /// known of the monitors.
    fn moved(&mut self, row: &[u32], by: usize, moved: &mut Vec<u32>) -> bool {
        let system = &self.world.system;
        let to = &system.moves[by];
        if self.symmetries.moved.is_empty() {
            self.symmetries.moved = vec![MoveTable::default(); system.moves.len()];
        }
        let tables = &mut self.symmetries.moved[by];
        moved.clear();
        moved.extend_from_slice(row);
        for (address, &place) in to.iter().enumerate() {
            let (local, inbox) = situation(row, address);
            let local = *entry(&mut tables.locals, local).get_or_insert_with(|| system.moved(local, by));
            let inbox = *entry(&mut tables.inboxes, inbox)
                .get_or_insert_with(|| self.mail.with_each(inbox, |item| system.item_moved(item, by)));
            put(moved, place as usize, (local, inbox));
        }
        let environment = self.world.environment_at();
        moved[environment] = Environment(row[environment]).moved(to).0;
        let monitors = self.world.monitors_at();
        let known = *entry(&mut tables.monitors, row[monitors]).get_or_insert_with(|| {
            let moved = system.moved_monitors(row[monitors], by)?;
            let judgements = [moved, row[monitors]].map(|monitors| system.judge(monitors));
            assert_eq!(judgements[0], judgements[1], "a monitor does not treat all processes alike");
            Some(moved)
        });
        known.inspect(|&known| moved[monitors] = known).is_some()
    }
}
