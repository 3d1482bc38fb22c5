//! Who is up, who betrays, and what each process has decided, by what it told its application.

use std::collections::{BTreeMap, BTreeSet};

use crate::Address;
use crate::agreement::Output;
use crate::agreement::{Agreement, Value, listed};
use crate::property::{Observation, ObservedEvent, Population};

/// What a process has decided: one value, or one for each process.
pub(super) type Decision = Vec<Value>;

/// What is known of every process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    up: BTreeSet<Address>,
    traitors: BTreeSet<Address>,
    /// The last decision of each process, of those that have crashed, too: an application may have acted on
    /// it.
    decisions: BTreeMap<Address, Decision>,
    /// Those that have told their present application what they decided.
    informed: BTreeSet<Address>,
}

impl Ledger {
    pub(super) fn observe(&mut self, seen: &Observation<'_, Agreement>) {
        let process = seen.process;
        match seen.what {
            ObservedEvent::Started => {
                self.up.insert(process);
                self.informed.remove(&process);
            }
            ObservedEvent::Crashed => {
                self.up.remove(&process);
            }
            ObservedEvent::Output(Output::Betrays) => {
                self.traitors.insert(process);
            }
            ObservedEvent::Output(output) => {
                if let Some(decision) = output.decision() {
                    self.decisions.insert(process, decision.to_vec());
                    self.informed.insert(process);
                }
            }
            ObservedEvent::Command(_) => {}
        }
    }

    pub(super) fn is_loyal(&self, process: Address) -> bool {
        !self.traitors.contains(&process)
    }

    /// What `process` decided last, in this life or one before.
    pub(super) fn decision(&self, process: Address) -> Option<&Decision> {
        self.decisions.get(&process)
    }

    /// Whether `process` has decided since it started.
    pub(super) fn has_decided(&self, process: Address) -> bool {
        self.informed.contains(&process)
    }

    /// The loyal processes that have decided, whether or not they are still up.
    pub(super) fn loyal_decisions(&self) -> impl Iterator<Item = (Address, &Decision)> {
        self.decisions
            .iter()
            .filter(|(process, _)| self.is_loyal(**process))
            .map(|(process, decision)| (*process, decision))
    }

    /// The loyal processes that are up and have told their application nothing.
    pub(super) fn undecided(&self) -> impl Iterator<Item = Address> {
        self.up.iter().copied().filter(|&process| self.is_loyal(process) && !self.has_decided(process))
    }

    pub(super) fn is_up(&self, process: Address) -> bool {
        self.up.contains(&process)
    }
}

/// Two loyal processes that have decided differently, in a sentence.
pub(super) fn difference(ledger: &Ledger, who: &Population) -> Option<String> {
    let mut decisions = ledger.loyal_decisions();
    let (first, decided) = decisions.next()?;
    let (other, otherwise) = decisions.find(|(_, decision)| *decision != decided)?;
    let (first, other) = (who.id(first), who.id(other));
    Some(format!("{first} decided {}, but {other} decided {}", show(decided), show(otherwise)))
}

/// A decision in a sentence.
pub(super) fn show(decision: &[Value]) -> String {
    match decision {
        [value] => value.to_string(),
        values => listed(values),
    }
}
