//! What was seen in a run, by name: what went wrong, and what the service's own code came to because of it.
//! Whatever never came was not tested.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use habemus_replica::{BallotKind, Change, Effect, PeerMessage, Recovered, Unanswered};
use habemus_store::{Answer, Applied, StoreError};
use rustc_hash::FxHashMap;

use crate::calamity::Calamity;
use crate::client::Reply;

/// Of what kind something is that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Something went wrong.
    Fault,
    /// How a member started.
    Start,
    /// A member sent a message of this kind.
    Message,
    /// A replica wanted something done.
    Effect,
    /// A command was applied, or refused by the store.
    Command,
    /// A client was told.
    Answer,
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Fault => "what went wrong",
            Kind::Start => "how members started",
            Kind::Message => "what members said",
            Kind::Effect => "what replicas wanted done",
            Kind::Command => "what came of commands",
            Kind::Answer => "what clients were told",
        })
    }
}

/// How often what was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen(FxHashMap<(Kind, &'static str), u64>);

const STARTS: [&str; 4] = ["with nothing", "with a snapshot", "with entries", "not at all"];

const REFUSED_VOTES: [&str; 2] = ["RequestPreVote refused", "RequestVote refused"];

const EFFECTS: [&str; 14] = [
    "a write to be synced",
    "a write not to be synced",
    "a write of a received snapshot",
    "a snapshot",
    "a snapshot for those behind",
    "a read answered",
    "nobody leads",
    "a request unknown",
    "a member added",
    "a member promoted",
    "a member removed",
    "a store replaced",
    "a leader",
    "a follower",
];

const COMMANDS: [&str; 16] = [
    "put",
    "deleted",
    "nothing deleted",
    "txn succeeded",
    "txn failed",
    "renewed",
    "renewal of what has ended",
    "inside at once",
    "in the queue",
    "done",
    "no such session",
    "busy",
    "not the owner",
    "compacted before",
    "sessions ended",
    "somebody let in",
];

impl Seen {
    pub(crate) fn note(&mut self, kind: Kind, name: &'static str) {
        *self.0.entry((kind, name)).or_default() += 1;
    }

    /// Adds what was seen elsewhere.
    pub fn add(&mut self, other: &Seen) {
        for (what, count) in &other.0 {
            *self.0.entry(*what).or_default() += count;
        }
    }

    /// How often anything of a kind was seen.
    pub fn count(&self, kind: Kind) -> u64 {
        self.0.iter().filter(|((it, _), _)| *it == kind).map(|(_, count)| count).sum()
    }

    /// What was never seen.
    pub fn missing(&self) -> Vec<(Kind, &'static str)> {
        let named = |kind: Kind, names: &[&'static str]| -> Vec<_> {
            names.iter().map(move |name| (kind, *name)).collect()
        };
        let mut all = named(Kind::Fault, &Calamity::KINDS);
        all.extend(named(Kind::Start, &STARTS));
        all.extend(PeerMessage::kinds().map(|name| (Kind::Message, name)));
        all.extend(named(Kind::Message, &REFUSED_VOTES));
        all.extend(named(Kind::Effect, &EFFECTS));
        all.extend(named(Kind::Command, &COMMANDS));
        all.extend(named(Kind::Answer, &Reply::KINDS));
        all.retain(|what| !self.0.contains_key(what));
        all
    }

    pub(crate) fn started(&mut self, from: Option<&Recovered>) {
        let name = match from {
            None => "not at all",
            Some(found) if !found.entries.is_empty() => "with entries",
            Some(found) if found.snapshot.is_some() => "with a snapshot",
            Some(_) => "with nothing",
        };
        self.note(Kind::Start, name);
    }

    pub(crate) fn effect(&mut self, effect: &Effect) {
        let name = match effect {
            Effect::Send { message, .. } => {
                match message.ballot().map(|ballot| ballot.kind) {
                    Some(BallotKind::PreVote { granted: false }) => {
                        self.note(Kind::Message, REFUSED_VOTES[0]);
                    }
                    Some(BallotKind::Vote { granted: false }) => self.note(Kind::Message, REFUSED_VOTES[1]),
                    _ => {}
                }
                return self.note(Kind::Message, message.kind());
            }
            Effect::Applied { applied, .. } => return self.applied(applied),
            Effect::Write(write) if write.snapshot.is_some() => "a write of a received snapshot",
            Effect::Write(write) if write.sync => "a write to be synced",
            Effect::Write(_) => "a write not to be synced",
            Effect::Snapshot(_) => "a snapshot",
            Effect::Offer(_) => "a snapshot for those behind",
            Effect::Readable { .. } => "a read answered",
            Effect::Unanswered { why: Unanswered::NoLeader, .. } => "nobody leads",
            Effect::Unanswered { why: Unanswered::Unknown, .. } => "a request unknown",
            Effect::Unanswered { why: Unanswered::Overloaded, .. } => "too much to do",
            Effect::Unanswered { why: Unanswered::Unchangeable, .. } => "a change refused",
            Effect::Changed { change: Change::Add(..), .. } => "a member added",
            Effect::Changed { change: Change::Promote(_), .. } => "a member promoted",
            Effect::Changed { change: Change::Remove(_), .. } => "a member removed",
            Effect::Changed { change: Change::Update(..), .. } => "a member with another address",
            Effect::Restored => "a store replaced",
            Effect::Role(role) if role.leads => "a leader",
            Effect::Role(_) => "a follower",
        };
        self.note(Kind::Effect, name);
    }

    fn applied(&mut self, applied: &Applied) {
        if !applied.ended.is_empty() {
            self.note(Kind::Command, "sessions ended");
        }
        if applied.queues.iter().any(|change| !change.granted.is_empty()) {
            self.note(Kind::Command, "somebody let in");
        }
        let name = match &applied.answer {
            Ok(Answer::Put { .. }) => "put",
            Ok(Answer::Deleted(keys)) if keys.is_empty() => "nothing deleted",
            Ok(Answer::Deleted(_)) => "deleted",
            Ok(Answer::Txn(answer)) if answer.succeeded => "txn succeeded",
            Ok(Answer::Txn(_)) => "txn failed",
            Ok(Answer::Renewed(all)) if all.iter().any(|(_, ttl)| ttl.is_none()) => {
                "renewal of what has ended"
            }
            Ok(Answer::Renewed(_)) => "renewed",
            Ok(Answer::Entered(entered)) if entered.granted => "inside at once",
            Ok(Answer::Entered(_)) => "in the queue",
            Ok(Answer::Done) => "done",
            Err(StoreError::SessionNotFound(_)) => "no such session",
            Err(StoreError::Busy) => "busy",
            Err(StoreError::NotOwner) => "not the owner",
            Err(StoreError::Compacted(_)) => "compacted before",
            Err(_) => "refused otherwise",
        };
        self.note(Kind::Command, name);
    }
}

impl Display for Seen {
    /// A line for each kind.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut kinds: BTreeMap<Kind, BTreeMap<&str, u64>> = BTreeMap::new();
        for ((kind, name), count) in &self.0 {
            kinds.entry(*kind).or_default().insert(name, *count);
        }
        for (kind, names) in kinds {
            let all: Vec<String> = names.iter().map(|(name, count)| format!("{count} {name}")).collect();
            writeln!(f, "{kind}: {}", all.join(", "))?;
        }
        Ok(())
    }
}
