//! What will happen when: in the order of time, and of planning among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use habemus_journal::Known;
use habemus_replica::{MemberId, PeerMessage, StoredSnapshot};

use crate::client::{Ask, CallId, Reply};
use crate::clock::Micros;
use crate::story::Told;

/// What will happen.
pub(crate) enum Due {
    /// The clock of a machine ticks.
    Tick { machine: usize, life: u64 },
    /// The disk of a machine has done what it had to do.
    Written { machine: usize, life: u64 },
    /// A message arrives, which was sent in this life.
    Message { from: MemberId, life: u64, to: MemberId, message: PeerMessage, told: Option<Told> },
    /// A member hears what another one knows of disks.
    Disks { from: MemberId, life: u64, to: MemberId, disks: Rc<[(MemberId, Known)]> },
    /// A machine hears that another one does not let it in.
    Dismissed { machine: usize, life: u64 },
    /// A snapshot is written down, and wants to be on the disk.
    Frozen { machine: usize, life: u64, snapshot: Box<StoredSnapshot> },
    /// A request arrives.
    Request { machine: usize, call: CallId, ask: Ask, told: Option<Told> },
    /// An answer arrives.
    Reply { call: CallId, reply: Reply, told: Option<Told> },
    /// A client looks around, if it still means to do so then.
    Wake { client: usize, at: Micros },
    /// A client that stood still goes on.
    Resume { client: usize },
    /// Something goes wrong: that of the script with this index.
    Calamity(usize),
}

/// What will happen when.
#[derive(Default)]
pub(crate) struct Agenda {
    /// When, in which order among equals, and at which place.
    order: BinaryHeap<Reverse<(Micros, u64, usize)>>,
    what: Vec<Option<Due>>,
    /// Places in which nothing is.
    free: Vec<usize>,
    planned: u64,
}

impl Agenda {
    pub(crate) fn plan(&mut self, at: Micros, due: Due) {
        self.planned += 1;
        let place = self.free.pop().unwrap_or(self.what.len());
        if place == self.what.len() {
            self.what.push(None);
        }
        self.what[place] = Some(due);
        self.order.push(Reverse((at, self.planned, place)));
    }

    /// What happens next, unless it is after `end`.
    pub(crate) fn next(&mut self, end: Micros) -> Option<(Micros, Due)> {
        let Reverse((at, _, place)) = *self.order.peek()?;
        if at > end {
            return None;
        }
        self.order.pop();
        self.free.push(place);
        self.what[place].take().map(|due| (at, due))
    }
}
