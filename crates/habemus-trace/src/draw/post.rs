//! Messages as the trace records them: each by a number, which only its sender gives once.

use std::collections::BTreeMap;

use crate::{Happening, Record, Trace};

/// What tells one message from another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub(super) from: u64,
    message: u64,
}

/// The stamp of the message that the event is about, and the identifier of its receiver.
pub(super) fn stamp(record: &Record) -> Option<(Stamp, u64)> {
    let process = record.process?;
    match record.what {
        Happening::Send { message, to, .. } => Some((Stamp { from: process, message }, to)),
        Happening::Deliver { message, from, .. } | Happening::Drop { message, from, .. } => {
            Some((Stamp { from, message }, process))
        }
        _ => None,
    }
}

/// What is written on a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Post<'t> {
    pub(super) kind: &'t str,
    pub(super) label: &'t str,
    background: bool,
}

/// What is written on each message: the record of a loss does not repeat it.
pub(super) fn posts(trace: &Trace) -> BTreeMap<Stamp, Post<'_>> {
    let mut posts = BTreeMap::new();
    for record in &trace.records {
        let (Happening::Send { kind, label, background, .. }
        | Happening::Deliver { kind, label, background, .. }) = &record.what
        else {
            continue;
        };
        if let Some((stamp, _)) = stamp(record) {
            posts.insert(stamp, Post { kind, label, background: *background });
        }
    }
    posts
}

/// Whether the event is part of the background traffic of a detector.
pub(super) fn is_background(record: &Record, posts: &BTreeMap<Stamp, Post<'_>>) -> bool {
    match &record.what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        Happening::Drop { .. } => {
            stamp(record).and_then(|(stamp, _)| posts.get(&stamp)).is_some_and(|post| post.background)
        }
        _ => false,
    }
}
