//! Two algorithms side by side.

use std::fmt::Write;

use habemus::ProblemKind;
use habemus_report::{Finding, PropertyLine};
use owo_colors::OwoColorize;

use super::{grouped, plural, span, wrap};
use crate::commands::compare::Compared;

/// Columns of the labels, and of each algorithm.
const LABEL: usize = 24;
const COLUMN: usize = 28;

/// The table, at most eighty columns wide.
pub(crate) fn comparison(pair: &[Compared; 2]) -> String {
    let report = &pair[0].report;
    let processes = plural(report.processes as u64, "process", "processes");
    let mut text = format!("{} · {processes} · seed {}\n\n", report.problem, report.seed);
    let names = pair.each_ref().map(|one| one.report.algorithm.clone());
    let [one, other] = &names;
    let _ = writeln!(text, "{:LABEL$}{:COLUMN$}{}", "", one.cyan().bold(), other.cyan().bold());
    let mut row = |label: &str, value: &dyn Fn(&Compared) -> String| {
        let [one, other] = [value(&pair[0]), value(&pair[1])];
        text.push_str(&beside(label, &one, &other));
    };
    row("model", &|one| one.entry.model.to_string());
    row("topology", &|one| one.entry.topologies.first().copied().unwrap_or_default().to_owned());
    match report.problem {
        ProblemKind::Election => {
            row("leader", &|one| {
                one.report.leader.map_or_else(|| "none that all know".to_owned(), |id| id.to_string())
            });
            row("time to a leader", &|one| time(one.first));
            row("time until all know it", &|one| time(one.last.filter(|_| one.report.leader.is_some())));
        }
        ProblemKind::Agreement => {
            row("processes that decided", &|one| one.report.decided.len().to_string());
            row("time to a decision", &|one| time(one.first));
            row("time to the last", &|one| time(one.last));
        }
        ProblemKind::MutualExclusion | ProblemKind::FailureDetection => {
            row("entries", &|one| grouped(one.report.statistics.entries));
            row("time to the first", &|one| time(one.first));
            row("waiting, on average", &|one| {
                time(one.report.statistics.waiting.mean().map(|mean| mean as u64))
            });
        }
    }
    row("time of the run", &|one| span(one.report.statistics.time));
    row("messages", &|one| grouped(one.report.statistics.messages));
    row("  of them, detectors'", &|one| grouped(one.report.statistics.background));
    if report.problem == ProblemKind::MutualExclusion {
        row("messages per entry", &|one| {
            ratio(one.report.statistics.messages, one.report.statistics.entries)
        });
    }
    row("bits", &|one| grouped(one.report.statistics.bytes * 8));
    row("bits of the largest", &|one| grouped(one.report.statistics.largest * 8));
    row("longest chain", &|one| {
        plural(u64::from(one.report.statistics.longest_chain), "message", "messages")
    });
    row("messages in theory", &|one| one.entry.cost.to_owned());
    text.push('\n');
    for property in properties(pair) {
        let [one, other] = pair.each_ref().map(|compared| {
            compared
                .report
                .properties
                .iter()
                .find(|line| line.name == property)
                .map_or("–".to_owned(), standing)
        });
        text.push_str(&beside(&property, &one, &other));
    }
    text.push('\n');
    let same = "Both had the same seed, latencies and faults; habemus list NAME explains a property.";
    text.push_str(&wrap("", same, 80));
    for failure in pair.iter().flat_map(|one| one.report.failures.iter().map(move |why| (one, why))) {
        text.push_str(&wrap(&format!("{}: ", failure.0.report.algorithm), failure.1, 80));
    }
    text
}

/// A row: long texts go on below themselves.
fn beside(label: &str, one: &str, other: &str) -> String {
    let cells = [one, other].map(|cell| wrap("", cell, COLUMN - 2));
    let [one, other] = cells.each_ref().map(|cell| cell.lines().collect::<Vec<_>>());
    let mut text = String::new();
    for line in 0..one.len().max(other.len()) {
        let label = if line == 0 { label } else { "" };
        let part = |lines: &[&str]| lines.get(line).copied().unwrap_or_default().to_owned();
        let row = format!("{label:LABEL$}{:COLUMN$}{}", part(&one), part(&other));
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

/// The properties of the two, those of the first in their order.
fn properties(pair: &[Compared; 2]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in pair.iter().flat_map(|one| &one.report.properties) {
        if !names.contains(&line.name) {
            names.push(line.name.clone());
        }
    }
    names
}

/// What is promised of a property, and what came of it.
fn standing(line: &PropertyLine) -> String {
    let promise = if line.promised { "promised" } else { "not promised" };
    match line.verdict {
        Finding::Holds => format!("✓ {promise}"),
        Finding::Violated => format!("✗ violated, {promise}"),
        Finding::DoesNotApply => "does not apply".to_owned(),
        Finding::Open | Finding::NotFound | Finding::NotCovered => format!("? open, {promise}"),
    }
}

fn time(at: Option<u64>) -> String {
    at.map_or_else(|| "never".to_owned(), span)
}

fn ratio(messages: u64, entries: u64) -> String {
    if entries == 0 { "–".to_owned() } else { format!("{:.1}", messages as f64 / entries as f64) }
}
