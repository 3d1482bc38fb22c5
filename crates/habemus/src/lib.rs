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
//! An algorithm of your own is a type with variables and handlers. This is Le Lann's election on a ring:
//! everybody's identifier goes round once, and comes home behind all others, because who hears of the
//! election joins in before it passes anything on. Then the highest leads.
//! ```
//! use habemus::election::{Command, Election, Output};
//! use habemus::{Address, Context, Effect, Id, Process, testing::Harness, topology::Ring};
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
//! # #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
//! enum Message {
//!     /// "This process takes part." It goes round once.
//!     Candidate(Id),
//! }
//! habemus::kinds!(Message: Candidate);
//!
//! /// The variables of one process.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! struct LeLann {
//!     takes_part: bool,
//!     highest: Id,
//! }
//!
//! impl Process for LeLann {
//!     type Problem = Election;
//!     type Topology = Ring;
//!     type Config = ();
//!     type Message = Message;
//!     type Timer = ();
//!     type Stable = ();
//!
//!     fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
//!         LeLann { takes_part: false, highest: cx.id() }
//!     }
//!
//!     fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
//!         self.join_in(cx);
//!     }
//!
//!     fn on_message(&mut self, _: Address, Message::Candidate(id): Message, cx: &mut Context<'_, Self>) {
//!         if id != cx.id() {
//!             self.join_in(cx);
//!             self.highest = self.highest.max(id);
//!             cx.send(cx.successor(), Message::Candidate(id));
//!         } else if self.highest == cx.id() {
//!             cx.output(Output::leads());
//!         } else {
//!             cx.output(Output::follows(self.highest));
//!         }
//!     }
//! }
//!
//! impl LeLann {
//!     fn join_in(&mut self, cx: &mut Context<'_, Self>) {
//!         if !self.takes_part {
//!             self.takes_part = true;
//!             cx.send(cx.successor(), Message::Candidate(cx.id()));
//!         }
//!     }
//! }
//!
//! // By hand: 17, on the ring 3 → 17 → 24, hears of the others, and then its own identifier comes home.
//! let mut p17 = Harness::<LeLann>::new(Ring::new(3), [3, 17, 24], (), Address(1));
//! let step = p17.message(Address(0), Message::Candidate(Id(3)));
//! let to_24 = |id| Effect::Send { to: Address(2), message: Message::Candidate(Id(id)) };
//! assert_eq!(step.effects, [to_24(17), to_24(3)]);
//! p17.message(Address(0), Message::Candidate(Id(24)));
//! let step = p17.message(Address(0), Message::Candidate(Id(17)));
//! assert_eq!(step.effects, [Effect::Output(Output::follows(Id(24)))]);
//! ```
//! The same file runs in the simulator, in the model checker and on real nodes: `examples/your-own-algorithm`
//! in the project's sources does it all, with a mutant that the checker catches.

pub mod agreement;
pub mod analysis;
pub mod catalogue;
pub mod clock;
mod context;
pub mod detector;
pub mod election;
pub mod mutex;
mod opaque;
pub mod problem;
pub mod process;
pub mod property;
pub mod rounds;
pub mod signatures;
pub mod symmetry;
mod system;
pub mod term;
pub mod testing;
pub mod topology;
pub mod units;

pub use context::{Context, Said};
pub use problem::{Problem, ProblemKind, Status, UnknownProblem};
pub use process::{
    Address, Chooser, Command, Data, Delay, Effect, Event, EventOf, Id, Message, Output, Process, Step,
    Suspicion,
};
pub use system::{DEFAULT_PULSE, System, SystemError};
pub use term::Term;
pub use topology::Topology;
