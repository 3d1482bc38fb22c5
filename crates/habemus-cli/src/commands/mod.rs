//! The subcommands, one file each.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod draw;
pub(crate) mod guarantees;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod sweep;
