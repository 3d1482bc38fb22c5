//! Deterministic simulation testing of the service: members, their disks, clocks and network, and clients of
//! all kinds, in virtual time and from one seed.
//!
//! The replica, the store and the journal are those that the server runs. First everything goes wrong that a
//! [`Script`] says; then nothing, and everybody must be served again. Judged is what the service promises:
//!
//! - nothing that was answered is lost, and what clients did to keys is linearizable;
//! - no two clients believe by their own clocks to be inside a lock together who must not be, and tokens
//!   grow;
//! - no session ends before its time, and each ends;
//! - who watches is told everything, once and in order, whatever member it asks;
//! - one leader a term, and the same store on every member that has applied as much;
//! - when nothing goes wrong any more, everybody is served within a stated time.
//!
//! ```
//! let outcome = habemus_dst::play(1);
//! assert_eq!(outcome.violation, None);
//! assert!(outcome.answered > 0 && outcome.entered > 0);
//! ```

mod agenda;
mod agreed;
mod calamity;
mod client;
mod clock;
mod disk;
mod history;
mod linearizability;
mod machine;
mod pace;
mod planted;
mod random;
mod run;
mod seen;
mod shape;
mod soak;
mod story;
mod world;

pub use calamity::{Calamity, Script};
pub use disk::CruelDisk;
pub use history::{Clocks, Inside, judge_locks};
pub use linearizability::{KeyAct, KeyCall, KeyResult, judge as judge_keys};
pub use planted::PlantedBug;
pub use run::{Outcome, play, play_script, shrink, tell};
pub use seen::{Kind, Seen};
pub use soak::{Standing, soak};
pub use story::ending;
