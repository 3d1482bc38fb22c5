//! The time of the cluster, as its leader counts it.

use std::time::Duration;

use habemus_store::ClusterTime;

/// Counts the time of the cluster while this member leads, and follows it while another one does.
///
/// Between two moments of which leaders speak, never more time passes than really did: a new leader goes on
/// from the time of the last command, and adds how long it then still heard of the old leader. So a session
/// is never shortened by a change of leaders, and lengthened by the time in which nobody led.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaderClock {
    /// The time of the last command that was applied, and when that was by the own clock.
    applied: (ClusterTime, Duration),
    /// When the leader was last heard of, by the own clock.
    heard: Duration,
    /// What time it was when this member began to lead, and when that was by the own clock.
    leads: Option<(ClusterTime, Duration)>,
}

impl LeaderClock {
    /// The time of the last command that was applied is `applied`; the own clock says `now`.
    pub(crate) fn new(applied: ClusterTime, now: Duration) -> LeaderClock {
        LeaderClock { applied: (applied, now), heard: now, leads: None }
    }

    /// A command was applied, which came with this time.
    pub(crate) fn apply(&mut self, at: ClusterTime, now: Duration) {
        self.applied = (at, now);
    }

    /// The leader was heard of.
    pub(crate) fn hear(&mut self, now: Duration) {
        self.heard = now;
    }

    /// Begins to count, when all that others have committed is applied.
    pub(crate) fn begin(&mut self, now: Duration) {
        if self.leads.is_none() {
            let (at, since) = self.applied;
            self.leads = Some((at.after(self.heard.saturating_sub(since)), now));
        }
    }

    /// Stops counting: somebody else may lead. What this member counted and nobody applied is forgotten, for
    /// another leader cannot know it, and may have stamped an earlier time on something that came later.
    pub(crate) fn stop(&mut self, now: Duration) {
        if self.leads.take().is_some() {
            self.heard = now;
        }
    }

    /// What time it is, if this member counts it.
    pub(crate) fn now(&self, now: Duration) -> Option<ClusterTime> {
        self.leads.map(|(at, since)| at.after(now.saturating_sub(since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_goes_on_from_the_last_that_was_heard_of_the_old_leader() {
        let mut clock = LeaderClock::new(ClusterTime(seconds(3)), seconds(90));
        clock.apply(ClusterTime(seconds(7)), seconds(100));
        clock.hear(seconds(104));
        assert_eq!(clock.now(seconds(109)), None, "another one leads");
        clock.begin(seconds(110));
        assert_eq!(clock.now(seconds(110)), Some(ClusterTime(seconds(11))));
        assert_eq!(clock.now(seconds(112)), Some(ClusterTime(seconds(13))));
    }

    #[test]
    fn what_is_applied_late_counts_from_its_own_time() {
        let mut clock = LeaderClock::new(ClusterTime(seconds(3)), seconds(90));
        clock.hear(seconds(100));
        clock.apply(ClusterTime(seconds(7)), seconds(105));
        clock.begin(seconds(110));
        assert_eq!(clock.now(seconds(110)), Some(ClusterTime(seconds(7))));
    }

    #[test]
    fn a_leader_that_leads_again_leaves_out_the_time_between() {
        let mut clock = LeaderClock::new(ClusterTime(seconds(3)), seconds(90));
        clock.begin(seconds(90));
        clock.stop(seconds(95));
        clock.begin(seconds(99));
        assert_eq!(clock.now(seconds(100)), Some(ClusterTime(seconds(9))));
    }

    #[test]
    fn a_leader_that_was_alone_goes_by_the_time_of_the_one_that_was_not() {
        let mut clock = LeaderClock::new(ClusterTime(seconds(3)), seconds(90));
        clock.begin(seconds(90));
        clock.stop(seconds(100));
        // Meanwhile another one led, which had not heard of anything for eight seconds, and opened a session.
        clock.apply(ClusterTime(seconds(5)), seconds(101));
        clock.begin(seconds(102));
        assert_eq!(clock.now(seconds(102)), Some(ClusterTime(seconds(5))));
    }
}
