//! The constants of the majority election, and what follows from them.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::Address;

/// Whose vote weighs how much, and the times on which leases rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// The weight of each process's vote, by address; empty: all weigh the same.
    pub weights: Vec<u64>,
    /// How long to wait for a leader before standing for election. The wider the range, the fewer stand at
    /// once.
    pub timeout: RangeInclusive<Duration>,
    /// How often a leader says that it is there.
    pub interval: Duration,
    /// Whether a process asks if it would be elected before it stands and begins a new term.
    pub pre_vote: bool,
    /// Whether a leader leads only while a quorum is bound to it.
    pub lease: bool,
    /// By how many per cent a clock may run fast or slow; leases rely on it.
    pub max_drift_percent: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Complete,
            weights: Vec::new(),
            timeout: Duration::from_millis(150)..=Duration::from_millis(300),
            interval: Duration::from_millis(50),
            pre_vote: true,
            lease: true,
            max_drift_percent: 1,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Those that keep two leaders out of one term.
    Complete,
    /// A mutant: a crash makes a process forget for whom it voted, kept to show that the checks catch it.
    NoPersistedVote,
    /// A mutant: whoever asks gets the vote, also a second one in the same term, kept to show that the checks
    /// catch it.
    VotesTwice,
    /// A mutant: messages of older terms count, too, kept to show that the checks catch it.
    NoTermCheck,
    /// A mutant: half of the weight is enough, kept to show that the checks catch it.
    HalfQuorum,
    /// A mutant: a recovered process has forgotten to whom it was bound, kept to show that the checks catch
    /// it.
    UnboundRecovery,
    /// A mutant: a lease counts from the answers, not from the heartbeat, kept to show that the checks catch
    /// it.
    LeaseFromAnswers,
    /// A mutant: a leader leads on though its lease is over, kept to show that the checks catch it.
    IgnoresLease,
    /// A mutant: a lease is as long as the loyalty it relies on, whatever clocks do, kept to show that the
    /// checks catch it.
    UnshortenedLease,
}

impl Config {
    /// How long a follower is bound to a leader it has heard of: by its own clock, the least timeout.
    pub fn loyalty(&self) -> Duration {
        *self.timeout.start()
    }

    /// How long a leader may rely on a round of heartbeats, from the moment it sent them, by its own clock.
    ///
    /// With a lease this is the followers' loyalty, made shorter so that it is over first even if the
    /// leader's clock is as slow and a follower's as fast as may be. Without, it is the longest timeout: a
    /// leader that hears nothing for so long has been replaced, or should be.
    pub fn reliance(&self) -> Duration {
        if !self.lease {
            return *self.timeout.end();
        }
        if self.variant == Variant::UnshortenedLease {
            return self.loyalty();
        }
        let drift = u128::from(self.max_drift_percent.min(100));
        // Less, not as long: where both would be over at one moment, either may be over first.
        let nanos = (self.loyalty().as_nanos() * (100 - drift)).saturating_sub(1) / (100 + drift);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Whether these, of so many processes, carry "mais da metade do peso do sistema".
    pub fn is_quorum(&self, voters: impl IntoIterator<Item = Address>, processes: usize) -> bool {
        let (votes, total) = weigh(voters, &self.weights, processes);
        match self.variant {
            Variant::HalfQuorum => votes * 2 >= total,
            _ => votes * 2 > total,
        }
    }
}

/// Whether these, of so many processes, carry more than half of the weight; without weights all weigh the
/// same.
pub fn is_majority(voters: impl IntoIterator<Item = Address>, weights: &[u64], processes: usize) -> bool {
    let (votes, total) = weigh(voters, weights, processes);
    votes * 2 > total
}

/// What these weigh, and what all do.
fn weigh(voters: impl IntoIterator<Item = Address>, weights: &[u64], processes: usize) -> (u128, u128) {
    let weight = |address: Address| weights.get(address.index()).map_or(1, |&weight| u128::from(weight));
    let votes = voters.into_iter().map(weight).sum();
    (votes, (0..processes as u32).map(Address).map(weight).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quorum(config: &Config, voters: &[u32]) -> bool {
        config.is_quorum(voters.iter().copied().map(Address), 4)
    }

    /// S4: "só aceitar que um líder seja declarado se o mesmo seus votos carregarem mais da metade do peso do
    /// sistema".
    #[test]
    fn a_quorum_carries_more_than_half_of_the_weight() {
        let equal = Config::default();
        assert!(!quorum(&equal, &[0, 1]) && quorum(&equal, &[0, 1, 2]));
        let weighted = Config { weights: vec![3, 1, 1, 0], ..Config::default() };
        assert!(quorum(&weighted, &[0]) && !quorum(&weighted, &[1, 2, 3]));
        let mutant = Config { variant: Variant::HalfQuorum, ..Config::default() };
        assert!(quorum(&mutant, &[0, 1]) && quorum(&mutant, &[2, 3]));
    }

    #[test]
    fn a_lease_is_over_before_the_loyalty_whatever_the_clocks_do_within_bounds() {
        for percent in [0, 1, 5, 20, 50] {
            let config = Config { max_drift_percent: percent, ..Config::default() };
            let (slowest, fastest) = (100 - u128::from(percent), 100 + u128::from(percent));
            // A clock at p per cent of the right rate shows a duration after 100/p times as long.
            let leader = config.reliance().as_nanos() * 100 * fastest;
            let follower = config.loyalty().as_nanos() * 100 * slowest;
            assert!(leader < follower, "{percent} %");
        }
    }

    #[test]
    fn without_a_lease_a_leader_waits_as_long_as_anybody() {
        let config = Config { lease: false, ..Config::default() };
        assert_eq!(config.reliance(), Duration::from_millis(300));
    }
}
