//! Moments at which the engine stands still until its supervisor says that it may go on.

use std::collections::VecDeque;

use super::Ask;
use crate::control::Moment;

/// Where to stand still, and what was asked meanwhile.
#[derive(Default)]
pub(super) struct Breakpoints {
    moments: Vec<Moment>,
    /// What came while the engine stood still and has to wait until the step is over.
    deferred: VecDeque<Ask>,
}

impl Breakpoints {
    pub(super) fn set(&mut self, moments: Vec<Moment>) {
        self.moments = moments;
    }

    /// Whether there is any: only then it is worth while to look up after each effect.
    pub(super) fn are_set(&self) -> bool {
        !self.moments.is_empty()
    }

    /// Whether to stand still when this happens to the process called `name`: scripts know only the one
    /// without a name.
    pub(super) fn apply(&self, name: &str, moment: &Moment) -> bool {
        name.is_empty() && self.moments.contains(moment)
    }

    pub(super) fn defer(&mut self, ask: Ask) {
        self.deferred.push_back(ask);
    }

    /// The next thing that has waited.
    pub(super) fn pop_deferred(&mut self) -> Option<Ask> {
        self.deferred.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_process_without_a_name_stands_still_and_only_where_it_was_told_to() {
        let mut breakpoints = Breakpoints::default();
        assert!(!breakpoints.are_set() && !breakpoints.apply("", &Moment::Leads));
        breakpoints.set(vec![Moment::Leads, Moment::Sends("Election".to_owned())]);
        assert!(breakpoints.are_set() && breakpoints.apply("", &Moment::Leads));
        assert!(breakpoints.apply("", &Moment::Sends("Election".to_owned())));
        assert!(!breakpoints.apply("", &Moment::Sends("Answer".to_owned())));
        assert!(!breakpoints.apply("stock", &Moment::Leads));
    }
}
