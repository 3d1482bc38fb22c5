//! The algorithms of habemus between real processes over a real network.
//!
//! A [`Node`] runs one process of any algorithm of the catalogue: it listens and dials, keeps what must
//! survive a crash on disk, beats its timers, and tells the application what the process says. An application
//! asks it for what it needs:
//!
//! - [`Node::election`]: who leads, as a watch, and events when this node is elected or loses its leadership.
//! - [`Node::locks`]: named locks; a guard carries its fencing token and releases when dropped.
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
//! let known = leadership.wait_for(|now| now.leader.is_some()).await?;
//! println!("node {} leads in term {}", known.leader.unwrap_or_default(), known.term);
//! # Ok(())
//! # }
//! ```

pub mod certs;
pub mod cluster;
#[cfg(feature = "command")]
pub mod command;
mod control;
mod election;
mod engine;
mod faults;
mod http;
mod lock;
#[cfg(feature = "command")]
pub mod logging;
mod node;
mod recorder;
#[cfg(test)]
mod scratch;
mod settings;
pub mod store;
mod subject;
mod timers;
mod tls;
pub mod transport;

pub use control::{Clients, Moment, NodeReport, Overview, SupervisorCommand};
pub use election::{ElectionEvent, ElectionHandle, Leadership};
pub use engine::{EngineError, Listener, MAX_HELD, MAX_HELD_BYTES};
pub use habemus_machine::{Facts, facts};
pub use http::{MAX_HTTP_CONNECTIONS, MAX_HTTP_HEAD, MAX_HTTP_REQUESTS};
pub use lock::{LockError, LockGuard, Locks};
pub use node::{Node, NodeError, SupervisorHandle};
pub use recorder::MAX_TRACE;
pub use settings::{Settings, SettingsError};
pub use tls::{TlsError, TlsFiles, certificate_name};

/// A node has at most so many locks with names.
pub const MAX_LOCKS: usize = 1024;

pub use habemus_scenario::is_name;
