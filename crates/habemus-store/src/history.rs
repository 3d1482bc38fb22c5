//! What every revision changed, back to the one that history was compacted to.

use std::collections::VecDeque;

use crate::event::{Event, Revised, Revision};

/// What every revision changed, from [`History::compacted`] on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    revisions: VecDeque<Revised>,
    compacted: Revision,
}

impl History {
    /// A history that begins at `compacted`, before which nothing is known.
    pub(crate) fn from(compacted: Revision) -> History {
        History { revisions: VecDeque::new(), compacted }
    }

    /// Nothing before this revision is known.
    pub(crate) fn compacted(&self) -> Revision {
        self.compacted
    }

    pub(crate) fn push(&mut self, revised: Revised) {
        debug_assert!(self.revisions.back().is_none_or(|last| last.revision < revised.revision));
        self.revisions.push_back(revised);
    }

    /// What happened at `first` and later.
    pub(crate) fn since(&self, first: Revision) -> impl Iterator<Item = &Revised> {
        let begin = self.revisions.partition_point(|revised| revised.revision < first);
        self.revisions.range(begin..)
    }

    /// Forgets what happened before `revision`, and says what happened up to it.
    pub(crate) fn compact(&mut self, revision: Revision) -> Vec<Revised> {
        self.compacted = revision;
        let end = self.revisions.partition_point(|revised| revised.revision <= revision);
        let touched = self.revisions.drain(..end).collect::<Vec<_>>();
        if let Some(at) = touched.last().filter(|last| last.revision == revision) {
            self.revisions.push_front(without_past(at));
        }
        touched
    }

    pub(crate) fn len(&self) -> usize {
        self.revisions.len()
    }
}

/// What a revision changed, as it is known when nothing before it is.
fn without_past(revised: &Revised) -> Revised {
    let mut earlier: Vec<&Event> = Vec::new();
    let mut events = Vec::new();
    for event in revised.events.iter() {
        // Of what it did itself, to a key that it wrote twice, nothing is forgotten.
        let before = earlier.iter().rev().find(|it| it.key == event.key).and_then(|it| it.now.clone());
        events.push(Event { before, ..event.clone() });
        earlier.push(event);
    }
    Revised { revision: revised.revision, events: events.into() }
}
