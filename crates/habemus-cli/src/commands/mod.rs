//! The subcommands, one file each.

#[cfg(feature = "nodes")]
pub(crate) mod certs;
pub(crate) mod check;
#[cfg(feature = "nodes")]
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod detectors;
pub(crate) mod draw;
pub(crate) mod errata;
pub(crate) mod exercise;
mod gist;
pub(crate) mod guarantees;
pub(crate) mod lab;
pub(crate) mod list;
#[cfg(feature = "nodes")]
pub(crate) mod live;
pub(crate) mod man;
pub(crate) mod mutants;
#[cfg(feature = "nodes")]
pub(crate) mod node;
pub(crate) mod quorum;
pub(crate) mod run;
pub(crate) mod service;
pub(crate) mod sweep;
pub(crate) mod timeout;
