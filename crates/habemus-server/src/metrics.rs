//! What a member counts, for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use habemus_store::{Applied, Store};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::engine::View;
use crate::quota::Quota;

/// What a member counts as things happen. What can be seen at any moment is looked at when it is asked for.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) leader_changes: Counter,
    pub(crate) proposed: Counter,
    pub(crate) refused: Counter,
    pub(crate) unanswered: Counter,
    applied: Counter,
    grants: Counter,
    expiries: Counter,
    commit_seconds: Histogram,
    apply_seconds: Histogram,
    wait_seconds: Histogram,
    /// How long a batch takes to be durable, in seconds.
    pub(crate) write_seconds: Histogram,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            leader_changes: Counter::default(),
            proposed: Counter::default(),
            refused: Counter::default(),
            unanswered: Counter::default(),
            applied: Counter::default(),
            grants: Counter::default(),
            expiries: Counter::default(),
            commit_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 16)),
            apply_seconds: Histogram::new(exponential_buckets(0.00001, 2.0, 20)),
            wait_seconds: Histogram::new(exponential_buckets(0.001, 4.0, 12)),
            write_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 16)),
        }
    }
}

/// What can be seen at any moment.
pub(crate) struct Gauges {
    gauges: Vec<(&'static str, &'static str, u64)>,
}

impl Gauges {
    pub(crate) fn of(view: &View<'_>) -> Gauges {
        let (store, role) = (view.store, view.replica.role());
        let number = |count: usize| count as u64;
        let (standing, inside) = store.queue_counts();
        let voters = view.replica.members().filter(|(_, member)| !member.learner).count();
        Gauges {
            gauges: vec![
                ("has_leader", "Whether this member knows of a leader", role.leader.is_some().into()),
                ("is_leader", "Whether this member leads", role.leads.into()),
                ("term", "The term", role.term),
                ("applied_index", "The index of the last entry that was applied", view.replica.applied()),
                ("revision", "The latest revision", store.revision().0),
                ("compacted_revision", "Nothing before this revision is known", store.compacted().0),
                ("remembered_revisions", "How many revisions are remembered", number(store.remembered())),
                ("sessions", "How many sessions there are", number(store.session_count())),
                (
                    "queues",
                    "How many locks and elections somebody stands for",
                    number(store.queues().count()),
                ),
                ("holders", "How many are inside them", number(inside)),
                ("waiters", "How many wait to be let in", number(standing - inside)),
                ("voters", "How many members have a vote", number(voters)),
                ("used_bytes", "Keys, values, history and sessions, roughly", number(Quota::used(store))),
                ("quota_bytes", "How many of these are allowed", number(view.quota.bytes)),
            ],
        }
    }
}

impl Metrics {
    /// What a client of this member asked for was applied so long after it came.
    pub(crate) fn committed_after(&self, time: Duration) {
        self.commit_seconds.observe(time.as_secs_f64());
    }

    /// What was committed was applied and answered in this time.
    pub(crate) fn applied_in(&self, time: Duration) {
        self.apply_seconds.observe(time.as_secs_f64());
    }

    /// Something was applied.
    pub(crate) fn count(&self, applied: &Applied, store: &Store) {
        self.applied.inc();
        self.grants.inc_by(applied.queues.iter().map(|change| change.granted.len() as u64).sum());
        self.expiries.inc_by(applied.ended.len() as u64);
        for grant in applied.queues.iter().flat_map(|change| &change.granted) {
            self.wait_seconds.observe(store.now().0.saturating_sub(grant.since.0).as_secs_f64());
        }
    }

    /// All of it, as Prometheus reads it.
    pub(crate) fn text(&self, moment: &Gauges) -> String {
        let mut registry = Registry::with_prefix("habemus");
        for (name, help, value) in &moment.gauges {
            registry.register(*name, *help, ConstGauge::new(*value));
        }
        let counters: [(&str, &str, &Counter<u64, AtomicU64>); 7] = [
            ("leader_changes", "How often who leads has changed", &self.leader_changes),
            ("proposals", "Commands of clients of this member", &self.proposed),
            (
                "refused",
                "Commands that were refused for want of room or because there was too much to do",
                &self.refused,
            ),
            (
                "unanswered",
                "Requests of which nobody knows what became, or for which nobody led",
                &self.unanswered,
            ),
            ("applied", "Commands that were applied", &self.applied),
            ("grants", "How often somebody was let in by its session", &self.grants),
            ("sessions_ended", "Sessions that were closed or whose time was over", &self.expiries),
        ];
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        let histograms = [
            ("write", "How long a batch takes to be written and synced", &self.write_seconds),
            ("commit", "How long a command takes from its client to being applied", &self.commit_seconds),
            ("apply", "How long it takes to apply and answer what was committed", &self.apply_seconds),
            ("wait", "How long those who were let in stood in their queue", &self.wait_seconds),
        ];
        for (name, help, histogram) in histograms {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        }
        let mut text = String::new();
        encode(&mut text, &registry).expect("memory takes whatever is written");
        text
    }
}
