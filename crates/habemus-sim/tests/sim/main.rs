//! The simulator over whole systems: every algorithm under many seeds, sizes and faults.

mod agreements;
mod calls;
mod detectors;
mod determinism;
mod elections;
mod everything;
mod exhibits;
mod faults;
mod mutexes;
mod quality;
mod services;
#[cfg(feature = "stepper")]
mod stepper;
mod support;
mod wrong;
