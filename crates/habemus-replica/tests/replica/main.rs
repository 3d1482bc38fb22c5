//! Replicas together, in virtual time, under every fault that a seed draws.

mod cluster;
mod disk;
mod faults;
mod membership;
mod ordinary;
