//! The stable election over whole systems, beside the bully: a leader that comes and goes does not come back.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus_report::Finding;
use habemus_scenario::{Action, Count, Cue, Network, RandomFaults, Scenario, Until};
use habemus_sim::{CostRequest, cost};

use crate::support::{at, ms, play, read, with};

fn elect(milliseconds: u64, processes: impl IntoIterator<Item = u64>) -> Cue {
    at(milliseconds, Action::Command { word: "elect".to_owned(), processes: processes.into_iter().collect() })
}

fn recover(milliseconds: u64, process: u64) -> Cue {
    at(milliseconds, Action::Recover { processes: vec![process], amnesia: false })
}

fn scenario(algorithm: &str, processes: u64, script: Vec<Cue>) -> Scenario {
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: (1..=processes).collect(),
        script,
        ..Scenario::default()
    }
}

/// The exhibit in which process 5 leads, fails and comes back, three times.
fn flapping(algorithm: &str) -> Scenario {
    read(&format!("exhibits/s4-flapping-{algorithm}.toml"))
}

/// S4: "5 voltará e executará nova eleição, tornando-se líder novamente"; a stable election does not let it.
#[test]
fn a_process_that_comes_and_goes_leads_again_under_the_bully_alone() {
    let (bully, stable) = (flapping("bully"), flapping("stable"));
    assert_eq!((&bully.ids, &bully.script, &bully.options), (&stable.ids, &stable.script, &stable.options));
    for seed in 0..50 {
        let changes = |scenario: &Scenario| {
            let report = play(&Scenario { seed, ..scenario.clone() });
            assert!(report.succeeded(), "seed {seed}: {:?}", report.failures);
            report.statistics.leader_changes
        };
        assert_eq!((changes(&bully), changes(&stable)), (6, 1));
    }
}

/// Heartbeats take longer than the oracle to notice, and come to the same.
#[test]
fn a_heartbeat_detector_changes_nothing_about_it() {
    let mut scenario = flapping("stable");
    scenario.detector = Some("heartbeat".to_owned());
    scenario.expect.quiet = None;
    scenario.expect.within = Some(Duration::from_secs(3));
    let report = play(&scenario);
    assert!(report.succeeded(), "{:?} {:?}", report.failures, report.open);
}

/// The next leader is whoever has restarted least, not whoever has the highest identifier.
#[test]
fn who_has_restarted_comes_after_those_that_have_not() {
    let mut script = flapping("stable").script;
    script.push(at(3000, Action::Crash(vec![4])));
    script.push(at(4000, Action::Crash(vec![3])));
    script.push(recover(5000, 3));
    script.push(at(6000, Action::Crash(vec![2])));
    script.push(at(7000, Action::Crash(vec![1])));
    let mut scenario = with(&scenario("stable", 5, script), &[("leader", "5")]);
    // 5, then 4, 3, 2, 1 as each of them dies; then 3, which has restarted once, and not 5, which has three
    // times.
    scenario.expect.leader = Some(3);
    scenario.expect.leader_changes = Some(Count::exactly(5));
    let report = play(&scenario);
    assert!(report.succeeded(), "{:?}", report.failures);
}

/// S4: "suas chances de ser eleito líder reduzidas temporariamente". By uptime 5 leads again in the end; if
/// restarts are counted for ever, 2 does, which never failed.
#[test]
fn by_uptime_who_failed_leads_again_when_it_has_run_for_long() {
    let uptime = flapping("uptime");
    let mut restarts = uptime.clone();
    restarts.options.retain(|option, _| option == "leader");
    restarts.expect.leader = Some(2);
    for seed in 0..50 {
        for scenario in [&uptime, &restarts] {
            let report = play(&Scenario { seed, ..scenario.clone() });
            assert!(report.succeeded(), "seed {seed}: {:?}", report.failures);
        }
    }
}

/// Faults of all rates, until they settle: every promise holds, whoever is up at the end.
#[test]
fn crashes_and_recoveries_break_no_promise() {
    for seed in 0..300 {
        let processes = 1 + seed % 7;
        let for_good = seed % 5 == 0;
        // Impatient applications ask for elections all the time, here and there.
        let elections = (1..20).map(|turn| elect(turn * 130, [1 + (seed + turn) % processes]));
        let script = [elect(0, 1..=processes)].into_iter().chain(elections).collect();
        let mut scenario = scenario("stable", processes, script);
        scenario.seed = seed;
        scenario.random = Some(RandomFaults {
            crashes: [2.0, 10.0, 50.0][(seed % 3) as usize],
            recover_after: (!for_good).then_some((ms(1), ms(300))),
            amnesia: false,
            // If all died for good, nobody could be asked to lead.
            max_down: processes as usize - usize::from(for_good),
            pauses: 0.0,
            pause_for: (ms(0), ms(0)),
            cuts: 0.0,
            cut_for: (ms(0), ms(0)),
            until: Duration::from_secs(3),
            ..RandomFaults::usual(5)
        });
        scenario.expect.quiet = Some(true);
        for delay in ["0ms", "3ms", "20ms", "200ms"] {
            // All the way through uptime grows, in steps of 50 ms.
            for weight in [&[][..], &[("weight", "uptime"), ("regain", "500ms")]] {
                let scenario = with(&with(&scenario, &[("detection-delay", delay)]), weight);
                let report = play(&scenario);
                assert!(report.succeeded(), "seed {seed}, {delay}, {weight:?}: {:?}", report.failures);
                assert!(report.leader.is_some(), "seed {seed}, {delay}, {weight:?}");
            }
        }
    }
}

#[test]
fn a_heartbeat_detector_serves_as_well() {
    for seed in 0..40 {
        let mut scenario = scenario("stable", 4, vec![elect(0, 1..=4)]);
        scenario.seed = seed;
        scenario.detector = Some("heartbeat".to_owned());
        scenario.random = Some(RandomFaults {
            crashes: 3.0,
            recover_after: Some((ms(10), ms(1000))),
            amnesia: false,
            max_down: 3,
            pauses: 0.0,
            pause_for: (ms(0), ms(0)),
            cuts: 0.0,
            cut_for: (ms(0), ms(0)),
            until: Duration::from_secs(5),
            ..RandomFaults::usual(5)
        });
        let report = play(&scenario);
        assert!(report.succeeded() && report.leader.is_some(), "seed {seed}: {:?}", report.failures);
    }
}

/// Two leaders, one on each side of a partition, are one again when it is healed: the better of the two.
#[test]
fn a_partition_splits_the_lead_and_its_end_mends_it() {
    for seed in 0..40 {
        let mut scenario = scenario("stable", 5, Vec::new());
        scenario.script = vec![
            at(1000, Action::Partition(vec![vec![1, 5], vec![2, 3, 4]])),
            at(3000, Action::Heal(Vec::new())),
        ];
        scenario.seed = seed;
        scenario.detector = Some("heartbeat".to_owned());
        scenario = with(&scenario, &[("leader", "1")]);
        scenario.expect.leader = Some(4);
        scenario.expect.leader_changes = Some(Count::exactly(1));
        scenario.expect.violates = ["uniqueness", "stability"].map(str::to_owned).into();
        let report = play(&scenario);
        assert!(report.succeeded(), "seed {seed}: {:?}", report.failures);
    }
}

/// Cuts and pauses are beyond the model: two may lead for a while, but in the end all agree again.
#[test]
fn after_cuts_and_pauses_all_agree_again() {
    for seed in 0..60 {
        let mut scenario = scenario("stable", 5, vec![elect(0, [1])]);
        scenario.seed = seed;
        scenario.detector = Some("heartbeat".to_owned());
        scenario.random = Some(RandomFaults {
            crashes: 1.0,
            recover_after: Some((ms(10), ms(1000))),
            amnesia: false,
            max_down: 2,
            pauses: 1.0,
            pause_for: (ms(10), ms(1000)),
            cuts: 2.0,
            cut_for: (ms(100), ms(1500)),
            until: Duration::from_secs(5),
            ..RandomFaults::usual(5)
        });
        let report = play(&scenario);
        let beyond = ["uniqueness", "stability"];
        for line in report.properties.iter().filter(|line| line.promised && !beyond.contains(&&*line.name)) {
            assert_eq!(line.verdict, Finding::Holds, "seed {seed}: {} {:?}", line.name, line.explanation);
        }
    }
}

#[test]
fn without_a_detector_the_command_starts_the_election_and_a_live_leader_stays() {
    let mut scenario = scenario("stable", 5, vec![elect(0, [1]), elect(500, [5]), elect(1000, 1..=5)]);
    scenario.detector = Some("none".to_owned());
    scenario.options = BTreeMap::from([("leader".to_owned(), "2".to_owned())]);
    scenario.expect.leader = Some(2);
    scenario.expect.leader_changes = Some(Count::exactly(0));
    scenario.expect.violates = vec!["E1".to_owned()];
    let report = play(&scenario);
    assert!(report.succeeded(), "{:?}", report.failures);
}

#[test]
fn the_mutant_lets_a_better_process_take_over() {
    let mut scenario = with(&scenario("stable", 2, vec![elect(0, [2])]), &[("leader", "1")]);
    scenario = with(&scenario, &[("variant", "mutant-challenge")]);
    scenario.expect.violates = ["stability", "uniqueness"].map(str::to_owned).into();
    scenario.expect.leader = Some(2);
    let report = play(&scenario);
    assert!(report.failures.is_empty(), "{:?}", report.failures);
}

#[test]
fn the_cost_is_what_theory_says() {
    for (arrangement, start) in [
        (Arrangement::Best, Start::One),
        (Arrangement::Worst, Start::One),
        (Arrangement::Random, Start::One),
        (Arrangement::Best, Start::All),
        (Arrangement::Worst, Start::All),
        (Arrangement::Random, Start::All),
    ] {
        let request = CostRequest {
            algorithm: "stable".to_owned(),
            options: BTreeMap::new(),
            topology: None,
            sizes: vec![2, 3, 4, 8, 16, 32],
            arrangement,
            start,
            seeds: 10,
            again: None,
            first_seed: 1,
            network: Network::default(),
        };
        for point in cost(&request, 1, &AtomicBool::new(false), |_| {}).expect("it can be measured") {
            assert_eq!(point.broken, None, "{arrangement:?} {start:?}");
            assert!(point.theory.is_some());
        }
    }
}

/// A process that comes back asks the n−1 others and is answered by the leader, once more when it is noticed.
#[test]
fn to_come_back_costs_n_plus_one_messages() {
    for processes in [2_u64, 3, 10] {
        let script = vec![at(100, Action::Crash(vec![1])), recover(500, 1)];
        let mut scenario =
            with(&scenario("stable", processes, script), &[("leader", &processes.to_string())]);
        scenario.until = Until::Quiet;
        let report = play(&scenario);
        assert!(report.succeeded(), "{:?}", report.failures);
        assert_eq!(report.statistics.messages, processes + 1);
    }
}
