//! What there is to know of local states, items and monitors, by number.

use habemus::{Status, Suspicion};

use super::Numbered;
use crate::local::{Body, Item, Running};
use crate::protocol::{ItemKind, Judgement, Life};
use crate::setting::ANY_NUMBER;

impl Numbered {
    /// What the process is.
    pub(crate) fn life(&self, local: u32) -> Life {
        match self.locals.value(local).body {
            Body::Up { .. } => Life::Up,
            Body::Down => Life::Down,
            Body::Dead => Life::Dead,
        }
    }

    /// Whether its client waits for what it asked for.
    pub(crate) fn is_waiting(&self, local: u32) -> bool {
        self.locals.value(local).status == Status::Waiting
    }

    /// Whether its client is in the critical section.
    pub(crate) fn is_inside(&self, local: u32) -> bool {
        self.locals.value(local).status == Status::Inside
    }

    /// Whether its client may ask for something more, and may as well leave it at that.
    pub(crate) fn may_leave_it(&self, local: u32) -> bool {
        let local = self.locals.value(local);
        (local.status, local.wants) == (Status::Idle, ANY_NUMBER)
    }

    /// The timers that run.
    pub(crate) fn timers(&self, local: u32) -> &[Running] {
        match &self.locals.value(local).body {
            Body::Up { timers, .. } => timers,
            Body::Down | Body::Dead => &[],
        }
    }

    /// The local state after time has passed.
    pub(crate) fn elapse(&self, local: u32, nanos: u64) -> u32 {
        let mut after = self.locals.value(local).clone();
        if let Body::Up { timers, .. } = &mut after.body {
            for running in timers {
                running.min = running.min.saturating_sub(nanos);
                running.max = running.max.saturating_sub(nanos);
            }
        }
        self.locals.number(after)
    }

    /// The item that tells a process what the oracle detector thinks.
    pub(crate) fn notice(&self, suspicion: Suspicion) -> u32 {
        self.items.number(Item::Notice(suspicion))
    }

    /// What kind of item this is.
    pub(crate) fn item(&self, item: u32) -> ItemKind {
        match self.items.value(item) {
            Item::Message { from, .. } => ItemKind::Message { from: from.0 as u8 },
            Item::Notice(Suspicion::Suspect(about) | Suspicion::Restore(about)) => {
                ItemKind::Notice { about: about.0 as u8 }
            }
        }
    }

    /// Which properties are broken, and which would be if nothing more happened.
    pub(crate) fn judge(&self, monitors: u32) -> Judgement {
        self.watching.judge(monitors)
    }
}
