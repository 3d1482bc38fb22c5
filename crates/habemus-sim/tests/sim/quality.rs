//! How good failure detectors are: the figures against what can be worked out by hand.

use std::time::Duration;

use habemus_scenario::{Latency, Scenario};
use habemus_sim::{Quality, QualityRequest, RunError, Sweeping, quality};

const MS: f64 = 1e6;
const DETECTORS: [&str; 4] = ["oracle", "heartbeat", "eventually-perfect", "phi-accrual"];

fn request(seconds: u64, seeds: u64, text: &str) -> QualityRequest {
    // A scenario file must name an algorithm; here nobody looks at it.
    let text = format!("algorithm = \"bully\"\nprocesses = 4\n{text}");
    let parsed = habemus_scenario::parse("test.toml", &text).unwrap_or_else(|errors| panic!("{errors}"));
    QualityRequest {
        scenario: parsed.scenario,
        detectors: DETECTORS.map(str::to_owned).into(),
        until: Duration::from_secs(seconds),
        one_crash: false,
        seeds,
    }
}

fn measure(request: &QualityRequest) -> Vec<Quality> {
    let measured = quality(request, 2, &Sweeping::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(measured.iter().map(|one| one.detector.as_str()).collect::<Vec<_>>(), request.detectors);
    assert!(measured.iter().all(|one| one.runs == request.seeds));
    measured
}

/// Latency is constant and nothing is lost: everything follows from the constants.
#[test]
fn on_a_punctual_network_nobody_errs_and_detection_takes_what_the_constants_say() {
    let text = "script = [\"5.03s crash 4\"]\n[network]\nlatency = \"5ms\"";
    let measured = measure(&request(10, 1, text));
    for one in &measured {
        assert_eq!((one.mistakes, one.undetected, one.detection.count), (0, 0, 3), "{}", one.detector);
        assert_eq!((one.mistake_duration(), one.accuracy()), (None, Some(1.0)));
        // Twelve pairs for the first 5.03 s, six afterwards.
        let watched = 12.0 * 5.03 + 6.0 * 4.97;
        assert!((one.watched as f64 / 1e9 - watched).abs() < 1e-6, "{}", one.watched);
        assert_eq!(one.time, 10_000_000_000);
    }
    let mean = |index: usize| measured[index].detection.mean().expect("it was detected") / MS;
    assert_eq!(mean(0), 20.0);
    // The last heartbeat was sent at 5 s, and came at 5.005 s.
    assert_eq!(mean(1), 5.0 + 350.0 - 30.0);
    assert_eq!(mean(2), 5.0 + 150.0 - 30.0);
    // A mean of 100 ms, and 5.6 times the least deviation of 5 ms.
    assert!((mean(3) - (5.0 + 128.06 - 30.0)).abs() < 1.0, "{}", mean(3));
    assert_eq!(measured[0].messages, 0);
    assert!(measured[1].messages > 1000 && measured[1].messages == measured[2].messages);
}

/// With constant latency a mistake is a gap of at least four intervals (400 ms > 350 ms): three heartbeats
/// lost in a row. So many begin per second: those that arrive, times p³. A gap of k lost ones lasts (k+1)
/// intervals.
#[test]
fn mistakes_by_loss_are_as_many_and_as_long_as_can_be_worked_out() {
    let mut request = request(500, 10, "[network]\nlatency = \"5ms\"\nloss = \"20%\"");
    request.detectors = vec!["heartbeat".to_owned()];
    let one = &measure(&request)[0];
    let p: f64 = 0.2;
    let rate = 10.0 * (1.0 - p) * p.powi(3);
    let duration = 100.0 * (4.0 + p / (1.0 - p)) - 350.0;
    let measured = one.mistake_rate().expect("somebody watched");
    assert!((measured / rate - 1.0).abs() < 0.05, "{measured} instead of {rate}");
    let lasted = one.mistake_duration().expect("there are mistakes") / MS;
    assert!((lasted / duration - 1.0).abs() < 0.05, "{lasted} instead of {duration}");
    let accuracy = one.accuracy().expect("somebody watched");
    assert!((1.0 - accuracy - measured * lasted / 1000.0).abs() < 1e-9);
}

#[test]
fn the_crash_of_a_suspect_is_detected_at_once_and_ends_the_mistake() {
    // Paused, 4 is silent, and suspected from 350 ms after its last heartbeat on; then it crashes.
    let text = "script = [\"1.02s pause 4\", \"3s crash 4\"]\n[network]\nlatency = \"5ms\"";
    let mut request = request(10, 1, text);
    request.detectors = vec!["heartbeat".to_owned()];
    let one = &measure(&request)[0];
    assert_eq!((one.mistakes, one.detection.count, one.detection.max), (3, 3, 0));
    // From 1.005 s + 350 ms until 3 s.
    assert_eq!(one.longest_mistake, 1_645_000_000);
}

#[test]
fn who_comes_back_is_trusted_again_and_what_was_right_is_no_mistake() {
    let text = "script = [\"1s crash 4\", \"3s recover 4\"]\n[network]\nlatency = \"5ms\"";
    for one in measure(&request(10, 1, text)) {
        assert_eq!((one.mistakes, one.detection.count, one.undetected), (0, 3, 0), "{}", one.detector);
        let expected = if one.detector == "oracle" { 20.0 } else { 5.0 };
        assert_eq!(one.recovery.mean().map(|mean| mean / MS), Some(expected), "{}", one.detector);
    }
}

#[test]
fn a_crash_that_is_over_too_soon_is_missed() {
    let text = "script = [\"1s crash 4\", \"1.01s recover 4\"]\n[network]\nlatency = \"5ms\"";
    for one in measure(&request(10, 1, text)) {
        assert_eq!((one.undetected, one.detection.count), (3, 0), "{}", one.detector);
        // The oracle, too, says nothing of a crash that is over when it would speak.
        assert_eq!((one.mistakes, one.longest_mistake), (0, 0), "{}", one.detector);
    }
}

#[test]
fn only_the_oracle_can_be_made_to_lie() {
    for one in measure(&request(5, 1, "script = [\"1s suspect 2 by 1\"]")) {
        assert_eq!(one.mistakes, u64::from(one.detector == "oracle"), "{}", one.detector);
    }
}

/// ◇P errs, learns and stops; φ-accrual adapts; a fixed timeout errs for ever (S3).
#[test]
fn over_a_slow_network_the_adaptive_detectors_err_less() {
    let mut request = request(60, 5, "[options]\nheartbeat-timeout = \"150ms\"");
    request.scenario.network.latency = Latency::LogNormal { median: Duration::from_millis(20), sigma: 1.0 };
    request.scenario.network.fifo = false;
    request.one_crash = true;
    let measured = measure(&request);
    let mistakes: Vec<u64> = measured.iter().map(|one| one.mistakes).collect();
    assert_eq!(mistakes[0], 0);
    assert!(mistakes[1] > 10 * mistakes[2] && mistakes[1] > 10 * mistakes[3], "{mistakes:?}");
    assert!(measured.iter().all(|one| one.undetected == 0 && one.detection.count == 15));
}

/// A timeout that does not grow is a fixed one: over the same network the two cannot be told apart.
#[test]
fn every_detector_sees_the_same_network() {
    let text =
        "[options]\ninitial-timeout = \"350ms\"\ntimeout-increment = \"0ms\"\n[network]\nloss = \"10%\"";
    let mut request = request(60, 5, text);
    request.one_crash = true;
    let measured = measure(&request);
    assert!(measured[1].mistakes > 0);
    assert_eq!(
        Quality { detector: String::new(), ..measured[1].clone() },
        Quality { detector: String::new(), ..measured[2].clone() }
    );
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let mut request = request(20, 6, "[network]\nloss = \"10%\"");
    request.one_crash = true;
    let alone = quality(&request, 1, &Sweeping::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(alone, measure(&request));
    request.scenario.seed = 100;
    assert_ne!(alone, measure(&request));
}

#[test]
fn what_makes_no_sense_is_refused_and_it_can_be_stopped() {
    let mut wrong = request(5, 2, "");
    wrong.detectors = vec!["psychic".to_owned()];
    assert!(matches!(quality(&wrong, 2, &Sweeping::default()), Err(RunError::Setup(_))));
    let mut crowd = request(5, 1, "");
    crowd.scenario = Scenario { ids: (1..=500).collect(), ..crowd.scenario };
    assert!(matches!(quality(&crowd, 1, &Sweeping::default()), Err(RunError::Setup(_))));
    let stopped = Sweeping::default();
    stopped.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let nothing = quality(&request(5, 2, ""), 2, &stopped).unwrap_or_else(|error| panic!("{error}"));
    assert!(nothing.iter().all(|one| one.runs == 0 && one.accuracy().is_none()));
}
