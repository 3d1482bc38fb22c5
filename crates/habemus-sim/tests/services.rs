//! One-shot elections as services: on a detector they are held again and again, through crashes and recoveries.

use std::time::Duration;

use habemus::catalogue::ENTRIES;
use habemus_scenario::{Action, Cue, Occasion, RandomFaults, Scenario, TopologyChoice};
use habemus_sim::{Sweeping, run, sweep};

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
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: (1..=5).collect(),
        detector: Some(detector.to_owned()),
        // Where a graph could fall apart, so would the group of those who elect.
        topology: (algorithm == "yo-yo").then(|| TopologyChoice::Named("complete".to_owned())),
        script: script.iter().map(cue).collect(),
        ..Scenario::default()
    }
}

fn elect(processes: &[u64]) -> Action {
    Action::Command { word: "elect".to_owned(), processes: processes.to_vec() }
}

/// S4: "Uma nova eleição deve acontecer sempre que o líder se tornar indisponível".
#[test]
fn when_the_leader_crashes_another_is_elected_and_again() {
    let mut seen = 0;
    // On an anonymous ring several may win, and nobody knows whom to miss.
    for algorithm in one_shot().filter(|name| !["anonymous-ring", "itai-rodeh"].contains(name)) {
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
    assert!(seen >= 5, "only {seen} services");
}

#[test]
fn services_keep_their_promises_through_crashes_and_recoveries_on_every_detector() {
    let ms = Duration::from_millis;
    for algorithm in one_shot().filter(|name| !["anonymous-ring", "itai-rodeh"].contains(name)) {
        for detector in ["oracle", "heartbeat", "eventually-perfect", "phi-accrual"] {
            let mut scenario = scenario(algorithm, detector, &[(0, elect(&[1, 3]))]);
            scenario.random = Some(RandomFaults {
                crashes: 2.0,
                recover_after: Some((ms(100), ms(900))),
                most_down: 3,
                until: Duration::from_secs(3),
                ..RandomFaults::usual(5)
            });
            let report = sweep(&scenario, 1, 12, 2, &Sweeping::default()).expect("it makes sense");
            assert_eq!(report.failures, 0, "{algorithm} on {detector}: {:?}", report.first_failure);
            assert!(report.crashes > 20 && report.leader_changes > 0, "{algorithm} on {detector}: no test");
        }
    }
}
