//! Runs the measurements, each in a process of its own, and prints them as ratios.

use std::process::{Command, ExitCode};

/// What one measurement says.
#[derive(Clone, Copy, Debug)]
struct Measured {
    states: u64,
    seconds: f64,
    bytes: u64,
}

impl Measured {
    fn rate(self) -> f64 {
        self.states as f64 / self.seconds
    }

    fn bytes_per_state(self) -> f64 {
        self.bytes as f64 / self.states as f64
    }
}

const MODELS: &[&str] = &["ricart-agrawala", "ricart-agrawala-5", "lamport", "chang-roberts"];
/// Models for a quick look, of some thousand states.
const SMALL_MODELS: &[&str] = &["ricart-agrawala-small", "lamport-small", "chang-roberts-small"];
/// Models without end, explored so many steps far. Stateright does that breadth first, and on several threads
/// it may come to a state on a longer way first: one thread, then.
const FAR_MODELS: &[&str] = &["majority", "paxos"];
const SMALL_FAR_MODELS: &[&str] = &["majority-small", "paxos-small"];
/// Of so many measurements the fastest counts: the machine may have been busy with something else.
const ROUNDS: usize = 5;

/// What became of the comparison of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

/// Prints what is required and what was measured; `spin` is a folder with the two programs that spin made. A
/// quick look measures small models once and judges nothing: it fails only if something cannot be measured.
pub(crate) fn report(spin: Option<&str>, quick: bool) -> ExitCode {
    let (models, rounds) = if quick { (SMALL_MODELS, 1) } else { (MODELS, ROUNDS) };
    let mut failed = false;
    // One number of threads is enough for a look.
    let threads: &[usize] = if quick { &[2] } else { &[1, 2] };
    let mut fails = |verdict: Verdict| match verdict {
        Verdict::Met => {}
        Verdict::Missed => failed |= !quick,
        Verdict::NotMeasured => failed = true,
    };
    for model in models {
        for &threads in threads {
            fails(compare(model, threads, rounds));
        }
    }
    for model in if quick { SMALL_FAR_MODELS } else { FAR_MODELS } {
        fails(compare_far(model, rounds));
    }
    against_spin(spin, rounds);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// One model on so many threads; says whether every requirement is met.
fn compare(model: &str, threads: usize, rounds: usize) -> Verdict {
    println!("{model}, {threads} thread{}:", if threads == 1 { "" } else { "s" });
    let all = ["habemus", "habemus-reduced", "stateright-bfs", "stateright-dfs"];
    let [Some(ours), Some(reduced), Some(breadth), Some(depth)] = all_measured(all, model, threads, rounds)
    else {
        return Verdict::NotMeasured;
    };
    assert_eq!((ours.states, ours.states), (breadth.states, depth.states), "the models are the same");
    let speed = ours.rate() / breadth.rate().max(depth.rate());
    let memory = ours.bytes as f64 / breadth.bytes as f64;
    let verdict = breadth.seconds.min(depth.seconds) / reduced.seconds;
    println!("  speed  {speed:>6.2} times the better of stateright's (at least 3 required)");
    println!("  memory {memory:>6.2} times stateright's breadth first (at most 0.5 required)");
    let leap = if model.starts_with("ricart-agrawala") { 50.0 } else { 1.0 };
    println!("  with reductions {verdict:>6.1} times faster to the verdict (at least {leap:.0} required)\n");
    if speed >= 3.0 && memory <= 0.5 && verdict >= leap { Verdict::Met } else { Verdict::Missed }
}

/// One model without end, so many steps far: nothing is required here.
fn compare_far(model: &str, rounds: usize) -> Verdict {
    println!("{model}, so many steps far, 1 thread:");
    let all = ["habemus", "habemus-reduced", "stateright-bfs"];
    let [Some(ours), Some(reduced), Some(breadth)] = all_measured(all, model, 1, rounds) else {
        return Verdict::NotMeasured;
    };
    assert_eq!(ours.states, breadth.states, "the models are the same");
    let (speed, memory) = (ours.rate() / breadth.rate(), ours.bytes as f64 / breadth.bytes as f64);
    println!("  speed  {speed:>6.2} times stateright's");
    println!("  memory {memory:>6.2} times stateright's");
    println!("  with reductions {:>6.1} times faster so far\n", breadth.seconds / reduced.seconds);
    Verdict::Met
}

/// Measures a model with each of these, and prints what came of it.
fn all_measured<const N: usize>(
    all: [&str; N],
    model: &str,
    threads: usize,
    rounds: usize,
) -> [Option<Measured>; N] {
    let mut best = [None; N];
    for _ in 0..rounds {
        for (who, best) in all.iter().zip(&mut best) {
            *best = faster(*best, measure(who, model, threads));
        }
    }
    for (who, measured) in all.iter().zip(&best) {
        match measured {
            Some(found) => println!(
                "  {who:<16} {:>9} states {:>8.2} s {:>10.0} states/s {:>7.1} bytes/state",
                found.states,
                found.seconds,
                found.rate(),
                found.bytes_per_state(),
            ),
            None => println!("  {who:<16} not measured"),
        }
    }
    best
}

/// The faster of two measurements.
fn faster(one: Option<Measured>, other: Option<Measured>) -> Option<Measured> {
    one.into_iter().chain(other).min_by(|one, other| one.seconds.total_cmp(&other.seconds))
}

/// Runs this very program for one measurement.
fn measure(who: &str, model: &str, threads: usize) -> Option<Measured> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args(["measure", who, model, &threads.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace();
    Some(Measured {
        states: words.next()?.parse().ok()?,
        seconds: words.next()?.parse().ok()?,
        bytes: words.next()?.parse().ok()?,
    })
}

/// Spin's own model of Dolev–Klawe–Rodeh with seven processes, with its reduction and without.
fn against_spin(folder: Option<&str>, rounds: usize) {
    println!("dolev-klawe-rodeh, 7 processes, 1 thread:");
    for (ours, theirs) in [("habemus", "pan-full"), ("habemus-reduced", "pan-reduced")] {
        let (mut mine, mut spins) = (None, None);
        for _ in 0..rounds {
            mine = faster(mine, measure(ours, "dolev-klawe-rodeh", 1));
            spins = faster(spins, folder.and_then(|folder| spin(folder, theirs)));
        }
        for (who, measured) in [(ours, mine), (theirs, spins)] {
            match measured {
                Some(found) => println!(
                    "  {who:<16} {:>9} states {:>8.3} s {:>10.0} states/s",
                    found.states,
                    found.seconds,
                    found.rate()
                ),
                None => println!("  {who:<16} not measured"),
            }
        }
        if let (Some(mine), Some(spins)) = (mine, spins) {
            println!("  {:>6.2} times faster to the verdict", spins.seconds / mine.seconds);
        }
    }
}

/// Runs a program that spin made, and reads its report.
fn spin(folder: &str, program: &str) -> Option<Measured> {
    let begin = std::time::Instant::now();
    let output = Command::new(format!("{folder}/{program}")).args(["-m100000", "-w24"]).output().ok()?;
    let seconds = begin.elapsed().as_secs_f64();
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find(|line| line.contains("states, stored"))?;
    let states = line.split_whitespace().next()?.parse::<f64>().ok()?;
    assert!(text.contains("errors: 0"), "spin finds nothing wrong: {text}");
    Some(Measured { states: states as u64, seconds, bytes: 0 })
}
