//! Real processes: nodes that are killed, stopped and restarted.

mod bench;
mod catalogue;
mod faults;
mod namespaces;
mod random_faults;
mod refusals;
mod signatures;
