//! The report of a sweep.

use std::fmt::Write;

use habemus_scenario::Scenario;
use habemus_sim::{Shrunk, SweepReport};
use owo_colors::OwoColorize;

use super::{grouped, plural, wrap};

pub(crate) fn sweep(
    scenario: &Scenario,
    report: &SweepReport,
    shrunk: Option<&Shrunk>,
    replay: Option<&str>,
) -> String {
    let mut text = String::new();
    let processes = plural(scenario.ids.len() as u64, "process", "processes");
    let runs = plural(report.runs, "run", "runs");
    let _ = writeln!(text, "{} · {processes} · {runs}\n", scenario.algorithm.cyan().bold());
    for (label, value) in [
        ("events", report.events),
        ("messages", report.messages),
        ("crashes", report.crashes),
        ("leader changes", report.leader_changes),
    ] {
        let _ = writeln!(text, "{label:<20} {:>16}", grouped(value));
    }
    let heads = ["holds", "violated", "open", "outside"].map(|head| format!("{head:>10}")).join(" ");
    let _ = writeln!(text, "\n{:<20} {heads}", "property");
    for (name, tally) in &report.properties {
        if tally.does_not_apply == report.runs && report.runs > 0 {
            let _ = writeln!(text, "{name:<20} {:>10}", "does not apply");
            continue;
        }
        let counts = [tally.holds, tally.violated, tally.open, tally.outside];
        let counts = counts.map(|count| format!("{:>10}", grouped(count))).join(" ");
        let _ = writeln!(text, "{name:<20} {counts}");
    }
    if report.properties.values().any(|tally| tally.outside > 0) {
        let note = "in so many of the runs that violate a property it is not promised: they are outside the \
                    algorithm's model, or it promises it under none.";
        text.push_str(&wrap("note: ", note, 80));
    }
    text.push('\n');
    match &report.first_failure {
        None if report.runs < report.asked => {
            let asked = grouped(report.asked);
            let _ = writeln!(text, "{} {runs} of {asked}, all as expected", "stopped:".yellow().bold());
        }
        None => {
            let _ = writeln!(text, "{} all as expected", "ok:".green().bold());
        }
        Some(failure) => {
            let failures = shrunk.map_or(&failure.failures, |shrunk| &shrunk.failures);
            for failure in failures {
                text.push_str(&wrap("  ", failure, 80));
            }
            if let Some(shrunk) = shrunk {
                let from = plural(shrunk.faults_before as u64, "fault", "faults");
                let to = grouped(shrunk.faults_after as u64);
                let tries = plural(u64::from(shrunk.tries), "try", "tries");
                let _ = writeln!(text, "  Shrunk from {from} to {to} in {tries}.");
            }
            if let Some(replay) = replay {
                let _ = writeln!(text, "  Replay: {}", format!("{replay} --draw text").bold());
            }
            let count = plural(report.failures, "run", "runs");
            let first = failure.seed;
            let _ = writeln!(
                text,
                "{} {count} not as expected, the first with seed {first}",
                "failed:".red().bold()
            );
        }
    }
    text
}
