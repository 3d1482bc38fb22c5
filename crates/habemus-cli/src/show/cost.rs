//! Measured costs as a table and as CSV.

use std::fmt::Write;

use habemus::analysis::{Again, Arrangement, Start};
use habemus_sim::{CostPoint, CostRequest};
use owo_colors::OwoColorize;

use super::grouped;
use crate::commands::cost::CaseReport;

/// What is measured, in words: "all start, random arrangement".
pub(crate) fn circumstances(request: &CostRequest) -> String {
    match request.again {
        Some(Again::Crash) => return "held again after a crash".to_owned(),
        Some(Again::Recovery) => return "held again after a recovery".to_owned(),
        None => {}
    }
    let start = match request.start {
        Start::All => "all start",
        Start::One => "one starts",
    };
    let arrangement = match request.arrangement {
        Arrangement::Random => "random",
        Arrangement::Best => "best",
        Arrangement::Worst => "worst",
    };
    format!("{start}, {arrangement} arrangement")
}

pub(crate) fn cost_heading(request: &CostRequest) -> String {
    let runs = super::plural(request.seeds, "run", "runs");
    format!(
        "{} · messages · {} · {runs} each\n\n{:>9} {:>13} {:>15} {:>13} {:>15} {:>7}\n",
        request.algorithm.cyan().bold(),
        circumstances(request),
        "processes",
        "min",
        "mean",
        "max",
        "theory",
        "ratio",
    )
}

pub(crate) fn cost_row(point: &CostPoint) -> String {
    let theory = point.theory.map_or("–".to_owned(), figure);
    let ratio = point.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
    let row = format!(
        "{:>9} {:>13} {:>15} {:>13} {theory:>15} {ratio:>7}",
        grouped(point.processes as u64),
        grouped(point.min),
        figure(point.mean),
        grouped(point.max),
    );
    if point.broken.is_some() { row.red().to_string() } else { row }
}

/// One case of `--all` in a line: its largest size, and every size at which it is wrong below.
pub(crate) fn cost_report(report: &CaseReport) -> String {
    let Some(last) = report.points.last() else { return String::new() };
    let theory = match (last.theory, last.theory_kind, last.formula) {
        (Some(theory), Some(kind), Some(formula)) => format!("{kind} {} = {formula}", figure(theory)),
        _ => "nothing is known".to_owned(),
    };
    let sent = if last.min == last.max {
        grouped(last.max)
    } else {
        format!("{} to {}", grouped(last.min), grouped(last.max))
    };
    let name = format!("{:<24}", report.algorithm);
    let mut text = format!("{} {:<30} n = {}: {sent}; {theory}", name.cyan(), report.case, last.processes);
    for (point, broken) in report.points.iter().filter_map(|point| Some((point, point.broken.as_ref()?))) {
        let _ = write!(text, "\n  {} n = {}: {broken}", "✗".red().bold(), point.processes);
    }
    text
}

/// Whether theory and runs agree.
pub(crate) fn cost_verdict(points: &[CostPoint]) -> String {
    if points.iter().all(|point| point.broken.is_none()) {
        format!("{} no run contradicts it\n", "ok:".green().bold())
    } else {
        format!("{} theory and runs disagree\n", "failed:".red().bold())
    }
}

pub(crate) fn cost_summary(points: &[CostPoint]) -> String {
    let mut text = String::new();
    let known = points.iter().find_map(|point| Some((point.theory_kind?, point.formula?)));
    if let Some((kind, formula)) = known {
        let _ = writeln!(text, "\nTheory: {kind} {formula} messages.");
    }
    for broken in points.iter().filter_map(|point| point.broken.as_ref()) {
        let _ = writeln!(text, "{} {broken}", "✗".red().bold());
    }
    if known.is_some() {
        text.push_str(&cost_verdict(points));
    }
    text
}

pub(crate) fn cost_csv(points: &[CostPoint]) -> String {
    let mut text = String::from("processes,runs,min,mean,max,longest_chain,theory,kind,formula,ratio\n");
    for point in points {
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            point.processes,
            point.runs,
            point.min,
            point.mean,
            point.max,
            point.longest_chain,
            number(point.theory),
            point.theory_kind.unwrap_or_default(),
            point.formula.unwrap_or_default(),
            number(point.ratio),
        );
    }
    text
}

fn figure(value: f64) -> String {
    if value.fract() == 0.0 {
        grouped(value as u64)
    } else {
        format!("{}.{}", grouped(value as u64), tenth(value))
    }
}

fn tenth(value: f64) -> u64 {
    ((value.fract() * 10.0) as u64).min(9)
}
