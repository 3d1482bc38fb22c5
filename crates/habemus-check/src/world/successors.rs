//! The transitions out of a state.

use crate::protocol::Transition;
use crate::row::append;

/// What was found in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// Nothing is owed: nothing but faults can happen, and what a client may ask but need not.
    Quiet,
    /// Every step was taken by itself.
    Single,
    /// Invisible deliveries were merged with visible steps.
    Merged,
}

/// The steps out of a state.
#[derive(Debug, Default)]
pub(crate) struct Successors {
    /// The states, one after the other.
    pub(crate) states: Vec<u32>,
    /// The transitions to them, where that is asked for.
    pub(crate) transitions: Option<Vec<Transition>>,
}

impl Successors {
    pub(crate) fn labelled() -> Self {
        Successors { states: Vec::new(), transitions: Some(Vec::new()) }
    }

    /// Begins another state, which is like this one so far.
    pub(super) fn begin(&mut self, state: &[u32]) -> &mut [u32] {
        let start = self.states.len();
        append(&mut self.states, state);
        &mut self.states[start..]
    }

    pub(crate) fn clear(&mut self) {
        self.states.clear();
        if let Some(transitions) = &mut self.transitions {
            transitions.clear();
        }
    }
}
