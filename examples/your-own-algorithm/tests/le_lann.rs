//! The ladder that every algorithm climbs: single steps, simulated runs, all runs, a mutant, real nodes.

use std::time::Duration;

use habemus::testing::Harness;
use habemus::topology::Ring;
use habemus::{Address, Effect, Id};
use habemus_check::{CheckHandle, DeliveryOrder, Properties, Setting, check_system};
use habemus_node::cluster::{Blueprint, Cluster, Program};
use habemus_scenario::Scenario;
use your_own_algorithm::{LeLann, Message, Variant, setup, setup_variant};

fn ids(all: &[u64]) -> Vec<Id> {
    all.iter().copied().map(Id).collect()
}

/// One process by hand: 17 on the ring 3 → 17 → 24 hears of 3's election.
#[test]
fn who_hears_of_an_election_joins_in_before_it_passes_on() {
    let mut p17 = Harness::<LeLann>::new(Ring::new(3), [3, 17, 24], Variant::LeLann, Address(1));
    let step = p17.message(Address(0), Message::Candidate(Id(3)));
    let sent = |id| Effect::Send { to: Address(2), message: Message::Candidate(Id(id)) };
    assert_eq!(step.effects, [sent(17), sent(3)]);
}

/// Whole systems of many sizes under many seeds: every promise is kept, for exactly n² messages.
#[test]
fn simulated_it_elects_the_highest_for_n_squared_messages() {
    for processes in [1, 2, 3, 10, 100_u64] {
        for seed in 1..=20 {
            let text = format!(
                "algorithm = \"le-lann\"\nprocesses = {processes}\nseed = {seed}\nscript = [\"0ms elect \
                 1\"]\n"
            );
            let scenario: Scenario =
                habemus_scenario::parse("test.toml", &text).expect("it is right").scenario;
            let setup = setup(ids(&scenario.ids)).expect("a range has no duplicates");
            let report = habemus_sim::run_system(setup, &scenario, false).expect("the scenario fits");
            assert!(report.succeeded() && report.quiet, "{:?}", report.failures);
            assert_eq!((report.leader, report.statistics.messages), (Some(processes), processes * processes));
        }
    }
}

/// Every run of small systems, whoever starts and whatever is slow.
#[test]
fn checked_it_keeps_its_promises_in_every_run() {
    for all in [&[1][..], &[1, 2], &[3, 1, 2], &[2, 4, 1, 3]] {
        let setup = setup(ids(all)).expect("they differ");
        let report = check_system(&setup, &Setting::default(), &CheckHandle::default());
        let report = report.expect("it is a pure state machine");
        assert!(report.holds(), "{report:#?}");
    }
}

/// What its model says is needed: where a message may overtake another, two may lead.
#[test]
fn checked_without_fifo_links_it_is_broken() {
    let setting = Setting { order: DeliveryOrder::Any, ..uniqueness() };
    let setup = setup(ids(&[1, 2, 3])).expect("they differ");
    let report = check_system(&setup, &setting, &CheckHandle::default()).expect("it is a pure state machine");
    assert!(!report.holds(), "{report:#?}");
}

/// A checker that finds nothing has not shown that it would: it must catch what is wrong on purpose.
#[test]
fn the_mutant_is_caught_with_a_run_that_shows_it() {
    let mutant = setup_variant(ids(&[1, 2]), Variant::MutantJoinsLate).expect("they differ");
    let report =
        check_system(&mutant, &uniqueness(), &CheckHandle::default()).expect("it is a pure state machine");
    let line = report.property("uniqueness").expect("it was asked for");
    let run = line.counterexample.as_ref().expect("it is violated, and there is a run that shows it");
    println!("{} after {:?} steps: {:#?}", line.name, line.steps, run.records);
    assert!(line.steps.is_some());
}

fn uniqueness() -> Setting {
    Setting { properties: Properties::Named(vec!["uniqueness".to_owned()]), ..Setting::default() }
}

/// Three processes of this very program, over the loopback.
#[tokio::test]
async fn real_nodes_elect_the_same_one() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("real nodes");
    let _ = std::fs::remove_dir_all(&directory);
    let program = Program { path: env!("CARGO_BIN_EXE_your-own-algorithm").into(), arguments: Vec::new() };
    let blueprint = Blueprint::new(program, [3, 1, 2], &directory);
    let mut cluster = Cluster::start(blueprint, &[]).await.expect("the nodes find each other");
    cluster.begin();
    cluster.command(1, "elect");
    // However loaded the machine, this is long enough.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
    assert_eq!(cluster.leader_by(deadline).await.expect("no node ends"), Some(3));
    cluster.end().await;
}
