//! Connections between nodes.
//!
//! Every node dials every other and sends on the connection it dialled; it receives on those that it
//! accepted.

mod absence;
pub mod frame;
mod incoming;
mod outgoing;
mod queue;
mod stream;

pub(crate) use incoming::{Arrivals, Arrived, Guests, Hospitality, listen};
pub use incoming::{MAX_ARRIVALS, MAX_STRANGERS};
pub(crate) use outgoing::{Outgoing, WhileAway};
pub use queue::{MAX_WAITING, MAX_WAITING_BYTES, PATIENCE, WINDOW};
pub(crate) use stream::Named;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use habemus::catalogue::Links;

use crate::record::Memory;
use crate::tls::Tls;

/// What both ends of every connection of a node need.
pub(crate) struct Endpoint {
    /// This node.
    pub(crate) id: u64,
    /// All nodes, by address.
    pub(crate) ids: Vec<u64>,
    /// The cluster's name.
    pub(crate) cluster: String,
    /// What all nodes must agree on.
    pub(crate) system: String,
    /// This life of the node.
    pub(crate) life: u64,
    /// What the algorithm assumes of the links.
    pub(crate) links: Links,
    /// How long frames wait for a peer that is away, where the algorithm does not mind.
    pub(crate) patience: Duration,
    /// Its disk, and those of the others.
    pub(crate) memory: Memory,
    pub(crate) tls: Option<Tls>,
    pub(crate) traffic: Traffic,
}

impl Endpoint {
    /// Node 1 of two.
    #[cfg(test)]
    pub(crate) fn of_a_test() -> Self {
        Endpoint {
            id: 1,
            ids: vec![1, 2],
            cluster: String::new(),
            system: String::new(),
            life: 1,
            links: Links::Timely,
            patience: PATIENCE,
            memory: Memory::without_disk(1),
            tls: None,
            traffic: Traffic::default(),
        }
    }

    /// How many nodes can be reached, this one included, and what that means.
    pub(crate) fn reach(&self) -> String {
        let (up, all) = (1 + self.traffic.connected.load(Ordering::Relaxed), self.ids.len() as u64);
        let quorum = if 2 * up > all { "" } else { ": no quorum" };
        format!("{up} of {all} reachable{quorum}")
    }
}

/// What went through the connections.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) sent: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    /// Did not fit into a queue.
    pub(crate) dropped: AtomicU64,
    pub(crate) reconnections: AtomicU64,
    /// How many peers there is a connection to.
    pub(crate) connected: AtomicU64,
    /// Connections that were refused, or broken off because of what came over them.
    pub(crate) refused: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// Every task of the transport has one.
pub(crate) type Shared = Arc<Endpoint>;
