//! The constants of the bully election.

use std::time::Duration;

use crate::Id;
use crate::election::Wins;

/// Who is better than whom, and how long to wait for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Who is asked.
    pub audience: Audience,
    /// Which end of the order wins.
    pub wins: Wins,
    /// A comparable quality of each process (memory, weight, …), by address; the identifier breaks ties.
    /// Empty: the identifier alone counts.
    pub quality: Vec<u64>,
    /// How long to wait for an OK.
    pub answer_timeout: Duration,
    /// How long to wait for COORDINATOR after an OK.
    pub coordinator_timeout: Duration,
    /// How much longer each process waits before it starts an election than the next better one.
    pub delay: Duration,
    /// Whether there is a failure detector. If so, who is silent and not suspected is cut off; if not, it is
    /// dead.
    pub detector: bool,
    /// Who leads at the beginning, if anybody.
    pub leader: Option<Id>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Complete,
            audience: Audience::Better,
            wins: Wins::Highest,
            quality: Vec::new(),
            answer_timeout: Duration::from_millis(50),
            coordinator_timeout: Duration::from_millis(150),
            delay: Duration::ZERO,
            detector: true,
            leader: None,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The receiver of ELECTION runs, too, and what the notes are silent on is added.
    Complete,
    /// S4's listing: the receiver only says OK, and an OK ends the matter.
    AsPrinted,
}

/// Who is asked in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody (S0).
    All,
    /// Those that would be better leaders (S1, S4).
    Better,
}
