//! What came of a run, and whether it is what was expected.

use std::collections::BTreeMap;

use habemus::ProblemKind;
use habemus_scenario::{Count, Expectations};
use habemus_trace::Trace;
use serde::Serialize;

use crate::error::UnknownProperty;
use crate::property_line::{Finding, PropertyLine};
use crate::statistics::Statistics;

/// Everything to be said of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The algorithm.
    pub algorithm: String,
    /// What it solves.
    pub problem: ProblemKind,
    /// How many processes there were.
    pub processes: usize,
    /// The seed that repeats it.
    pub seed: u64,
    /// Why it ended, in words.
    pub stop: String,
    /// Whether it came to rest by itself.
    pub quiet: bool,
    /// Whether it came to the end that was asked for, not to a limit or an interruption.
    pub complete: bool,
    /// The leader that all live processes name, if they do.
    pub leader: Option<u64>,
    /// Those that consider themselves leader.
    pub leaders: Vec<u64>,
    /// Those that are down.
    pub down: Vec<u64>,
    /// Who entered, in order (the first ten thousand entries).
    pub entered: Vec<u64>,
    /// What each live process has decided, of those that have, by identifier.
    pub decided: BTreeMap<u64, String>,
    /// What it cost.
    pub statistics: Statistics,
    /// What became of each property.
    pub properties: Vec<PropertyLine>,
    /// Whether there was anything to expect beyond the algorithm's promises.
    pub expected_something: bool,
    /// What is not as expected; empty if all is well.
    pub failures: Vec<String>,
    /// What else the reader should know: what was left out because of a limit.
    pub remarks: Vec<String>,
    /// Where locks have names: what came of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub locks: BTreeMap<String, Report>,
    /// The fingerprint of everything that happened.
    pub fingerprint: String,
    /// The trace, if one was wanted.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

impl Report {
    /// Whether everything is as expected.
    pub fn succeeded(&self) -> bool {
        self.failures.is_empty()
    }

    fn property(&self, name: &str) -> Option<&PropertyLine> {
        self.properties.iter().find(|line| line.name == name)
    }

    /// What is not as expected. A promise that is broken without being expected so is one of those.
    pub fn check(&self, expect: &Expectations) -> Vec<String> {
        let mut failures = Vec::new();
        if let Some(leader) = expect.leader
            && self.leader != Some(leader)
        {
            failures.push(format!(
                "expected all live processes to follow {leader}, but {}",
                match (self.leader, self.leaders.as_slice()) {
                    (Some(other), _) => format!("they follow {other}"),
                    (None, []) => "nobody leads".to_owned(),
                    (None, leaders) => format!("they do not agree ({} lead)", list(leaders)),
                }
            ));
        }
        if let Some(leaders) = &expect.leaders
            && sorted(leaders) != sorted(&self.leaders)
        {
            failures.push(format!("expected leaders: {}; found: {}", list(leaders), list(&self.leaders)));
        }
        if let Some(entered) = &expect.entered
            && *entered != self.entered
        {
            failures.push(format!(
                "expected them to enter in the order {}; found: {}",
                list(entered),
                list(&self.entered)
            ));
        }
        if let Some(decided) = &expect.decided {
            failures.extend(self.decided_otherwise(decided));
        }
        for name in &expect.holds {
            if let Some(line) = self.property(name)
                && line.verdict != Finding::Holds
            {
                failures.push(format!("expected {name} to hold, but it is {}: {}", line.verdict, line.why()));
            }
        }
        for name in &expect.violates {
            if let Some(line) = self.property(name)
                && line.verdict != Finding::Violated
            {
                failures.push(format!("expected {name} to be violated, but it is not ({})", line.verdict));
            }
        }
        for line in &self.properties {
            let mentioned = expect.violates.contains(&line.name) || expect.holds.contains(&line.name);
            if line.promised && line.verdict == Finding::Violated && !mentioned {
                failures.push(format!("{} is promised, but violated: {}", line.name, line.why()));
            }
        }
        for (kind, count) in &expect.messages {
            let sent = match kind.as_str() {
                "total" => self.statistics.messages,
                kind => self.statistics.by_kind.get(kind).copied().unwrap_or(0),
            };
            let what = if kind == "total" { "messages".to_owned() } else { format!("{kind} messages") };
            failures.extend(outside(*count, sent, &what));
        }
        if let Some(count) = expect.leader_changes {
            failures.extend(outside(count, self.statistics.leader_changes, "leader changes"));
        }
        if let Some(count) = expect.refused_writes {
            failures.extend(outside(count, self.statistics.refused_writes, "refused writes"));
        }
        if let Some(quiet) = expect.quiet
            && quiet != self.quiet
        {
            let (wanted, found) =
                if quiet { ("to come to rest", "did not") } else { ("to go on", "came to rest") };
            failures.push(format!("expected the run {wanted}, but it {found}"));
        }
        failures
    }

    /// Why it is not so that whoever has decided has decided this.
    fn decided_otherwise(&self, wanted: &str) -> Option<String> {
        let plain = |text: &str| text.replace([' ', '(', ')'], "");
        if self.decided.is_empty() {
            return Some(format!("expected the decision {wanted}, but nobody has decided"));
        }
        let (id, decision) = self.decided.iter().find(|(_, decision)| plain(decision) != plain(wanted))?;
        Some(format!("expected the decision {wanted}, but {id} decided {decision}"))
    }

    /// Refuses expectations of properties that the problem does not have.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn know_properties(&self, expect: &Expectations) -> Result<(), UnknownProperty> {
        let mut all = expect.holds.iter().chain(&expect.violates);
        match all.find(|name| self.property(name).is_none()) {
            None => Ok(()),
            Some(name) => Err(UnknownProperty {
                name: name.clone(),
                problem: self.problem,
                known: self.properties.iter().map(|line| line.name.clone()).collect(),
            }),
        }
    }
}

fn outside(count: Count, found: u64, what: &str) -> Option<String> {
    let wanted = match count {
        Count { min, max } if min == max => format!("{min}"),
        Count { min: 0, max } => format!("at most {max}"),
        Count { min, max: u64::MAX } => format!("at least {min}"),
        Count { min, max } => format!("{min} to {max}"),
    };
    (!count.admits(found)).then(|| format!("expected {wanted} {what}, found {found}"))
}

fn list(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "nobody".to_owned();
    }
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn sorted(ids: &[u64]) -> Vec<u64> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}
