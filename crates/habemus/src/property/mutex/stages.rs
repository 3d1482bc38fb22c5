//! Where each process stands between asking to enter and having left.

use std::collections::BTreeMap;

use crate::Address;
use crate::mutex::{Command, Mutex, Output};
use crate::property::{Observation, ObservedEvent, Population, crowd};

/// Where each process stands; those outside that want nothing are left out.
///
/// A crash takes a request back. To ask to enter while inside, or to leave while outside (because the lease
/// is already over), is to ask for nothing. Whoever is told that it is outside waits for nothing any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Stages(BTreeMap<Address, Stage>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// It has asked to enter.
    Waiting,
    /// It is inside.
    Inside,
    /// It is inside and has asked to leave.
    Leaving,
}

impl Stages {
    pub(super) fn observe(&mut self, seen: &Observation<'_, Mutex>) {
        let process = seen.process;
        match seen.what {
            ObservedEvent::Command(Command::Acquire | Command::Share) => {
                self.0.entry(process).or_insert(Stage::Waiting);
            }
            ObservedEvent::Command(Command::Release) => {
                if let Some(stage @ Stage::Inside) = self.0.get_mut(&process) {
                    *stage = Stage::Leaving;
                }
            }
            ObservedEvent::Output(Output::Entered { .. }) => {
                self.0.insert(process, Stage::Inside);
            }
            ObservedEvent::Output(Output::Left) | ObservedEvent::Crashed | ObservedEvent::Started => {
                self.0.remove(&process);
            }
        }
    }

    /// Whether somebody is at this stage.
    pub(super) fn has(&self, stage: Stage) -> bool {
        self.0.values().any(|held| *held == stage)
    }

    /// Those at this stage, in a sentence, if there are any.
    pub(super) fn those(&self, stage: Stage, who: &Population) -> Option<String> {
        let mut those =
            self.0.iter().filter(|(_, held)| **held == stage).map(|(address, _)| *address).peekable();
        those.peek()?;
        Some(crowd(those, who))
    }
}
