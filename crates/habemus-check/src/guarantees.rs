//! What each algorithm guarantees: every algorithm under every kind of fault, as a table that is kept.
//!
//! The [`manifest`] holds the verdicts and the numbers of states. Tests recheck its quick rows, and
//! `habemus guarantees` rechecks all of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use habemus::catalogue::{ENTRIES, Entry, Request, entry};
use habemus::{Address, DEFAULT_PULSE, Id};
use serde::{Deserialize, Serialize};

use crate::check::{CheckError, check};
use crate::explore::Control;
use crate::report::{Extent, Report, Verdict};
use crate::setting::{Order, Properties, Setting, Start, Timers};

/// The processes of every row.
pub const PROCESSES: u64 = 3;
/// The problems of the table. How many may be faulty is an option of each agreement, not a fault of this list.
pub const PROBLEMS: [&str; 2] = ["election", "mutual exclusion"];
/// The states after which a row is left open.
const MOST_STATES: u64 = 50_000;
/// A row with at most so many states is quick: tests recheck it.
pub const QUICK: u64 = 3_000;

/// One model, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The algorithm.
    pub algorithm: String,
    /// Its variant, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What may go wrong: a name of [`FAULTS`].
    pub faults: String,
    /// Whether every run was covered.
    pub complete: bool,
    /// Distinct states, some orders that make no difference left out.
    pub states: u64,
    /// What became of each property.
    pub properties: BTreeMap<String, Cell>,
}

/// What became of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// It holds in every run.
    Proved,
    /// A shortest run that breaks it has so many steps.
    Refuted(usize),
    /// It was not broken in the states that were reached, but these are not all.
    Open,
}

/// A kind of fault: its name, the flags that ask for it, and what it changes.
type Fault = (&'static str, &'static str, fn(&mut Setting));

/// What may go wrong. Every row but the first two has everybody start.
pub const FAULTS: &[Fault] = &[
    ("none", "", |_| {}),
    ("reordered messages", " --order any", |setting| setting.order = Order::Any),
    ("wrong timeouts", " --timers any", |setting| setting.timers = Timers::AnyTime),
    ("a crash", " --crashes 1", |setting| setting.budget.crashes = 1),
    ("a crash and recovery", " --crashes 1 --recoveries 1", |setting| {
        (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
    }),
    ("a crash and amnesia", " --crashes 1 --recoveries 1 --amnesia", |setting| {
        (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
        setting.budget.amnesia = true;
    }),
    ("a lost message", " --loss 1", |setting| setting.budget.losses = 1),
    ("a doubled message", " --duplication 1", |setting| setting.budget.duplications = 1),
    ("a false suspicion", " --suspicions 1", |setting| setting.budget.suspicions = 1),
    ("a partition", " --partitions 1", |setting| setting.budget.partitions = 1),
];

/// Every model of the table, in order: algorithm, variant, and the number of its fault.
pub fn models() -> Vec<(&'static Entry, Option<&'static str>, usize)> {
    let mut models = Vec::new();
    for entry in ENTRIES.iter().filter(|entry| PROBLEMS.contains(&entry.problem)) {
        let usual = Timers::usual(entry);
        for (fault, (name, ..)) in FAULTS.iter().enumerate() {
            // Timers that are never trusted cannot be wrong.
            if *name != "wrong timeouts" || usual == Timers::MessagesFirst {
                models.push((entry, None, fault));
            }
        }
        models.extend(variants(entry).into_iter().map(|variant| (entry, Some(variant), 0)));
    }
    models
}

/// The variants of an algorithm, the usual one and the mutants aside: the notes' own versions among them.
fn variants(entry: &Entry) -> Vec<&'static str> {
    let option = entry.options.iter().find(|option| option.name == "variant");
    let Some(option) = option else { return Vec::new() };
    let values = option.values.split('|').map(str::trim);
    values.filter(|value| !value.starts_with("mutant") && *value != option.default).collect()
}

/// Checks one model; `None` if the algorithm cannot be under such circumstances.
pub fn check_model(
    (entry, variant, fault): (&'static Entry, Option<&'static str>, usize),
    control: &Control,
) -> Option<(Row, Report)> {
    let (name, _, change) = FAULTS[fault];
    let everybody = (0..PROCESSES as u32).map(Address).collect();
    let mut setting = Setting {
        timers: Timers::usual(entry),
        start: if fault < 2 { Start::EveryChoice } else { Start::These(everybody) },
        properties: Properties::All,
        keep_going: true,
        most_states: Some(MOST_STATES),
        ..Setting::default()
    };
    change(&mut setting);
    let options = variant.map(|variant| ("variant".to_owned(), variant.to_owned())).into_iter().collect();
    let request = Request {
        algorithm: entry.name,
        ids: (1..=PROCESSES).map(Id).collect(),
        shape: None,
        detector: None,
        options: &options,
        pulse: DEFAULT_PULSE,
        seed: 1,
        signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
    };
    let report = match check(&request, &setting, control) {
        Ok(report) => report,
        Err(CheckError::Unfit(_) | CheckError::Setup(_)) => return None,
        Err(error) => unreachable!("an algorithm of the catalogue cannot be explored: {error}"),
    };
    let complete = report.extent != Extent::Bounded;
    let cells = report.properties.iter().filter_map(|line| {
        let cell = match line.verdict {
            Verdict::Holds => Cell::Proved,
            Verdict::Violated => Cell::Refuted(line.steps.unwrap_or(0)),
            Verdict::NotFound => Cell::Open,
            Verdict::NotCovered => return None,
        };
        Some((line.name.clone(), cell))
    });
    let row = Row {
        algorithm: entry.name.to_owned(),
        variant: variant.map(str::to_owned),
        faults: name.to_owned(),
        complete,
        states: report.states,
        properties: cells.collect(),
    };
    Some((row, report))
}

/// The table as it is kept.
pub fn manifest() -> Vec<Row> {
    let lines = include_str!("../guarantees.jsonl").lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The table as lines of JSON, as the manifest keeps it.
pub fn to_lines(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{}", serde_json::to_string(row).unwrap_or_default());
    }
    text
}

impl Row {
    /// The command that checks this row.
    pub fn command(&self) -> String {
        let fault = FAULTS.iter().position(|(name, ..)| *name == self.faults).unwrap_or(0);
        let variant = self.variant.as_deref().map(|variant| format!(" -o variant={variant}"));
        let start = if fault < 2 { "" } else { " --start all" };
        let is_election = entry(&self.algorithm).is_ok_and(|entry| entry.problem == "election");
        format!(
            "habemus check {} -n {PROCESSES}{}{}{}",
            self.algorithm,
            variant.unwrap_or_default(),
            if is_election { start } else { "" },
            FAULTS[fault].1,
        )
    }

    /// Whether the algorithm promises this property; variants promise nothing.
    pub fn promises(&self, property: &str) -> bool {
        let promised = |entry: &Entry| entry.promises.contains(&property);
        self.variant.is_none() && entry(&self.algorithm).is_ok_and(promised)
    }
}

impl Cell {
    /// The cell in a table: a proof, the length of a counterexample, or neither.
    pub fn show(self) -> String {
        match self {
            Cell::Proved => "✓".to_owned(),
            Cell::Refuted(steps) => format!("✗ {steps}"),
            Cell::Open => "?".to_owned(),
        }
    }
}
