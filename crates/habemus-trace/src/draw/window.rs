//! The part of a run that is drawn.

use std::ops::Range;

use crate::{Happening, Trace};

/// So many events before the first violation are drawn around it,
const BEFORE: usize = 30;
/// and so many after it.
const AFTER: usize = 5;

/// Which part of a run to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// All of it.
    #[default]
    All,
    /// So many events at the end.
    Last(usize),
    /// What happened between two times, both included, in nanoseconds since the run began.
    Between {
        /// The first time; without one, the beginning.
        from: Option<u64>,
        /// The last time; without one, the end.
        to: Option<u64>,
    },
    /// The first violation, 30 events before it and 5 after it; all of it if nothing is violated.
    Violation,
}

/// How many events are left out, before the window and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    pub(super) before: usize,
    pub(super) after: usize,
}

/// Which of the events that could be drawn are in the window. `shown` are the numbers of their records.
pub(super) fn range(trace: &Trace, shown: &[usize], window: &Window) -> Range<usize> {
    let all = 0..shown.len();
    match window {
        Window::All => all,
        Window::Last(many) => shown.len().saturating_sub(*many)..shown.len(),
        Window::Between { from, to } => {
            let at = |index: &usize| trace.records[shown[*index]].at;
            let inside = |index: &usize| {
                from.is_none_or(|from| from <= at(index)) && to.is_none_or(|to| at(index) <= to)
            };
            // The records of a trace rise in time; where they do not, what lies between is drawn, too.
            let (first, last) = (all.clone().find(&inside), all.rev().find(&inside));
            // Of a window in which nothing happened it is still known what came before it.
            let before =
                shown.partition_point(|index| from.is_some_and(|from| trace.records[*index].at < from));
            first.zip(last).map_or(before..before, |(first, last)| first..last + 1)
        }
        Window::Violation => {
            let is_violation =
                |index: &usize| matches!(trace.records[shown[*index]].what, Happening::Violation { .. });
            match all.clone().find(is_violation) {
                Some(first) => first.saturating_sub(BEFORE)..(first + 1 + AFTER).min(shown.len()),
                None => all,
            }
        }
    }
}
