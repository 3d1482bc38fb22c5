//! What came of a run, and whether it is what was expected.

use std::collections::BTreeMap;

use habemus::ProblemKind;
use habemus_scenario::{Count, Expectations};
use habemus_trace::Trace;
use serde::Serialize;

use crate::error::UnknownProperty;
use crate::finished::Ended;
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
    /// What its end means for what has not happened yet.
    #[serde(skip)]
    pub ended: Ended,
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
    /// What is promised or expected and could not be told, because the run was cut off before.
    pub open: Vec<String>,
    /// The lines of the script that waited for something that did not happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
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

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Everything is as expected.
    AsExpected,
    /// Something is not.
    NotAsExpected,
    /// The run was cut off before it could be told.
    Open,
}

impl Report {
    /// Whether everything is as expected, and nothing was left open.
    pub fn succeeded(&self) -> bool {
        self.conclusion() == Conclusion::AsExpected
    }

    /// Whether its seed repeats it: a run on real nodes, or one that was recorded, has none, and its
    /// fingerprint says so.
    pub fn is_repeatable(&self) -> bool {
        !self.fingerprint.starts_with("none")
    }

    /// What it comes to: a failure is one whatever else is open.
    pub fn conclusion(&self) -> Conclusion {
        match (self.failures.is_empty(), self.open.is_empty()) {
            (false, _) => Conclusion::NotAsExpected,
            (true, false) => Conclusion::Open,
            (true, true) => Conclusion::AsExpected,
        }
    }

    /// Judges what came of the run by what was expected of it.
    pub(crate) fn hold_against(&mut self, expect: &Expectations) {
        self.failures = self.check(expect);
        let mut open = self.left_open(expect);
        if self.ended == Ended::AtTheDeadline {
            self.failures.append(&mut open);
        }
        if self.ended == Ended::Interrupted {
            open.push("the run was interrupted".to_owned());
        }
        self.open = open;
    }

    /// What is promised or expected, and not to be told from this run.
    fn left_open(&self, expect: &Expectations) -> Vec<String> {
        // Who asks for an end and says what to expect by then has not asked for the rest.
        let all_matters = self.ended != Ended::AsAsked || !self.expected_something;
        let matters = |line: &&PropertyLine| {
            let promised = line.promised && all_matters && !expect.outside.contains(&line.name);
            // What does not hold by its deadline is as violated as anybody can expect.
            let violates = expect.violates.contains(&line.name);
            (promised && !violates)
                || expect.holds.contains(&line.name)
                || (violates && self.ended != Ended::AtTheDeadline)
        };
        let open = self.properties.iter().filter(matters).filter(|line| line.verdict == Finding::Open);
        let sentence = |line: &PropertyLine| match (self.ended, expect.within) {
            (Ended::AtTheDeadline, Some(within)) => {
                format!("{} did not come to hold within {within:?}: {}", line.name, line.why())
            }
            _ => format!("{} could not be told: {}", line.name, line.why()),
        };
        open.map(sentence).collect()
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
                && !matches!(line.verdict, Finding::Holds | Finding::Open)
            {
                failures.push(format!("expected {name} to hold, but it is {}: {}", line.verdict, line.why()));
            }
        }
        for name in &expect.violates {
            if let Some(line) = self.property(name)
                && !matches!(line.verdict, Finding::Violated | Finding::Open)
            {
                failures.push(format!("expected {name} to be violated, but it is not ({})", line.verdict));
            }
        }
        for line in &self.properties {
            let mentioned = [&expect.violates, &expect.holds, &expect.outside]
                .iter()
                .any(|names| names.contains(&line.name));
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
        let mut all = expect.holds.iter().chain(&expect.violates).chain(&expect.outside);
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
