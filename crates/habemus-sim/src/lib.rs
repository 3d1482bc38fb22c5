//! Deterministic simulation: virtual time, a seeded network, faults, properties, a trace.
//!
//! One seed replays everything bit for bit. [`run()`] plays a scenario, [`sweep()`] plays it under thousands
//! of seeds, [`cost()`] measures an algorithm's messages against theory, [`quality()`] measures how good
//! failure detectors are, and [`Simulation`] is the engine below them, for whoever wants to drive a process
//! of their own.

mod by_process;
mod choices;
mod cost;
mod digest;
mod everything;
mod network;
mod observer;
mod parts;
mod plan;
mod prepared;
mod quality;
mod queue;
mod quorum;
mod run;
mod shrink;
mod simulation;
#[cfg(feature = "stepper")]
mod stepper;
mod sweep;
mod time;
mod timers;
mod watch;
mod wrong;

pub use habemus_report::{PropertyLine, Report, RunError, Spread, Statistics, Stream, Use};

pub use cost::{CostCase, CostError, CostPoint, CostRequest, cost, cost_cases};
pub use everything::{Case, cases};
pub use observer::{NetworkChange, Notice, Observer};
pub use parts::{MergeError, Merged, PartCase, Seeds, Shard, SweepPart, merge_parts};
pub use quality::{MAX_WATCHED, Quality, QualityRequest, quality};
pub use queue::Queue;
pub use quorum::{ProtocolRuns, Sampled, run_quorum, sample_quorum};
pub use run::{run, run_controlled, run_system};
pub use shrink::{Shrunk, shrink};
pub use simulation::{Control, Limits, Refusal, Simulation, Stop};
#[cfg(feature = "stepper")]
pub use stepper::{ActError, Links, PendingEvent, PendingKind, ProcessState, Stepper, stepper};
pub use sweep::{Failure, SweepReport, Sweeping, Tally, sweep, sweep_part};
pub use time::{Time, nanos};
pub use watch::{Attention, CLOCK_LIMIT, Observed, Stamp, TRACE_LIMIT, Watch};
pub use wrong::{wrong_besides, wrong_with};
