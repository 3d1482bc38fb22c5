//! Real processes: nodes that are killed, stopped and restarted.

mod bench;
mod bounds;
mod catalogue;
mod configuration;
mod faults;
mod floods;
mod hostile;
mod locks;
mod namespaces;
mod outage;
mod pauses;
mod peer;
mod random_faults;
mod refusals;
mod signatures;
mod stalled_disk;
mod surroundings;
