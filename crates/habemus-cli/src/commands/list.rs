//! `habemus list`: the catalogue, and what its words mean.

use std::fmt::Write;

use clap::Args;
use habemus::ProblemKind;
use habemus::catalogue::{self, ENTRIES, Entry, Fault, Faults, Promise};
use habemus::property::{self, Explanation};
use habemus_scenario::nearest;
use owo_colors::OwoColorize;
use serde_json::json;

use super::gist::gist;
use crate::error::CliError;
use crate::show::wrap;
use crate::{Outcome, output};

/// Show the algorithms, all about one, or what a property means.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus list
  habemus list --long
  habemus list bully
  habemus list EM1
  habemus list S4
  habemus list --json")]
pub(crate) struct List {
    /// An algorithm to show everything about, a property (EM1), or lecture notes (S4).
    name: Option<String>,
    /// Show the model, guarantees and cost of each.
    #[arg(long)]
    long: bool,
    /// For machines.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let explained = self.name.as_deref().filter(|_| !self.json).and_then(explain);
        if let Some(text) = explained {
            output::print(&text)?;
            return Ok(Outcome::Holds);
        }
        let entries: Vec<&Entry> = match &self.name {
            Some(name) => vec![found(name)?],
            None => ENTRIES.iter().collect(),
        };
        if self.json {
            let list: Vec<_> = entries.iter().map(|entry| as_json(entry)).collect();
            output::print_json(&list)?;
        } else if let (Some(_), [entry]) = (&self.name, entries.as_slice()) {
            output::print(&in_full(entry))?;
        } else if self.long {
            output::print(&overview())?;
        } else {
            output::print(&in_lines())?;
        }
        Ok(Outcome::Holds)
    }
}

/// The algorithm of this name.
fn found(name: &str) -> Result<&'static Entry, CliError> {
    catalogue::entry(name).map_err(|error| {
        let properties = property::EXPLANATIONS.iter().map(|property| property.name);
        match nearest(name, properties) {
            Some(property) => CliError::help(
                format!("there is neither an algorithm nor a property `{name}`"),
                format!("did you mean the property `{property}`?"),
            ),
            None => error.into(),
        }
    })
}

/// A property or lecture notes in plain words.
fn explain(name: &str) -> Option<String> {
    if let Some(notes) = property::NOTES.iter().find(|notes| notes.label.eq_ignore_ascii_case(name)) {
        let mut text = format!("{}  {}\n", notes.label.cyan().bold(), notes.title.bold());
        for line in [notes.translation, notes.author] {
            text.push_str(&wrap("    ", line, 80));
        }
        text.push_str("\ndocs/coverage.md says where each of its sentences is found here.\n");
        return Some(text);
    }
    let texts: Vec<String> = property::explanations(name).map(in_words).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn in_words(property: &Explanation) -> String {
    let mut text = format!("{}: {}\n", property.name.cyan().bold(), property.title.bold());
    text.push_str(&wrap("  ", &format!("A property of {}.", of(property.problem)), 80));
    text.push_str(&wrap("  ", property.words, 80));
    text.push_str(&wrap("  Broken if: ", property.broken, 80));
    if let Some(quotation) = &property.quotation {
        text.push_str(&wrap(
            &format!("  Notes {}: ", quotation.notes),
            &format!("“{}”", quotation.sentence),
            80,
        ));
        text.push_str(&wrap("  In English: ", &format!("“{}”", quotation.translation), 80));
    } else {
        text.push_str("  It is not in the lecture notes.\n");
    }
    let promised = ENTRIES.iter().filter(|entry| {
        entry.problem == property.problem
            && entry.promises.iter().any(|promise| promise.property == property.name)
    });
    let names: Vec<&str> = promised.map(|entry| entry.name).collect();
    let names = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    text.push_str(&wrap("  Promised by: ", &names, 80));
    text
}

/// A problem in a few words.
fn of(problem: ProblemKind) -> &'static str {
    match problem {
        ProblemKind::Election => "elections, where one process is to lead and all are to know it",
        ProblemKind::MutualExclusion => "mutual exclusion, where one at a time may be inside",
        ProblemKind::Agreement => "agreement, where all are to decide the same",
        ProblemKind::FailureDetection => "failure detection, where all are to know who has crashed",
    }
}

/// One line for each algorithm.
fn in_lines() -> String {
    let mut text = String::new();
    let width = ENTRIES.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let mut problem = None;
    for entry in ENTRIES {
        if problem != Some(entry.problem) {
            let gap = if problem.is_none() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", of(entry.problem).replacen(',', ":", 1).bold());
            problem = Some(entry.problem);
        }
        let padding = " ".repeat(width - entry.name.len());
        let summary = gist(entry.name, entry.summary, 80 - 4 - width);
        let _ = writeln!(text, "  {}{padding}  {summary}", entry.name.cyan());
    }
    text.push_str("\nhabemus list NAME shows all about one, --long what each promises and costs,\n");
    text.push_str("list EM1 what the property EM1 means, and docs/properties.md all properties.\n");
    text
}

fn overview() -> String {
    let mut text = String::new();
    let mut problem = None;
    for entry in ENTRIES {
        if problem != Some(entry.problem) {
            let gap = if problem.is_none() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", entry.problem.bold().underline());
            problem = Some(entry.problem);
        }
        let _ = writeln!(text, "\n{}", entry.name.cyan().bold());
        text.push_str(&wrap("  ", entry.summary, 80));
        for (label, value) in facts(entry) {
            text.push_str(&wrap(&format!("  {label:<11}"), &value, 80));
        }
    }
    text.push_str("\nhabemus list ALGORITHM shows its options, habemus list EM1 what EM1 means.\n");
    text
}

fn facts(entry: &Entry) -> Vec<(&'static str, String)> {
    vec![
        ("model", entry.model.to_string()),
        ("topology", entry.topologies.join(", ")),
        ("guarantees", guarantees(entry)),
        ("messages", entry.cost.to_owned()),
        ("notes", entry.notes.to_owned()),
    ]
}

/// What it promises, with what the promises do not cover: "E2, agreement; E1 not under partitions, for …".
fn guarantees(entry: &Entry) -> String {
    let always = entry.promises.iter().filter(|promise| promise.except.is_empty());
    let mut parts = vec![always.map(|promise| promise.property).collect::<Vec<_>>().join(", ")];
    let mut excepted: Vec<&Promise> =
        entry.promises.iter().filter(|promise| !promise.except.is_empty()).collect();
    while let Some(first) = excepted.first().copied() {
        let alike = |other: &&Promise| (other.except, other.because) == (first.except, first.because);
        let names: Vec<&str> =
            excepted.iter().copied().filter(alike).map(|promise| promise.property).collect();
        parts.push(format!("{}, but not under {}: {}", names.join(", "), first.except, first.because));
        excepted.retain(|other| !alike(other));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

fn in_full(entry: &Entry) -> String {
    let mut text = format!("{}\n{}\n", entry.name.cyan().bold(), wrap("", entry.summary, 80));
    let detectors =
        if entry.detectors.is_empty() { "none needed".to_owned() } else { entry.detectors.join(", ") };
    let problem = vec![("solves", entry.problem.to_string())];
    for (label, value) in problem.into_iter().chain(facts(entry)).chain([("detectors", detectors)]) {
        text.push_str(&wrap(&format!("{label:<12}"), &value, 80));
    }
    let _ = writeln!(text, "\n{} (-o NAME=VALUE)", "Options".bold());
    for option in entry.all_options() {
        let label = format!("  {} = ", option.name);
        let bold = option.name.bold().to_string();
        text.push_str(&wrap(&label, &option.values.to_string(), 80).replacen(option.name, &bold, 1));
        let help = format!("{} [default: {}]", option.help, option.default);
        text.push_str(&wrap("      ", &help, 80));
    }
    let _ = writeln!(text, "\nTry: habemus run {} --draw text", entry.name);
    if let Some(promise) = entry.promises.first() {
        let _ = writeln!(text, "     habemus list {}, if you wonder what that means", promise.property);
    }
    text
}

fn as_json(entry: &Entry) -> serde_json::Value {
    let options = entry.all_options().map(|option| {
        json!({
            "name": option.name,
            "values": option.values.to_string(),
            "default": option.default,
            "help": option.help,
        })
    });
    json!({
        "name": entry.name,
        "problem": entry.problem,
        "summary": entry.summary,
        "model": entry.model.to_string(),
        "topologies": entry.topologies,
        "detectors": entry.detectors,
        "faults": names(entry.model.faults()),
        "guarantees": entry.promises.iter().map(|promise| json!({
            "property": promise.property,
            "under": names(promise.under(&entry.model)),
            "because": promise.because,
        })).collect::<Vec<_>>(),
        "cost": entry.cost,
        "notes": entry.notes,
        "options": options.collect::<Vec<_>>(),
    })
}

fn names(faults: Faults) -> Vec<&'static str> {
    faults.iter().map(Fault::name).collect()
}
