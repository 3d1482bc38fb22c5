//! Leader election and distributed mutual exclusion as pure state machines.
//!
//! Every algorithm is written once, as a [`Process`]: the variables of its paper and a handler per event. It
//! does no I/O, reads no clock, draws no random number and knows no thread, so that one source runs in a
//! deterministic simulator, in an exhaustive model checker and between real machines.
//!
//! - [`process`], [`Context`], [`System`], [`topology`]: the model.
//! - [`election`], [`mutex`], [`agreement`]: the problems, and their algorithms.
//! - [`detector`]: failure detectors, and how an algorithm stands on one.
//! - [`property`]: what must hold, as monitors that any driver can feed.
//! - [`catalogue`]: all of it by name, for programs that choose at run time.
//! - [`units`]: durations and other quantities as people write them.
//!
//! # Example
//! Two steps of Chang–Roberts, taken by hand:
//! ```
//! use habemus::election::{self, chang_roberts::{ChangRoberts, Config, Message}};
//! use habemus::{testing::Harness, Address, Id, topology::Ring};
//!
//! // The ring 3 → 17 → 24, seen from 17.
//! let mut p17 = Harness::<ChangRoberts>::new(Ring::new(3), [3, 17, 24], Config::default(), Address(1));
//! let step = p17.command(election::Command::Elect);
//! assert_eq!(step.sent(), [(Address(2), Message::Election(Id(17)))]);
//! // 3 is smaller than 17, which already takes part: the message dies here.
//! assert!(p17.message(Address(0), Message::Election(Id(3))).is_empty());
//! ```

pub mod agreement;
pub mod analysis;
pub mod catalogue;
pub mod clock;
mod context;
pub mod detector;
pub mod election;
pub mod mutex;
pub mod problem;
pub mod process;
pub mod property;
pub mod rounds;
pub mod signatures;
mod system;
pub mod testing;
pub mod topology;
mod turn;
pub mod units;

pub use context::{Context, Said};
pub use problem::{Problem, Status};
pub use process::{
    Address, Chooser, Command, Data, Delay, Effect, Event, EventOf, Held, Id, Message, Output, Process, Step,
    Suspicion,
};
pub use system::{DEFAULT_PULSE, System, SystemError};
pub use topology::Topology;
pub use turn::Turn;
