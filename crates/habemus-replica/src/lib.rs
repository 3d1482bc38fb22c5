//! One member of the service, as a state machine without I/O: what happened goes in, what is to be done comes
//! out.
//!
//! A [`Replica`] joins the consensus engine (Raft, by the crate `raft`) with the
//! [`Store`](habemus_store::Store). It has no clock, socket, disk or thread: a driver tells it the time,
//! brings messages, and carries out [`Effect`]s. So the very same code runs in the server and in a simulation
//! with one seed.
//!
//! A driver calls [`tick`](Replica::tick) at regular intervals, [`receive`](Replica::receive),
//! [`propose`](Replica::propose) and [`read`](Replica::read) as things come, and after any number of these
//! once [`flush`](Replica::flush): whatever came together is written together. A [`Write`] must be durable
//! before [`persisted`](Replica::persisted) is called for it, in order.

mod batch;
mod clock;
mod effect;
mod log;
mod member;
mod outstanding;
mod reads;
mod replica;
mod replicated;
mod settings;
mod wire;

pub use batch::RequestId;
pub use effect::{Effect, Role, Unanswered, Write};
pub use log::{FrozenSnapshot, Recovered, StoredSnapshot, StoredState};
pub use member::{Change, Member, MemberId};
pub use replica::Replica;
pub use settings::{Settings, StartError};
pub use wire::{Ballot, BallotKind, Entry, EntryKind, PeerMessage};
