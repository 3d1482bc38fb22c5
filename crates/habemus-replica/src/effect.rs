//! What a replica wants done.

use habemus_store::Applied;
use serde::{Deserialize, Serialize};

use crate::batch::RequestId;
use crate::log::{FrozenSnapshot, StoredSnapshot, StoredState};
use crate::member::{Change, MemberId};
use crate::wire::{Entry, PeerMessage};

/// What a replica wants done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Send this to a member. It may be lost, doubled or late.
    Send {
        /// To whom.
        to: MemberId,
        /// What.
        message: PeerMessage,
    },
    /// Make this durable, then say so.
    Write(Write),
    /// A command was applied. If a client of this member waits for it, this is its answer; whoever watches
    /// looks at it in any case.
    Applied {
        /// At which index of the log.
        index: u64,
        /// Whose it was, if it was this member's.
        request: Option<RequestId>,
        /// What came of it.
        applied: Applied,
    },
    /// This request cannot be answered.
    Unanswered {
        /// Which.
        request: RequestId,
        /// Why.
        why: Unanswered,
    },
    /// The store may be read now for this request: whatever was answered before the request came is in it.
    Readable {
        /// Which.
        request: RequestId,
    },
    /// Make this snapshot durable, some time soon, and forget what it says of the log, unless a later one has
    /// come since. Nobody waits for it.
    Snapshot(Box<FrozenSnapshot>),
    /// Write this snapshot down, for members that are behind, and [`offer`](crate::Replica::offer) it.
    Offer(Box<FrozenSnapshot>),
    /// The membership has changed.
    Changed {
        /// Whose request it was, if it was this member's.
        request: Option<RequestId>,
        /// How.
        change: Change,
    },
    /// Everything is different: this member was behind, and got a snapshot. Whoever watches begins anew.
    Restored,
    /// Somebody else leads, or nobody, or there is another term.
    Role(Role),
}

/// Who leads, as far as this member knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// In which term.
    pub term: u64,
    /// Who leads, if anybody does.
    pub leader: Option<MemberId>,
    /// Whether this member does.
    pub leads: bool,
}

/// Why a request cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Unanswered {
    /// Nobody leads; nothing was done.
    #[error("nobody leads; nothing was done, try again")]
    NoLeader,
    /// The leader was lost on the way. It may have been done, or may yet be done, or not.
    #[error("the leader was lost on the way: it may have been done or not")]
    Unknown,
    /// There is too much to do; nothing was done.
    #[error("there is too much to do; nothing was done, try again later")]
    Overloaded,
    /// Another change of the membership is under way, or it makes no sense; nothing was done.
    #[error("the membership cannot be changed like that now; nothing was done")]
    Unchangeable,
}

/// What must be durable, in this order: the snapshot, which replaces the whole log; the entries, which
/// replace all that have the index of the first one or a later one; the state. When it is, and it had to be
/// [`sync`](Write::sync)ed, the driver calls [`persisted`](crate::Replica::persisted) with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// Its number; writes come in order, and some numbers have none.
    pub number: u64,
    /// The snapshot.
    pub snapshot: Option<StoredSnapshot>,
    /// The entries.
    pub entries: Vec<Entry>,
    /// The state.
    pub state: Option<StoredState>,
    /// Whether it must be on the disk; if not, it is enough that it will be some day.
    pub sync: bool,
}
