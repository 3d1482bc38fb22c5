//! The algorithms of habemus between real processes over a real network.
//!
//! A [`Node`] runs one process of any algorithm of the catalogue: it listens and dials, keeps what must
//! survive a crash on disk, beats its timers, and tells the application what the process says. An application
//! asks it for what it needs:
//!
//! - [`Node::election`]: who leads, as a watch, and events when this node is elected or loses its leadership.
//! - [`Node::locks`]: named locks; a guard carries its fencing token, is renewed while it lives and releases
//!   when dropped. A node of the majority election has both.
//!
//! # Example
//! Three nodes in one program elect a leader. In real life each is a program of its own, on a machine of its
//! own.
//! ```
//! use habemus_node::{Node, Settings};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut nodes = Vec::new();
//! for id in 1..=3 {
//!     nodes.push(Node::start(Settings::new("majority", id, [1, 2, 3])).await?);
//! }
//! for one in &nodes {
//!     for other in &nodes {
//!         one.introduce(other.id(), other.address());
//!     }
//! }
//! let mut leadership = nodes[0].election()?.leader();
//! let known = leadership.wait_for(|now| now.leader().is_some()).await?;
//! println!("node {} leads in term {}", known.leader().unwrap_or_default(), known.term());
//! # Ok(())
//! # }
//! ```

pub mod certs;
mod clock;
pub mod cluster;
#[cfg(feature = "command")]
pub mod command;
mod control;
mod election;
mod engine;
mod faults;
mod http;
mod lease;
mod lock;
#[cfg(feature = "command")]
pub mod logging;
mod node;
mod record;
mod recorder;
#[cfg(test)]
mod scratch;
mod settings;
pub mod store;
mod subject;
mod timers;
mod tls;
pub mod transport;

pub use clock::BootInstant;
pub use control::{Clients, Moment, NodeReport, Overview, SupervisorCommand};
pub use election::{ElectionEvent, ElectionHandle, Leadership};
pub use engine::{EngineError, Listener, MAX_HELD, MAX_HELD_BYTES, SHARED_LEASE};
pub use habemus_machine::{Facts, facts};
pub use http::{MAX_HTTP_CONNECTIONS, MAX_HTTP_HEAD, MAX_HTTP_REQUESTS};
pub use lease::Lease;
pub use lock::{LockError, LockGuard, Locks, UnfencedGuard, UnfencedLocks};
pub use node::{Node, NodeError, SupervisorHandle};
pub use recorder::MAX_TRACE;
pub use settings::{Settings, SettingsError, add_safe_defaults};
pub use tls::{TlsError, TlsFiles, certificate_name};

/// A node has at most so many locks with names in use at once, where they share its election: with the
/// algorithms majority and elected-coordinator (by majority). Those that nobody uses are forgotten.
pub const MAX_LOCKS: usize = 1024;

/// A node has at most so many locks with names of any other algorithm: each is a process of its own, with
/// timers, storage and perhaps an election of its own, and is never forgotten.
pub const MAX_LOCK_PROCESSES: usize = 64;

pub use habemus_scenario::is_name;
