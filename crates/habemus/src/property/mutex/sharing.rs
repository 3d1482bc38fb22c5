//! Who shares the critical section, or asks to.

use std::collections::BTreeSet;

use crate::Address;
use crate::mutex::{Command, Mutex};
use crate::property::{Observation, ObservedEvent};

/// The processes whose latest request is to share. What one asks from inside is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sharing(BTreeSet<Address>);

impl Sharing {
    pub(super) fn observe(&mut self, seen: &Observation<'_, Mutex>, is_inside: bool) {
        match seen.what {
            ObservedEvent::Command(Command::Share) if !is_inside => {
                self.0.insert(seen.process);
            }
            ObservedEvent::Command(Command::Acquire) if !is_inside => {
                self.0.remove(&seen.process);
            }
            ObservedEvent::Started | ObservedEvent::Crashed => {
                self.0.remove(&seen.process);
            }
            ObservedEvent::Command(_) | ObservedEvent::Output(_) => {}
        }
    }

    pub(super) fn contains(&self, process: Address) -> bool {
        self.0.contains(&process)
    }
}
