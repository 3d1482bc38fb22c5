//! What members send each other, in a form of our own: nothing that comes from a network is read by the
//! engine's codec.

use bytes::Bytes;
use habemus_store::Command;
use raft::eraftpb::{self, ConfState, EntryType, Message, MessageType};
use serde::{Deserialize, Serialize};

use crate::batch::{Batch, RequestId};
use crate::effect::Unanswered;
use crate::log::StoredSnapshot;
use crate::member::{Change, MemberId};

/// What one member sends another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PeerMessage {
    /// The engine's own.
    Consensus(Box<Envelope>),
    /// Requests of clients, for the leader of a term and nobody else. Answered by nobody: whoever sent them
    /// sees them applied, or gives them up.
    Forward {
        /// In which term it leads.
        term: u64,
        /// The requests.
        requests: Vec<(RequestId, Command)>,
    },
    /// A client of the sender wants the membership changed, by the leader of a term and nobody else. Answered
    /// by `Refused`, or by its being applied.
    Change {
        /// In which term it leads.
        term: u64,
        /// Whose request it is.
        request: RequestId,
        /// What is to change.
        change: Change,
    },
    /// The leader does not do what was asked for.
    Refused {
        /// Which request.
        request: RequestId,
        /// Why not.
        why: Unanswered,
    },
}

impl PeerMessage {
    /// What kind of message it is, in a word of the Raft paper where it is the engine's own.
    pub fn kind(&self) -> &'static str {
        match self {
            PeerMessage::Consensus(envelope) => {
                NAMES.get(usize::from(envelope.kind)).copied().unwrap_or("Unknown")
            }
            PeerMessage::Forward { .. } => "Forward",
            PeerMessage::Change { .. } => "Change",
            PeerMessage::Refused { .. } => "Refused",
        }
    }

    /// The names of all kinds, as [`kind`](PeerMessage::kind) says them.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().chain(["Forward", "Change", "Refused"])
    }

    /// What it has to do with an election, if it has.
    pub fn ballot(&self) -> Option<Ballot> {
        let PeerMessage::Consensus(envelope) = self else { return None };
        let granted = !envelope.reject;
        let kind = match KINDS.get(usize::from(envelope.kind))? {
            MessageType::MsgRequestPreVote => BallotKind::AskPreVote,
            MessageType::MsgRequestPreVoteResponse => BallotKind::PreVote { granted },
            MessageType::MsgRequestVote => BallotKind::AskVote,
            MessageType::MsgRequestVoteResponse => BallotKind::Vote { granted },
            MessageType::MsgTimeoutNow => BallotKind::TimeoutNow,
            _ => return None,
        };
        Some(Ballot { term: envelope.term, kind })
    }

    /// Whether it brings everything to a member that is behind: then it is long, and other messages need not
    /// wait for it.
    pub fn is_snapshot(&self) -> bool {
        matches!(self, PeerMessage::Consensus(envelope) if envelope.snapshot.is_some())
    }
}

/// What a message says of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    /// About which term.
    pub term: u64,
    /// What.
    pub kind: BallotKind,
}

/// What can be said of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BallotKind {
    /// "Would you vote for me, if I stood?" Answered by `PreVote`.
    AskPreVote,
    /// Whether it would.
    PreVote {
        /// It would.
        granted: bool,
    },
    /// "Vote for me." Answered by `Vote`.
    AskVote,
    /// Whether it does.
    Vote {
        /// It does.
        granted: bool,
    },
    /// "Stand at once: I hand over to you." Answered by an election.
    TimeoutNow,
}

/// A message of the engine. Its words are those of the Raft paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    kind: u8,
    pub(crate) to: u64,
    from: u64,
    term: u64,
    log_term: u64,
    index: u64,
    entries: Vec<Entry>,
    commit: u64,
    commit_term: u64,
    snapshot: Option<StoredSnapshot>,
    request_snapshot: u64,
    reject: bool,
    reject_hint: u64,
    context: Bytes,
    priority: i64,
}

/// The kinds of messages that members send; the engine has more, for itself. A kind is known by its index
/// here.
const KINDS: [MessageType; 12] = [
    MessageType::MsgAppend,
    MessageType::MsgAppendResponse,
    MessageType::MsgRequestVote,
    MessageType::MsgRequestVoteResponse,
    MessageType::MsgSnapshot,
    MessageType::MsgHeartbeat,
    MessageType::MsgHeartbeatResponse,
    MessageType::MsgTimeoutNow,
    MessageType::MsgReadIndex,
    MessageType::MsgReadIndexResp,
    MessageType::MsgRequestPreVote,
    MessageType::MsgRequestPreVoteResponse,
];

/// The names of [`KINDS`].
const NAMES: [&str; KINDS.len()] = [
    "Append",
    "AppendResponse",
    "RequestVote",
    "RequestVoteResponse",
    "Snapshot",
    "Heartbeat",
    "HeartbeatResponse",
    "TimeoutNow",
    "ReadIndex",
    "ReadIndexResponse",
    "RequestPreVote",
    "RequestPreVoteResponse",
];

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its index.
    pub index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// What it is.
    pub kind: EntryKind,
    /// What it says.
    pub data: Bytes,
    /// What it says to the store, if it is a change of the membership.
    pub context: Bytes,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryKind {
    /// Commands; none in the first entry of a term.
    Commands,
    /// A change of the membership.
    Change,
}

impl Entry {
    pub(crate) fn from_engine(entry: &eraftpb::Entry) -> Entry {
        let kind = match entry.get_entry_type() {
            EntryType::EntryNormal => EntryKind::Commands,
            EntryType::EntryConfChange | EntryType::EntryConfChangeV2 => EntryKind::Change,
        };
        let (data, context) = (entry.data.clone(), entry.context.clone());
        Entry { index: entry.index, term: entry.term, kind, data, context }
    }

    pub(crate) fn to_engine(&self) -> eraftpb::Entry {
        let mut entry = eraftpb::Entry::default();
        entry.set_entry_type(match self.kind {
            EntryKind::Commands => EntryType::EntryNormal,
            EntryKind::Change => EntryType::EntryConfChangeV2,
        });
        entry.index = self.index;
        entry.term = self.term;
        entry.data = self.data.clone();
        entry.context = self.context.clone();
        entry
    }

    /// Whether this member can do what it says, when it is committed. A member of another version, or one
    /// that is not honest, may say what it cannot.
    pub(crate) fn is_readable(&self) -> bool {
        match self.kind {
            EntryKind::Commands => self.data.is_empty() || Batch::from_bytes(&self.data).is_ok(),
            EntryKind::Change => self.change().is_ok(),
        }
    }

    /// Which change of the membership it is, and whose request it was.
    pub(crate) fn change(&self) -> Result<(RequestId, Change), postcard::Error> {
        postcard::from_bytes(&self.context)
    }

    /// How much memory it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Entry>() + self.data.len() + self.context.len()
    }
}

impl Envelope {
    pub(crate) fn from_engine(message: &Message) -> Option<Envelope> {
        let kind = KINDS.iter().position(|kind| *kind == message.get_msg_type())?;
        let snapshot = message.has_snapshot().then(|| StoredSnapshot::from_engine(message.get_snapshot()));
        Some(Envelope {
            kind: u8::try_from(kind).expect("there are a dozen kinds"),
            to: message.to,
            from: message.from,
            term: message.term,
            log_term: message.log_term,
            index: message.index,
            entries: message.entries.iter().map(Entry::from_engine).collect(),
            commit: message.commit,
            commit_term: message.commit_term,
            snapshot,
            request_snapshot: message.request_snapshot,
            reject: message.reject,
            reject_hint: message.reject_hint,
            context: message.context.clone(),
            priority: message.priority,
        })
    }

    /// The engine's form, if it is one that `from` may send.
    pub(crate) fn to_engine(&self, from: MemberId, to: MemberId) -> Option<Message> {
        let kind = *KINDS.get(usize::from(self.kind))?;
        // Questions about reads have something else in their entries.
        let appends = kind == MessageType::MsgAppend;
        if self.from != from.0 || self.to != to.0 || (appends && !self.entries_are_sound()) {
            return None;
        }
        let mut message = Message::default();
        message.set_msg_type(kind);
        message.to = self.to;
        message.from = self.from;
        message.term = self.term;
        message.log_term = self.log_term;
        message.index = self.index;
        message.entries = self.entries.iter().map(Entry::to_engine).collect();
        message.commit = self.commit;
        message.commit_term = self.commit_term;
        if let Some(snapshot) = &self.snapshot {
            message.set_snapshot(snapshot.to_engine());
        }
        message.request_snapshot = self.request_snapshot;
        message.reject = self.reject;
        message.reject_hint = self.reject_hint;
        message.context = self.context.clone();
        message.priority = self.priority;
        Some(message)
    }

    /// Whether they are in a row, of terms that can be, and can be read.
    fn entries_are_sound(&self) -> bool {
        let mut last = (self.index, self.log_term);
        // Of what is not in its log the engine says that its term is 0.
        if (self.index == 0) != (self.log_term == 0) {
            return false;
        }
        self.entries.iter().all(|entry| {
            let follows = last.0.checked_add(1) == Some(entry.index) && entry.term >= last.1;
            last = (entry.index, entry.term);
            follows && entry.term > 0 && entry.term <= self.term && entry.is_readable()
        })
    }
}

/// Voters and learners, as the engine wants them.
pub(crate) fn conf_state(voters: Vec<u64>, learners: Vec<u64>) -> ConfState {
    let mut state = ConfState::default();
    state.set_voters(voters);
    state.set_learners(learners);
    state
}
