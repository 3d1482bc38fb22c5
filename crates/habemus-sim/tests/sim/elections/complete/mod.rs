//! The elections on the complete graph, run and counted: all-to-all, bully, both captures, the one for
//! large groups.

mod all_to_all;
mod asynchronous_capture;
mod bully;
mod large_group;
mod synchronous_capture;
mod synchrony;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus::catalogue::SetupError;
use habemus::election::capture_async::{self, CaptureAsync, Message, candidates_at_level};
use habemus::election::capture_sync::{self, CaptureSync};
use habemus::election::large_group::{Config, LargeGroup, Relay};
use habemus::election::tried::VisitOrder;
use habemus::election::{Command, Output};
use habemus::rounds::Synchronous;
use habemus::topology::Complete;
use habemus::{Address, Context, DEFAULT_PULSE, Effect, Id, Process, Status, Step, System};
use habemus_scenario::{Action, Cue, Latency, Network, Occasion, Scenario, TimeModel, Until};
use habemus_sim::{
    CostError, CostPoint, CostRequest, Limits, Observer, Report, RunError, Simulation, Stop, Stream, Time,
    Use, cost, run,
};

use crate::support::{Choices, sent};

/// A run in which these processes are told to elect at the beginning.
fn scenario(algorithm: &str, ids: &[u64], start: &[u64], options: Choices<'_>) -> Scenario {
    let elect = Action::Command { word: "elect".to_owned(), processes: start.to_vec() };
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: ids.to_vec(),
        options: texts(options),
        network: network(algorithm),
        script: vec![Cue { occasion: Occasion::At(Duration::ZERO), action: elect }],
        ..Scenario::default()
    }
}

fn texts(options: Choices<'_>) -> BTreeMap<String, String> {
    options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn network(algorithm: &str) -> Network {
    let in_pulses = matches!(algorithm, "all-to-all" | "capture-sync");
    let pulses = TimeModel::Synchronous { pulse: DEFAULT_PULSE };
    Network { model: if in_pulses { pulses } else { TimeModel::Asynchronous }, ..Network::default() }
}

/// Plays a scenario out of which one leader must come, known to all.
#[track_caller]
fn elects(scenario: &Scenario) -> Report {
    let report = run(scenario, false).expect("the scenario makes sense");
    assert!(report.succeeded() && report.quiet, "{scenario:?}: {:?}", report.failures);
    assert!(report.leader.is_some(), "{scenario:?}: {:?}", report.properties);
    assert_eq!(report.leaders.len(), 1);
    report
}

/// The identifiers 1 … n in an order drawn from the seed.
fn shuffled(n: usize, seed: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, Use::Layout);
    habemus::analysis::shuffled_ids(n, &mut stream).into_iter().map(|id| id.0).collect()
}

/// The members of `ids` that a number names by its bits.
fn subset(ids: &[u64], bits: u64) -> Vec<u64> {
    ids.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1).map(|(_, id)| *id).collect()
}

fn request(algorithm: &str, sizes: &[usize], options: Choices<'_>) -> CostRequest {
    CostRequest {
        topology: None,
        algorithm: algorithm.to_owned(),
        options: texts(options),
        sizes: sizes.to_vec(),
        arrangement: Arrangement::Random,
        start: Start::All,
        seeds: 3,
        again: None,
        first_seed: 1,
        network: network(algorithm),
    }
}

fn measure(request: &CostRequest) -> Vec<CostPoint> {
    cost(request, 1, &AtomicBool::new(false), |_| {}).expect("every run comes to its end")
}

/// Every layout at these sizes keeps to what theory says.
#[track_caller]
fn keeps_to_theory(algorithm: &str, sizes: &[usize], options: Choices<'_>) {
    for arrangement in [Arrangement::Random, Arrangement::Best, Arrangement::Worst] {
        for start in [Start::All, Start::One] {
            let request = CostRequest { arrangement, start, ..request(algorithm, sizes, options) };
            for point in measure(&request) {
                assert_eq!(point.broken, None, "{algorithm}, n = {}", point.processes);
                assert!(point.theory.is_some(), "{algorithm}, n = {}", point.processes);
            }
        }
    }
}

const POWERS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const OTHERS: [usize; 8] = [3, 5, 6, 7, 9, 12, 33, 100];
