//! Exhaustive model checking: every run of a small system, made of the very processes that run elsewhere.
//!
//! [`check`] explores every order of deliveries, every timer race, every random choice and every fault that
//! the [`Setting`] allows, and says of each property whether it holds in all runs. A run that breaks one is a
//! shortest one, and is a trace that every renderer can draw.
//!
//! # Example
//! ```
//! use std::collections::BTreeMap;
//! use habemus::{DEFAULT_PULSE, Id, catalogue::Request};
//! use habemus_check::{CheckHandle, Setting, check};
//!
//! let options = BTreeMap::new();
//! let request = Request {
//!     algorithm: "anonymous-ring",
//!     ids: vec![Id(1), Id(2)],
//!     shape: None,
//!     detector: None,
//!     options: &options,
//!     pulse: DEFAULT_PULSE,
//!     seed: 1,
//!     signatures: None,
//! };
//! let mut setting = Setting::default();
//! setting.properties = habemus_check::Properties::Named(vec!["uniqueness".to_owned()]);
//! let report = check(&request, &setting, &CheckHandle::default())?;
//! // Two that start at once both win.
//! assert!(!report.holds());
//! # Ok::<(), habemus_check::CheckError>(())
//! ```

mod branch;
mod certificate;
mod check;
mod counts;
mod cycle;
mod environment;
mod error;
mod explore;
mod facts;
mod fit;
pub mod guarantees;
mod handle;
mod handlers;
mod inbox;
mod intern;
mod liveness;
mod local;
mod memo;
pub mod mutants;
mod narrator;
mod numbered;
mod path;
mod protocol;
mod rate;
mod reactions;
mod reduction;
mod refine;
mod replay;
mod report;
mod row;
mod rows;
mod script;
mod search;
mod selection;
mod setting;
mod terms;
mod visited;
mod watching;
mod words;
mod world;
mod zone;

pub use check::{certificate, check, check_system, counts};
pub use counts::ExplorationCounts;
pub use error::CheckError;
pub use fit::MAX_PROCESSES;
pub use handle::CheckHandle;
pub use replay::{Replay, ReplayError, Steps, replay, with_states};
pub use report::{CheckReport, CheckVerdict, CheckedProperty, Extent, SometimesLine};
pub use selection::NEED_CLOCKS;
pub use setting::{
    ANY_NUMBER, Budget, DeliveryOrder, MAX_DRIFT, MAX_FAULTS, Properties, Reduction, Setting, Speed, Spill,
    Start, Timers,
};
