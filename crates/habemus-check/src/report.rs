//! What came of a check.

use habemus_trace::Trace;
use serde::Serialize;

/// Everything to be said of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The algorithm.
    pub algorithm: String,
    /// What it solves.
    pub problem: String,
    /// How many processes there were.
    pub processes: usize,
    /// How far it went.
    pub extent: Extent,
    /// Why it ended there, in words.
    pub stop: String,
    /// Distinct states.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// States in which nothing more could happen.
    pub quiet: u64,
    /// Steps to the farthest state.
    pub depth: u32,
    /// Bytes that the states took.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What became of each property.
    pub properties: Vec<PropertyLine>,
    /// Whether each thing that should happen in some run did in one: a system in which nothing happens breaks
    /// nothing.
    pub sometimes: Vec<SometimesLine>,
    /// What else the reader should know.
    pub remarks: Vec<String>,
}

/// How far a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Every run there is was covered.
    Complete,
    /// It stopped at a violation.
    UntilViolation,
    /// A limit or an interruption came first: what was not found may still be there.
    Bounded,
}

/// One property in a report.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyLine {
    /// Its name.
    pub name: String,
    /// What it demands.
    pub demand: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// How it is broken, or why it is open.
    pub explanation: Option<String>,
    /// Whether the algorithm promises it under its model.
    pub promised: bool,
    /// A run that breaks it.
    #[serde(skip)]
    pub counterexample: Option<Trace>,
    /// How many steps that run has.
    pub steps: Option<usize>,
}

/// What a check says of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In every run.
    Holds,
    /// In some run it is broken.
    Violated,
    /// Not in what was explored, but that was not everything.
    NotFound,
    /// It was not looked at, and the explanation says why.
    NotCovered,
}

/// Something that should happen in some run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SometimesLine {
    /// What.
    pub what: &'static str,
    /// Whether it did.
    pub reached: bool,
}

impl Report {
    /// Whether no property is broken and everything that should happen did.
    pub fn holds(&self) -> bool {
        let vacuous = self.extent == Extent::Complete && self.sometimes.iter().any(|line| !line.reached);
        !vacuous && self.properties.iter().all(|line| line.verdict != Verdict::Violated)
    }

    /// The line of a property.
    pub fn property(&self, name: &str) -> Option<&PropertyLine> {
        self.properties.iter().find(|line| line.name == name)
    }
}
