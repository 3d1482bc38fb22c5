//! What all drivers share about running a scenario: what they make of it before, and what came of it after.
//!
//! Before: [`request()`] says what a scenario asks of the catalogue, [`with_drawn_faults`] writes its random
//! faults into its script, and [`scenarios_of_locks`] takes locks with names apart. After: figures,
//! properties, and whether all is as expected. The simulator fills a [`Report`] while it runs; [`judge()`]
//! makes one of a trace that somebody recorded, with the same monitors.

mod circumstances;
mod drawn_faults;
mod error;
mod finished;
mod grouped;
mod judge;
mod kinds;
mod monitors;
mod named_locks;
mod pointed;
mod property_line;
mod random;
mod report;
mod request;
mod standing;
mod statistics;

pub use circumstances::circumstances;
pub use drawn_faults::{draw_faults, with_drawn_faults};
pub use error::{CueError, RunError, UnknownProperty};
pub use finished::{Ended, Ending, Finished};
pub use grouped::grouped;
pub use judge::{JudgeError, judge};
pub use kinds::know_kinds;
pub use monitors::Monitors;
pub use named_locks::{report_of_locks, scenarios_of_locks};
pub use pointed::pointed;
pub use property_line::{Finding, PropertyLine};
pub use random::{Stream, Use};
pub use report::{Conclusion, Report};
pub use request::{address_of, pulse, request};
pub use standing::Standing;
pub use statistics::{Ballot, Spread, Statistics};
