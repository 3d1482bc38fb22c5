//! The agreements of the catalogue, one file each: what is said of it, and how it is built from a request.

pub(super) mod byzantine_generals;
pub(super) mod flood_set;
pub(super) mod interactive_consistency;
pub(super) mod paxos;
pub(super) mod signed_generals;
mod treason;
