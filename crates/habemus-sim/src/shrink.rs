//! Making a failing run smaller: fewer faults, the same failure.

use habemus_report::{Report, with_drawn_faults};
use habemus_scenario::{Action, Cue, Scenario};

use crate::run::run;

/// A failing scenario with as few faults as could be found.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The scenario; its faults stand in its script.
    pub scenario: Scenario,
    /// What is wrong with its run.
    pub failures: Vec<String>,
    /// How many faults the failing run had.
    pub faults_before: usize,
    /// How many are left.
    pub faults_after: usize,
    /// How many runs it took to find out.
    pub tries: u32,
}

/// After so many runs the smallest found so far is good enough.
const MAX_TRIES: u32 = 2_000;

/// Takes faults out of a failing scenario as long as it goes on failing in the same way; `None` if it does
/// not fail.
///
/// What mends a fault stays while the fault does: that nobody can enter through a link that is never healed
/// would be another failure, and none at all.
pub fn shrink(scenario: &Scenario) -> Option<Shrunk> {
    let mut search = Search { tries: 0, kind: None };
    let mut smallest = with_drawn_faults(scenario).ok()?.unwrap_or_else(|| scenario.clone());
    let mut failures = search.fails(&smallest)?;
    search.kind = failures.first().map(|failure| kind(failure).to_owned());
    let faults_before = count_faults(&smallest.script);
    for simpler in [no_loss, no_duplication] {
        let candidate = simpler(&smallest);
        if candidate != smallest
            && let Some(found) = search.fails(&candidate)
        {
            (smallest, failures) = (candidate, found);
        }
    }
    // Delta debugging: try to do without ever smaller parts of the faults, until no single one can go.
    let mut part = faults_before.div_ceil(2);
    while part > 0 {
        let mut progress = false;
        let mut start = 0;
        while start < count_faults(&smallest.script) && search.tries < MAX_TRIES {
            let candidate = Scenario { script: without(&smallest.script, start, part), ..smallest.clone() };
            match search.fails(&candidate) {
                Some(found) => {
                    (smallest, failures) = (candidate, found);
                    progress = true;
                }
                None => start += part,
            }
        }
        if search.tries >= MAX_TRIES {
            break;
        }
        part = match (part, progress) {
            (1, true) => 1,
            (1, false) => 0,
            (part, _) => part.div_ceil(2),
        };
    }
    smallest = without_idle_remedies(smallest, &failures);
    let faults_after = count_faults(&smallest.script);
    Some(Shrunk { scenario: smallest, failures, faults_before, faults_after, tries: search.tries })
}

struct Search {
    tries: u32,
    /// The kind of failure to look for; `None`: any.
    kind: Option<String>,
}

/// What a failure is about: the part before the details.
fn kind(failure: &str) -> &str {
    failure.split(':').next().unwrap_or(failure)
}

impl Search {
    fn fails(&mut self, scenario: &Scenario) -> Option<Vec<String>> {
        self.tries += 1;
        let report = run(scenario, false).ok()?;
        let is_the_same = |failure: &String| self.kind.as_ref().is_none_or(|wanted| kind(failure) == wanted);
        report.failures.iter().any(is_the_same).then_some(report.failures)
    }
}

fn no_loss(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.network.loss = 0.0;
    scenario
}

fn no_duplication(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.network.duplication = 0.0;
    scenario
}

/// A fault is anything but a command, which the run is about, and what mends a fault.
fn is_fault(cue: &Cue) -> bool {
    !matches!(cue.action, Action::Command { .. }) && !is_remedy(cue)
}

fn is_remedy(cue: &Cue) -> bool {
    matches!(cue.action, Action::Heal(_) | Action::Recover { .. } | Action::Resume(_))
}

/// Takes out what mends nothing any more: the run is the same without it.
fn without_idle_remedies(mut scenario: Scenario, failures: &[String]) -> Scenario {
    let Ok(before) = run(&scenario, false) else { return scenario };
    for index in (0..scenario.script.len()).rev() {
        if !is_remedy(&scenario.script[index]) {
            continue;
        }
        let mut candidate = scenario.clone();
        candidate.script.remove(index);
        let same = |report: Report| {
            report.failures == failures && report.statistics.messages == before.statistics.messages
        };
        if run(&candidate, false).is_ok_and(same) {
            scenario = candidate;
        }
    }
    scenario
}

fn count_faults(script: &[Cue]) -> usize {
    script.iter().filter(|cue| is_fault(cue)).count()
}

/// The script without `count` faults from the `start`-th on.
fn without(script: &[Cue], start: usize, count: usize) -> Vec<Cue> {
    let mut number = 0;
    let keep = |cue: &&Cue| {
        if !is_fault(cue) {
            return true;
        }
        number += 1;
        !(start + 1..start + 1 + count).contains(&number)
    };
    script.iter().filter(keep).cloned().collect()
}
