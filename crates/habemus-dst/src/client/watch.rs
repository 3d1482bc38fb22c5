//! A client that watches everything, and goes on elsewhere where it stopped.

use habemus_store::Revision;

use super::{Ask, Hands, Reply};
use crate::clock::Micros;
use crate::history::Judge;

/// After so long without a word it asks somebody else: nothing may have happened, or nobody may be there.
const PATIENCE: Micros = 1_000_000;

/// So long it waits before it asks again when it was refused.
const PAUSE: Micros = 20_000;

/// A client that watches everything.
pub(crate) struct WatchClient {
    /// The first revision that it does not know.
    pub(crate) next: Revision,
    /// The call by which it is told.
    pub(super) present: Option<u64>,
    heard: Micros,
}

impl WatchClient {
    pub(crate) fn new() -> WatchClient {
        // The first revision that changes anything.
        WatchClient { next: Revision(2), present: None, heard: 0 }
    }

    pub(super) fn next_wake(&self) -> Micros {
        self.heard + if self.present.is_none() { PAUSE } else { PATIENCE + 1 }
    }

    pub(crate) fn wake(&mut self, hands: &mut Hands<'_>) {
        let is_silent = hands.now > self.heard + PATIENCE;
        if self.present.is_none() || is_silent {
            hands.switches = is_silent;
            self.present = Some(hands.ask(Ask::Watch(self.next)));
            self.heard = hands.now;
        }
    }

    pub(crate) fn hear(&mut self, call: u64, reply: Reply, hands: &mut Hands<'_>) {
        if self.present != Some(call) {
            return;
        }
        self.heard = hands.now;
        match reply {
            Reply::Events(all) => {
                for revised in all {
                    if revised.revision != self.next {
                        let (told, next) = (revised.revision, self.next);
                        hands.history.violated(
                            Judge::Watches,
                            format!("a watch that waits for {next} was told of {told}"),
                        );
                    }
                    hands.history.saw(&revised);
                    self.next = Revision(revised.revision.0 + 1);
                }
            }
            Reply::Compacted(first) => {
                if first < self.next {
                    hands.history.violated(
                        Judge::Watches,
                        format!("{} is said to be compacted up to {first}", self.next),
                    );
                }
                self.next = first;
                self.present = None;
            }
            Reply::Refused | Reply::Unknown => {
                self.present = None;
                hands.switches = true;
            }
            other => hands.history.violated(Judge::Watches, format!("a watch was answered by {other:?}")),
        }
    }
}
