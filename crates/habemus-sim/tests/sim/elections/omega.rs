//! The eventual leader: whatever happens before the Global Stabilization Time, all agree some time after it.

use habemus_report::Finding;
use habemus_scenario::Scenario;
use habemus_sim::{SweepReport, run};

use crate::support::{parse, play, swept, verdict, with};

fn scenario(text: &str) -> Scenario {
    parse(&format!("algorithm = \"omega\"\n{text}"))
}

#[track_caller]
fn assert_kept(report: &SweepReport) {
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
}

/// S3: "o líder é o processo correto de menor identificador".
#[test]
fn in_a_calm_network_the_lowest_identifier_leads_and_stays() {
    for processes in 1..=8 {
        let calm = scenario(&format!("processes = {processes}\n[expect]\nleader = 1\nleader-changes = 0"));
        for seed in 1..=5 {
            let report = play(&Scenario { seed, ..calm.clone() });
            assert!(report.succeeded(), "{processes} processes, seed {seed}: {:?}", report.failures);
        }
    }
}

/// S3: "Entretanto é garantido que a partir de um instante vai estabilizar".
#[test]
fn before_the_stabilization_time_leaders_come_and_go_and_after_it_all_agree() {
    let unstable = scenario(
        r#"
        processes = 5
        script = ["2s heal"]
        [network]
        model = "partially-synchronous"
        gst = "2s"
        delta = "20ms"
        latency = "exponential 150ms"
        order = "any"
        [expect]
        leader = 1
        "#,
    );
    let report = swept(&unstable, 60);
    assert_kept(&report);
    assert!(report.leader_changes > 60, "there was no instability");
    assert!(report.properties["uniqueness"].violated > 30, "there were never several leaders");
}

/// Crashes, pauses and cuts until three seconds have passed; S3's channels lose nothing else.
#[test]
fn after_crashes_pauses_and_cuts_all_agree() {
    let stormy = scenario(
        r#"
        processes = 5
        [network]
        order = "any"
        duplication = "10%"
        [random]
        crashes = "3/s"
        recover-after = "20ms..400ms"
        max-down = 3
        pauses = "2/s"
        pause-for = "10ms..300ms"
        cuts = "3/s"
        cut-for = "50ms..500ms"
        until = "3s"
        "#,
    );
    let report = swept(&stormy, 150);
    assert_kept(&report);
    assert!(report.crashes > 500 && report.leader_changes > 100, "nothing was tested");
}

/// Some processes stay down for good: the others agree on one that is up.
#[test]
fn a_leader_that_is_down_for_good_is_replaced() {
    let fatal = scenario(
        r#"
        processes = 6
        [random]
        crashes = "2/s"
        max-down = 4
        until = "3s"
        "#,
    );
    let report = swept(&fatal, 60);
    assert_kept(&report);
    assert!(report.crashes > 150, "nothing was tested");
}

/// Clocks that run at half and at double speed make intervals of 50 to 200 ms out of 100 ms. A follower whose
/// interval is shorter than its leader's misses heartbeats until its own has grown enough.
#[test]
fn intervals_that_drift_apart_settle_because_they_grow() {
    let drifting = scenario(
        r#"
        processes = 4
        script = ["0ms drift 1 by -50%", "0ms drift 3 by 100%"]
        [expect]
        leader = 1
        holds = ["agreement"]
        "#,
    );
    let mutant = with(&drifting, &[("variant", "mutant-fixed-interval")]);
    let (mut settled, mut restless) = (0, 0);
    for seed in 1..=20 {
        let report = play(&Scenario { seed, ..drifting.clone() });
        assert!(report.succeeded(), "seed {seed}: {:?}", report.failures);
        settled += report.statistics.leader_changes;
        restless += play(&Scenario { seed, ..mutant.clone() }).statistics.leader_changes;
    }
    assert!(settled < 100 && restless > 1000, "{settled} against {restless} changes");
}

/// S3: "Acordo"; without a common rule for equals everybody trusts itself.
#[test]
fn the_mutant_without_a_tie_break_is_caught() {
    let report = play(&with(&scenario("processes = 3"), &[("variant", "mutant-no-tie-break")]));
    assert_eq!(report.leaders, [1, 2, 3]);
    assert!(!report.succeeded());
}

/// S3: "Esta informação é gravada em memória não-volátil".
#[test]
fn a_process_that_forgets_its_incarnation_takes_the_leadership_back() {
    let back = scenario(
        r#"
        processes = 3
        script = ["1s crash 1", "2s recover 1", "3s crash 1", "4s recover 1"]
        [options]
        increment = "10ms"
        "#,
    );
    assert_eq!(play(&back).leader, Some(2));
    assert_eq!(play(&with(&back, &[("variant", "mutant-forgotten-incarnation")])).leader, Some(1));
}

/// The slides by the letter: "Upon IntervaloHeartbeats" starts no timer, so everybody chooses once.
#[test]
fn as_printed_nobody_ever_looks_again() {
    for processes in 2..=6 {
        let crash = format!("processes = {processes}\nscript = [\"1s crash 1\"]");
        let corrected = scenario(&crash);
        assert_eq!(verdict(&play(&corrected), "agreement"), Finding::Holds);
        let report = play(&with(&corrected, &[("variant", "as-printed")]));
        let broken: Vec<&str> = report
            .properties
            .iter()
            .filter(|line| line.verdict == Finding::Violated)
            .map(|line| line.name.as_str())
            .collect();
        assert_eq!(broken, ["agreement", "eventual-accuracy"], "{processes} processes");
    }
}

#[test]
fn senseless_parameters_are_refused() {
    for option in ["interval = \"0ms\"", "increment = \"much\"", "variant = \"perfect\"", "wins = \"both\""] {
        let error = run(&scenario(&format!("processes = 3\n[options]\n{option}")), false).unwrap_err();
        let name = option.split(' ').next().unwrap_or_default();
        assert!(error.to_string().contains(&format!("option {name} cannot be")), "{error}");
    }
}
