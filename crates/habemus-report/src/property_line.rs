//! What was found of one property.

use std::fmt;

use habemus::catalogue::Claim;
use habemus::property::Verdict;
use serde::Serialize;

/// One property in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertyLine {
    /// Its name.
    pub name: String,
    /// What it demands.
    pub demand: String,
    /// Whether it holds.
    pub verdict: Finding,
    /// How it was broken, or why it is open.
    pub explanation: Option<String>,
    /// Whether the algorithm promises it, and what went wrong belongs to its model.
    pub promised: bool,
    /// What took the run outside the model under which the algorithm promises it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

/// What was found of a property, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It holds: in this run, or in every run that there is if all were explored.
    Holds,
    /// It is broken.
    Violated,
    /// The run was cut off before it could be told.
    Open,
    /// No run that was explored breaks it, but not all were.
    NotFound,
    /// It was not looked at, and the explanation says why.
    NotCovered,
    /// It demands nothing of this run, and the explanation says why.
    DoesNotApply,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Finding::Holds => "holds",
            Finding::Violated => "violated",
            Finding::Open => "open",
            Finding::NotFound => "not found",
            Finding::NotCovered => "not covered",
            Finding::DoesNotApply => "does not apply",
        })
    }
}

impl PropertyLine {
    /// What became of a property in a run.
    pub fn new(name: &str, demand: &str, verdict: Verdict, claim: Claim) -> Self {
        let (verdict, explanation) = match verdict {
            Verdict::Holds => (Finding::Holds, None),
            Verdict::Violated(violation) => (Finding::Violated, Some(violation.0)),
            Verdict::Open(reason) => (Finding::Open, Some(reason)),
            Verdict::DoesNotApply(reason) => (Finding::DoesNotApply, Some(reason)),
        };
        let promised = claim.is_promised();
        let outside = match claim {
            Claim::Outside(why) => Some(why),
            Claim::Promised | Claim::NotPromised => None,
        };
        PropertyLine {
            name: name.to_owned(),
            demand: demand.to_owned(),
            verdict,
            explanation,
            promised,
            outside,
        }
    }

    /// How it was broken, or why it is open; nothing if it holds.
    pub fn why(&self) -> &str {
        self.explanation.as_deref().unwrap_or_default()
    }
}
