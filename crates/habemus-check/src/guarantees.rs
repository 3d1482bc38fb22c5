//! What each algorithm guarantees: every algorithm under every kind of fault, as a table that is kept.
//!
//! The [`manifest`] holds the verdicts and the numbers of states. Tests recheck its quick rows, and
//! `habemus guarantees` rechecks all of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use habemus::catalogue::{ENTRIES, Entry, Request, VariantKind, entry};
use habemus::{Address, DEFAULT_PULSE, Id, ProblemKind};
use serde::{Deserialize, Serialize};

use crate::check::check;
use crate::error::CheckError;
use crate::handle::CheckHandle;
use crate::report::{CheckReport, CheckVerdict, CheckedProperty, Extent};
use crate::selection::NEED_CLOCKS;
use crate::setting::{ANY_NUMBER, Properties, Setting, Start, Timers};

mod cases;
mod faults;
mod services;
mod standing;

pub use cases::{CASES, Case, EXHIBITS};
pub use faults::{FAULTS, Fault};
pub use services::SERVICES;
pub use standing::{CellStanding, RowContract};

/// The processes of a row, if it does not say otherwise.
pub const PROCESSES: u64 = 3;
/// The problems of the table.
pub const PROBLEMS: [ProblemKind; 3] =
    [ProblemKind::Election, ProblemKind::MutualExclusion, ProblemKind::Agreement];
/// The states after which a row is left open.
const MAX_STATES: u64 = 1_500_000;
/// Who trusts no timer, but sets timers that send for ever, and the states after which its rows are left
/// open. With timers at any time there is no end of states; so messages come before timers here, and there is
/// a row in which two timers run out too early.
const ENDLESS_TIMERS: [(&str, u64); 2] = [("majority", 2_500_000), ("quorum", MAX_STATES)];
/// How often each client of a lock enters: what is left over of one entry meets the next.
const LOCK_ENTRIES: u32 = 2;
/// A row with at most so many states is quick: tests recheck it.
pub const QUICK: u64 = 3_000;

/// One model, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuaranteeRow {
    /// The algorithm.
    pub algorithm: String,
    /// Its variant, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What may go wrong: the name of a [`Fault`], or of a case of [`CASES`] or [`SERVICES`].
    pub faults: String,
    /// Whether every run was covered.
    pub complete: bool,
    /// Distinct states, some orders that make no difference left out.
    pub states: u64,
    /// How many steps deep it went, where not every run was covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// What became of each property.
    pub properties: BTreeMap<String, Cell>,
}

impl GuaranteeRow {
    /// Whether this is what is on record. Where a search was cut short, how many states it had come to by
    /// then says nothing of the algorithm: it changes with the order in which they are taken, and so does the
    /// depth.
    pub fn is_as_recorded(&self, recorded: &GuaranteeRow) -> bool {
        let without_extent = |row: &GuaranteeRow| GuaranteeRow { states: 0, depth: None, ..row.clone() };
        let was_cut_short = !self.complete && !recorded.complete;
        self == recorded || was_cut_short && without_extent(self) == without_extent(recorded)
    }
}

/// What became of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// It holds in every run.
    Proved,
    /// It holds in every run in which each client enters once; with more entries it is open.
    ProvedOnce,
    /// It holds in every run in which one process starts, whichever; if more do it is open.
    ProvedForOne,
    /// It holds in every run of two processes; with more it is open.
    ProvedForTwo,
    /// A shortest run that breaks it has so many steps.
    Refuted(usize),
    /// A run with so many steps breaks it, and there may be a shorter one.
    RefutedWithin(usize),
    /// It was not broken in the states that were reached, but these are not all.
    Open,
    /// Nothing ever happens of which it demands anything.
    DoesNotApply,
}

/// One model of the table.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The algorithm.
    pub entry: &'static Entry,
    /// Its variant, if not the usual one.
    pub variant: Option<&'static str>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Fault(Fault),
    Case(&'static Case),
}

/// Every model of the table, in order.
pub fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for entry in ENTRIES.iter().filter(|entry| PROBLEMS.contains(&entry.problem)) {
        let of_entry = |variant, kind| Model { entry, variant, kind };
        // What an agreement must withstand is no matter of crashes alone: it has cases of its own.
        if entry.problem != ProblemKind::Agreement {
            // Timers that are never trusted cannot be wrong, and pulses are not late.
            let is_trusting = timers(entry) == Timers::MessagesFirst && !entry.is_synchronous();
            let can_be = |fault: &Fault| *fault != Fault::WrongTimeouts || is_trusting;
            let faults = FAULTS.into_iter().filter(can_be);
            models.extend(faults.map(|fault| of_entry(None, Kind::Fault(fault))));
            let variants = variants(entry).into_iter();
            models.extend(variants.map(|variant| of_entry(Some(variant), Kind::Fault(Fault::None))));
        }
        let cases = CASES.iter().chain(SERVICES).filter(|case| case.algorithm == entry.name);
        models.extend(cases.map(|case| of_entry(None, Kind::Case(case))));
    }
    models
}

/// When timers run out in the rows of an algorithm.
pub(crate) fn timers(entry: &Entry) -> Timers {
    let is_endless = ENDLESS_TIMERS.iter().any(|(name, _)| *name == entry.name);
    if is_endless { Timers::MessagesFirst } else { Timers::usual(entry) }
}

/// The variants of an algorithm, the usual one and the mutants aside: the notes' own versions among them.
fn variants(entry: &Entry) -> Vec<&'static str> {
    let others = entry.variants().iter().skip(1);
    others.filter(|variant| variant.kind != VariantKind::Mutant).map(|variant| variant.name).collect()
}

impl Case {
    /// The case as a model like any other.
    pub fn model(&'static self) -> Option<Model> {
        let entry = entry(self.algorithm).ok()?;
        Some(Model { entry, variant: None, kind: Kind::Case(self) })
    }
}

impl Model {
    /// What may go wrong, as the table names it.
    pub fn faults(&self) -> &'static str {
        match self.kind {
            Kind::Fault(fault) => fault.name(),
            Kind::Case(case) => case.name,
        }
    }

    /// Whether this row is about it.
    pub fn is_of(&self, row: &GuaranteeRow) -> bool {
        row.algorithm == self.entry.name
            && row.variant.as_deref() == self.variant
            && row.faults == self.faults()
    }

    /// Checks one property, which is faster than all of them; `None` if the algorithm cannot be under such
    /// circumstances.
    pub fn check_property(&self, property: &str, handle: &CheckHandle) -> Option<CheckReport> {
        let options = self.named_options();
        let properties = Properties::Named(vec![property.to_owned()]);
        let clocks = NEED_CLOCKS.contains(&property);
        checked(&self.request(&options), &Setting { properties, clocks, ..self.setting() }, handle)
    }

    /// Checks it; `None` if the algorithm cannot be under such circumstances.
    pub fn check(&self, handle: &CheckHandle) -> Option<(GuaranteeRow, CheckReport)> {
        let setting = self.setting();
        let options = self.named_options();
        let request = self.request(&options);
        let report = decide(&request, &setting, handle)?;
        // Where there are too many states, there are fewer if each enters once, or one starts.
        let is_open = report.properties.iter().any(|line| line.verdict == CheckVerdict::NotFound);
        let (less, proved) = match (self.kind, self.entry.problem) {
            (Kind::Fault(_), ProblemKind::MutualExclusion) => {
                (Some(Setting { entries: 1, ..setting }), Cell::ProvedOnce)
            }
            (Kind::Fault(_), ProblemKind::Election) => {
                (Some(Setting { start: Start::AnyOne, ..setting }), Cell::ProvedForOne)
            }
            _ => (None, Cell::Open),
        };
        let less = match less {
            Some(less) if is_open => Some(decide(&request, &less, handle)?),
            _ => None,
        };
        let is_in = |less: &Option<CheckReport>, name: &str, verdict: CheckVerdict| {
            let line = less.as_ref().and_then(|less| less.property(name));
            line.is_some_and(|line| line.verdict == verdict)
        };
        let is_in_less = |name: &str, verdict: CheckVerdict| is_in(&less, name, verdict);
        let is_still_open = |line: &CheckedProperty| {
            let in_less = [CheckVerdict::Holds, CheckVerdict::DoesNotApply];
            line.verdict == CheckVerdict::NotFound
                && !in_less.iter().any(|verdict| is_in_less(&line.name, *verdict))
        };
        // And fewer yet if there are only two.
        let of_two = match (self.kind, self.entry.problem) {
            (Kind::Fault(_), ProblemKind::MutualExclusion) if report.properties.iter().any(is_still_open) => {
                let two = Request { ids: vec![Id(1), Id(2)], ..self.request(&options) };
                decide(&two, &self.setting_of_two(), handle)
            }
            _ => None,
        };
        let cells = report.properties.iter().filter_map(|line| {
            let cell = match line.verdict {
                CheckVerdict::Holds => Cell::Proved,
                CheckVerdict::Violated if line.shortest == Some(true) => {
                    Cell::Refuted(line.steps.unwrap_or(0))
                }
                CheckVerdict::Violated => Cell::RefutedWithin(line.steps.unwrap_or(0)),
                CheckVerdict::NotFound if is_in_less(&line.name, CheckVerdict::Holds) => proved,
                CheckVerdict::NotFound if is_in_less(&line.name, CheckVerdict::DoesNotApply) => {
                    Cell::DoesNotApply
                }
                CheckVerdict::NotFound if is_in(&of_two, &line.name, CheckVerdict::Holds) => {
                    Cell::ProvedForTwo
                }
                CheckVerdict::NotFound => Cell::Open,
                CheckVerdict::DoesNotApply => Cell::DoesNotApply,
                CheckVerdict::NotCovered => return None,
            };
            Some((line.name.clone(), cell))
        });
        let row = GuaranteeRow {
            algorithm: self.entry.name.to_owned(),
            variant: self.variant.map(str::to_owned),
            faults: self.faults().to_owned(),
            complete: report.extent != Extent::Bounded,
            states: report.states,
            depth: (report.extent == Extent::Bounded).then_some(report.depth),
            properties: cells.collect(),
        };
        Some((row, report))
    }

    /// The command that checks it.
    pub fn command(&self) -> String {
        let ids = self.ids();
        let numbered = ids.iter().copied().eq(1..=ids.len() as u64);
        let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
        let ids = if numbered { format!("-n {}", ids.len()) } else { format!("--ids {}", ids.join(",")) };
        let options: String =
            self.options().into_iter().map(|(name, value)| format!(" -o {name}={value}")).collect();
        let start = match self.kind {
            Kind::Fault(fault)
                if !fault.tries_every_start() && self.entry.problem == ProblemKind::Election =>
            {
                " --start all"
            }
            _ => "",
        };
        let flags = match self.kind {
            Kind::Fault(fault) => fault.flags(),
            Kind::Case(case) => case.flags,
        };
        let timers = match self.kind {
            Kind::Fault(_) if timers(self.entry) != Timers::usual(self.entry) => " --timers messages-first",
            _ => "",
        };
        let entries = match self.setting().entries {
            entries if matches!(self.kind, Kind::Fault(_)) && entries > 1 => format!(" --entries {entries}"),
            _ => String::new(),
        };
        format!("habemus check {} {ids}{options}{start}{timers}{entries}{flags}", self.entry.name)
    }

    fn request<'a>(&self, options: &'a BTreeMap<String, String>) -> Request<'a> {
        Request {
            algorithm: self.entry.name,
            ids: self.ids().into_iter().map(Id).collect(),
            shape: None,
            detector: match self.kind {
                Kind::Fault(_) => None,
                Kind::Case(case) => case.detector,
            },
            options,
            pulse: DEFAULT_PULSE,
            seed: 1,
            signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
        }
    }

    pub(crate) fn named_options(&self) -> BTreeMap<String, String> {
        self.options().into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    pub(crate) fn ids(&self) -> Vec<u64> {
        match self.kind {
            Kind::Fault(_) => (1..=PROCESSES).collect(),
            Kind::Case(case) => case.ids.to_vec(),
        }
    }

    fn options(&self) -> Vec<(&'static str, &'static str)> {
        match self.kind {
            Kind::Fault(_) => self.variant.map(|variant| ("variant", variant)).into_iter().collect(),
            Kind::Case(case) => case.options.to_vec(),
        }
    }

    /// The same among two processes, of a lock: what is said of each of three is not said of the third.
    fn setting_of_two(&self) -> Setting {
        let start = Start::These(vec![Address(0), Address(1)]);
        Setting { start, ..self.setting() }
    }

    pub(crate) fn setting(&self) -> Setting {
        let everybody = || Start::These((0..self.ids().len() as u32).map(Address).collect());
        let start = match self.kind {
            Kind::Fault(fault) if fault.tries_every_start() => Start::EveryChoice,
            Kind::Fault(_) | Kind::Case(_) => everybody(),
        };
        let mut setting = Setting {
            timers: match self.kind {
                Kind::Fault(_) => timers(self.entry),
                Kind::Case(_) => Timers::usual(self.entry),
            },
            start,
            entries: match self.kind {
                Kind::Fault(_) if self.entry.problem == ProblemKind::MutualExclusion => LOCK_ENTRIES,
                _ => 1,
            },
            properties: Properties::All,
            keep_going: true,
            max_states: match (self.kind, ENDLESS_TIMERS.iter().find(|(name, _)| *name == self.entry.name)) {
                (Kind::Fault(_), Some((_, max_states))) => Some(*max_states),
                _ => Some(MAX_STATES),
            },
            ..Setting::default()
        };
        match self.kind {
            Kind::Fault(fault) => fault.allow(&mut setting),
            Kind::Case(case) => (case.change)(&mut setting),
        }
        setting
    }
}

/// Checks every property; `None` if the algorithm cannot be under such circumstances.
fn decide(request: &Request<'_>, setting: &Setting, handle: &CheckHandle) -> Option<CheckReport> {
    let mut report = checked(request, setting, handle)?;
    // To track which request happened before which makes more states: it is done for what needs it, one by
    // one. With any number of entries, which happened before which has no end.
    let has_end = setting.entries != ANY_NUMBER;
    let needs_clocks = |line: &&mut CheckedProperty| has_end && NEED_CLOCKS.contains(&line.name.as_str());
    for line in report.properties.iter_mut().filter(needs_clocks) {
        let alone = Properties::Named(vec![line.name.clone()]);
        let apart = Setting { properties: alone, clocks: true, ..setting.clone() };
        let apart = checked(request, &apart, handle)?;
        line.clone_from(apart.property(&line.name)?);
    }
    Some(report)
}

fn checked(request: &Request<'_>, setting: &Setting, handle: &CheckHandle) -> Option<CheckReport> {
    match check(request, setting, handle) {
        Ok(report) => Some(report),
        Err(CheckError::Unfit(_) | CheckError::Setup(_)) => None,
        Err(error) => unreachable!("an algorithm of the catalogue cannot be explored: {error}"),
    }
}

/// The table as it is kept.
pub fn manifest() -> Vec<GuaranteeRow> {
    from_lines(include_str!("../guarantees.jsonl"))
}

/// A table that is kept as lines of JSON.
pub fn from_lines(text: &str) -> Vec<GuaranteeRow> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The table as lines of JSON, as the manifest keeps it.
pub fn to_lines(rows: &[GuaranteeRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{}", serde_json::to_string(row).unwrap_or_default());
    }
    text
}

impl Cell {
    /// Whether it holds in every run, of all or of those that are named.
    pub fn is_proved(self) -> bool {
        matches!(self, Cell::Proved | Cell::ProvedOnce | Cell::ProvedForOne | Cell::ProvedForTwo)
    }

    /// How many steps a run that breaks the property has, if one does.
    pub fn steps(self) -> Option<usize> {
        match self {
            Cell::Refuted(steps) | Cell::RefutedWithin(steps) => Some(steps),
            Cell::Proved | Cell::ProvedOnce | Cell::ProvedForOne | Cell::ProvedForTwo => None,
            Cell::Open | Cell::DoesNotApply => None,
        }
    }

    /// The cell in a table: a proof, the length of a counterexample, or neither.
    pub fn show(self) -> String {
        match self {
            Cell::Proved => "✓".to_owned(),
            Cell::ProvedOnce => "✓ once".to_owned(),
            Cell::ProvedForOne => "✓ one".to_owned(),
            Cell::ProvedForTwo => "✓ n = 2".to_owned(),
            Cell::Refuted(steps) => format!("✗ {steps}"),
            Cell::RefutedWithin(steps) => format!("✗ ≤ {steps}"),
            Cell::Open => "?".to_owned(),
            Cell::DoesNotApply => "–".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_cut_short_may_have_come_to_other_states_and_to_no_other_verdict() {
        let cut = |states, depth, cell| GuaranteeRow {
            algorithm: "majority".to_owned(),
            variant: None,
            faults: "a crash".to_owned(),
            complete: false,
            states,
            depth: Some(depth),
            properties: BTreeMap::from([("E2".to_owned(), cell)]),
        };
        let recorded = cut(1_500_000, 12, Cell::Open);
        assert!(cut(1_500_432, 13, Cell::Open).is_as_recorded(&recorded));
        assert!(!cut(1_500_000, 12, Cell::Refuted(9)).is_as_recorded(&recorded));
        let whole = |states| GuaranteeRow { complete: true, depth: None, ..cut(states, 0, Cell::Proved) };
        assert!(whole(40).is_as_recorded(&whole(40)) && !whole(40).is_as_recorded(&whole(41)));
        assert!(!whole(40).is_as_recorded(&recorded) && !recorded.is_as_recorded(&whole(40)));
    }
}
