//! The mutual exclusions of the catalogue, one file each: what is said of it, and how it is built.

pub(super) mod coordinator;
