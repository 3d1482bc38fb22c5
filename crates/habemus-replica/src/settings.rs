//! What a replica must be told at its start.

use crate::member::MemberId;

/// What a replica must be told at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who it is.
    pub id: MemberId,
    /// A leader speaks to everybody at least every so many ticks.
    pub heartbeat_ticks: usize,
    /// Whoever has heard of no leader for this many ticks, or more, stands for election.
    pub min_election_ticks: usize,
    /// Nobody waits as long as this.
    pub max_election_ticks: usize,
    /// Of those who take the leader for dead because its connection broke, each gives the one before it this
    /// many ticks.
    pub turn_ticks: usize,
    /// A request that was sent to the leader is given up after so many ticks.
    pub patience_ticks: u64,
    /// A snapshot is made when the log has so many bytes more than at the last one.
    pub snapshot_after_bytes: usize,
    /// The log is not forgotten back to this many entries before a snapshot, for those who are a little
    /// behind.
    pub keep_entries: u64,
    /// No more than so many bytes of commands are under way at once.
    pub max_uncommitted_bytes: u64,
    /// What election timeouts are drawn from.
    pub seed: u64,
}

impl Settings {
    /// Settings for a tick of about five milliseconds.
    pub fn new(id: MemberId, seed: u64) -> Settings {
        Settings {
            id,
            heartbeat_ticks: 10,
            min_election_ticks: 36,
            max_election_ticks: 52,
            turn_ticks: 4,
            patience_ticks: 400,
            snapshot_after_bytes: 64 << 20,
            keep_entries: 1000,
            max_uncommitted_bytes: 64 << 20,
            seed,
        }
    }
}

/// Why a replica cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The settings make no sense.
    #[error("the settings make no sense: {0}")]
    Settings(String),
    /// What was stored makes no sense.
    #[error("what was stored is damaged: {0}")]
    Damaged(String),
}
