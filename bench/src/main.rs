//! The simulator's benchmark.
//!
//! Every measurement takes place in a child process of its own (`habemus-bench measure …`), so that no run
//! inherits the memory of another. The machine may be shared and noisy: only ratios are judged, competitors
//! take turns, and the median of the rounds counts.
//!
//! `bench/run` builds everything, the peers included, and calls this program with the paths of the peers.

mod by_hand;
mod measurement;
mod report;
mod ring;
mod simulated;
mod sweeping;
mod table;
mod token;

use std::process::ExitCode;

use measurement::Measurement;
use report::Settings;
use ring::{Election, Latency};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["measure", what, processes, count] => match (processes.parse(), count.parse()) {
            (Ok(processes), Ok(count)) => measure(what, processes, count),
            _ => usage(),
        },
        ["report", anysystem, madsim] => report::report(&Settings::full(anysystem, madsim)),
        ["report", anysystem, madsim, "--quick"] => report::report(&Settings::quick(anysystem, madsim)),
        _ => usage(),
    }
}

/// Measures one thing and prints the measurement. `count` is the number of runs of an election, which are
/// added up, or the number of the token's hops, or of a sweep's seeds; a sweep takes threads for processes.
fn measure(what: &str, processes: usize, count: u64) -> ExitCode {
    let elections = |latency, run: fn(&Election) -> Measurement| {
        (1..=count).map(|seed| run(&Election { processes, latency, seed })).sum()
    };
    let measurement: Measurement = match what {
        "simulator-uniform" => elections(Latency::Uniform, simulated::unobserved),
        "simulator-constant" => elections(Latency::Constant, simulated::unobserved),
        "loop-uniform" => elections(Latency::Uniform, by_hand::over_the_queue),
        "loop-constant" => elections(Latency::Constant, by_hand::over_the_queue),
        "heap-uniform" => elections(Latency::Uniform, by_hand::over_a_heap),
        "heap-constant" => elections(Latency::Constant, by_hand::over_a_heap),
        "watched" => elections(Latency::Uniform, simulated::watched),
        "traced" => elections(Latency::Uniform, simulated::traced),
        "token" => token::pass(processes, count),
        "sweep" => sweeping::seeds(processes, count),
        _ => return usage(),
    };
    println!("{measurement}");
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: habemus-bench report ANYSYSTEM MADSIM [--quick]");
    eprintln!("       habemus-bench measure WHAT PROCESSES COUNT");
    eprintln!("`bench/run` builds the peers and calls this program as it should be called.");
    ExitCode::from(2)
}
