//! Processes that are interchangeable.
//!
//! Where processes mind neither their identifiers nor their places, a state and the same state with everybody one place
//! further on are two names for one. The explorer keeps the least of them.
//!
//! Processes say of themselves that they are like this ([`RotationSymmetric`](habemus::symmetry::RotationSymmetric)); here
//! it is tried on every step.

use habemus::{Address, Process, System, Topology};

use crate::setting::Setting;

/// Whether neither the network nor what is asked of the processes of this system tells them apart.
pub(super) fn turns<P: Process>(system: &System<P>, setting: &Setting) -> bool {
    let n = system.len() as u32;
    let linked = |from: u32, to: u32| system.topology.linked(Address(from % n), Address(to % n));
    let same = |from: u32| (0..n).all(|to| linked(from, to) == linked(from + 1, to + 1));
    let is_even = (0..n).all(same);
    // Who fails is somebody, and others may go by their places to make up for it.
    let nobody_fails = setting.budget.crashes == 0 && setting.budget.suspicions == 0;
    n > 1 && setting.symmetry && nobody_fails && is_even
}
