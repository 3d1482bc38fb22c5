//! Attacks on everything that reads what others say: strangers and peers of nodes, clients and members of the
//! service, disks, configurations, and files that people share. Whatever the bytes are, they are refused or
//! survived: nothing panics, nothing hangs, and what was taken can be said again.
//!
//! `fuzz/run` lets libFuzzer invent the bytes, which sees what code they reach; the tests of this crate
//! change honest ones by chance, for a bounded time.

pub mod clients;
pub mod decoder;
pub mod disks;
pub mod files;
pub mod frames;
pub mod handlers;
pub mod handshake;
pub mod members;
pub mod settings;
