//! Whom each process takes for the leader, by what it told its application.

use crate::election::{Election, Output};
use crate::property::{Observation, ObservedEvent, Population};
use crate::{Address, Id};

/// The notes' variable `elected` of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Belief {
    /// The process is down: a crash has taken the variable with it.
    Down,
    /// ⊥: it knows of no leader.
    Nobody,
    /// It considers itself the leader.
    Itself,
    /// It knows another leader; on an anonymous ring only that there is one.
    Other(Option<Id>),
}

impl Belief {
    /// The leader that `process` names with this belief.
    pub(super) fn leader(self, process: Address, who: &Population) -> Option<Id> {
        match self {
            Belief::Down | Belief::Nobody => None,
            Belief::Itself => Some(who.id(process)),
            Belief::Other(leader) => leader,
        }
    }
}

/// The belief of every process, by address. Everyone is down until it starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Beliefs(Vec<Belief>);

impl Beliefs {
    pub(super) fn new(who: &Population) -> Self {
        Beliefs(vec![Belief::Down; who.len()])
    }

    pub(super) fn observe(&mut self, seen: &Observation<'_, Election>) {
        self.0[seen.process.index()] = match seen.what {
            ObservedEvent::Crashed => Belief::Down,
            ObservedEvent::Started | ObservedEvent::Output(Output::Leaderless) => Belief::Nobody,
            ObservedEvent::Output(Output::Leads { .. }) => Belief::Itself,
            ObservedEvent::Output(Output::Follows { leader, .. }) => Belief::Other(*leader),
            ObservedEvent::Command(_) => return,
        };
    }

    pub(super) fn of(&self, process: Address) -> Belief {
        self.0[process.index()]
    }

    /// Those that are up, and what they believe.
    pub(super) fn live(&self) -> impl Iterator<Item = (Address, Belief)> + '_ {
        (0..).map(Address).zip(self.0.iter().copied()).filter(|(_, belief)| *belief != Belief::Down)
    }
}
