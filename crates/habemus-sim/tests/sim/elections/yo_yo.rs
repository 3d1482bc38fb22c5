//! Yo-Yo over whole systems: on every graph the lowest identifier wins, for no more messages than theory
//! allows.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Bound, Start};
use habemus::catalogue;
use habemus_report::Finding;
use habemus_scenario::{Action, Cue, Latency, Network, Occasion, Scenario, TopologyChoice, Until};
use habemus_sim::{CostRequest, Stream, Use, cost, run};
use habemus_trace::Happening;

use crate::support::{play, play_traced, read, with};

fn elect(processes: Vec<u64>) -> Cue {
    let action = Action::Command { word: "elect".to_owned(), processes };
    Cue { occasion: Occasion::At(Duration::ZERO), action }
}

/// Everybody starts, on exactly these links.
fn on_links(ids: Vec<u64>, links: &[(u64, u64)]) -> Scenario {
    Scenario {
        algorithm: "yo-yo".to_owned(),
        script: vec![elect(ids.clone())],
        topology: Some(TopologyChoice::Links(links.to_vec())),
        ids,
        ..Scenario::default()
    }
}

/// Plays the scenario, with the trace, and counts how often the winner began an iteration.
fn iterations(scenario: &Scenario) -> usize {
    let report = play_traced(scenario);
    assert!(report.succeeded() && report.quiet, "{:?}", report.failures);
    let trace = report.trace.expect("it was asked for");
    let mut sent: BTreeMap<u64, usize> = BTreeMap::new();
    for record in trace.records.iter().filter(|record| record.process == report.leader) {
        if let Happening::Send { to, kind, .. } = &record.what
            && kind == "Yo"
        {
            *sent.entry(*to).or_default() += 1;
        }
    }
    sent.into_values().max().unwrap_or(0)
}

/// A connected graph of 1 … 12 processes, sparse or dense, with identifiers that are not in order.
fn drawn_graph(stream: &mut Stream) -> (Vec<u64>, Vec<(u64, u64)>) {
    let count = 1 + stream.below(12);
    let mut ids: Vec<u64> = (0..count).map(|address| 1 + address * 10 + stream.below(10)).collect();
    for last in (1..ids.len()).rev() {
        ids.swap(last, stream.below(last as u64 + 1) as usize);
    }
    let address = |stream: &mut Stream, below: usize| stream.below(below as u64) as usize;
    let mut links: Vec<(u64, u64)> = Vec::new();
    for new in 1..ids.len() {
        links.push((ids[address(stream, new)], ids[new]));
    }
    for _ in 0..stream.below(2 * count) {
        let (a, b) = (address(stream, ids.len()), address(stream, ids.len()));
        let known = |&(c, d): &(u64, u64)| (c, d) == (ids[a], ids[b]) || (d, c) == (ids[a], ids[b]);
        if a != b && !links.iter().any(known) {
            links.push((ids[a], ids[b]));
        }
    }
    (ids, links)
}

/// What theory says of yo-yo on a shape.
fn bound(arrangement: Arrangement, n: usize, topology: &str) -> Bound {
    let model = catalogue::entry("yo-yo").expect("it is there").cost_model.expect("it has a cost model");
    let option = |name: &str| (name == "topology").then(|| topology.to_owned());
    (model.bound)(arrangement, Start::All, n, &option).expect("the plain algorithm has a bound")
}

/// 2m·K + n − 1 with F(K) ≤ n − 1, written down once more.
fn at_most(n: usize, links: usize) -> u64 {
    let (mut this, mut next, mut index) = (1, 1, 1);
    while next < n {
        (this, next, index) = (next, this + next, index + 1);
    }
    (2 * links * index + n - 1) as u64
}

#[test]
fn the_lowest_wins_on_thousands_of_graphs_with_links_that_keep_the_order_and_that_do_not() {
    let mut stream = Stream::new(1, Use::Layout);
    for seed in 0..4000 {
        let (ids, links) = drawn_graph(&mut stream);
        let starters: Vec<u64> =
            ids.iter().copied().filter(|_| stream.below(2) == 0).chain([ids[0]]).collect();
        let lowest = *ids.iter().min().expect("there is at least one");
        let mut scenario = on_links(ids.clone(), &links);
        scenario.script = vec![elect(if seed % 3 == 0 { ids.clone() } else { starters })];
        scenario.seed = seed;
        scenario.network.fifo = seed % 2 == 0;
        if seed % 5 == 0 {
            scenario.network.latency = Latency::Exponential { mean: Duration::from_millis(10) };
        }
        scenario.expect.leader = Some(lowest);
        scenario.expect.quiet = Some(true);
        let report = play(&scenario);
        assert!(report.succeeded(), "seed {seed}, {links:?}: {:?}", report.failures);
        assert_eq!(report.leaders, [lowest]);
        assert!(
            report.properties.iter().all(|line| {
                // Yo-Yo has no terms.
                line.verdict == Finding::Holds || line.name == "one-leader-per-term"
            }),
            "{:?}",
            report.properties
        );
        assert!(report.statistics.messages <= at_most(ids.len(), links.len()), "seed {seed}, {links:?}");
        let kind = |kind: &str| report.statistics.by_kind.get(kind).copied().unwrap_or(0);
        assert_eq!(kind("Hello"), 2 * links.len() as u64);
        assert_eq!(kind("Elected"), ids.len() as u64 - 1);
        assert_eq!(kind("Leaf"), ids.len() as u64 - 1);
        assert_eq!(kind("Yo"), kind("Yes") + kind("No") + kind("Redundant") + kind("Leaf"));
    }
}

#[test]
fn the_number_of_messages_does_not_depend_on_time_or_order() {
    let mut stream = Stream::new(2, Use::Layout);
    for _ in 0..100 {
        let (ids, links) = drawn_graph(&mut stream);
        let mut scenario = on_links(ids, &links);
        let first = play(&scenario).statistics.by_kind;
        scenario.script = vec![elect(vec![scenario.ids[0]])];
        scenario.network.fifo = false;
        for seed in 2..6 {
            scenario.seed = seed;
            assert_eq!(play(&scenario).statistics.by_kind, first, "{links:?}");
        }
    }
}

#[test]
fn the_highest_wins_if_so_asked() {
    let mut stream = Stream::new(3, Use::Layout);
    for seed in 0..300 {
        let (ids, links) = drawn_graph(&mut stream);
        let highest = ids.iter().max().copied();
        let mut scenario = with(&on_links(ids, &links), &[("wins", "highest")]);
        scenario.seed = seed;
        scenario.expect.leader = highest;
        let report = play(&scenario);
        assert!(report.succeeded(), "{links:?}: {:?}", report.failures);
    }
}

#[test]
fn every_named_shape_costs_at_most_what_theory_says() {
    let mut stream = Stream::new(4, Use::Layout);
    for shape in catalogue::SHAPES {
        for n in [1, 2, 3, 5, 8, 16, 33, 64] {
            for (arrangement, runs) in
                [(Arrangement::Random, 5), (Arrangement::Best, 1), (Arrangement::Worst, 1)]
            {
                let bound = bound(arrangement, n, shape);
                let model = catalogue::entry("yo-yo").expect("it is there").cost_model.expect("it has one");
                for _ in 0..runs {
                    let arranged = (model.arrange)(arrangement, Start::All, n, &mut stream);
                    let ids: Vec<u64> = arranged.ids.iter().map(|id| id.0).collect();
                    let scenario = Scenario {
                        algorithm: "yo-yo".to_owned(),
                        topology: Some(TopologyChoice::Named((*shape).to_owned())),
                        script: vec![elect(ids.clone())],
                        ids,
                        ..Scenario::default()
                    };
                    let report = play(&scenario);
                    assert!(report.succeeded() && report.leader == Some(1), "{shape} {n}: {report:?}");
                    let messages = report.statistics.messages;
                    assert_eq!(bound.broken_by(&[messages]), None, "{shape} {n} {arrangement:?}");
                }
            }
        }
    }
}

#[test]
fn the_cost_is_measured_on_random_graphs() {
    for (arrangement, start) in
        [(Arrangement::Random, Start::All), (Arrangement::Best, Start::One), (Arrangement::Worst, Start::All)]
    {
        let request = CostRequest {
            algorithm: "yo-yo".to_owned(),
            options: BTreeMap::new(),
            topology: None,
            sizes: vec![1, 2, 10, 100, 300],
            arrangement,
            start,
            seeds: 5,
            again: None,
            first_seed: 1,
            network: Network::default(),
        };
        let points = cost(&request, 1, &AtomicBool::new(false), |_| {}).expect("it can be measured");
        for point in points {
            assert_eq!(point.broken, None);
            assert!(point.theory.is_some());
        }
    }
}

/// The halving that is usually said of Yo-Yo is not what happens: of 8 sources 5 are left, then 3, then 2.
/// Every two sources that meet have a process of their own to meet at, which makes 15 processes and 5
/// iterations.
#[test]
fn the_bound_on_the_iterations_is_reached() {
    let meetings = [(6, 1), (6, 4), (7, 4), (7, 3), (7, 5), (8, 5), (8, 2)];
    let links: Vec<(u64, u64)> =
        (9..).zip(meetings).flat_map(|(place, (one, other))| [(one, place), (other, place)]).collect();
    let scenario = on_links((1..=15).collect(), &links);
    assert_eq!(iterations(&scenario), 5);
    // Three sources in a line: the middle one falls first.
    assert_eq!(iterations(&on_links(vec![1, 4, 3, 5, 2], &[(1, 4), (4, 3), (3, 5), (5, 2)])), 3);
}

/// S4's vote still elects the lowest, but a source that should have fallen can stay for one more iteration.
#[test]
fn a_single_yes_elects_the_lowest_later() {
    let links = [(1, 5), (3, 5), (2, 3), (4, 3)];
    let scenario = on_links((1..=5).collect(), &links);
    assert_eq!(iterations(&scenario), 2);
    assert_eq!(iterations(&with(&scenario, &[("variant", "some-yes")])), 3);
    let mut stream = Stream::new(5, Use::Layout);
    for seed in 0..1000 {
        let (ids, links) = drawn_graph(&mut stream);
        let lowest = ids.iter().min().copied();
        let mut scenario = with(&on_links(ids, &links), &[("variant", "some-yes")]);
        scenario.seed = seed;
        scenario.network.fifo = false;
        scenario.expect.leader = lowest;
        scenario.expect.quiet = Some(true);
        let report = play(&scenario);
        assert!(report.succeeded(), "seed {seed}, {links:?}: {:?}", report.failures);
    }
}

/// S4's listing has no pruning: the lowest is soon the only source, and never learns it.
#[test]
fn as_printed_it_never_ends() {
    let mut stream = Stream::new(6, Use::Layout);
    for _ in 0..50 {
        let (ids, links) = drawn_graph(&mut stream);
        if ids.len() < 2 {
            continue;
        }
        let mut scenario = with(&on_links(ids, &links), &[("variant", "as-printed")]);
        scenario.until = Until::Events(5_000);
        scenario.expect.leaders = Some(Vec::new());
        scenario.expect.quiet = Some(false);
        let report = play(&scenario);
        assert!(report.succeeded(), "{links:?}: {:?}", report.failures);
        assert_eq!(report.statistics.elections_won, 0);
    }
}

#[test]
fn the_mutant_is_caught_wherever_two_sources_meet() {
    let scenario = on_links(vec![1, 3, 2], &[(1, 3), (3, 2)]);
    let mut mutant = with(&scenario, &[("variant", "mutant-prune-unequal")]);
    mutant.expect.leaders = Some(vec![1, 2]);
    mutant.expect.violates = ["E1", "uniqueness", "agreement", "stability"].map(str::to_owned).into();
    let report = play(&mutant);
    assert!(report.succeeded(), "{:?}", report.failures);
}

/// S4: "cada figura mostra um estágio da resolução": five sources, then two, then one, which must still learn
/// it.
#[test]
fn the_exhibit_goes_through_all_stages() {
    assert_eq!(iterations(&read("exhibits/s4-yo-yo.toml")), 3);
}

#[test]
fn links_that_leave_somebody_out_are_refused() {
    let error = run(&on_links(vec![1, 2, 3], &[(1, 2)]), false).expect_err("3 cannot be reached");
    assert!(error.to_string().contains("not every process"), "{error}");
}
