//! Agreement in spite of crashes, traitors, and everything that can happen to a message.

use std::sync::atomic::AtomicBool;

use habemus::analysis::{Arrangement, Start};
use habemus_report::Finding;
use habemus_scenario::{Network, Scenario, TimeModel};
use habemus_sim::{CostRequest, Report, SweepReport, cost};

use crate::support::{parse, play, read, swept, with};

fn broken(report: &SweepReport, property: &str) -> u64 {
    report.properties.get(property).map_or(0, |tally| tally.violated)
}

/// A synchronous system in which all propose their identifiers.
fn synchronous(algorithm: &str, processes: usize) -> Scenario {
    parse(&format!(
        "algorithm = \"{algorithm}\"\nprocesses = {processes}\nscript = [\"0ms propose all\"]\n\
         [network]\nmodel = \"synchronous\"\npulse = \"10ms\""
    ))
}

/// The cheapest numbers that look random.
fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

/// FloodSet with `failures` processes that each crash somewhere in the midst of their broadcasts.
fn crashing(processes: u64, failures: u64, rounds: u64, seed: u64) -> Scenario {
    let mut draw = draws(seed);
    let mut flood = synchronous("flood-set", processes as usize);
    let mut lines = vec!["0ms propose all".to_owned()];
    for id in 1..=failures {
        let send = 1 + draw(rounds * (processes - 1));
        lines.push(format!("when {id} sends Values for the {send}th time: crash {id}"));
    }
    let ids = flood.ids.clone();
    let known = habemus_scenario::Processes::new(&ids);
    let cue =
        |line: &String| habemus_scenario::script::parse_line(line, &known).expect("it is well formed").cue;
    flood.script = lines.iter().map(cue).collect();
    with(&flood, &[("failures", &failures.to_string()), ("rounds", &rounds.to_string())])
}

#[test]
fn flooding_agrees_in_one_more_round_than_there_are_crashes_wherever_they_fall() {
    for (processes, failures) in [(2, 1), (3, 1), (4, 2), (5, 3), (6, 5)] {
        for variant in ["everything", "news-only"] {
            for seed in 0..60 {
                let flood = crashing(processes, failures, failures + 1, seed);
                let report = play(&with(&flood, &[("variant", variant)]));
                assert!(report.succeeded(), "{processes} {failures} {seed}: {:?}", report.failures);
            }
        }
    }
}

#[test]
fn flooding_fails_with_a_round_too_few_or_without_passing_on() {
    // Too few rounds are outside the model: a fact, and no failure.
    let breaks = |report: &Report| {
        report.properties.iter().any(|line| line.name == "agreement" && line.verdict == Finding::Violated)
    };
    let too_few: Vec<Report> = (0..200).map(|seed| play(&crashing(4, 2, 2, seed))).filter(breaks).collect();
    assert!(!too_few.is_empty() && too_few.iter().all(Report::succeeded));
    let own_value = [("variant", "mutant-own-value")];
    let mutants =
        (0..50).filter(|seed| !play(&with(&crashing(4, 2, 3, *seed), &own_value)).succeeded()).count();
    assert!(mutants > 0);
}

/// A battle with as many traitors as expected, other ones with each seed, who lie at random.
fn battle(algorithm: &str, processes: usize, m: &str) -> Scenario {
    with(&synchronous(algorithm, processes), &[("m", m), ("traitors", "drawn")])
}

#[test]
fn more_than_three_times_as_many_generals_as_traitors_always_agree() {
    for (processes, m, seeds) in [(4, "1", 200), (5, "1", 100), (7, "2", 60), (10, "3", 3)] {
        let report = swept(&battle("byzantine-generals", processes, m), seeds);
        assert_eq!(report.failures, 0, "{processes}: {:?}", report.first_failure);
    }
    let report = swept(&battle("interactive-consistency", 4, "1"), 100);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
    let report = swept(&battle("interactive-consistency", 7, "2"), 5);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
}

#[test]
fn three_times_as_many_generals_as_traitors_are_too_few() {
    for (processes, m) in [(3, "1"), (6, "2")] {
        for algorithm in ["byzantine-generals", "interactive-consistency"] {
            let report = swept(&battle(algorithm, processes, m), 100);
            assert!(broken(&report, "IC1") > 0, "{algorithm} {processes}: {:?}", report.properties);
        }
    }
}

#[test]
fn the_mutants_of_the_generals_are_divided() {
    for (algorithm, variant) in [
        ("byzantine-generals", "mutant-trusts-commander"),
        ("interactive-consistency", "mutant-trusts-everyone"),
    ] {
        let report = swept(&with(&battle(algorithm, 4, "1"), &[("variant", variant)]), 60);
        assert!(broken(&report, "IC1") > 0, "{algorithm}: {:?}", report.properties);
    }
}

#[test]
fn with_signatures_two_loyal_generals_agree_among_any_number_of_traitors() {
    for (processes, m, seeds) in [(3, "1", 60), (4, "2", 60), (5, "3", 20)] {
        let report = swept(&battle("signed-generals", processes, m), seeds);
        assert_eq!(report.failures, 0, "{processes}: {:?}", report.first_failure);
    }
    let mutant = with(&battle("signed-generals", 4, "1"), &[("variant", "mutant-no-verification")]);
    assert!(broken(&swept(&mutant, 60), "IC2") > 0);
}

#[test]
fn without_traitors_the_messages_are_exactly_as_many_as_the_papers_say() {
    let synchronous = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
    let (synchronous, asynchronous) =
        (Network { model: synchronous, ..Network::default() }, Network::default());
    for (algorithm, options, sizes, network) in [
        ("flood-set", &[("failures", "3")][..], 1..=12, &synchronous),
        ("flood-set", &[("variant", "news-only"), ("failures", "3")], 1..=12, &synchronous),
        ("byzantine-generals", &[("m", "0")], 1..=12, &synchronous),
        ("byzantine-generals", &[], 1..=12, &synchronous),
        ("byzantine-generals", &[("m", "3")], 1..=7, &synchronous),
        ("interactive-consistency", &[("m", "2")], 1..=6, &synchronous),
        ("signed-generals", &[("m", "0")], 1..=6, &synchronous),
        ("signed-generals", &[("m", "2")], 1..=6, &synchronous),
        ("paxos", &[], 1..=20, &asynchronous),
    ] {
        for start in [Start::All, Start::One] {
            let request = CostRequest {
                algorithm: algorithm.to_owned(),
                options: options
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                topology: None,
                sizes: sizes.clone().collect(),
                arrangement: Arrangement::Random,
                start,
                seeds: 2,
                again: None,
                first_seed: 1,
                network: network.clone(),
            };
            let points = cost(&request, 1, &AtomicBool::new(false), |_| {}).unwrap_or_else(|e| panic!("{e}"));
            for point in points {
                assert_eq!(point.theory_kind, Some("exactly"), "{algorithm}");
                assert_eq!(point.broken, None, "{algorithm} of {}", point.processes);
            }
        }
    }
}

/// Everything goes wrong for two seconds, and the detector with it, while each wants its own value; then
/// there is peace.
fn storm(detector: &str) -> Scenario {
    parse(&format!(
        r#"
        algorithm = "paxos"
        processes = 5
        detector = "{detector}"
        time-limit = "8s"
        script = ["0ms propose all", "2s loss 0%"]
        [options]
        retry = "30ms"
        [network]
        order = "any"
        latency = "log-normal 15ms 1.0"
        loss = "30%"
        duplication = "10%"
        [random]
        crashes = "20/s"
        recover-after = "10ms..200ms"
        max-down = 3
        pauses = "10/s"
        pause-for = "10ms..200ms"
        cuts = "10/s"
        cut-for = "50ms..500ms"
        until = "2s"
        [expect]
        holds = ["agreement", "validity", "integrity", "termination"]
        "#
    ))
}

#[test]
fn paxos_agrees_in_every_storm_and_decides_when_it_is_over() {
    for (detector, seeds) in [("oracle", 150), ("eventually-perfect", 40), ("heartbeat", 20)] {
        let report = swept(&storm(detector), seeds);
        assert_eq!(report.failures, 0, "{detector}: {:?}", report.first_failure);
        assert!(report.crashes > seeds, "{} crashes", report.crashes);
    }
}

#[test]
fn paxos_decides_after_the_network_has_stabilised() {
    let late = parse(
        r#"
        algorithm = "paxos"
        processes = 5
        detector = "eventually-perfect"
        time-limit = "6s"
        script = ["0ms propose all", "1s crash 1", "3s recover 1"]
        [network]
        model = "partially-synchronous"
        gst = "2s"
        delta = "10ms"
        latency = "log-normal 300ms 1.2"
        order = "any"
        [expect]
        holds = ["agreement", "validity", "integrity", "termination"]
        "#,
    );
    let report = swept(&late, 60);
    assert_eq!(report.failures, 0, "{:?}", report.first_failure);
}

/// What an exhibit does to a mutant; as it is, it is as expected.
fn exhibited(name: &str, mutant: &str) -> Report {
    play(&with(&read(&format!("exhibits/{name}.toml")), &[("variant", mutant)]))
}

#[test]
fn every_mutant_of_paxos_is_caught() {
    let halves = parse(
        r#"
        algorithm = "paxos"
        processes = 4
        detector = "heartbeat"
        time-limit = "3s"
        script = ["0ms propose all", "0ms partition 1,2 | 3,4", "1s heal"]
        "#,
    );
    assert!(play(&halves).succeeded());
    for (mutant, report) in [
        ("mutant-ignores-accepted", exhibited("s1-paxos-leader-dies", "mutant-ignores-accepted")),
        ("mutant-forgets-promise", exhibited("s1-paxos-remembers", "mutant-forgets-promise")),
        ("mutant-half-quorum", play(&with(&halves, &[("variant", "mutant-half-quorum")]))),
    ] {
        let agreement = report.properties.iter().find(|line| line.name == "agreement");
        assert_eq!(agreement.map(|line| line.verdict), Some(Finding::Violated), "{mutant}");
    }
}
