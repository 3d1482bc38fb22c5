//! The report of a check.

use std::fmt::Write;

use habemus::ProblemKind;
use habemus_check::{
    ANY_NUMBER, CheckReport, CheckVerdict, CheckedProperty, DeliveryOrder, Extent, Properties, Setting,
    Speed, Start, Timers,
};
use habemus_scenario::{Scenario, units};
use owo_colors::OwoColorize;

use super::{grouped, ids, plural, wrap};
use crate::commands::check::{faults, id, is_checked};

const WIDTH: usize = 80;

pub(crate) fn check(scenario: &Scenario, setting: &Setting, report: &CheckReport) -> String {
    let mut text = String::new();
    let processes = plural(report.processes as u64, "process", "processes");
    let _ = writeln!(text, "{} · {processes}", report.algorithm.cyan().bold());
    text.push_str(&wrap("", &circumstances(scenario, setting, report), WIDTH));
    text.push('\n');
    let what = format!(
        "{}, {}, {} deep, in {:.2} s.",
        plural(report.states, "state", "states"),
        plural(report.transitions, "transition", "transitions"),
        grouped(u64::from(report.depth)),
        report.seconds
    );
    text.push_str(&wrap("", &format!("{}: {what}", capitalised(&report.stop)), WIDTH));
    text.push('\n');
    for line in report.properties.iter().filter(|line| is_checked(line.verdict) || is_claimed(line)) {
        text.push_str(&property(line));
    }
    for line in report.sometimes.iter().filter(|line| !line.reached) {
        let said = if report.extent == Extent::Complete { "never" } else { "not seen yet" };
        text.push_str(&sign(&wrap(&format!("@ {:<20} ", line.what), said, WIDTH), &"✗".red().to_string()));
    }
    text.push('\n');
    if !report.never.is_empty() {
        let said = if report.extent == Extent::Complete { "never handled" } else { "not handled so far" };
        text.push_str(&wrap("note: ", &format!("{said}: {}", report.never.join(", ")), WIDTH));
    }
    for remark in &report.remarks {
        text.push_str(&wrap("note: ", remark, WIDTH));
    }
    text.push_str(&counts(report));
    text.push_str(&verdict(setting, report));
    text
}

/// How many states there are with and without each reduction.
fn counts(report: &CheckReport) -> String {
    let Some(all) = report.counts.first() else { return String::new() };
    let mut text = format!("{:>16} {:>16} {:>8}  reductions\n", "states", "transitions", "depth");
    for line in &report.counts {
        let left: Vec<&str> = line.reductions.iter().map(|reduction| reduction.name()).collect();
        let what = match all.reductions.iter().find(|reduction| !line.reductions.contains(reduction)) {
            _ if left.is_empty() => "none".to_owned(),
            None => left.join(", "),
            Some(missing) => format!("without {}", missing.name()),
        };
        let bound = if line.complete { "" } else { "≥ " };
        let states = format!("{bound}{}", grouped(line.states));
        let (transitions, depth) = (grouped(line.transitions), grouped(u64::from(line.depth)));
        let _ = writeln!(text, "{states:>16} {transitions:>16} {depth:>8}  {what}");
    }
    text.push('\n');
    text
}

/// Whether the algorithm promises it, under these circumstances or others.
fn is_claimed(line: &CheckedProperty) -> bool {
    line.promised || line.outside.is_some()
}

fn circumstances(scenario: &Scenario, setting: &Setting, report: &CheckReport) -> String {
    let order = match setting.order {
        DeliveryOrder::Fifo => "FIFO links",
        DeliveryOrder::Any => "messages in any order",
    };
    let timers = match setting.timers {
        Timers::AnyTime => "timers at any time".to_owned(),
        Timers::MessagesFirst => "messages before timers".to_owned(),
        Timers::LateClients => "messages before timers, late clients".to_owned(),
        Timers::Timed(Speed { drift, delay }) => {
            let (drift, delay) = (f64::from(drift) / 10_000.0, units::show_range(delay));
            format!("clocks that drift by {drift} % at most, messages that take {delay}")
        }
    };
    let clients = match (report.problem, &setting.start) {
        (ProblemKind::MutualExclusion, _) if setting.entries == ANY_NUMBER => {
            "any number of entries".to_owned()
        }
        (ProblemKind::MutualExclusion, _) => {
            format!("{} each", plural(u64::from(setting.entries), "entry", "entries"))
        }
        (_, Start::AnyOne) => "started by one process, whichever".to_owned(),
        (_, Start::EveryChoice) => "every choice of those who start".to_owned(),
        (_, Start::These(starters)) => {
            let those: Vec<u64> = starters.iter().map(|address| id(scenario, *address).0).collect();
            format!("started by {}", ids(&those))
        }
    };
    capitalised(&format!("{clients}; {order}; {timers}; {}.", faults(&setting.budget)))
}

fn property(line: &CheckedProperty) -> String {
    let mark = match line.verdict {
        CheckVerdict::Holds => "✓".green().to_string(),
        CheckVerdict::Violated if line.promised => "✗".red().bold().to_string(),
        CheckVerdict::Violated => "✗".dimmed().to_string(),
        CheckVerdict::NotFound | CheckVerdict::NotCovered => "?".yellow().to_string(),
        CheckVerdict::DoesNotApply => "–".dimmed().to_string(),
    };
    let why = line.explanation.as_deref().unwrap_or_default();
    let note = match &line.outside {
        _ if line.promised => String::new(),
        Some(why) => format!(" (outside its model: {why})"),
        None => " (not promised)".to_owned(),
    };
    let said = match line.verdict {
        CheckVerdict::Holds => format!("holds{note}"),
        CheckVerdict::Violated => {
            let steps = plural(line.steps.unwrap_or(0) as u64, "step", "steps");
            let bound = if line.shortest == Some(false) { "at most " } else { "" };
            format!("violated{note} after {bound}{steps}: {why}")
        }
        CheckVerdict::NotFound if why.is_empty() => "no violation in what was explored".to_owned(),
        CheckVerdict::NotFound => format!("open: {why}"),
        CheckVerdict::NotCovered => format!("not covered: {why}"),
        CheckVerdict::DoesNotApply => format!("does not apply: {why}"),
    };
    sign(&wrap(&format!("@ {:<20} ", line.name), &said, WIDTH), &mark)
}

/// Whether everything that is promised was asked for, and not some property by name.
fn is_promised(setting: &Setting) -> bool {
    setting.properties == Properties::Promised
}

/// The sign is one column wide, whatever colours surround it.
fn sign(text: &str, mark: &str) -> String {
    text.replacen('@', mark, 1)
}

fn verdict(setting: &Setting, report: &CheckReport) -> String {
    let processes = plural(report.processes as u64, "process", "processes");
    let processes = match (report.problem, setting.entries) {
        (ProblemKind::MutualExclusion, ANY_NUMBER) => format!("{processes}, however often they enter"),
        _ => processes,
    };
    let is_broken = |line: &&CheckedProperty| line.verdict == CheckVerdict::Violated;
    let is_promise_broken = report.properties.iter().filter(is_broken).any(|line| line.promised);
    let is_outside = report.properties.iter().any(|line| is_broken(&line)) && !is_promise_broken;
    let uncovered: Vec<&str> = report
        .properties
        .iter()
        .filter(|line| line.verdict == CheckVerdict::NotCovered && is_claimed(line) && is_promised(setting))
        .map(|line| line.name.as_str())
        .collect();
    match (report.holds(), report.extent) {
        (false, _) if is_outside => {
            format!("{} not in every run, and not promised here\n", "refuted:".yellow().bold())
        }
        (false, _) => format!("{} not in every run\n", "failed:".red().bold()),
        (true, Extent::Complete) if report.proves() && !uncovered.is_empty() => wrap(
            "",
            &format!(
                "{} proved for {processes}, but for {}: --clocks covers that",
                "ok:".green().bold(),
                uncovered.join(" and ")
            ),
            WIDTH,
        ),
        (true, Extent::Complete) if report.proves() => {
            format!("{} proved for {processes}\n", "ok:".green().bold())
        }
        (true, Extent::Complete) => {
            format!("{} every run was covered, but nothing was put to the test\n", "vacuous:".yellow().bold())
        }
        (true, _) => format!("{} as far as it went\n", "incomplete:".yellow().bold()),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
