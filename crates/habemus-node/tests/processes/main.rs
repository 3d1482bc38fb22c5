//! Real processes: nodes that are killed, stopped and restarted.

mod bench;
mod catalogue;
mod faults;
mod refusals;
