//! A scenario is a scripted run: the system, the network, faults and commands over time, expectations.
//!
//! The same scenario runs in the simulator and between real nodes; the model checker takes its system and its
//! fault budget from it. [`Scenario`] is the meaning of a scenario file; [`parse`](parse()) reads one and
//! says at which line and column it is wrong; [`to_toml`] writes one. [`units`] and [`script`] read the
//! pieces, which is what the command line needs for its flags.
//!
//! ```
//! let parsed = habemus_scenario::parse(
//!     "example.toml",
//!     r#"
//!         algorithm = "bully"
//!         processes = 5
//!         script = ["0ms elect 1", "when 3 sends Ok: crash 3"]
//!
//!         [expect]
//!         leader = 5
//!     "#,
//! )?;
//! assert_eq!(parsed.scenario.expect.leader, Some(5));
//! # Ok::<(), habemus_scenario::ScenarioErrors>(())
//! ```

mod error;
pub mod link;
mod names;
mod parse;
mod processes;
mod resources;
pub mod scenario;
pub mod script;
mod source;
pub mod units;
mod write;

pub use error::{ReadError, ScenarioError, ScenarioErrors};
pub use names::nearest;
pub use parse::{Parsed, parse, read};
pub use processes::{MAX_PROCESSES, Processes};
pub use resources::{command_and_name, is_name};
pub use scenario::*;
pub use source::{Location, SourceMap};
pub use write::to_toml;
