//! One state for all that differ only by a later time on all logical clocks: see
//! [`numbered::times`](crate::numbered).

use super::{Successors, Worker, World, entry};

/// There is no time in a situation.
const NONE: u64 = u64::MAX;

impl World {
    /// Whether states that differ by a later time on all logical clocks are one.
    pub(crate) fn is_timeless(&self) -> bool {
        self.timeless
    }
}

impl Worker<'_> {
    /// Sets the earliest logical time of each of these states to 0.
    pub(super) fn set_clocks_back(&mut self, out: &mut Successors) {
        if self.world.timeless {
            for row in out.states.chunks_exact_mut(self.world.width()) {
                self.set_clock_back(row);
            }
        }
    }

    /// Sets the earliest logical time of a state to 0.
    pub(crate) fn set_clock_back(&mut self, row: &mut [u32]) {
        if !self.world.timeless {
            return;
        }
        let places = 0..self.world.processes;
        let least = places.clone().map(|place| self.least_time(row[place])).min().unwrap_or(NONE);
        if least == 0 || least == NONE {
            return;
        }
        for place in places {
            row[place] = self.earlier(row[place], least);
        }
    }

    /// Whether a state is kept as this one.
    pub(crate) fn is_kept_as(&mut self, row: &[u32], kept: &[u32]) -> bool {
        if !self.world.timeless {
            return row == kept;
        }
        let mut row = row.to_vec();
        self.set_clock_back(&mut row);
        row == kept
    }

    fn least_time(&mut self, situation: u32) -> u64 {
        if let Some(&Some(known)) = self.least_times.get(situation as usize) {
            return known;
        }
        let (local, inbox) = self.situation(situation);
        let protocol = &*self.world.protocol;
        let items = self.mail.items(inbox);
        let in_items = items.iter().filter_map(|&item| protocol.least_time_of_item(item));
        let least = in_items.chain(protocol.least_time(local)).min().unwrap_or(NONE);
        *entry(&mut self.least_times, situation) = Some(least);
        least
    }

    fn earlier(&mut self, situation: u32, by: u64) -> u32 {
        if let Some(&known) = self.earlier.get(&(situation, by)) {
            return known;
        }
        let (local, inbox) = self.situation(situation);
        let protocol = &*self.world.protocol;
        let inbox = self.mail.with_each(inbox, |item| protocol.earlier_item(item, by));
        let earlier = self.number((protocol.earlier(local, by), inbox));
        self.earlier.insert((situation, by), earlier);
        earlier
    }
}
