//! The constants of the stable election.

use std::time::Duration;

use crate::Id;
use crate::election::Wins;

/// Who wins among equals, and how long to wait for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// What makes one process a better leader than another.
    pub weight: Weight,
    /// Which of two that weigh the same is the better leader.
    pub wins: Wins,
    /// How long to wait for a leader or a better process to answer: longer than a message there and back.
    pub answer_timeout: Duration,
    /// How long to wait for COORDINATOR after having given up.
    pub coordinator_timeout: Duration,
    /// After how long without a break a process weighs all it can, its restarts being forgotten; `None`:
    /// never.
    pub regain: Option<Duration>,
    /// Who leads at the beginning, if anybody.
    pub leader: Option<Id>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Stable,
            weight: Weight::Restarts,
            wins: Wins::Highest,
            answer_timeout: Duration::from_millis(50),
            coordinator_timeout: Duration::from_millis(150),
            regain: None,
            leader: None,
        }
    }
}

/// What makes one process a better leader than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// To have restarted less.
    Restarts,
    /// To have run for longer without a break, up to [`Config::regain`].
    Uptime,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A live leader answers everybody that it leads.
    Stable,
    /// A mutant: a leader says nothing to a better process that asks, kept to show that the checker catches
    /// it.
    MutantChallenge,
}
