//! Mutants of the catalogue: rules that somebody left out or turned round, and where each is caught.

use std::time::Duration;

use habemus::Address;

use super::model::{Model, model};
use crate::setting::{DeliveryOrder, Setting, Speed, Start, Timers};

/// A mutant of the catalogue, the property by which it is caught, and where. The algorithm itself is not
/// caught there.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The name of the variant.
    pub mutant: &'static str,
    /// What it breaks.
    pub property: &'static str,
    /// In which model.
    pub model: Model,
}

fn crash(setting: &mut Setting) {
    setting.budget.crashes = 1;
    setting.timers = Timers::MessagesFirst;
}

fn crash_and_recover(setting: &mut Setting) {
    crash(setting);
    setting.budget.recoveries = 1;
}

/// Clocks that drift by 1 %, and messages that take up to 1 ms.
fn timed(setting: &mut Setting) {
    setting.timers =
        Timers::Timed(Speed { drift: 10_000, delay: (Duration::ZERO, Duration::from_millis(1)) });
}

/// A majority election of two, in which the second has all the weight: whoever leads needs its vote.
fn leases() -> Model {
    model("majority", 2).option("weights", "0,1").option("pre-vote", "false").with(timed)
}

fn partition(setting: &mut Setting) {
    setting.budget.partitions = 1;
}

fn leased(lock: &'static str) -> Model {
    model(lock, 2).option("lease", "10ms").with(timed)
}

fn service(processes: u64) -> Model {
    model("service", processes).option("ttl", "10ms")
}

/// The mutants of the catalogue, each with a model that catches it.
pub fn planted() -> Vec<Planted> {
    let timely = |setting: &mut Setting| setting.timers = Timers::MessagesFirst;
    let steps = |max: u32| move |setting: &mut Setting| setting.max_depth = Some(max);
    let starts = |addresses: &'static [u32]| {
        move |setting: &mut Setting| {
            setting.start = Start::These(addresses.iter().copied().map(Address).collect());
        }
    };
    let majority = |ids: u64| model("majority", ids).option("pre-vote", "false").option("lease", "false");
    let cases: Vec<(&str, &str, Model)> = vec![
        ("mutant-forgets-itself", "E1", model("all-to-all", 2)),
        ("mutant-challenge", "stability", model("stable", 2).option("leader", "1").with(timely)),
        ("mutant-first-listed", "E1", model("collecting-ring", 2).with(timely)),
        ("mutant-no-restart", "E2", model("collecting-ring", 3).all_start().with(crash)),
        ("mutant-local-winner", "uniqueness", model("franklin", 4).ids(&[1, 3, 2, 4]).all_start()),
        ("mutant-local-winner", "uniqueness", model("hirschberg-sinclair", 4).ids(&[1, 3, 2, 4]).all_start()),
        ("mutant-keeps-own", "E1", model("dolev-klawe-rodeh", 2)),
        ("mutant-swallow", "termination", model("anonymous-ring", 2)),
        ("mutant-ignores-ties", "uniqueness", model("itai-rodeh", 2).with(steps(10))),
        (
            "mutant-prune-unequal",
            "uniqueness",
            model("yo-yo", 4).ids(&[1, 3, 2, 4]).topology("ring").all_start(),
        ),
        ("mutant-ignores-owner", "E2", model("capture-sync", 2)),
        ("mutant-unowned", "E2", model("capture-async", 2)),
        ("mutant-no-tie-break", "agreement", model("omega", 2).with(timely)),
        ("mutant-fixed-interval", "agreement", model("omega", 3).with(timely)),
        (
            "mutant-no-persisted-vote",
            "one-leader-per-term",
            majority(3).with(crash_and_recover).with(steps(8)),
        ),
        ("mutant-votes-twice", "one-leader-per-term", majority(3).with(steps(6))),
        ("mutant-no-term-check", "one-leader-per-term", majority(3).with(steps(7))),
        ("mutant-half-quorum", "one-leader-per-term", majority(2).with(steps(5))),
        // A crash as soon as it is bound, and a wish for a leader as soon as it is back.
        (
            "mutant-unbound-recovery",
            "uniqueness",
            leases().with(|setting| {
                (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
                setting.faulty = vec![Address(1)];
            }),
        ),
        ("mutant-lease-from-answers", "uniqueness", leases().with(partition)),
        ("mutant-ignores-lease", "uniqueness", leases().with(partition)),
        ("mutant-unshortened-lease", "uniqueness", leases().with(partition)),
        ("mutant-first-heard", "agreement", model("large-group", 3)),
        ("mutant-ignores-lease", "EM1", leased("coordinator").option("timeout", "20ms")),
        ("mutant-ignores-lease", "EM1", leased("elected-coordinator")),
        ("mutant-no-margin", "EM1", leased("elected-coordinator")),
        ("mutant-hasty", "EM1", model("token-ring", 2)),
        ("mutant-no-wait", "EM1", model("lamport", 2)),
        ("mutant-no-tie-break", "EM1", model("ricart-agrawala", 2)),
        ("mutant-untold", "EM2", model("maekawa", 4).with(steps(19))),
        ("mutant-one-short", "EM1", model("maekawa", 2)),
        ("mutant-hopeful", "EM2", model("maekawa", 4).with(steps(25))),
        (
            "mutant-keeps-vote",
            "EM1",
            model("maekawa", 3).option("sets", "plane").with(|setting| setting.entries = 2),
        ),
        ("mutant-one-short", "EM1", model("quorum", 2).with(steps(6))),
        ("mutant-forgetful", "EM2", model("suzuki-kasami", 3)),
        (
            "mutant-stale",
            "EM2",
            model("suzuki-kasami", 3)
                .with(|setting| (setting.entries, setting.order) = (2, DeliveryOrder::Any)),
        ),
        ("mutant-no-follow-up", "EM2", model("raymond", 3)),
        (
            "mutant-forgetful",
            "EM1",
            model("elected-coordinator", 3).option("election", "collecting-ring").with(crash).with(
                |setting| {
                    setting.clients = vec![Address(0), Address(1)];
                    setting.faulty = vec![Address(2)];
                },
            ),
        ),
        ("mutant-no-grace", "EM1", service(2).option("keep-alive", "false").with(timed)),
        (
            "mutant-reuses-token",
            "fencing",
            service(2).with(crash_and_recover).with(|setting| setting.faulty = vec![Address(0)]),
        ),
        (
            "mutant-keeps-waiter",
            "EM2",
            service(3).with(crash).with(|setting| {
                setting.timers = Timers::LateClients;
                setting.faulty = vec![Address(2)];
            }),
        ),
        (
            "mutant-unlocks-any",
            "EM1",
            service(3).with(timely).with(|setting| setting.budget.duplications = 1),
        ),
        ("mutant-own-value", "agreement", model("flood-set", 3).all_start().with(crash)),
        (
            "mutant-trusts-commander",
            "agreement",
            model("byzantine-generals", 4).option("traitors", "1").with(starts(&[0])),
        ),
        (
            "mutant-no-verification",
            "agreement",
            model("signed-generals", 3).option("traitors", "3").with(starts(&[0])),
        ),
        (
            "mutant-trusts-everyone",
            "agreement",
            model("interactive-consistency", 4).option("traitors", "4").all_start(),
        ),
        ("mutant-ignores-accepted", "agreement", model("paxos", 3).all_start().with(crash)),
        (
            "mutant-half-quorum",
            "agreement",
            model("paxos", 2).all_start().with(timely).with(|setting| setting.budget.suspicions = 1),
        ),
        (
            "mutant-earliest-accepted",
            "agreement",
            model("paxos", 3).with(starts(&[0, 1])).with(crash).with(|setting| setting.budget.suspicions = 1),
        ),
        (
            "mutant-forgets-promise",
            "agreement",
            model("paxos", 3).with(starts(&[0, 2])).with(crash_and_recover).with(|setting| {
                setting.budget.suspicions = 1;
                setting.faulty = vec![Address(1)];
            }),
        ),
    ];
    cases.into_iter().map(|(mutant, property, model)| Planted { mutant, property, model }).collect()
}

/// Mutants that no small model catches, why, and where they are caught instead.
pub const ELSEWHERE: [(&str, &str); 3] = [
    // Theorem 5.3 fails, a bound on candidates: unit tests of the algorithm watch it.
    ("capture-async", "mutant-no-check"),
    // A process that comes back for ever leads for ever; the checker's faults end. The simulator shows it.
    ("omega", "mutant-forgotten-incarnation"),
    // With four processes or fewer it breaks nothing. To do harm, somebody must accept an earlier ballot
    // after a later one that it had not promised to. So all others promised to the later one, the leader of
    // the earlier among them; and who leads a ballot accepts in it before it asks anybody to. Its promise
    // told the value. With five it takes three ballots, more steps than there is time for. Unit tests of the
    // algorithm catch it.
    ("paxos", "mutant-unbound-acceptance"),
];
