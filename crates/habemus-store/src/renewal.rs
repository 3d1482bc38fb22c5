//! The other half of a session: what its client may believe of it, and when it renews it. Clients of the
//! service and of its simulation go by this.

use std::time::Duration;

/// A session as its client knows it, by the client's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    ttl: Duration,
    valid_until: Duration,
}

/// For how long a session is surely there from when its renewal was *sent*: a little less than it lasts, for
/// clocks differ.
fn surely(ttl: Duration) -> Duration {
    ttl - (ttl / 50).max(Duration::from_millis(20)).min(ttl)
}

impl Renewal {
    /// A session that was asked for at `sent`, and lasts `ttl` without being renewed.
    pub fn new(sent: Duration, ttl: Duration) -> Renewal {
        Renewal { ttl, valid_until: sent + surely(ttl) }
    }

    /// How long it lasts without being renewed.
    pub fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Until then it is surely there.
    pub fn valid_until(&self) -> Duration {
        self.valid_until
    }

    /// Whether it may have ended.
    pub fn may_be_over(&self, now: Duration) -> bool {
        now >= self.valid_until
    }

    /// How long to wait after a renewal that was answered.
    pub fn pause(&self) -> Duration {
        self.ttl / 3
    }

    /// How long to wait after one that was not.
    pub fn pause_after_failure(&self) -> Duration {
        (self.ttl / 20).clamp(Duration::from_millis(20), Duration::from_secs(1))
    }

    /// How long to wait for the answer to a renewal that is sent now: a member that does not answer must not
    /// use up all the time that is left, for another may.
    pub fn patience(&self, now: Duration) -> Duration {
        self.valid_until.saturating_sub(now).min(self.pause())
    }

    /// A renewal that was sent then was answered: it lasts so long.
    pub fn renewed(&mut self, sent: Duration, ttl: Duration) {
        self.ttl = ttl;
        self.valid_until = self.valid_until.max(sent + surely(ttl));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn it_counts_from_when_a_renewal_was_sent_and_never_goes_back() {
        let mut renewal = Renewal::new(ms(1000), ms(10_000));
        assert_eq!(renewal.valid_until(), ms(10_800));
        assert!(!renewal.may_be_over(ms(10_799)) && renewal.may_be_over(ms(10_800)));
        renewal.renewed(ms(3000), ms(10_000));
        assert_eq!(renewal.valid_until(), ms(12_800));
        renewal.renewed(ms(2000), ms(10_000));
        assert_eq!(renewal.valid_until(), ms(12_800));
    }

    #[test]
    fn an_attempt_takes_no_longer_than_there_is_time() {
        let renewal = Renewal::new(ms(0), ms(3000));
        assert_eq!((renewal.pause(), renewal.pause_after_failure()), (ms(1000), ms(150)));
        assert_eq!(renewal.patience(ms(0)), ms(1000));
        assert_eq!(renewal.patience(ms(2900)), ms(40));
        assert_eq!(renewal.patience(ms(9000)), ms(0));
    }

    #[test]
    fn a_session_shorter_than_the_margin_is_never_surely_there() {
        assert!(Renewal::new(ms(5), ms(10)).may_be_over(ms(5)));
    }
}
