//! Real processes: nodes that are killed, stopped and restarted.

mod bench;
mod faults;
mod refusals;
