//! A sweep: one scenario under many seeds, on as many threads as asked for.

use std::time::{Duration, Instant};

use habemus_scenario::{Action, Cue, Occasion, Scenario};
use habemus_sim::{Sweeping, sweep};

use crate::measurement::Measurement;

/// Sweeps the bully among twenty processes, all of whom start. It takes the time of day: the threads share
/// the work, and the time on the processor would be the same for any number of them.
pub(crate) fn seeds(threads: usize, count: u64) -> Measurement {
    let ids: Vec<u64> = (1..=20).collect();
    let elect = Action::Command { word: "elect".to_owned(), processes: ids.clone() };
    let scenario = Scenario {
        algorithm: "bully".to_owned(),
        ids,
        script: vec![Cue { occasion: Occasion::At(Duration::ZERO), action: elect }],
        ..Scenario::default()
    };
    let begin = Instant::now();
    let report = sweep(&scenario, 1, count, threads, &Sweeping::default()).expect("the scenario makes sense");
    assert_eq!((report.runs, report.failures), (count, 0), "every run is as it should be");
    Measurement { messages: report.messages, time: begin.elapsed(), bytes: 0 }
}
