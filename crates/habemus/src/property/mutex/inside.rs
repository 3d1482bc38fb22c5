//! Who is in the critical section.

use std::collections::BTreeSet;

use crate::Address;
use crate::mutex::{Mutex, Output};
use crate::property::{Observation, ObservedEvent};

/// The processes that are inside: from the moment they are told so until they are told that they are outside
/// again, or crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Inside(BTreeSet<Address>);

impl Inside {
    pub(super) fn observe(&mut self, seen: &Observation<'_, Mutex>) {
        match seen.what {
            ObservedEvent::Output(Output::Entered { .. }) => {
                self.0.insert(seen.process);
            }
            ObservedEvent::Output(Output::Left) | ObservedEvent::Crashed | ObservedEvent::Started => {
                self.0.remove(&seen.process);
            }
            ObservedEvent::Command(_) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, process: Address) -> bool {
        self.0.contains(&process)
    }

    /// Those that are inside, `process` aside.
    pub(super) fn others(&self, process: Address) -> impl Iterator<Item = Address> + '_ {
        self.0.iter().copied().filter(move |other| *other != process)
    }
}
