//! `habemus list`: the catalogue.

use std::fmt::Write;

use clap::Args;
use habemus::catalogue::{self, ENTRIES, Entry, Fault, Faults, Promise};
use owo_colors::OwoColorize;
use serde_json::json;

use crate::error::CliError;
use crate::show::wrap;
use crate::{Outcome, output};

/// Show the catalogue: every algorithm, or all about one.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus list
  habemus list bully
  habemus list --json")]
pub(crate) struct List {
    /// An algorithm to show everything about.
    algorithm: Option<String>,
    /// For machines.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let entries: Vec<&Entry> = match &self.algorithm {
            Some(name) => vec![catalogue::entry(name)?],
            None => ENTRIES.iter().collect(),
        };
        if self.json {
            let list: Vec<_> = entries.iter().map(|entry| as_json(entry)).collect();
            output::print_json(&list)?;
        } else if let (Some(_), [entry]) = (&self.algorithm, entries.as_slice()) {
            output::print(&in_full(entry))?;
        } else {
            output::print(&overview())?;
        }
        Ok(Outcome::Holds)
    }
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
    text.push_str("\nhabemus list ALGORITHM shows its options.\n");
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
    text
}

fn as_json(entry: &Entry) -> serde_json::Value {
    let options = entry.all_options().map(|option| {
        json!({
            "name": option.name, "values": option.values.to_string(), "default": option.default, "help": option.help,
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
