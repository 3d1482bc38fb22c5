//! The elected coordinator under many seeds: any election, crashes, recoveries, a network that loses and
//! cuts.

use habemus_scenario::{Action, Network, RandomFaults, Scenario, TimeModel, Workload};

use crate::support::{assert_kept, at, ms, play, swept};

const ELECTIONS: [&str; 14] = [
    "bully",
    "majority",
    "stable",
    "omega",
    "collecting-ring",
    "chang-roberts",
    "franklin",
    "hirschberg-sinclair",
    "dolev-klawe-rodeh",
    "itai-rodeh",
    "yo-yo",
    "capture-async",
    "capture-sync",
    "all-to-all",
];

fn scenario(election: &str, entries: u32) -> Scenario {
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Scenario {
        algorithm: "elected-coordinator".to_owned(),
        ids: (1..=4).collect(),
        options: [option("election", election), option("fencing", "true")].into(),
        workload: Some(Workload {
            entries,
            clients: Vec::new(),
            hold: (ms(0), ms(20)),
            think: (ms(0), ms(50)),
            rate: 0.0,
        }),
        network: network_for(election),
        ..Scenario::default()
    }
}

fn network_for(election: &str) -> Network {
    let mut network = Network::default();
    if ["capture-sync", "all-to-all"].contains(&election) {
        network.model = TimeModel::Synchronous { pulse: ms(10) };
    }
    network
}

/// S4: "só aceitar que um líder seja declarado se o mesmo seus votos carregarem mais da metade do peso do
/// sistema". Who may lead by weight may also grant by weight.
#[test]
fn a_coordinator_counts_weights_as_its_election_does() {
    let mut scenario = scenario("majority", 1);
    scenario.options.insert("election-weights".to_owned(), "10,1,1,1".to_owned());
    scenario.workload.as_mut().expect("it has one").clients = vec![1];
    scenario.script = vec![at(0, Action::Crash(vec![2, 3, 4]))];
    scenario.time_limit = Some(ms(20_000));
    let report = play(&scenario);
    assert_eq!(report.entered, [1]);
}

/// S4 concludes that the coordinator should be replaced by an election when it dies.
#[test]
fn on_any_election_the_lock_survives_its_coordinators() {
    for election in ELECTIONS {
        let mut scenario = scenario(election, 3);
        let amnesia = false;
        scenario.script = vec![
            at(60, Action::Crash(vec![4])),
            at(900, Action::Recover { processes: vec![4], amnesia }),
            at(1500, Action::Crash(vec![3])),
        ];
        assert_kept(&scenario, 10);
    }
}

#[test]
fn on_a_detector_that_makes_no_mistakes_random_crashes_do_no_harm() {
    for election in ["bully", "chang-roberts"] {
        let mut scenario = scenario(election, 10);
        scenario.random = Some(RandomFaults { crashes: 2.0, until: ms(3000), ..RandomFaults::usual(4) });
        assert_kept(&scenario, 40);
    }
}

/// The lock stands on majorities and clocks alone: cuts and losses fool the detector, not the lock.
#[test]
fn with_majority_and_leases_no_network_puts_two_inside() {
    let mut scenario = scenario("majority", 10);
    scenario.detector = Some("heartbeat".to_owned());
    scenario.network.loss = 0.05;
    scenario.network.duplication = 0.02;
    scenario.network.fifo = false;
    scenario.random = Some(RandomFaults {
        crashes: 1.0,
        cuts: 1.0,
        cut_for: (ms(10), ms(1000)),
        until: ms(8000),
        ..RandomFaults::usual(4)
    });
    assert_kept(&scenario, 40);
}

#[test]
fn a_coordinator_that_does_not_ask_puts_two_inside() {
    let mut scenario = scenario("bully", 10);
    scenario.options.insert("variant".to_owned(), "mutant-forgetful".to_owned());
    scenario.random = Some(RandomFaults { crashes: 3.0, until: ms(2000), ..RandomFaults::usual(4) });
    let report = swept(&scenario, 150);
    assert!(report.properties["EM1"].violated > 0, "{report:?}");
}
