//! What all drivers share about running a scenario: what they make of it before, and what came of it after.
//!
//! Before: [`request()`] says what a scenario asks of the catalogue, [`with_drawn_faults`] writes its random faults into
//! its script, and [`scenarios_of_locks`] takes locks with names apart. After: figures, properties, and whether all is as
//! expected. The simulator fills a [`Report`] while it runs; [`judge()`] makes one of a trace that somebody recorded,
//! with the same monitors.

mod drawn_faults;
mod error;
mod grouped;
mod judge;
mod named_locks;
mod random;
mod report;
mod request;
mod standing;
mod statistics;

pub use drawn_faults::{draw_faults, with_drawn_faults};
pub use error::{CueError, RunError, UnknownProperty};
pub use grouped::grouped;
pub use judge::{Ending, JudgeError, judge};
pub use named_locks::{report_of_locks, scenarios_of_locks};
pub use random::{Stream, Use};
pub use report::{PropertyLine, Report};
pub use request::{address_of, pulse, request};
pub use standing::Standing;
pub use statistics::{Ballot, Spread, Statistics};
