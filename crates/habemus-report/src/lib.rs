//! What came of a run, whoever ran it: figures, properties, and whether all is as expected.
//!
//! The simulator fills a [`Report`] while it runs; [`judge()`] makes one of a trace that somebody recorded, with the
//! same monitors.

mod grouped;
mod judge;
mod report;
mod standing;
mod statistics;

pub use grouped::grouped;
pub use judge::{Ending, JudgeError, judge};
pub use report::{PropertyLine, Report};
pub use standing::Standing;
pub use statistics::{Ballot, Spread, Statistics};
