//! The report of a sweep.

use std::fmt::Write;

use std::path::Path;

use habemus_sim::{SweepPart, SweepReport};
use owo_colors::OwoColorize;

use super::{grouped, plural, wrap};
use crate::commands::sweep::Swept;
use crate::output;

/// One scenario that was swept.
pub(crate) fn sweep(swept: &Swept) -> String {
    let Swept { scenario, report, .. } = swept;
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
    for (line, runs) in &report.unmet {
        let runs = plural(*runs, "run", "runs");
        text.push_str(&wrap("note: ", &format!("this never came in {runs}: {line}"), 80));
    }
    text.push_str(&verdict(swept));
    text
}

/// Several scenarios that were swept, a line each, and what is wrong with some.
pub(crate) fn sweep_all(all: &[Swept], missing: &[u64]) -> String {
    let mut text = format!("{:<44} {:>11} {:>11} {:>11}\n", "scenario", "runs", "failed", "open");
    for Swept { name, report, .. } in all {
        let [runs, failed, open] = [report.runs, report.failures, report.open].map(grouped);
        let line = format!("{name:<44} {runs:>11} {failed:>11} {open:>11}");
        let _ = match (report.failures, report.open) {
            (0, 0) => writeln!(text, "{line}"),
            (0, _) => writeln!(text, "{}", line.yellow()),
            _ => writeln!(text, "{}", line.red()),
        };
    }
    text.push('\n');
    for swept in all.iter().filter(|swept| swept.report.failures > 0 || swept.report.open > 0) {
        let _ = writeln!(text, "{}", swept.name.cyan().bold());
        text.push_str(&verdict(swept));
    }
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(u64::to_string).collect();
        let sentence = format!("these parts are missing: {}", missing.join(", "));
        text.push_str(&wrap("@ ", &sentence, 80).replacen('@', &"stopped:".yellow().bold().to_string(), 1));
    }
    text.push_str(&summary(all.iter().map(|swept| &swept.report), missing.is_empty()));
    text
}

/// A part of a sweep, and where it was written.
pub(crate) fn sweep_part(part: &SweepPart, path: &Path) -> String {
    let part_of = format!("part {} of {}", part.shard.number, part.shard.of);
    let to = output::shell_word(path);
    let summary = summary(part.cases.iter().map(|case| &case.report), true);
    format!("{part_of}, written to {}\n{summary}", to.bold())
}

/// What all came to, in a line.
fn summary<'a>(reports: impl Iterator<Item = &'a SweepReport>, complete: bool) -> String {
    let (mut runs, mut asked, mut failed, mut open) = (0, 0, 0, 0);
    for report in reports {
        runs += report.runs;
        asked += report.asked;
        failed += report.failures;
        open += report.open;
    }
    let of = plural(runs, "run", "runs");
    if failed > 0 {
        format!("{} {} of {of} not as expected\n", "failed:".red().bold(), grouped(failed))
    } else if open > 0 {
        format!("{} {} of {of} cut off too early\n", "open:".yellow().bold(), grouped(open))
    } else if runs < asked || !complete {
        format!("{} {of}, all as expected\n", "stopped:".yellow().bold())
    } else {
        format!("{} {of}, all as expected\n", "ok:".green().bold())
    }
}

/// What one sweep came to, with its first failure.
fn verdict(Swept { report, shrunk, replay, .. }: &Swept) -> String {
    let mut text = String::new();
    let runs = plural(report.runs, "run", "runs");
    match &report.first_failure {
        None if report.runs < report.asked => {
            let asked = grouped(report.asked);
            let _ = writeln!(text, "{} {runs} of {asked}, all as expected", "stopped:".yellow().bold());
        }
        None if report.open > 0 => {
            for open in report.first_open.iter().flat_map(|open| &open.failures) {
                text.push_str(&wrap("  ", open, 80));
            }
            let first = report.first_open.as_ref().map_or(0, |open| open.seed);
            let count = plural(report.open, "run was", "runs were");
            let _ = writeln!(
                text,
                "{} {count} cut off too early, the first with seed {first}",
                "open:".yellow().bold()
            );
        }
        None => {
            let _ = writeln!(text, "{} all as expected", "ok:".green().bold());
        }
        Some(failure) => {
            let failures = shrunk.as_ref().map_or(&failure.failures, |shrunk| &shrunk.failures);
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
