//! One state for all that are the same to the processes: see [`numbered::turns`](crate::numbered) and
//! [`times`](super::times).

use super::{Successors, Worker};
use crate::environment::Environment;
use crate::memo::entry;
use crate::row::{put, situation};

/// What is where after a turn, by number.
#[derive(Debug, Default)]
pub(super) struct TurnTable {
    locals: Vec<Option<u32>>,
    inboxes: Vec<Option<u32>>,
    monitors: Vec<Option<u32>>,
}

impl Worker<'_> {
    /// Replaces each of these states by the one that stands for all that are the same to the processes.
    pub(super) fn settle_all(&mut self, out: &mut Successors) {
        if self.world.timeless || self.world.turns {
            for row in out.states.chunks_exact_mut(self.world.width()) {
                self.settle(row);
            }
        }
    }

    /// Replaces a state by the one that stands for all that are the same to the processes: its earliest logical time is 0,
    /// and of its turns it is the least.
    pub(crate) fn settle(&mut self, row: &mut [u32]) {
        self.set_clock_back(row);
        if !self.world.turns {
            return;
        }
        let mut turned = row.to_vec();
        for _ in 1..self.world.processes {
            turned = self.turned(&turned);
            if *turned < *row {
                row.copy_from_slice(&turned);
            }
        }
    }

    /// Whether a state is kept as this one.
    pub(crate) fn is_kept_as(&mut self, row: &[u32], kept: &[u32]) -> bool {
        if !self.world.timeless && !self.world.turns {
            return row == kept;
        }
        let mut row = row.to_vec();
        self.settle(&mut row);
        row == kept
    }

    /// The state with everybody one place further on.
    fn turned(&mut self, row: &[u32]) -> Vec<u32> {
        let (n, protocol) = (self.world.processes, &*self.world.protocol);
        let mut turned = row.to_vec();
        for place in 0..n {
            let (local, inbox) = situation(row, place);
            let local = *entry(&mut self.turned.locals, local).get_or_insert_with(|| protocol.turned(local));
            let inbox = *entry(&mut self.turned.inboxes, inbox)
                .get_or_insert_with(|| self.mail.with_each(inbox, |item| protocol.turned_item(item)));
            put(&mut turned, (place + 1) % n, (local, inbox));
        }
        let environment = self.world.environment_at();
        turned[environment] = Environment(row[environment]).turned(n).0;
        let monitors = self.world.monitors_at();
        turned[monitors] = *entry(&mut self.turned.monitors, row[monitors])
            .get_or_insert_with(|| protocol.turned_monitors(row[monitors]));
        debug_assert_eq!(
            protocol.judge(turned[monitors]),
            protocol.judge(row[monitors]),
            "monitors treat all processes alike"
        );
        turned
    }
}
