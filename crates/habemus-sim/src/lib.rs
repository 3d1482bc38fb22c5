//! Deterministic simulation: virtual time, a seeded network, faults, properties, a trace.
//!
//! One seed replays everything bit for bit. [`run()`] plays a scenario, [`sweep()`] plays it under thousands of
//! seeds, [`cost()`] measures an algorithm's messages against theory, [`quality()`] measures how good failure
//! detectors are, and [`Simulation`] is the engine below
//! them, for whoever wants to drive a process of their own.

mod cost;
mod digest;
mod faults;
mod named;
mod network;
mod observer;
mod plan;
mod quality;
mod queue;
mod quorum;
mod random;
mod run;
mod shrink;
mod simulation;
mod sweep;
mod time;
mod timers;
mod watch;

pub use habemus_report::{PropertyLine, Report, Spread, Statistics};

pub use cost::{CostError, CostPoint, CostRequest, cost};
pub use faults::draw_faults;
pub use named::{report_of_locks, scenarios_of_locks};
pub use observer::{NetworkChange, Notice, Observer};
pub use plan::PlanError;
pub use quality::{MOST_WATCHED, Quality, QualityRequest, quality};
pub use queue::Queue;
pub use quorum::{Sampled, sample_quorum};
pub use random::{Stream, Use};
pub use run::{RunError, request, run, run_controlled, with_drawn_faults};
pub use shrink::{Shrunk, shrink};
pub use simulation::{Control, Limits, Simulation, Stop};
pub use sweep::{Failure, SweepReport, Sweeping, Tally, sweep};
pub use time::{Time, nanos};
pub use watch::{CLOCK_LIMIT, PropertyReport, Stamp, TRACE_LIMIT, Watch};
