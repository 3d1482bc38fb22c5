//! Failure detectors under an election: who is suspected, when, and how often by mistake.

use std::time::Duration;

use habemus_scenario::Scenario;
use habemus_sim::{Sweeping, sweep};
use habemus_trace::Happening;

use crate::support::{parse, play_traced};

const DETECTORS: [&str; 3] = ["heartbeat", "eventually-perfect", "phi-accrual"];

fn scenario(detector: &str, text: &str) -> Scenario {
    parse(&format!("algorithm = \"bully\"\nprocesses = 4\ndetector = \"{detector}\"\n{text}"))
}

/// When each suspicion was raised, and of whom.
fn suspicions(scenario: &Scenario) -> Vec<(Duration, u64)> {
    let report = play_traced(scenario);
    let records = report.trace.expect("a trace was asked for").records;
    let suspects = records.iter().filter_map(|record| match record.what {
        Happening::Suspect { suspect } => Some((Duration::from_nanos(record.at), suspect)),
        _ => None,
    });
    suspects.collect()
}

#[test]
fn on_every_detector_the_election_keeps_its_promises_through_crashes() {
    for detector in DETECTORS {
        let crashes = scenario(
            detector,
            r#"
            script = ["0ms elect 1"]
            [random]
            crashes = "2/s"
            recover-after = "600ms..1500ms"
            max-down = 2
            until = "4s"
            "#,
        );
        let report =
            sweep(&crashes, 1, 40, 2, &Sweeping::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.failures, 0, "{detector}: {:?}", report.first_failure);
        assert!(report.crashes > 100 && report.leader_changes > 30, "{detector}: nothing was tested");
    }
}

/// The oracle tells the truth: of a process that is back before it would have spoken it says nothing.
#[test]
fn the_oracle_does_not_suspect_a_process_that_has_recovered() {
    let oracle = |recover: &str| {
        suspicions(&scenario("oracle", &format!("script = [\"0ms crash 4\", \"{recover} recover 4\"]")))
    };
    assert_eq!(oracle("10ms"), [], "the oracle speaks after 20 ms");
    assert_eq!(oracle("50ms").len(), 3, "everybody else hears of it");
}

/// Completeness: everybody suspects a crashed process, and nobody else.
#[test]
fn a_crashed_process_is_suspected_by_all_and_nobody_else_is() {
    for detector in DETECTORS {
        for seed in 1..=10 {
            let crash = Scenario { seed, ..scenario(detector, "script = [\"2s crash 4\"]\nuntil = \"4s\"") };
            let found = suspicions(&crash);
            assert_eq!(found.len(), 3, "{detector}, seed {seed}: {found:?}");
            for (at, suspect) in found {
                assert_eq!(suspect, 4);
                let delay = at - Duration::from_secs(2);
                assert!(delay < Duration::from_millis(400), "{detector}: {delay:?}");
            }
        }
    }
}

/// Messages take up to 400 ms: far more than the timeouts expect.
const SLOW: &str = r#"
    until = "60s"
    [options]
    heartbeat-timeout = "150ms"
    initial-timeout = "150ms"
    [network]
    latency = "1ms..400ms"
    order = "any"
"#;

/// S3, ◇P: "Incrementa o intervalo …; o motivo é evitar falsas suspeitas". Heartbeats come at most 500 ms
/// apart, so each of the twelve pairs can be mistaken seven times until its timeout has grown from 150 ms to
/// 500 ms.
#[test]
fn false_suspicions_end_with_the_eventually_perfect_detector_and_go_on_with_a_fixed_timeout() {
    let mistakes = |detector| {
        let found = suspicions(&scenario(detector, SLOW));
        (found.len(), found.iter().filter(|(at, _)| *at > Duration::from_secs(30)).count())
    };
    let (all, late) = mistakes("eventually-perfect");
    assert!((12..=12 * 7).contains(&all) && late * 10 < all, "{all}, {late} of them late");
    let (all, late) = mistakes("heartbeat");
    assert!(all > 12 * 7 * 5 && late * 3 > all, "{all}, {late} of them late");
}

/// It adapts to what it sees: patient with a slow network, quick with a punctual one.
#[test]
fn the_accrual_detector_is_quick_where_heartbeats_are_punctual_and_patient_where_they_are_not() {
    let punctual =
        scenario("phi-accrual", "script = [\"5s crash 4\"]\nuntil = \"8s\"\n[network]\nlatency = \"5ms\"");
    let found = suspicions(&punctual);
    assert_eq!(found.len(), 3, "{found:?}");
    for (at, _) in found {
        let silence = at - Duration::from_millis(4905);
        // The last heartbeat was sent at 4.9 s: a mean of 100 ms, and 5.6 times the least deviation of 5 ms.
        assert!(silence < Duration::from_millis(130), "{silence:?}");
    }
    let found = suspicions(&scenario("phi-accrual", SLOW));
    let fixed = suspicions(&scenario("heartbeat", SLOW));
    assert!(found.len() * 20 < fixed.len(), "{} against {} mistakes", found.len(), fixed.len());
}
