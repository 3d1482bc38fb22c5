//! The majority election: never two leaders in one term, whatever happens; with a lease, never two at all, as
//! long as nobody is paused.

use std::collections::BTreeSet;
use std::time::Duration;

use habemus::Status;
use habemus_report::{Finding, PropertyLine};
use habemus_scenario::Scenario;
use habemus_sim::{Report, run};
use habemus_trace::Happening;

use crate::support::{parse, play, read, swept, with};

fn scenario(text: &str) -> Scenario {
    parse(&format!("algorithm = \"majority\"\n{text}"))
}

/// Everything goes wrong for two seconds: messages are lost, doubled and reordered, links and whole sides are
/// cut off, processes crash, recover and are paused. Then there is peace for three seconds.
fn storm() -> Scenario {
    read("scenarios/majority-storm.toml")
}

/// Clocks as fast and as slow as may be, no pauses, and timeouts so close that a successor is elected as soon
/// as the others' promises end: a lease that is a little too long shows.
fn storm_of_clocks() -> Scenario {
    read("scenarios/majority-clocks.toml")
}

/// S4: "garante, com pesos, que somente um líder existe em cada mandato".
#[test]
fn through_any_storm_no_term_has_two_leaders_and_all_agree_after_it() {
    let report = swept(&storm(), 300);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
    assert!(report.crashes > 1000 && report.leader_changes > 300, "nothing was tested");
    // A paused leader cannot say that its lease is over: the monitor sees it lead beside its successor.
    let uniqueness = report.properties["uniqueness"];
    assert!(uniqueness.violated > 0 && uniqueness.violated < uniqueness.holds, "{uniqueness:?}");
}

#[test]
fn with_a_lease_two_never_lead_at_once_if_nobody_is_paused_and_clocks_keep_their_bound() {
    let report = swept(&storm_of_clocks(), 400);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
    assert!(report.crashes > 1000 && report.leader_changes > 400, "nothing was tested");
    let too_long = swept(&with(&storm_of_clocks(), &[("max-drift", "1")]), 400);
    assert!(too_long.properties["uniqueness"].violated > 0, "a lease that is too long does not show");
    assert_eq!(too_long.properties["one-leader-per-term"].violated, 0);
}

/// Whether there is a moment in which two act as leaders: they lead, and are not paused. One who wakes up has
/// the same moment to learn that its lease is over.
fn two_act_at_once(report: &Report) -> Option<u64> {
    let trace = report.trace.as_ref().expect("a trace was wanted");
    let (mut leading, mut paused) = (BTreeSet::new(), BTreeSet::new());
    for (index, record) in trace.records.iter().enumerate() {
        let Some(process) = record.process else { continue };
        match &record.what {
            Happening::Pause => drop(paused.insert(process)),
            Happening::Resume => drop(paused.remove(&process)),
            Happening::Crash => drop((leading.remove(&process), paused.remove(&process))),
            Happening::Output { status: Some(Status::Leading), .. } => drop(leading.insert(process)),
            Happening::Output { status: Some(_), .. } => drop(leading.remove(&process)),
            _ => {}
        }
        let over = trace.records.get(index + 1).is_none_or(|next| next.at > record.at);
        if over && leading.difference(&paused).count() > 1 {
            return Some(record.at);
        }
    }
    None
}

/// A lease is a promise about clocks, and they run on while a process is paused.
#[test]
fn no_two_leases_are_valid_at_once_even_if_processes_are_paused() {
    let (mut pauses, mut overlaps) = (0, 0);
    for seed in 1..=150 {
        let report =
            run(&Scenario { seed, ..storm() }, true).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(two_act_at_once(&report), None, "seed {seed}");
        let is_broken = |line: &PropertyLine| line.name == "uniqueness" && line.verdict == Finding::Violated;
        overlaps += u32::from(report.properties.iter().any(is_broken));
        let records = &report.trace.as_ref().expect("a trace was wanted").records;
        pauses += records.iter().filter(|record| record.what == Happening::Pause).count();
    }
    assert!(
        pauses > 300 && overlaps > 0,
        "{pauses} pauses, and {overlaps} times a sleeper still led: no test"
    );
}

#[test]
fn weights_of_all_kinds_change_nothing_about_safety() {
    for weights in ["2,1,1", "3,1,1", "0,1,1", "2,3,4", "18446744073709551615,1,18446744073709551615"] {
        let report = swept(&with(&storm_of_clocks(), &[("weights", weights)]), 60);
        assert_eq!(report.failures, 0, "{weights}: {:?}", report.first_failure);
    }
}

#[test]
fn without_lease_and_pre_vote_a_term_still_has_one_leader_but_two_may_lead_at_once() {
    let mut bare = with(&storm_of_clocks(), &[("lease", "false"), ("pre-vote", "false")]);
    bare.expect.holds.retain(|name| name != "uniqueness");
    let report = swept(&bare, 100);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
    assert!(report.properties["uniqueness"].violated > 0, "the lease would be of no use");
}

#[track_caller]
fn assert_caught(mutant: &Scenario, seeds: u64, property: &str) {
    let right = with(mutant, &[("variant", "complete")]);
    assert_eq!(swept(&right, seeds).properties[property].violated, 0);
    assert!(swept(mutant, seeds).properties[property].violated > 0, "the mutant is not caught");
}

#[test]
fn half_of_the_votes_are_too_few() {
    let even = scenario(
        r#"
        processes = 4
        script = ["0ms partition 1,2 | 3,4", "0ms elect 1,3"]
        [options]
        variant = "mutant-half-quorum"
        "#,
    );
    assert_caught(&even, 5, "one-leader-per-term");
}

/// The voter 3 votes for 1, crashes, recovers as `recovery` says, and is then asked by 2.
fn asked_twice(recovery: &str) -> Scenario {
    let text = r#"
        processes = 3
        script = ["0ms elect 1,2", "when 3 sends Granted: crash 3", "4ms RECOVERY"]
        [options]
        pre-vote = false
        lease = false
        [network]
        latency = "1ms"
        # 2 hears late of its rival, and is heard late by the voter.
        [network.links]
        "1->2" = "50ms"
        "2->3" = "10ms"
    "#;
    scenario(&text.replace("RECOVERY", recovery))
}

#[test]
fn a_vote_that_is_not_stored_is_given_twice() {
    let mutant = with(&asked_twice("recover 3"), &[("variant", "mutant-no-persisted-vote")]);
    assert_caught(&mutant, 1, "one-leader-per-term");
    let forgotten = swept(&asked_twice("recover 3 with amnesia"), 1);
    assert_eq!(forgotten.properties["one-leader-per-term"].violated, 1, "stable storage would be of no use");
}

#[test]
fn a_vote_of_an_older_term_does_not_count() {
    let late = scenario(
        r#"
        processes = 5
        time-limit = "3s"
        [options]
        variant = "mutant-no-term-check"
        pre-vote = false
        lease = false
        max-timeout = "160ms"
        [network]
        latency = "exponential 100ms"
        order = "any"
        "#,
    );
    assert_caught(&late, 60, "one-leader-per-term");
}

/// 1 leads with the help of 3, which crashes, comes back on the other side of a cut, and is asked for its
/// vote while 1 still relies on it.
#[test]
fn a_recovered_process_keeps_the_promise_it_has_forgotten() {
    let recovering = scenario(
        r#"
        processes = 3
        script = [
            "0ms elect 1",
            "1s partition 2 | 1,3",
            "2s crash 3", "2s heal", "2s partition 1 | 2,3", "2010ms recover 3",
            "2011ms elect 2",
        ]
        [options]
        variant = "mutant-unbound-recovery"
        [network]
        latency = "1ms"
        "#,
    );
    assert_caught(&recovering, 5, "uniqueness");
}

/// Answers from 3 take so long that its promise is nearly over when they arrive.
#[test]
fn slow_answers_do_not_make_a_lease_longer() {
    let slow = scenario(
        r#"
        processes = 3
        script = ["0ms elect 1", "0ms cut 1-2", "1s partition 1 | 2,3"]
        time-limit = "3s"
        [options]
        variant = "mutant-lease-from-answers"
        max-timeout = "160ms"
        [network]
        latency = "1ms"
        [network.links]
        "3->1" = "140ms"
        "#,
    );
    assert_caught(&slow, 5, "uniqueness");
}

/// S4: "uma nova eleição só acontece se o líder falha". Process 5 is cut off for a second and comes back.
#[test]
fn who_comes_back_from_a_cut_does_not_disturb_the_leader() {
    let away = scenario(
        r#"
        processes = 5
        script = ["0ms elect 1", "1s partition 5 | 1..4", "2s heal"]
        "#,
    );
    let bare = with(&away, &[("pre-vote", "false"), ("lease", "false")]);
    let mut disturbed = 0;
    for seed in 1..=20 {
        let report = play(&Scenario { seed, ..away.clone() });
        assert!(report.succeeded(), "{:?}", report.failures);
        assert_eq!((report.leader, report.statistics.elections_won), (Some(1), 1), "seed {seed}");
        disturbed += u64::from(play(&Scenario { seed, ..bare.clone() }).statistics.elections_won > 1);
    }
    assert_eq!(disturbed, 20, "without pre-vote its high term ends the leadership");
}

/// S4: "mais da metade do peso do sistema": 1 alone outweighs the others.
#[test]
fn the_heavier_side_leads_however_few_it_counts() {
    let weighed = scenario(
        r#"
        processes = 4
        script = ["0ms partition 1 | 2..4"]
        [options]
        weights = [4, 1, 1, 1]
        [expect]
        leaders = [1]
        within = "10s"
        violates = ["E2", "agreement"]
        holds = ["uniqueness"]
        "#,
    );
    let report = play(&weighed);
    assert!(report.succeeded(), "{:?}", report.failures);
}

/// From the end of a cut to agreement it takes a few timeouts, not more.
#[test]
fn after_a_cut_a_leader_comes_soon() {
    let cut = scenario(
        r#"
        processes = 5
        until = "agree"
        script = ["0ms partition 1,2 | 3,4 | 5", "2s heal"]
        "#,
    );
    for seed in 1..=100 {
        let report = play(&Scenario { seed, ..cut.clone() });
        assert!(report.leader.is_some(), "seed {seed}");
        let wait = Duration::from_nanos(report.statistics.time) - Duration::from_secs(2);
        assert!(wait < Duration::from_millis(1500), "seed {seed}: {wait:?}");
    }
}

#[test]
fn an_undisturbed_election_costs_six_messages_for_each_other_process() {
    for processes in 1..=9 {
        let one =
            scenario(&format!("processes = {processes}\nuntil = \"agree\"\nscript = [\"0ms elect 1\"]"));
        for seed in 1..=5 {
            let others = processes - 1;
            let report = play(&Scenario { seed, ..one.clone() });
            assert_eq!((report.leader, report.statistics.messages), (Some(1), 6 * others));
            let report = play(&Scenario { seed, ..with(&one, &[("pre-vote", "false")]) });
            assert_eq!((report.leader, report.statistics.messages), (Some(1), 4 * others));
        }
    }
}

#[test]
fn senseless_parameters_are_refused() {
    for (option, value) in [
        ("weights", "1,2"),
        ("weights", "0,0,0"),
        ("max-timeout", "100ms"),
        ("max-timeout", "150ms"),
        ("min-timeout", "0ms"),
        ("interval", "150ms"),
        ("max-drift", "95"),
        ("lease", "perhaps"),
        ("variant", "mutant"),
    ] {
        let error = run(&with(&scenario("processes = 3"), &[(option, value)]), false).unwrap_err();
        assert!(error.to_string().contains(&format!("option {option} cannot be")), "{error}");
    }
}
