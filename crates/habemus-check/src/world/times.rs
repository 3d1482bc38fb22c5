//! One state for all that differ only by a later time on all logical clocks: see
//! [`numbered::times`](crate::numbered).

use rustc_hash::FxHashMap;

use super::{Worker, World};
use crate::memo::entry;
use crate::row::{Situation, put, situation};

/// There is no time there.
const NONE: u64 = u64::MAX;

/// Logical times in local states and in inboxes, by their numbers.
#[derive(Debug, Default)]
pub(super) struct TimeTable {
    least_of_locals: Vec<Option<u64>>,
    least_of_inboxes: Vec<Option<u64>>,
    earlier_locals: FxHashMap<(u32, u64), u32>,
    earlier_inboxes: FxHashMap<(u32, u64), u32>,
}

impl World {
    /// Whether states that differ by a later time on all logical clocks are one.
    pub(crate) fn is_timeless(&self) -> bool {
        self.timeless
    }
}

impl Worker<'_> {
    /// Sets the earliest logical time of a state to 0.
    pub(super) fn set_clock_back(&mut self, row: &mut [u32]) {
        if !self.world.timeless {
            return;
        }
        let places = 0..self.world.processes;
        let mut least = NONE;
        for place in places.clone() {
            least = least.min(self.least_time(situation(row, place)));
            if least == 0 {
                return;
            }
        }
        if least == NONE {
            return;
        }
        for place in places {
            let earlier = self.earlier(situation(row, place), least);
            put(row, place, earlier);
        }
    }

    fn least_time(&mut self, (local, inbox): Situation) -> u64 {
        let protocol = &*self.world.protocol;
        let in_local = *entry(&mut self.times.least_of_locals, local)
            .get_or_insert_with(|| protocol.least_time(local).unwrap_or(NONE));
        let in_inbox = *entry(&mut self.times.least_of_inboxes, inbox).get_or_insert_with(|| {
            let items = self.mail.items(inbox);
            items.iter().filter_map(|&item| protocol.least_time_of_item(item)).min().unwrap_or(NONE)
        });
        in_local.min(in_inbox)
    }

    fn earlier(&mut self, (local, inbox): Situation, by: u64) -> Situation {
        let protocol = &*self.world.protocol;
        let local =
            *self.times.earlier_locals.entry((local, by)).or_insert_with(|| protocol.earlier(local, by));
        let inbox = *self
            .times
            .earlier_inboxes
            .entry((inbox, by))
            .or_insert_with(|| self.mail.with_each(inbox, |item| protocol.earlier_item(item, by)));
        (local, inbox)
    }
}
