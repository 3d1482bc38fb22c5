//! The replicated state machine of the service: keys with revisions and history, sessions, queues for locks
//! and elections, users and roles. Pure: no clock, socket, disk, thread or chance.
//!
//! Every member applies the same [`Command`]s in the same order with the same times, and so every member has
//! the same [`Store`]. A command that is refused changes nothing.
//!
//! Locks and elections are not kept beside the keys: whoever wants a lock puts a key `NAME/SESSION` and holds
//! the lock when every key under `NAME/` that was created before is gone. That is how etcd's clients have
//! always done it, so theirs and ours stand in one queue ([`queue`]). The revision at which the key was
//! created is the fencing token: it grows with every grant, and it never goes back.
//!
//! ```
//! use habemus_store::{Answer, ClusterTime, Command, Enter, Mode, SessionId, Store, WhenBusy};
//! use std::time::Duration;
//!
//! let mut store = Store::new();
//! let now = ClusterTime::default();
//! for id in [7, 8] {
//!     store.apply(now, Command::OpenSession { id: SessionId(id), ttl: Duration::from_secs(10) });
//! }
//! let enter = |id| Command::Enter(Enter {
//!     name: "orders".into(),
//!     session: SessionId(id),
//!     mode: Mode::Exclusive,
//!     value: "".into(),
//!     when_busy: WhenBusy::Wait,
//! });
//! let Ok(Answer::Entered(first)) = store.apply(now, enter(7)).answer else { panic!("7 has a session") };
//! let Ok(Answer::Entered(second)) = store.apply(now, enter(8)).answer else { panic!("8 has a session") };
//! assert!(first.granted && !second.granted && first.token < second.token);
//!
//! // The first one's session ends, and the second one is inside in the same step.
//! let applied = store.apply(now, Command::CloseSession { id: SessionId(7) });
//! assert_eq!(applied.queues[0].granted[0].token, second.token);
//! ```

mod answer;
mod auth;
mod command;
mod error;
mod event;
mod history;
mod key_range;
mod keyspace;
mod ordered;
mod permission;
pub mod queue;
mod range;
mod renewal;
mod session;
mod snapshot;
mod store;
mod time;
mod txn;

pub use answer::{Answer, Entered, OperationAnswer, Outcome, TxnAnswer};
pub use auth::{Access, Acting, Auth, AuthCommand, AuthError, Author, Permission, ROOT, User};
pub use command::{Command, Delete, Enter, Given, Leave, Put, WhenBusy};
pub use error::StoreError;
pub use event::{Event, KeyValue, Revised, Revision};
pub use key_range::KeyRange;
pub use queue::{Grant, Mode, QueueChange, Standing};
pub use range::{Found, Range, SortBy, SortOrder};
pub use renewal::Renewal;
pub use session::{Session, SessionId, SessionKeys};
pub use snapshot::{Frozen, SnapshotError};
pub use store::{Applied, Store};
pub use time::ClusterTime;
pub use txn::{Compare, MAX_OPERATIONS, Operand, Operation, Relation, Txn};
