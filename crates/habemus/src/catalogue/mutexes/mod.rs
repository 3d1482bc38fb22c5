//! The mutual exclusions of the catalogue, one file each: what is said of it, and how it is built.

pub(super) mod coordinator;
pub(super) mod elected_coordinator;
pub(super) mod lamport;
mod lock;
pub(super) mod maekawa;
pub(super) mod quorum;
pub(super) mod raymond;
pub(super) mod ricart_agrawala;
pub(super) mod service;
pub(super) mod suzuki_kasami;
pub(super) mod token_ring;
