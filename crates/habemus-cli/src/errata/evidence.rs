//! Makes what shows an erratum: checks, runs and sums.

use habemus_check::guarantees::Case;
use habemus_check::{CheckHandle, CheckVerdict};
use habemus_report::Finding;
use habemus_trace::draw;

use super::Evidence;
use crate::error::CliError;
use crate::show::{grouped, plural};

/// Pictures are as wide as a terminal.
const WIDTH: usize = 80;

/// What a piece of evidence comes to.
pub(super) enum Exhibit {
    /// A command, what it shows, and the run.
    Found { command: String, verdict: String, picture: Option<String> },
    /// A table: its heading, and rows of which the first is the head.
    Counted { about: String, rows: Vec<[String; 3]> },
    /// Figures of a command, and what they count.
    Figures { command: String, unit: &'static str, rows: Vec<(String, String)> },
}

pub(super) fn exhibits(evidence: &Evidence, handle: &CheckHandle) -> Result<Vec<Exhibit>, CliError> {
    match evidence {
        Evidence::Refuted { literal, property, corrected } => {
            Ok(vec![found(literal, property, handle)?, found(corrected, property, handle)?])
        }
        Evidence::Measured { about, scenario, literal } => Ok(vec![counted(about, scenario, literal)?]),
        Evidence::Played { file, scenario } => Ok(vec![played(file, scenario)?]),
        Evidence::Computed { command, unit, rows } => {
            Ok(vec![Exhibit::Figures { command: (*command).to_owned(), unit, rows: rows() }])
        }
    }
}

/// What the checker says of a property.
fn found(case: &'static Case, property: &str, handle: &CheckHandle) -> Result<Exhibit, CliError> {
    let unfit = || CliError::new(format!("{} cannot be checked like this", case.algorithm));
    let model = case.model().ok_or_else(unfit)?;
    let (_, report) = model.check(handle).ok_or_else(unfit)?;
    let line = report.property(property).ok_or_else(unfit)?;
    let processes = plural(report.processes as u64, "process", "processes");
    let verdict = match line.verdict {
        CheckVerdict::Violated => {
            let steps = plural(line.steps.unwrap_or(0) as u64, "step", "steps");
            let why = line.explanation.as_deref().unwrap_or_default();
            let bound = if line.shortest == Some(false) { "at most " } else { "" };
            format!("{property} is broken after {bound}{steps}: {why}.")
        }
        CheckVerdict::Holds => {
            let states = plural(report.states, "state", "states");
            format!("Corrected, {property} is proved for {processes}, over {states}.")
        }
        _ => format!("{property} is open."),
    };
    let options = draw::Options { width: WIDTH, ..draw::Options::default() };
    let picture = line.counterexample.as_ref().map(|trace| draw::text(trace, &options));
    Ok(Exhibit::Found { command: format!("{} --property {property}", model.command()), verdict, picture })
}

/// What a run breaks, and its picture.
fn played(file: &str, scenario: &str) -> Result<Exhibit, CliError> {
    let scenario = habemus_scenario::parse("exhibit", scenario)
        .map_err(|errors| CliError::File(Box::new(errors)))?
        .scenario;
    let report = habemus_sim::run(&scenario, true)?;
    let broken: Vec<String> = report
        .properties
        .iter()
        .filter(|line| line.verdict == Finding::Violated)
        .map(|line| format!("{} is broken: {}.", line.name, line.explanation.as_deref().unwrap_or_default()))
        .collect();
    let options = draw::Options { width: WIDTH, ..draw::Options::default() };
    let picture = report.trace.as_ref().map(|trace| draw::text(trace, &options));
    Ok(Exhibit::Found { command: format!("habemus run {file}"), verdict: broken.join(" "), picture })
}

/// How many messages of each kind the literal version and the corrected one send in the same run.
fn counted(about: &str, scenario: &str, literal: &str) -> Result<Exhibit, CliError> {
    let mut scenario = habemus_scenario::parse("exhibit", scenario)
        .map_err(|errors| CliError::File(Box::new(errors)))?
        .scenario;
    let printed = habemus_sim::run(&scenario, false)?;
    scenario.options.remove("variant");
    // Its messages may be of other kinds.
    scenario.expect.messages.clear();
    let corrected = habemus_sim::run(&scenario, false)?;
    let (printed, corrected) = (printed.statistics, corrected.statistics);
    let mut rows = vec![["messages".to_owned(), literal.to_owned(), "corrected".to_owned()]];
    rows.push(["in all".to_owned(), grouped(printed.messages), grouped(corrected.messages)]);
    let mut kinds: Vec<&String> = printed.by_kind.keys().chain(corrected.by_kind.keys()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let count = |by_kind: &std::collections::BTreeMap<String, u64>| {
            grouped(by_kind.get(kind).copied().unwrap_or(0))
        };
        rows.push([kind.clone(), count(&printed.by_kind), count(&corrected.by_kind)]);
    }
    Ok(Exhibit::Counted { about: about.to_owned(), rows })
}
