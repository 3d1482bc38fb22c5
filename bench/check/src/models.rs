//! The models, each for our checker and for stateright.

use std::process::ExitCode;
use std::time::Instant;

use habemus::agreement::paxos::{self, Paxos};
use habemus::catalogue::{self, Setup};
use habemus::election::chang_roberts::{self, ChangRoberts};
use habemus::election::dolev_klawe_rodeh::{self, DolevKlaweRodeh};
use habemus::election::majority::{self, Majority};
use habemus::mutex::lamport::{self, Lamport};
use habemus::mutex::ricart_agrawala::{self, RicartAgrawala};
use habemus::symmetry::Symmetries;
use habemus::topology::{Complete, Ring};
use habemus::{Address, Id, Process, Status, System};
use habemus_check::{CheckHandle, DeliveryOrder, Properties, Setting, Start, check_system};

use crate::rival::{Way, unique_states};

/// Measures one model with one checker and prints: states, seconds, peak memory in bytes.
pub(crate) fn measure(who: &str, model: &str, threads: usize) -> ExitCode {
    let measured = match model {
        "ricart-agrawala-small" => ricart_agrawala(who, threads, 1),
        "ricart-agrawala" => ricart_agrawala(who, threads, 3),
        "ricart-agrawala-5" => ricart_agrawala(who, threads, 5),
        "lamport-small" => lamport(who, threads, 2),
        "lamport" => lamport(who, threads, 3),
        "chang-roberts-small" => chang_roberts(who, threads, 4),
        "chang-roberts" => chang_roberts(who, threads, 6),
        "dolev-klawe-rodeh" => dolev_klawe_rodeh(who, threads),
        "majority-small" => majority(who, threads, 4),
        "majority" => majority(who, threads, 9),
        "paxos-small" => paxos(who, threads, 7),
        "paxos" => paxos(who, threads, 14),
        _ => None,
    };
    let Some((states, seconds)) = measured else {
        eprintln!("there is no such checker or model: {who} {model}");
        return ExitCode::from(2);
    };
    println!("{states} {seconds} {}", peak_memory());
    ExitCode::SUCCESS
}

/// Three processes, messages in any order; replies without a number, as in the paper.
fn ricart_agrawala(who: &str, threads: usize, entries: u32) -> Option<(u64, f64)> {
    let variant = ricart_agrawala::Variant::BareReplies;
    let config = ricart_agrawala::Config { variant, ..ricart_agrawala::Config::default() };
    let system: System<RicartAgrawala> = System::new(Complete::new(3), ids(3), config).ok()?;
    let symmetries = Symmetries::default().with_clock_shift(&system.config);
    run(who, threads, (system, symmetries), entries, false, Status::Inside, "ricart-agrawala")
}

/// One entry each, FIFO links, which the algorithm needs.
fn lamport(who: &str, threads: usize, count: u32) -> Option<(u64, f64)> {
    let network = Complete::new(count as usize);
    let system: System<Lamport> = System::new(network, ids(count.into()), lamport::Config::default()).ok()?;
    let symmetries = Symmetries::default().with_clock_shift(&system.config);
    run(who, threads, (system, symmetries), 1, true, Status::Inside, "lamport")
}

/// Processes that all start, messages in any order.
fn chang_roberts(who: &str, threads: usize, count: u32) -> Option<(u64, f64)> {
    let ring = Ring::new(count as usize);
    let system: System<ChangRoberts> =
        System::new(ring, ids(count.into()), chang_roberts::Config::default()).ok()?;
    run(who, threads, (system, Symmetries::default()), 1, false, Status::Leading, "chang-roberts")
}

/// Seven processes that all start, FIFO links.
fn dolev_klawe_rodeh(who: &str, threads: usize) -> Option<(u64, f64)> {
    let system: System<DolevKlaweRodeh> =
        System::new(Ring::new(7), ids(7), dolev_klawe_rodeh::Config::default()).ok()?;
    run(who, threads, (system, Symmetries::default()), 1, true, Status::Leading, "dolev-klawe-rodeh")
}

/// Three processes that all start, FIFO links, timers at any time, so many steps far: there is no end of
/// states.
fn majority(who: &str, threads: usize, steps: u32) -> Option<(u64, f64)> {
    let system: System<Majority> = System::new(Complete::new(3), ids(3), majority::Config::default()).ok()?;
    let symmetries = Symmetries::default().with_terms();
    run_far(who, threads, (system, symmetries), steps, "uniqueness", "majority")
}

/// Three processes that all propose, as above.
fn paxos(who: &str, threads: usize, steps: u32) -> Option<(u64, f64)> {
    let system: System<Paxos> = System::new(Complete::new(3), ids(3), paxos::Config::default()).ok()?;
    let symmetries = Symmetries::default().with_terms();
    run_far(who, threads, (system, symmetries), steps, "agreement", "paxos")
}

/// So many steps far; stateright does that only breadth first.
fn run_far<P: Process>(
    who: &str,
    threads: usize,
    (system, symmetries): (System<P>, Symmetries<P>),
    steps: u32,
    property: &str,
    name: &str,
) -> Option<(u64, f64)>
where
    P::Message: Ord,
    P::Timer: Ord,
{
    let begin = Instant::now();
    // Of stateright nothing is asked that two processes could break so early: nobody is inside anything here.
    let states = match who {
        "habemus" | "habemus-reduced" => {
            let everybody = system.addresses().collect::<Vec<Address>>();
            let reduction = who == "habemus-reduced";
            let setting = Setting {
                start: Start::These(everybody),
                properties: Properties::Named(vec![property.to_owned()]),
                liveness: false,
                reduction,
                symmetry: reduction,
                threads,
                max_depth: Some(steps),
                ..Setting::default()
            };
            let setup = Setup { symmetries, ..Setup::own(catalogue::entry(name).ok()?, system) };
            let report = check_system(&setup, &setting, &CheckHandle::default()).ok()?;
            assert!(report.holds(), "the model is correct: {report:#?}");
            report.states
        }
        "stateright-bfs" => unique_states(system, 1, true, Status::Inside, Way::Steps(steps), threads) as u64,
        _ => return None,
    };
    Some((states, begin.elapsed().as_secs_f64()))
}

fn ids(count: u64) -> Vec<Id> {
    (1..=count).map(Id).collect()
}

fn run<P: Process>(
    who: &str,
    threads: usize,
    (system, symmetries): (System<P>, Symmetries<P>),
    wants: u32,
    ordered: bool,
    alone: Status,
    name: &str,
) -> Option<(u64, f64)>
where
    P::Message: Ord,
    P::Timer: Ord,
{
    let begin = Instant::now();
    let states = match who {
        "habemus" | "habemus-reduced" => {
            ours((system, symmetries), wants, ordered, alone, threads, name, who == "habemus-reduced")?
        }
        "stateright-bfs" => unique_states(system, wants, ordered, alone, Way::BreadthFirst, threads) as u64,
        "stateright-dfs" => unique_states(system, wants, ordered, alone, Way::DepthFirst, threads) as u64,
        _ => return None,
    };
    Some((states, begin.elapsed().as_secs_f64()))
}

fn ours<P: Process>(
    (system, symmetries): (System<P>, Symmetries<P>),
    wants: u32,
    ordered: bool,
    alone: Status,
    threads: usize,
    name: &str,
    reduction: bool,
) -> Option<u64> {
    let everybody = system.addresses().collect::<Vec<Address>>();
    let property = if alone == Status::Inside { "EM1" } else { "uniqueness" };
    let setting = Setting {
        start: Start::These(everybody),
        entries: wants,
        order: if ordered { DeliveryOrder::Fifo } else { DeliveryOrder::Any },
        properties: Properties::Named(vec![property.to_owned()]),
        // Stateright looks for no cycles either.
        liveness: false,
        reduction,
        symmetry: reduction,
        threads,
        ..Setting::default()
    };
    let setup = Setup { symmetries, ..Setup::own(catalogue::entry(name).ok()?, system) };
    let report = check_system(&setup, &setting, &CheckHandle::default()).ok()?;
    assert!(report.holds(), "the model is correct: {report:#?}");
    Some(report.states)
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
