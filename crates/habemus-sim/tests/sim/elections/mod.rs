//! Elections under many seeds: the promises are kept, and theory's figures hold.

mod complete;
mod majority;
mod omega;
mod rings;
mod stable;
mod yo_yo;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus_scenario::{RandomFaults, Scenario};
use habemus_sim::{CostRequest, Sweeping, cost, shrink, sweep};

use crate::support::{Choices, assert_theory_holds, at, cost_request, elect};

fn scenario(algorithm: &str, detector: &str, processes: u64) -> Scenario {
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: (1..=processes).collect(),
        detector: (!detector.is_empty()).then(|| detector.to_owned()),
        script: vec![at(0, elect(&[1]))],
        ..Scenario::default()
    }
}

fn crashes(until: u64) -> RandomFaults {
    let ms = Duration::from_millis;
    RandomFaults {
        crashes: 3.0,
        recover_after: Some((ms(200), ms(900))),
        amnesia: false,
        max_down: 2,
        pauses: 0.0,
        pause_for: (ms(1), ms(1)),
        cuts: 0.0,
        cut_for: (ms(1), ms(1)),
        until: ms(until),
        ..RandomFaults::usual(5)
    }
}

#[test]
fn bully_keeps_its_promises_through_crashes_and_recoveries_over_either_detector() {
    for detector in ["oracle", "heartbeat"] {
        let mut scenario = scenario("bully", detector, 5);
        scenario.random = Some(crashes(3000));
        let report = sweep(&scenario, 1, 60, 2, &Sweeping::default()).expect("it makes sense");
        assert_eq!((report.runs, report.failures), (60, 0), "{detector}: {:?}", report.first_failure);
        assert!(report.crashes > 100 && report.leader_changes > 10, "nothing was tested");
    }
}

/// S4: "se o tempo esperado por um candidato antes de se declarar líder for muito curto, mais de um processo
/// pode se declarar líder, uma situação conhecida como split-brain".
#[test]
fn a_timeout_that_is_too_short_splits_the_brain_and_the_sweep_finds_and_shrinks_it() {
    let mut scenario = scenario("bully", "oracle", 5);
    scenario.options.insert("answer-timeout".to_owned(), "5ms".to_owned());
    scenario.random = Some(crashes(1000));
    // That is outside the model; but one may expect it.
    scenario.expect.holds = vec!["E1".to_owned()];
    let report = sweep(&scenario, 1, 50, 2, &Sweeping::default()).expect("it makes sense");
    let failure = report.first_failure.expect("a split brain is found");
    let shrunk = shrink(&Scenario { seed: failure.seed, ..scenario }).expect("it still fails");
    assert!(shrunk.faults_after < shrunk.faults_before.max(1), "{shrunk:?}");
    assert_eq!(habemus_sim::run(&shrunk.scenario, false).expect("it runs").failures, shrunk.failures);
}

#[test]
fn a_sweep_gives_the_same_figures_on_one_thread_and_on_two() {
    let mut scenario = scenario("bully", "oracle", 4);
    scenario.random = Some(crashes(1000));
    let one = sweep(&scenario, 5, 20, 1, &Sweeping::default()).expect("it makes sense");
    let two = sweep(&scenario, 5, 20, 2, &Sweeping::default()).expect("it makes sense");
    assert_eq!((one.messages, one.events, one.properties), (two.messages, two.events, two.properties));
}

#[track_caller]
fn measure(algorithm: &str, arrangement: Arrangement, start: Start, options: Choices<'_>, sizes: &[usize]) {
    assert_theory_holds(&cost_request(algorithm, arrangement, start, options, sizes));
}

#[test]
fn every_exact_figure_and_every_bound_of_theory_holds() {
    use Arrangement::{Best, Random, Worst};
    for arrangement in [Best, Random, Worst] {
        for start in [Start::One, Start::All] {
            measure("chang-roberts", arrangement, start, &[], &[1, 2, 3, 7, 50, 128]);
            measure("coordinator", arrangement, start, &[], &[2, 3, 20]);
            measure("coordinator", arrangement, start, &[("acknowledge", "true")], &[2, 3, 20]);
        }
        measure("bully", arrangement, Start::One, &[], &[2, 3, 8, 30]);
        measure("bully", arrangement, Start::One, &[("audience", "all")], &[2, 3, 8, 30]);
    }
}

/// The mean of many runs comes to n·Hₙ + n within a few per cent.
#[test]
fn chang_roberts_costs_n_times_the_harmonic_number_on_average() {
    let request = cost_request("chang-roberts", Arrangement::Random, Start::All, &[], &[256]);
    let request = CostRequest { seeds: 400, ..request };
    let points = cost(&request, 2, &AtomicBool::new(false), |_| {}).expect("it can be measured");
    let ratio = points[0].ratio.expect("theory has a figure");
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}
