//! The log and the snapshots of a member, on a disk that may tear, lose and damage what is written.
//!
//! A [`Journal`] makes durable what a [`Replica`](habemus_replica::Replica) wants written: any number of
//! [`Write`](habemus_replica::Write)s by one append and one sync. Entries and states go into segments of a
//! fixed length, one after the other; snapshots into files of their own, which are written beside and
//! renamed. What is found again after a crash is what was synced, and perhaps some of what was not: a torn
//! end is recognised and cut. Damage anywhere else is refused, by name: a member that has lost what it once
//! confirmed must not go on as if it had not.
//!
//! The [`Disk`] is a trait, so that a simulation can be as cruel as it likes. [`Files`] is the real one.

mod batch;
mod disk;
mod error;
mod extent;
mod files;
mod journal;
mod life;
mod segment;
mod snapshot;

pub use disk::Disk;
pub use error::JournalError;
pub use extent::Extent;
pub use files::Files;
pub use journal::{Journal, Limits};
pub use life::{BadDisk, Hexadecimal, Known, Life};
