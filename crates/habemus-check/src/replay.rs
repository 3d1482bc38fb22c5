//! Repeats a recorded run step by step with the processes themselves, and judges it anew.
//!
//! A trace says what happened, not why. Here every event is given to the processes again, and what they do
//! about it must be what the trace says: the same messages, the same outputs, in the same order. What a trace
//! does not say, a process's free choices and whether a recovering one has forgotten what it had stored, is
//! tried in every way until it fits.

mod replayer;
mod scripted;
mod states;

use habemus::Address;
use habemus::catalogue::{self, Request, SetupError};
use habemus::signatures::Scheme;
use habemus_report::{Ended, Ending, Finding, JudgeError, Report, judge};
use habemus_scenario::{Cue, Expectations, Scenario};
use habemus_trace::{Happening, Origin, Record, Trace};

use crate::branch::Branch;
use crate::check::{Erase, ErasedSystem};
use replayer::Replayer;
pub use states::{Steps, with_states};

/// Steps that are taken back, at most, before a trace is given up.
const MAX_RETRIES: u32 = 100_000;

/// Why a trace cannot be repeated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The processes cannot be made.
    #[error("{0}")]
    Setup(SetupError),
    /// It does not say how the processes were made.
    #[error("the trace does not say how its processes were made")]
    Unknown,
    /// It is a run of something else.
    #[error("the trace is a run of {trace}, not of {asked}")]
    Foreign {
        /// What it is a run of.
        trace: String,
        /// What was asked for.
        asked: String,
    },
    /// The processes would do something else.
    #[error("the trace does not fit: at record {record}, {why}")]
    Misfit {
        /// Which record, counted from 1.
        record: usize,
        /// In which way.
        why: String,
    },
    /// Too many choices of the processes fit the beginning.
    #[error("the trace does not say what the processes chose, and there are too many ways to find out")]
    TooManyWays,
    /// The run does not show what it claims.
    #[error("the trace says that {property} is violated, but this run does not show it")]
    Unproven {
        /// The property.
        property: String,
    },
    /// The monitors cannot read it.
    #[error("{0}")]
    Judge(JudgeError),
}

/// A run that was repeated.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What the monitors say of it.
    pub report: Report,
    /// How many events were given to the processes.
    pub steps: usize,
    /// Whether it ends in a cycle that can go on for ever.
    pub is_endless: bool,
    script: Vec<Cue>,
    choices: Vec<u32>,
    origin: Origin,
}

/// Repeats a trace with the processes that `request` describes, or with those that the trace itself names.
///
/// # Errors
/// If the processes cannot be made, or would not behave like this.
pub fn replay(trace: &Trace, request: Option<&Request<'_>>) -> Result<Replay, ReplayError> {
    let (origin, system) = processes(trace, request)?;
    let request = origin.request(&trace.header, SIGNATURES);
    let repeated = repeat(trace, &system)?;
    let mut report = verdict(trace, &request, &repeated)?;
    for line in report.properties.iter().filter(|line| line.verdict == Finding::Violated && !line.promised) {
        let why = line.explanation.as_deref().unwrap_or_default();
        report.failures.push(format!("{} is violated: {why}", line.name));
    }
    "none: a recorded run has no seed".clone_into(&mut report.fingerprint);
    let steps = repeated.steps;
    report.remarks.push(format!("the processes themselves repeated all {steps} steps: the same events"));
    let Repeated { script, choices, steps, has_cycle, .. } = repeated;
    Ok(Replay { report, steps, is_endless: has_cycle, script, choices, origin })
}

const SIGNATURES: Option<Scheme> = Some(Scheme::Made(habemus_signatures::ed25519));

/// The processes of a trace, made anew.
fn processes(trace: &Trace, request: Option<&Request<'_>>) -> Result<(Origin, ErasedSystem), ReplayError> {
    let header = &trace.header;
    let origin = match (request, &header.origin) {
        (Some(request), _) => {
            let ids: Vec<u64> = request.ids.iter().map(|id| id.0).collect();
            if request.algorithm != header.algorithm || ids != header.processes {
                return Err(ReplayError::Foreign {
                    trace: name(&header.algorithm, &header.processes),
                    asked: name(request.algorithm, &ids),
                });
            }
            Origin::of(request)
        }
        (None, Some(origin)) => origin.clone(),
        (None, None) => return Err(ReplayError::Unknown),
    };
    let request = origin.request(header, SIGNATURES);
    let chosen = catalogue::build(&request).and_then(|chosen| chosen.accept(Erase));
    let system = chosen.map_err(ReplayError::Setup)?;
    Ok((origin, system))
}

impl Replay {
    /// The run as a scenario that the simulator plays; `None` if it has no end, which no script can have.
    pub fn scenario(&self) -> Option<Scenario> {
        (!self.is_endless).then(|| scripted::scenario(self))
    }
}

fn name(algorithm: &str, ids: &[u64]) -> String {
    let ids: Vec<String> = ids.iter().take(12).map(u64::to_string).collect();
    format!("{algorithm} with the processes {}", ids.join(", "))
}

/// What repeating a run shows, whatever its processes.
struct Repeated {
    script: Vec<Cue>,
    choices: Vec<u32>,
    steps: usize,
    /// Which process was what after which record: its variables.
    states: Vec<(usize, Address, String)>,
    /// Whether nothing more could happen.
    at_rest: bool,
    /// Whether it ends where its cycle began.
    has_cycle: bool,
}

/// A point of the run at which another way can be tried.
struct Fork<'a> {
    index: usize,
    replayer: Replayer<'a>,
    branch: Branch,
    /// How all was when the cycle began.
    cycle: Option<Replayer<'a>>,
}

fn repeat(trace: &Trace, system: &ErasedSystem) -> Result<Repeated, ReplayError> {
    let handlers = (system.handlers)();
    let again = arrives_again(&trace.records);
    let mut forks: Vec<Fork<'_>> = Vec::new();
    let mut farthest: Option<(usize, String)> = None;
    let mut retries = 0;
    let replayer = Replayer::new(&system.facts, &*handlers);
    let mut present = Fork { index: 0, replayer, branch: Branch::default(), cycle: None };
    loop {
        let Fork { index, replayer, branch, cycle } = &mut present;
        if trace.header.cycle == Some(*index) {
            *cycle = Some(replayer.clone());
        }
        let why = match trace.records.get(*index) {
            None => match replayer.end(cycle.as_ref()) {
                Ok(()) => break,
                Err(why) => why,
            },
            Some(record) => match replayer.enact(record, again[*index], branch) {
                Ok(matched) => {
                    let mut other = std::mem::take(branch);
                    if other.advance() {
                        let (replayer, cycle) = (replayer.clone(), cycle.clone());
                        forks.push(Fork { index: *index, replayer, branch: other, cycle });
                    }
                    replayer.commit(*index, record.at, matched);
                    *index += 1;
                    continue;
                }
                Err(why) => why,
            },
        };
        if farthest.as_ref().is_none_or(|(record, _)| *record < *index) {
            farthest = Some((*index, why));
        }
        let Some(fork) = forks.pop() else {
            let (record, why) = farthest.expect("it was just set");
            return Err(ReplayError::Misfit { record: record + 1, why });
        };
        present = fork;
        retries += 1;
        if retries > MAX_RETRIES {
            return Err(ReplayError::TooManyWays);
        }
    }
    let replayer = present.replayer;
    let shown = |&(record, at, process): &(usize, Address, u32)| (record, at, handlers.variables(process));
    Ok(Repeated {
        states: replayer.states.iter().map(shown).collect(),
        at_rest: replayer.is_at_rest(),
        has_cycle: trace.header.cycle.is_some(),
        steps: replayer.steps,
        script: replayer.script,
        choices: replayer.choices,
    })
}

/// For each record of an arrival, whether the same message arrives or is lost once more later.
fn arrives_again(records: &[Record]) -> Vec<bool> {
    let mut seen = std::collections::BTreeSet::new();
    let mut again: Vec<bool> = records
        .iter()
        .rev()
        .map(|record| match &record.what {
            Happening::Deliver { message, from, .. } | Happening::Drop { message, from, .. } => {
                !seen.insert((*from, *message, record.process))
            }
            _ => false,
        })
        .collect();
    again.reverse();
    again
}

/// What the monitors say. A run that claims to break something must do so by what happened, or by what can
/// never happen any more: because the run has come to rest, or because it goes round in a cycle.
fn verdict(trace: &Trace, request: &Request<'_>, repeated: &Repeated) -> Result<Report, ReplayError> {
    let mut bare = trace.clone();
    bare.records.retain(|record| !matches!(record.what, Happening::Violation { .. }));
    let claimed: Vec<&String> = trace
        .records
        .iter()
        .filter_map(|record| match &record.what {
            Happening::Violation { property, .. } => Some(property),
            _ => None,
        })
        .collect();
    let over = repeated.at_rest || repeated.has_cycle;
    let time = trace.records.last().map_or(0, |record| record.at);
    let hear = |over: bool| {
        let (stop, ended) = match (over, repeated.has_cycle) {
            (true, true) => ("it goes round in a cycle for ever", Ended::InACycle),
            (true, false) => ("nothing more could happen", Ended::AtRest),
            (false, _) => ("the recorded run ends here", Ended::AsAsked),
        };
        let ending = Ending { stop: stop.to_owned(), ended, time };
        judge(request, &Expectations::default(), bare.clone(), &ending).map_err(ReplayError::Judge)
    };
    let unproven = |report: &Report| {
        let shown = |name: &String| {
            report.properties.iter().any(|line| line.name == *name && line.verdict == Finding::Violated)
        };
        claimed.iter().find(|name| !shown(name)).map(|name| (*name).clone())
    };
    // Where the events alone show all that is claimed, it is left open what might have happened next.
    let by_events = hear(over && claimed.is_empty())?;
    let Some(property) = unproven(&by_events) else { return Ok(by_events) };
    let at_end = hear(over)?;
    if over && unproven(&at_end).is_none() { Ok(at_end) } else { Err(ReplayError::Unproven { property }) }
}
