//! A scenario is a scripted run: the system, the network, faults and commands over time, expectations.
//!
//! The same scenario runs in the simulator and between real nodes; the model checker takes its system and its
//! fault budget from it. [`Scenario`] is the meaning of a scenario file; [`parse`](parse()) reads one.

pub mod scenario;
pub use scenario::*;
