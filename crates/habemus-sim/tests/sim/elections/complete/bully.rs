//! The bully: through crashes, recoveries and partitions the best live process leads in the end, at Θ(n²)
//! messages.

use habemus::analysis::{Arrangement, Start};
use habemus_report::Finding;
use habemus_scenario::Scenario;

use crate::support::{
    assert_kept, assert_theory_holds, cost_request, parse, play, sent, swept, verdict, with,
};

fn scenario(text: &str) -> Scenario {
    parse(&format!("algorithm = \"bully\"\n{text}"))
}

/// Two announcements can overtake each other, and the second need not be the later one.
#[test]
fn crashes_and_recoveries_leave_the_best_live_process() {
    for delay in ["0ms", "5ms", "20ms", "60ms"] {
        let wild = scenario("processes = 5\nscript = [\"0ms elect 1..5\"]\n[random]\ncrashes = \"5/s\"");
        assert_kept(&with(&wild, &[("detection-delay", delay)]), 1500);
    }
}

#[test]
fn after_a_partition_the_best_of_all_leads_whatever_the_detector_saw() {
    for detector in ["oracle", "heartbeat", "eventually-perfect", "phi-accrual"] {
        let split = scenario(&format!(
            r#"
            processes = 5
            detector = "{detector}"
            time-limit = "10s"
            script = ["100ms partition 1,2 | 3..5", "700ms elect 1..5", "2s heal"]
            [expect]
            leader = 5
            violates = ["E1", "uniqueness"]
            "#
        ));
        for seed in 1..=20 {
            let report = play(&Scenario { seed, ..split.clone() });
            assert_eq!(report.failures, [""; 0], "{detector}, seed {seed}");
            assert_eq!(verdict(&report, "agreement"), Finding::Holds, "{detector}, seed {seed}");
        }
    }
}

/// S0 and S4 count Θ(n²): not more if nobody is dead, and everybody hears of the election twice.
#[test]
fn everybody_alive_costs_no_more_than_two_messages_for_each_pair_each_way() {
    for start in [Start::One, Start::All] {
        for audience in ["better", "all"] {
            let options = [("audience", audience)];
            let sizes = [2, 3, 5, 10, 20, 50];
            assert_theory_holds(&cost_request("bully", Arrangement::Random, start, &options, &sizes));
        }
    }
    for arrangement in [Arrangement::Best, Arrangement::Worst] {
        assert_theory_holds(&cost_request("bully", arrangement, Start::One, &[], &[2, 3, 5, 10, 20, 50]));
    }
}

#[test]
fn an_election_after_a_crash_or_a_recovery_costs_no_more() {
    for n in [5_u64, 10, 20, 40] {
        for (script, elections) in [
            (format!("\"1s crash {n}\""), 1),
            (format!("\"1s crash {n}\", \"2s recover {n}\""), 2),
            (format!("\"1s crash {}\", \"2s recover {}\"", n / 2, n / 2), 1),
        ] {
            let text = format!(
                "processes = {n}\nscript = [{script}]\n[options]\nleader = {n}\n\
                 [expect]\nholds = [\"E1\", \"agreement\"]\nquiet = true"
            );
            for seed in 1..=10 {
                let report = play(&Scenario { seed, ..scenario(&text) });
                assert_eq!(report.failures, [""; 0], "{script}, seed {seed}");
                let messages: u64 =
                    ["Election", "Ok", "Coordinator"].map(|kind| sent(&report, kind)).iter().sum();
                assert!(messages <= elections * 2 * n * n, "{script}, seed {seed}: {messages} messages");
            }
        }
    }
}

/// S4: "Se este cenário se repete indefinidamente": the bully does not recover from its own rule, and says
/// so.
#[test]
fn as_printed_crashes_and_recoveries_can_leave_two_leaders() {
    let wild = with(
        &scenario("processes = 5\nscript = [\"0ms elect 1..5\"]\n[random]\ncrashes = \"5/s\""),
        &[("variant", "as-printed")],
    );
    assert!(swept(&wild, 200).failures > 0);
}
