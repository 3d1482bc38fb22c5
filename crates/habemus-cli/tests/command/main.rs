//! The command as people and programs use it: output, errors, exit codes, pictures, real processes.

mod analysis;
mod cluster;
mod compared;
mod coverage;
mod everyday;
mod lab;
mod pages;
mod shards;
mod support;
mod surroundings;
#[cfg(feature = "nodes")]
mod terminal;
mod verdicts;
