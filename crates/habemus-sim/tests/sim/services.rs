//! One-shot elections as services: on a detector they are held again and again, through crashes and
//! recoveries.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::catalogue::ENTRIES;
use habemus_report::Finding;
use habemus_scenario::{Action, Cue, Network, Occasion, RandomFaults, Scenario, TimeModel, TopologyChoice};
use habemus_sim::{Sweeping, run, sweep};

use crate::support::elect;

/// Those whose entry leaves the detector out unless it is asked for.
fn one_shot() -> impl Iterator<Item = &'static str> {
    let services = ENTRIES.iter().filter(|entry| entry.detectors.first() == Some(&"none"));
    services.map(|entry| entry.name)
}

fn scenario(algorithm: &str, detector: &str, script: &[(u64, Action)]) -> Scenario {
    let cue = |(at, action): &(u64, Action)| Cue {
        occasion: Occasion::At(Duration::from_millis(*at)),
        action: action.clone(),
    };
    let mut network = Network::default();
    if ["all-to-all", "capture-sync"].contains(&algorithm) {
        network.model = TimeModel::Synchronous { pulse: Duration::from_millis(10) };
    }
    let mut options = BTreeMap::new();
    if algorithm == "large-group" {
        // It listens before it elects; whoever fails or comes back meanwhile makes it begin again.
        options.insert("patience".to_owned(), "50ms".to_owned());
    }
    Scenario {
        network,
        options,
        algorithm: algorithm.to_owned(),
        ids: (1..=5).collect(),
        detector: Some(detector.to_owned()),
        // Where a graph could fall apart, so would the group of those who elect.
        topology: (algorithm == "yo-yo").then(|| TopologyChoice::Named("complete".to_owned())),
        script: script.iter().map(cue).collect(),
        ..Scenario::default()
    }
}

/// S4: "Uma nova eleição deve acontecer sempre que o líder se tornar indisponível".
#[test]
fn when_the_leader_crashes_another_is_elected_and_again() {
    let mut seen = 0;
    // On the anonymous ring several may win.
    for algorithm in one_shot().filter(|name| *name != "anonymous-ring") {
        let first = run(&scenario(algorithm, "oracle", &[(0, elect(&[1]))]), false).expect("it runs");
        let leader = first.leader.unwrap_or_else(|| panic!("{algorithm} elects nobody"));
        let crash = scenario(algorithm, "oracle", &[(0, elect(&[1])), (5000, Action::Crash(vec![leader]))]);
        let second = run(&crash, false).expect("it runs");
        let next = second.leader.unwrap_or_else(|| panic!("{algorithm} elects nobody after {leader}"));
        assert_ne!(next, leader, "{algorithm}");
        let mut again = crash.clone();
        again
            .script
            .push(Cue { occasion: Occasion::At(Duration::from_secs(10)), action: Action::Crash(vec![next]) });
        let third = run(&again, false).expect("it runs");
        assert!(third.leader.is_some_and(|third| third != leader && third != next), "{algorithm}: {third:?}");
        assert!(third.succeeded(), "{algorithm}: {:?}", third.failures);
        seen += 1;
    }
    assert_eq!(seen, 10);
}

#[test]
fn services_keep_their_promises_through_crashes_and_recoveries_on_every_detector() {
    let ms = Duration::from_millis;
    for algorithm in one_shot().filter(|name| *name != "anonymous-ring") {
        for detector in ["oracle", "heartbeat", "eventually-perfect", "phi-accrual"] {
            let mut scenario = scenario(algorithm, detector, &[(0, elect(&[1, 3]))]);
            scenario.random = Some(RandomFaults {
                crashes: 2.0,
                recover_after: Some((ms(100), ms(900))),
                max_down: 3,
                until: Duration::from_secs(3),
                ..RandomFaults::usual(5)
            });
            let report = sweep(&scenario, 1, 12, 2, &Sweeping::default()).expect("it makes sense");
            assert_eq!(report.failures, 0, "{algorithm} on {detector}: {:?}", report.first_failure);
            assert!(
                report.crashes > 20 && report.leader_changes > 0,
                "{algorithm} on {detector}: {report:?}"
            );
        }
    }
}

/// While links are cut, each side may have a leader of its own. Some time after the last is healed all follow
/// the same one, the best if the election finds the best, whether the detector saw the cut or not.
#[test]
fn after_cuts_all_follow_one_leader_again() {
    let ms = Duration::from_millis;
    for algorithm in one_shot().filter(|name| !["anonymous-ring", "large-group"].contains(name)) {
        for detector in ["oracle", "heartbeat", "phi-accrual"] {
            let mut scenario = scenario(algorithm, detector, &[(0, elect(&[1, 3]))]);
            scenario.random = Some(RandomFaults {
                crashes: 1.0,
                cuts: 2.0,
                cut_for: (ms(10), ms(1500)),
                until: Duration::from_secs(3),
                ..RandomFaults::usual(5)
            });
            let best = match (algorithm, ENTRIES.iter().find(|entry| entry.name == algorithm)) {
                ("yo-yo", _) => Some(1),
                (_, Some(entry)) if entry.promises("E1") => Some(5),
                _ => None,
            };
            for seed in 1..=15 {
                let report = run(&Scenario { seed, ..scenario.clone() }, false).expect("it runs");
                let line =
                    report.properties.iter().find(|line| line.name == "agreement").expect("it is watched");
                assert_eq!(line.verdict, Finding::Holds, "{algorithm} on {detector}, seed {seed}: {line:?}");
                if best.is_some() {
                    assert_eq!(report.leader, best, "{algorithm} on {detector}, seed {seed}");
                }
            }
        }
    }
}

/// S4's first ring chooses again, and again perhaps several: all that are left ask for votes at the same
/// time.
#[test]
fn the_anonymous_ring_is_held_again_whoever_fails() {
    let scenario = scenario(
        "anonymous-ring",
        "oracle",
        &[
            (0, elect(&[1])),
            (3000, Action::Crash(vec![1])),
            (6000, Action::Recover { processes: vec![1], amnesia: false }),
        ],
    );
    let report = run(&scenario, false).expect("it runs");
    assert!(report.succeeded(), "{:?}", report.failures);
    assert!(report.statistics.leader_changes >= 2, "{:?}", report.statistics);
}
