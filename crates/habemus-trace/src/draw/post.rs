//! What is written on the messages of a trace.

use std::collections::BTreeMap;

use crate::{Happening, MessageId, Record, Trace};

/// The message that the event is about, and the identifier of its receiver.
pub(super) fn addressed(record: &Record) -> Option<(MessageId, u64)> {
    let receiver = match record.what {
        Happening::Send { to, .. } => to,
        _ => record.process?,
    };
    Some((record.message()?, receiver))
}

/// What is written on a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Post<'t> {
    pub(super) kind: &'t str,
    pub(super) label: &'t str,
    background: bool,
}

/// What is written on each message: the record of a loss does not repeat it.
pub(super) fn posts(trace: &Trace) -> BTreeMap<MessageId, Post<'_>> {
    let mut posts = BTreeMap::new();
    for record in &trace.records {
        let (Happening::Send { kind, label, background, .. }
        | Happening::Deliver { kind, label, background, .. }) = &record.what
        else {
            continue;
        };
        if let Some(message) = record.message() {
            posts.insert(message, Post { kind, label, background: *background });
        }
    }
    posts
}

/// Whether the event is part of a detector's background traffic.
pub(super) fn is_background(record: &Record, posts: &BTreeMap<MessageId, Post<'_>>) -> bool {
    match &record.what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        Happening::Drop { .. } => {
            record.message().and_then(|message| posts.get(&message)).is_some_and(|post| post.background)
        }
        _ => false,
    }
}
