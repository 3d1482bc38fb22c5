//! What came of a check.

use std::time::Duration;

use habemus::catalogue::Claim;
use habemus::{ProblemKind, Status};
use habemus_report::grouped;
use habemus_trace::Trace;
use serde::Serialize;

use crate::counts::ExplorationCounts;
use crate::explore::Stop;
use crate::facts::Property;
use crate::handlers::Never;
use crate::narrator::narrate;
use crate::path::{Length, Violation};
use crate::protocol::{Beginning, Counterexample};
use crate::rate::Rate;
use crate::refine::{Cycles, Searched};
use crate::selection::{NEED_CLOCKS, Selection};
use crate::watching::status_bit;
use crate::world::World;

/// Everything to be said of a check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The algorithm.
    pub algorithm: String,
    /// What it solves.
    pub problem: ProblemKind,
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
    /// States in which nothing more need happen.
    pub quiet: u64,
    /// Steps to the farthest state.
    pub depth: u32,
    /// Bytes that the states took.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What became of each property.
    pub properties: Vec<CheckedProperty>,
    /// Whether each thing that should happen in some run did in one: a system in which nothing happens breaks
    /// nothing.
    pub sometimes: Vec<SometimesLine>,
    /// The kinds of messages that were never delivered, the timers that were set and never ran out, the
    /// handlers that never ran: whatever is wrong there, no property shows it.
    pub never: Vec<String>,
    /// What else the reader should know.
    pub remarks: Vec<String>,
    /// Counts with and without each reduction, if they were asked for ([`counts`](crate::counts)).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<ExplorationCounts>,
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
pub struct CheckedProperty {
    /// Its name.
    pub name: String,
    /// What it demands.
    pub demand: String,
    /// Whether it holds.
    pub verdict: CheckVerdict,
    /// How it is broken, or why it is open.
    pub explanation: Option<String>,
    /// Whether the algorithm promises it, and what may go wrong belongs to its model.
    pub promised: bool,
    /// What takes the check outside the model under which the algorithm promises it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
    /// A run that breaks it.
    #[serde(skip)]
    pub counterexample: Option<Trace>,
    /// How many steps that run has.
    pub steps: Option<usize>,
    /// Whether it is known that no run with fewer steps breaks it.
    pub shortest: Option<bool>,
}

/// What a check says of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// In every run.
    Holds,
    /// In some run it is broken.
    Violated,
    /// Not in what was explored, but that was not everything.
    NotFound,
    /// It was not looked at, and the explanation says why.
    NotCovered,
    /// Every run was covered, and in none did anything happen of which it demands something.
    DoesNotApply,
}

/// Something that should happen in some run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SometimesLine {
    /// What.
    pub what: &'static str,
    /// Whether it did.
    pub reached: bool,
}

impl CheckReport {
    /// Whether no property is broken and everything that should happen did.
    pub fn holds(&self) -> bool {
        let vacuous = self.extent == Extent::Complete && self.sometimes.iter().any(|line| !line.reached);
        !vacuous && self.properties.iter().all(|line| line.verdict != CheckVerdict::Violated)
    }

    /// Whether something was proved: every run was covered, and a property holds that could have been broken.
    pub fn proves(&self) -> bool {
        let holds = |line: &CheckedProperty| line.verdict == CheckVerdict::Holds;
        self.holds() && self.extent == Extent::Complete && self.properties.iter().any(holds)
    }

    /// The properties that are broken.
    pub(crate) fn violated(&self) -> impl Iterator<Item = &CheckedProperty> {
        self.properties.iter().filter(|line| line.verdict == CheckVerdict::Violated)
    }

    /// This report, in which clocks drift more freely than any clock can, with the runs of another in which
    /// they do not. What holds here holds; what is broken here is broken if a run there shows it, and else it
    /// is open.
    pub(crate) fn with_runs_of(mut self, extreme: &CheckReport) -> Self {
        let why = if extreme.extent == Extent::Complete { NO_SUCH_CLOCKS } else { NO_SUCH_CLOCKS_YET };
        for line in &mut self.properties {
            if line.verdict != CheckVerdict::Violated {
                continue;
            }
            let told = extreme.violated().find(|told| told.name == line.name);
            let (verdict, steps) = (CheckVerdict::NotFound, line.steps);
            *line = match told {
                // No run at all is shorter than the shortest with freer clocks.
                Some(told) => CheckedProperty { shortest: Some(told.steps == steps), ..told.clone() },
                None => CheckedProperty {
                    verdict,
                    explanation: Some(why.to_owned()),
                    counterexample: None,
                    steps: None,
                    shortest: None,
                    ..line.clone()
                },
            };
        }
        self.seconds = extreme.seconds;
        if self.extent == Extent::UntilViolation && self.violated().next().is_none() {
            self.extent = Extent::Bounded;
            "what breaks a property takes clocks that nobody has".clone_into(&mut self.stop);
        }
        if self.properties.iter().any(|line| line.shortest == Some(false)) {
            self.remarks.push(MAY_BE_SHORTER.to_owned());
        }
        self
    }

    /// The line of a property.
    pub fn property(&self, name: &str) -> Option<&CheckedProperty> {
        self.properties.iter().find(|line| line.name == name)
    }
}

const MAY_BE_SHORTER: &str = "where it says at most, there may be a run with fewer steps";
const NO_SUCH_CLOCKS: &str = "it is broken only where timers of one process drift apart; no clocks that are \
    as slow or \
                              as fast as may be all the time break it";
const NO_SUCH_CLOCKS_YET: &str = "it is broken where timers of one process drift apart; whether clocks that \
    are as slow or \
                                  as fast as may be all the time break it, was not explored to the end";

/// What is to be said of a search.
pub(crate) fn report(
    world: &World,
    selection: &Selection,
    searched: &Searched,
    elapsed: Duration,
) -> CheckReport {
    let Searched { explored, stop, .. } = searched;
    let facts = &world.system.facts;
    let sometimes = sometimes(facts.problem).iter();
    let reached = |&(what, status): &(&'static str, Status)| SometimesLine {
        what,
        reached: explored.reached & status_bit(status) != 0,
    };
    CheckReport {
        algorithm: facts.entry.name.to_owned(),
        problem: facts.entry.problem,
        processes: world.processes(),
        extent: match stop {
            Stop::Exhausted => Extent::Complete,
            Stop::Decided => Extent::UntilViolation,
            Stop::Depth | Stop::States | Stop::Memory | Stop::Interrupted | Stop::Cycles => Extent::Bounded,
        },
        stop: describe(*stop).to_owned(),
        states: explored.visited.len(),
        transitions: explored.counts.transitions,
        quiet: explored.counts.quiet,
        depth: explored.depth,
        bytes: explored.visited.bytes(),
        seconds: elapsed.as_secs_f64(),
        properties: selection
            .all
            .iter()
            .map(|property| property_line(world, selection, searched, property))
            .collect(),
        sometimes: sometimes.map(reached).collect(),
        never: world.system.handlers.never().iter().filter_map(|never| show_never(world, never)).collect(),
        remarks: remarks(world, searched),
        counts: Vec::new(),
    }
}

/// What never happened, in words, if the circumstances allow it at all.
fn show_never(world: &World, never: &Never) -> Option<String> {
    match never {
        Never::Message(kind) => Some(format!("message {kind}")),
        Never::Timer(name) if name.is_empty() => Some("timer".to_owned()),
        Never::Timer(name) => Some(format!("timer {name}")),
        Never::Command => Some("command".to_owned()),
        Never::Suspicion if world.system.facts.oracle => Some("suspicion".to_owned()),
        Never::Suspicion => None,
    }
}

/// What should happen in some run.
fn sometimes(problem: ProblemKind) -> &'static [(&'static str, Status)] {
    match problem {
        ProblemKind::Election => &[("some process leads", Status::Leading)],
        ProblemKind::MutualExclusion => &[("some process enters", Status::Inside)],
        ProblemKind::Agreement => &[("some process decides", Status::Decided)],
        ProblemKind::FailureDetection => &[],
    }
}

/// What was merged and what was left out.
fn remarks(world: &World, searched: &Searched) -> Vec<String> {
    let explored = &searched.explored;
    let mut remarks = Vec::new();
    if world.system.is_shift_invariant {
        remarks.push("states equal up to a clock shift were merged".to_owned());
    }
    if world.system.is_term_invariant {
        remarks.push("states equal up to the names of terms were merged".to_owned());
    }
    if explored.search.rotation {
        remarks.push("states equal up to rotation were merged".to_owned());
    }
    if explored.counts.reduced > 0 {
        let states = grouped(explored.counts.reduced);
        remarks.push(format!("partial-order reduction: one process expanded in {states} states"));
    }
    if explored.counts.merged > 0 {
        remarks.push("invisible deliveries were merged with the receiver's next visible step".to_owned());
    }
    if searched.cycles == Cycles::Found {
        remarks.push("there are cycles, so every order of events was explored".to_owned());
    }
    if searched.may_be_shorter() {
        remarks.push(MAY_BE_SHORTER.to_owned());
    }
    remarks
}

fn property_line(
    world: &World,
    selection: &Selection,
    searched: &Searched,
    property: &Property,
) -> CheckedProperty {
    let facts = &world.system.facts;
    let claim = facts
        .contract
        .claim(property.name, &world.setting.circumstances(facts.entry.problem, facts.processes()));
    let mut line = CheckedProperty {
        name: property.name.to_owned(),
        demand: property.demand.to_owned(),
        verdict: CheckVerdict::NotCovered,
        explanation: None,
        promised: claim.is_promised(),
        outside: match claim {
            Claim::Outside(why) => Some(why),
            Claim::Promised | Claim::NotPromised => None,
        },
        counterexample: None,
        steps: None,
        shortest: None,
    };
    match selection.index_of(property) {
        None if NEED_CLOCKS.contains(&property.name) && !world.setting.clocks => {
            line.explanation = Some("which request happened before which was not tracked".to_owned());
        }
        None => line.explanation = Some("it was not asked for".to_owned()),
        Some(index) => match &searched.violations[index] {
            None if searched.is_decided(index) && searched.was_at_stake(index) => {
                line.verdict = CheckVerdict::Holds;
            }
            None if searched.is_decided(index) => {
                line.verdict = CheckVerdict::DoesNotApply;
                line.explanation = Some("nothing ever happens of which it demands anything".to_owned());
            }
            None => line.verdict = CheckVerdict::NotFound,
            Some(Violation { path, cycle, length }) => {
                let clocks = show_clocks(world, &path.initial);
                let title = format!("{} is broken after {} steps{clocks}", property.name, path.steps.len());
                let (initial, steps, moments) = (&path.initial, &path.steps, path.moments.as_deref());
                let run = Counterexample { initial, steps, moments, property: index, cycle: *cycle, title };
                let (trace, explanation) = narrate(&world.system, &run);
                line.verdict = CheckVerdict::Violated;
                line.explanation = explanation;
                line.steps = Some(path.steps.len());
                line.shortest = Some(*length == Length::Shortest);
                line.counterexample = Some(trace);
            }
        },
    }
    line
}

/// Whose clocks are slow and whose are fast, if any are.
fn show_clocks(world: &World, beginnings: &[Beginning]) -> String {
    let ids = &world.system.facts.population.ids;
    let those = |rate: Rate, word: &str| {
        let with = ids.iter().zip(beginnings).filter(|(_, beginning)| beginning.rate == rate);
        let with: Vec<String> = with.map(|(id, _)| id.0.to_string()).collect();
        if with.is_empty() { String::new() } else { format!("; {word}: {}", with.join(", ")) }
    };
    those(Rate::Slow, "slow clocks") + &those(Rate::Fast, "fast clocks")
}

fn describe(stop: Stop) -> &'static str {
    match stop {
        Stop::Exhausted => "every run was covered",
        Stop::Decided => "a property is broken",
        Stop::Depth => "the limit on steps was reached",
        Stop::States => "the limit on states was reached",
        Stop::Memory => "the limit on memory was reached",
        Stop::Interrupted => "it was interrupted",
        Stop::Cycles => "runs without end were not looked for",
    }
}
