//! Every algorithm: under all faults of its own model, and what it costs in every case.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::ProblemKind;
use habemus::catalogue::{ENTRIES, Fault};
use habemus_scenario::{Network, Scenario, TimeModel};
use habemus_sim::{Case, CostCase, CostRequest, Sweeping, cases, cost, cost_cases, sweep};

/// A sample of what `habemus sweep --all` plays; each case has other seeds.
#[test]
fn every_algorithm_keeps_its_promises_under_all_faults_of_its_model() {
    let all: Vec<Case> = ENTRIES.iter().flat_map(cases).collect();
    for (number, Case { name, scenario }) in all.iter().enumerate() {
        let first = 1 + 1000 * number as u64;
        let report = sweep(scenario, first, 2, 2, &Sweeping::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let wrong = (report.first_failure, report.first_open);
        assert_eq!((report.failures, report.open), (0, 0), "{name}: {wrong:?}");
    }
}

/// Where the model lets intervals grow with each mistake there is no time by which the last one is made: a
/// run that is cut off before is open, and never a failure.
#[test]
fn where_no_time_is_stated_a_run_that_is_cut_off_is_open() {
    let omega = ENTRIES.iter().find(|entry| entry.name == "omega").expect("it is there");
    for Case { name, mut scenario } in cases(omega) {
        assert_eq!(scenario.expect.within, None, "{name}");
        assert!(scenario.time_limit.is_some(), "{name}");
        // Before the first interval is over nobody knows a leader.
        scenario.time_limit = Some(Duration::from_millis(50));
        let report = sweep(&scenario, 1, 2, 1, &Sweeping::default()).expect("it runs");
        assert_eq!((report.failures, report.open), (0, 2), "{name}");
    }
}

#[test]
fn every_fault_of_a_model_is_part_of_what_is_swept() {
    for entry in ENTRIES {
        let all = cases(entry);
        let some = |what: &dyn Fn(&Scenario) -> bool| all.iter().any(|case| what(&case.scenario));
        let drawn = |rate: &dyn Fn(&habemus_scenario::RandomFaults) -> f64| {
            some(&|scenario| scenario.random.as_ref().is_some_and(|random| rate(random) > 0.0))
        };
        let detectors = if entry.detectors.is_empty() { &["none"][..] } else { entry.detectors };
        for fault in detectors.iter().flat_map(|detector| entry.model_on(detector).faults().iter()) {
            let swept = match fault {
                Fault::Reordering => some(&|scenario| !scenario.network.fifo),
                Fault::WrongTimeouts => {
                    some(&|scenario| matches!(scenario.network.model, TimeModel::PartiallySynchronous { .. }))
                }
                Fault::Crash => {
                    drawn(&|random| if random.recover_after.is_none() { random.crashes } else { 0.0 })
                }
                Fault::Recovery => drawn(&|random| {
                    if random.recover_after.is_some() && !random.amnesia { random.crashes } else { 0.0 }
                }),
                Fault::Amnesia => drawn(&|random| if random.amnesia { random.crashes } else { 0.0 }),
                Fault::Loss => some(&|scenario| {
                    scenario.script.iter().any(|cue| cue.action == habemus_scenario::Action::Loss(0.05))
                }),
                Fault::Duplication => some(&|scenario| scenario.network.duplication > 0.0),
                Fault::FalseSuspicion => drawn(&|random| random.suspicions),
                Fault::Partition => drawn(&|random| random.partitions),
                Fault::Cut => drawn(&|random| random.cuts),
                Fault::Pause => drawn(&|random| random.pauses),
                Fault::Drift => drawn(&|random| random.drifts),
                Fault::LateHolder => some(&|scenario| {
                    entry.problem != ProblemKind::MutualExclusion
                        || scenario.workload.as_ref().is_some_and(|it| it.hold.1 > Duration::from_secs(1))
                }),
                Fault::Treason => some(&|scenario| scenario.options.contains_key("traitors")),
            };
            assert!(swept, "{}: {fault}", entry.name);
        }
        for promise in entry.promises {
            let judged =
                |scenario: &Scenario| !scenario.expect.outside.iter().any(|name| name == promise.property);
            assert!(some(&judged), "{}: {} is never put to the test", entry.name, promise.property);
        }
    }
}

/// Within three seconds after the last fault all live processes follow the same, the best live process.
#[test]
fn three_seconds_after_crashes_and_partitions_everybody_follows_the_best_live_process() {
    let recovers = |entry: &&'static habemus::catalogue::Entry| {
        entry.problem == ProblemKind::Election && entry.detectors.contains(&"oracle")
    };
    for entry in ENTRIES.iter().filter(recovers) {
        for detector in ["oracle", "heartbeat"] {
            let partitions = |case: &&Case| {
                let random = case.scenario.random.as_ref();
                case.scenario.detector.as_deref() == Some(detector)
                    && random.is_some_and(|random| random.partitions > 0.0 && random.crashes > 0.0)
            };
            for Case { name, scenario } in cases(entry).iter().filter(partitions) {
                assert_eq!(scenario.expect.within, Some(Duration::from_secs(3)), "{name}");
                let report = sweep(scenario, 1, 5, 2, &Sweeping::default()).expect("it runs");
                assert_eq!((report.failures, report.open), (0, 0), "{name}: {:?}", report.first_failure);
            }
        }
    }
}

/// Runs of `habemus sweep --all` that went wrong once: a leader did not object to a worse one that it
/// suspected (38, 829); nobody told the followers of a leader that crashed and was back (73); two lead for
/// ever, because an announcement was lost (130); who had spoken was no longer taken for dead when it died
/// after all (54); the last one alive gave its token up for a late recall of the dead (423).
#[test]
fn what_sweeps_have_found_stays_mended() {
    for (name, seed) in [
        ("bully-phi-accrual-recoveries", 38),
        ("bully-heartbeat-recoveries", 829),
        ("bully-oracle-recoveries", 73),
        ("collecting-ring-phi-accrual-recoveries", 130),
        ("hirschberg-sinclair-heartbeat-crashes", 54),
        ("token-ring-oracle-crashes", 423),
    ] {
        let all: Vec<Case> = ENTRIES.iter().flat_map(cases).collect();
        let case = all.iter().find(|case| case.name == name).expect("there is such a case");
        let report = sweep(&case.scenario, seed, 1, 1, &Sweeping::default()).expect("it runs");
        assert_eq!((report.failures, report.open), (0, 0), "{name}: {:?}", report.first_failure);
    }
}

/// The time that a page states for elections after the last fault, from the moment at which the detector is
/// right.
#[test]
fn everybody_follows_the_best_within_the_time_that_the_pages_state() {
    let ms = Duration::from_millis;
    // When each detector is right after the last fault, at the latest.
    let detectors = [("oracle", ms(20)), ("heartbeat", ms(410))];
    // Twice the coordinator timeout, the answer timeout, four messages of ten; ten hop timeouts for each
    // process.
    for (algorithm, settled) in [("bully", ms(150 + 150 + 50 + 40)), ("collecting-ring", ms(50 * 20))] {
        let entry = ENTRIES.iter().find(|entry| entry.name == algorithm).expect("it is there");
        for (detector, right) in detectors {
            let on = |case: &&Case| case.scenario.detector.as_deref() == Some(detector);
            for Case { name, scenario } in cases(entry).iter().filter(on) {
                let mut scenario = scenario.clone();
                scenario.expect.within = Some(right + settled);
                let report = sweep(&scenario, 1, 100, 2, &Sweeping::default()).expect("it runs");
                assert_eq!((report.failures, report.open), (0, 0), "{name}: {:?}", report.first_failure);
            }
        }
    }
}

#[test]
fn every_algorithm_has_a_figure_for_its_cost_in_every_case_and_keeps_to_it() {
    for entry in ENTRIES {
        let model = entry.cost_model.unwrap_or_else(|| panic!("{} has no cost model", entry.name));
        for CostCase { arrangement, start, again } in cost_cases(&model) {
            let mut network = Network::default();
            if entry.is_synchronous() {
                network.model = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
            }
            let request = CostRequest {
                algorithm: entry.name.to_owned(),
                options: BTreeMap::new(),
                topology: None,
                sizes: vec![2, 3, 5, 8],
                arrangement,
                start,
                again,
                seeds: 12,
                first_seed: 1,
                network,
            };
            let points = cost(&request, 2, &AtomicBool::new(false), |_| {});
            let points = points.unwrap_or_else(|error| panic!("{request:?}: {error}"));
            for point in points {
                assert_eq!(point.broken, None, "n = {} of {request:?}", point.processes);
                assert!(point.theory.is_some(), "n = {} of {request:?}", point.processes);
            }
        }
    }
}
