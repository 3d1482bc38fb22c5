//! Real processes: nodes that are killed, stopped and restarted.

mod bench;
mod catalogue;
mod faults;
mod floods;
mod hostile;
mod namespaces;
mod outage;
mod peer;
mod random_faults;
mod refusals;
mod signatures;
mod surroundings;
