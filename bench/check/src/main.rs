//! How fast the model checker is, beside stateright 0.31 and spin on the same models.
//!
//!     habemus-bench-check report SPIN_FOLDER [--quick] measures everything and prints ratios
//!     habemus-bench-check measure WHO MODEL THREADS    one measurement, in a process of its own

mod models;
mod report;
#[path = "../../../crates/habemus-check/tests/check/rival.rs"]
mod rival;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["measure", who, model, threads] => match threads.parse() {
            Ok(threads) => models::measure(who, model, threads),
            Err(_) => usage(),
        },
        ["report", spin] => report::report(Some(spin), false),
        ["report", spin, "--quick"] => report::report(Some(spin), true),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: habemus-bench-check report SPIN_FOLDER [--quick] | measure WHO MODEL THREADS");
    ExitCode::from(2)
}
