//! The election for large groups: chance, and what it costs.

use super::*;

/// A group in which one process calls; each seed is another election with other candidates.
fn group(n: u64, seed: u64, options: Choices<'_>) -> Scenario {
    let election = seed.to_string();
    let options = [options, &[("election", election.as_str())]].concat();
    let ids: Vec<u64> = (1..=n).collect();
    Scenario { seed, ..scenario("large-group", &ids, &[1 + seed % n], &options) }
}

/// On reliable links the ring completes what chance leaves out.
#[test]
fn all_agree_in_groups_of_any_size() {
    for n in [1, 2, 3, 5, 6, 10, 100, 1000] {
        for seed in 0..10 {
            elects(&group(n, seed, &[]));
        }
    }
    let all: Vec<u64> = (1..=300).collect();
    elects(&scenario("large-group", &all, &all, &[("wins", "lowest"), ("fanout", "2")]));
}

#[test]
fn messages_per_process_do_not_grow_with_the_group() {
    let request =
        CostRequest { start: Start::One, seeds: 12, ..request("large-group", &[100, 600, 3600], &[]) };
    for point in measure(&request) {
        let per_process = point.mean / point.processes as f64;
        assert!((6.0..15.0).contains(&per_process), "{per_process} with {}", point.processes);
        let ratio = point.ratio.expect("there is a figure");
        assert!((0.6..1.2).contains(&ratio), "{ratio} of theory with {}", point.processes);
    }
}

/// With K candidates expected nobody stands in the first round with probability e^(−K): another follows.
#[test]
fn a_round_without_candidates_is_followed_by_another() {
    let runs = 200;
    let late = |seed: &u64| {
        let options = [("candidates", "1"), ("patience", "100ms"), ("fanout", "8")];
        elects(&group(30, *seed, &options)).statistics.time > 200_000_000
    };
    let late = (0..runs).filter(late).count() as f64 / runs as f64;
    assert!((late - (-1.0_f64).exp()).abs() < 0.08, "{late} of the runs needed another round");
}

/// How many of a group hear of a call that reaches no candidate; `None` if it reaches one.
fn reached(n: usize, fanout: u32, relay: Relay, seed: u64) -> Option<usize> {
    let config = Config { fanout, relay, candidates: 1, election: seed, ..Config::default() };
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let system: System<LargeGroup> =
        System::new(Complete::new(n), ids, config.clone()).expect("the identifiers differ");
    let mut simulation = Simulation::plain(system, &Network::default(), seed, ());
    simulation.start();
    simulation.command(Address(0), Command::Elect);
    simulation.run(Limits { until: Until::Time(config.patience / 2), ..Limits::quiet() });
    let process = |address| simulation.process(Address(address)).expect("nobody crashes");
    let addresses = 0..n as u32;
    let nobody_stands = addresses.clone().all(|address| process(address).best.is_none());
    nobody_stands.then(|| addresses.filter(|&address| process(address).round.is_some()).count())
}

/// A fanout f drawn by chance alone reaches the share π of the group for which π = 1 − e^(−f·π).
#[test]
fn gossip_by_chance_alone_misses_as_many_as_theory_says_and_with_the_ring_nobody() {
    for (fanout, share) in [(2, 0.7968), (3, 0.9405), (4, 0.9802)] {
        let n = 2000;
        let runs: Vec<usize> =
            (0..40).filter_map(|seed| reached(n, fanout, Relay::Random, seed)).take(5).collect();
        let mean = runs.iter().sum::<usize>() as f64 / (runs.len() * n) as f64;
        assert!(runs.len() == 5 && (mean - share).abs() < 0.01, "fanout {fanout}: {mean}");
        let with_ring = (0..40).find_map(|seed| reached(n, fanout, Relay::Hybrid, seed));
        assert_eq!(with_ring, Some(n));
    }
}

/// Lost messages cost certainty, and a wider fanout buys it back.
#[test]
fn loss_costs_agreement_and_fanout_buys_it_back() {
    let agreed = |fanout: &str| {
        let agrees = |seed: &u64| {
            let mut scenario = group(600, *seed, &[("fanout", fanout)]);
            scenario.network.loss = 0.1;
            run(&scenario, false).expect("the scenario makes sense").leader.is_some()
        };
        (0..20).filter(agrees).count()
    };
    let (narrow, wide) = (agreed("3"), agreed("12"));
    assert!(narrow < 10 && wide == 20, "{narrow} and {wide} of 20");
}

#[test]
fn the_mutant_is_caught() {
    let leaders = |seed| {
        let options = [("variant", "mutant-first-heard"), ("candidates", "3"), ("fanout", "9")];
        run(&group(6, seed, &options), false).expect("the scenario makes sense").leaders.len()
    };
    assert!((0..20).any(|seed| leaders(seed) > 1));
}
