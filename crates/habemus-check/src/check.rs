//! From a request to a report.

use std::time::Instant;

use habemus::catalogue::{self, Request, Setup, SetupError, Visitor};
use habemus::property::Monitor;
use habemus::{Problem, Process, Status};
use habemus_report::grouped;
use habemus_trace::Origin;

use crate::circle::has_circle;
use crate::environment::MOST_PARTITIONED;
use crate::explore::{Control, Explored, Stop, explore};
use crate::liveness;
use crate::numbered::Numbered;
use crate::path::{Path, path_to};
use crate::protocol::{Story, Trouble};
use crate::report::{Extent, PropertyLine, Report, SometimesLine, Verdict};
use crate::setting::{Budget, MOST_FAULTS, Properties, Setting, Start, Timers};
use crate::watching::status_bit;
use crate::world::World;

/// A system of at most this many processes can be checked.
pub const MOST_PROCESSES: usize = 32;
/// States that are looked at again, at most, for a shorter run.
const MOST_RESEARCH: u64 = 3_000_000;
/// What was found among more states is told as it was found: to look for it again on one thread takes too long.
const MOST_RETOLD: u64 = 1_000_000;
/// Every choice of those who start is tried for at most this many processes.
const MOST_STARTERS: usize = 10;

/// Why a check cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The system makes no sense.
    #[error("{0}")]
    Setup(SetupError),
    /// There is no such property.
    #[error("there is no property '{name}' of {problem}; there are: {}", known.join(", "))]
    UnknownProperty {
        /// The name given.
        name: String,
        /// The problem.
        problem: &'static str,
        /// Its properties.
        known: Vec<String>,
    },
    /// The algorithm or the circumstances cannot be explored.
    #[error("{0}")]
    Unfit(String),
    /// A handler is not a function of state and event.
    #[error(
        "process {process} gave two different steps for the same event ({event}): a handler must depend on \
         nothing but its state and the event"
    )]
    Nondeterministic {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process says that only the distances between logical times matter to it, and that is not so.
    #[error(
        "process {process} does something else at {event} if all logical times are later by the same amount: its \
         `ShiftInvariant` must not say that nothing but their distances matters"
    )]
    Timebound {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A handler minds its place, though its process says that processes are interchangeable.
    #[error(
        "process {process} would do something else at {event} if it stood one place further on and everybody else did: its \
         `RotationSymmetric` must not say that processes are interchangeable"
    )]
    Placebound {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process sent where it has no link.
    #[error("process {process} sent to {to} at {event}, but has no link to it")]
    NoLink {
        /// The identifier of the sender.
        process: u64,
        /// The identifier of the receiver.
        to: u64,
        /// The event.
        event: String,
    },
}

impl From<Trouble> for CheckError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Nondeterministic { process, event } => CheckError::Nondeterministic { process, event },
            Trouble::Timebound { process, event } => CheckError::Timebound { process, event },
            Trouble::Placebound { process, event } => CheckError::Placebound { process, event },
            Trouble::NoLink { process, to, event } => CheckError::NoLink { process, to, event },
        }
    }
}

/// Checks an algorithm of the catalogue.
///
/// # Errors
/// If the request or the setting makes no sense, or if the algorithm is not a pure state machine.
pub fn check(request: &Request<'_>, setting: &Setting, control: &Control) -> Result<Report, CheckError> {
    let checked = catalogue::build(request).and_then(|chosen| chosen.accept(Check { setting, control }));
    let mut report = checked.map_err(CheckError::Setup)??;
    for trace in report.properties.iter_mut().filter_map(|line| line.counterexample.as_mut()) {
        trace.header.origin = Some(Origin::of(request));
    }
    Ok(report)
}

struct Check<'a> {
    setting: &'a Setting,
    control: &'a Control,
}

impl Visitor for Check<'_> {
    type Result = Result<Report, CheckError>;

    /// A detector's heartbeats never end; the oracle stands for all of them.
    const ON_DETECTORS: bool = false;

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        check_system(&setup, self.setting, self.control)
    }
}

/// Checks a system that is not in the catalogue.
///
/// # Errors
/// As [`check`].
pub fn check_system<P: Process>(
    setup: &Setup<P>,
    setting: &Setting,
    control: &Control,
) -> Result<Report, CheckError> {
    let begin = Instant::now();
    let setting = fit::<P>(setup, setting)?;
    let plan = Plan::new(setup, &setting)?;
    let oracle = setup.oracle.is_some();
    let one_shot = P::Problem::next_command(&Status::Idle).is_none();
    let outline = Outline::of(setup);
    let world = |setting: &Setting| {
        let protocol = Box::new(Numbered::new(setup.clone(), setting, &plan.checked));
        World::new(protocol, setting.clone(), oracle, one_shot)
    };
    tell_the_same(&setting, |setting| finish(world(setting), &plan, &outline, control, begin))
}

/// Checks, and checks again on one thread where a violation is to be told: which of several threads comes first to a
/// state is chance, and with it which of the shortest runs is told. On one thread it is the same every time. Numbers are
/// given anew, for they hang on chance as well.
fn tell_the_same(
    setting: &Setting,
    check: impl Fn(&Setting) -> Result<Report, CheckError>,
) -> Result<Report, CheckError> {
    let report = check(setting)?;
    let is_told = report.properties.iter().any(|line| line.counterexample.is_some());
    if setting.threads == 1 || !is_told || report.states > MOST_RETOLD {
        return Ok(report);
    }
    let again = check(&Setting { threads: 1, ..setting.clone() })?;
    let is_broken = |line: &PropertyLine| line.counterexample.is_some();
    let same = report.properties.iter().map(is_broken).eq(again.properties.iter().map(is_broken));
    // It may have been interrupted.
    Ok(if same { again } else { report })
}

/// What a report says of a system before it is explored.
struct Outline {
    algorithm: &'static str,
    problem: &'static str,
    sometimes: &'static [(&'static str, Status)],
}

impl Outline {
    fn of<P: Process>(setup: &Setup<P>) -> Self {
        let sometimes: &[(&str, Status)] = match P::Problem::NAME {
            "election" => &[("some process leads", Status::Leading)],
            "mutual exclusion" => &[("some process enters", Status::Inside)],
            "agreement" => &[("some process decides", Status::Decided)],
            _ => &[],
        };
        Outline { algorithm: setup.entry.name, problem: setup.entry.problem, sometimes }
    }
}

/// The properties of a problem, and which of them are checked.
struct Plan {
    /// Name, demand, and whether it is promised.
    all: Vec<(&'static str, &'static str, bool)>,
    checked: Vec<&'static str>,
    clocks: bool,
}

/// The property that needs to know which request happened before which.
pub(crate) const NEEDS_CLOCKS: &str = "EM3";

impl Plan {
    fn new<P: Process>(setup: &Setup<P>, setting: &Setting) -> Result<Self, CheckError> {
        let monitors = P::Problem::monitors(&setup.population);
        let all: Vec<_> = monitors
            .iter()
            .map(|monitor| (monitor.name(), monitor.demand(), setup.promises(monitor.name())))
            .collect();
        if let Properties::Named(names) = &setting.properties
            && let Some(name) =
                names.iter().find(|name| !all.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name)))
        {
            let known = all.iter().map(|(name, ..)| (*name).to_owned()).collect();
            return Err(CheckError::UnknownProperty { name: name.clone(), problem: P::Problem::NAME, known });
        }
        let wanted = |(name, _, promised): &&(&'static str, &'static str, bool)| {
            let chosen = match &setting.properties {
                Properties::Promised => *promised,
                Properties::All => true,
                Properties::Named(names) => names.iter().any(|other| name.eq_ignore_ascii_case(other)),
            };
            chosen && (setting.clocks || *name != NEEDS_CLOCKS)
        };
        let checked = all.iter().filter(wanted).map(|(name, ..)| *name).collect();
        Ok(Plan { all, checked, clocks: setting.clocks })
    }
}

/// The setting as it applies to this system, or why it does not.
fn fit<P: Process>(setup: &Setup<P>, setting: &Setting) -> Result<Setting, CheckError> {
    let unfit = |reason: String| Err(CheckError::Unfit(reason));
    let (name, count) = (setup.entry.name, setup.system.len());
    if P::READS_CLOCK {
        return unfit(format!(
            "{name} reads the clock, and the checker has none: put it on the oracle detector"
        ));
    }
    if count > MOST_PROCESSES {
        return unfit(format!("at most {MOST_PROCESSES} processes can be checked, not {count}"));
    }
    let budget = &setting.budget;
    let budgets = [
        budget.crashes,
        budget.recoveries,
        budget.losses,
        budget.duplications,
        budget.suspicions,
        budget.partitions,
    ];
    if let Some(most) = budgets.iter().find(|budget| **budget > MOST_FAULTS) {
        return unfit(format!("at most {MOST_FAULTS} faults of a kind can be explored, not {most}"));
    }
    if budget.suspicions > 0 && setup.oracle.is_none() {
        return unfit(format!("{name} stands on no oracle detector that could suspect anybody"));
    }
    if budget.recoveries > 0 && budget.crashes == 0 {
        return unfit("nobody can recover where nobody crashes: allow crashes, too".to_owned());
    }
    if budget.partitions > 0 && count > MOST_PARTITIONED {
        return unfit(format!("partitions of at most {MOST_PARTITIONED} processes can be explored"));
    }
    let one_shot = P::Problem::next_command(&Status::Idle).is_none();
    if one_shot && setting.start == Start::EveryChoice && count > MOST_STARTERS {
        return unfit(format!("name those who start: there are too many choices among {count} processes"));
    }
    let mut setting = setting.clone();
    if setup.synchronous {
        if !(Budget { crashes: 0, ..*budget }).is_empty() {
            return unfit(format!(
                "{name} works in pulses, in which nothing is late or lost; only crashes can be"
            ));
        }
        setting.timers = Timers::MessagesFirst;
    }
    setting.clocks &= !one_shot;
    Ok(setting)
}

fn finish(
    mut world: World,
    plan: &Plan,
    outline: &Outline,
    control: &Control,
    begin: Instant,
) -> Result<Report, CheckError> {
    let mut explored = explore(&world, plan.checked.len(), control)?;
    let mut remarks = Vec::new();
    if world.is_timeless() {
        remarks.push(
            "states that differ only by a later time on all logical clocks were taken for the same"
                .to_owned(),
        );
    }
    let mut shorter: Option<Explored> = None;
    let symmetries = remarks.len();
    if world.turns {
        remarks.push("states that differ only by a turn of all processes were taken for the same".to_owned());
    }
    let mut endless = explored.stop == Stop::Exhausted && explored.may_be_endless() && world.setting.liveness;
    if explored.is_reduced() || world.turns {
        if explored.reduced > 0 {
            remarks.push(format!(
                "of {} states only the steps of one process were explored: the others' can wait",
                grouped(explored.reduced)
            ));
        }
        if explored.joined > 0 {
            remarks.push(
                "what a process takes without sending or showing anything is taken in one go with its next step"
                    .to_owned(),
            );
        }
        // What goes on for ever is looked for among all runs; where the chosen ones all end, all do.
        endless = endless && has_circle(&world, &explored, control)?;
        if endless {
            drop(explored);
            (world.setting.reduction, world.turns) = (false, false);
            explored = explore(&world, plan.checked.len(), control)?;
            remarks.truncate(symmetries);
            remarks.push("there are runs without end, so every order of events was explored".to_owned());
        }
    }
    if explored.is_reduced() && !explored.findings.is_empty() {
        // A chosen run may be longer than needed: look at all runs up to its length for a shorter one.
        let mut deepest = None;
        for finding in &explored.findings {
            let steps = path_to(&world, &explored, finding.state)?.steps.len();
            deepest = deepest.max(u32::try_from(steps).ok());
        }
        let (most_depth, most_states) = (world.setting.most_depth, world.setting.most_states);
        world.setting.reduction = false;
        world.setting.most_depth = deepest;
        world.setting.most_states = Some(most_states.unwrap_or(MOST_RESEARCH).min(MOST_RESEARCH));
        let whole = explore(&world, plan.checked.len(), control)?;
        (world.setting.most_depth, world.setting.most_states) = (most_depth, most_states);
        if explored.findings.iter().all(|old| whole.findings.iter().any(|new| new.property == old.property)) {
            shorter = Some(whole);
        } else {
            remarks
                .push("the run shown may not be a shortest one: there are too many shorter ones".to_owned());
        }
    }
    let told = shorter.as_ref().unwrap_or(&explored);
    let mut broken: Vec<Option<Violation>> = plan.checked.iter().map(|_| None).collect();
    for finding in &told.findings {
        let path = path_to(&world, told, finding.state)?;
        broken[finding.property] = Some(Violation { path, cycle: None });
    }
    let exhausted = explored.stop == Stop::Exhausted;
    if exhausted && endless {
        let may_break = |index: usize| explored.lacking >> index & 1 == 1;
        for (index, broken) in broken.iter_mut().enumerate() {
            if broken.is_none() && may_break(index) {
                *broken = liveness::find(&world, &explored, index, control)?;
            }
        }
    }
    if exhausted && control.is_stopped() {
        // All states were explored, but runs without end were not looked for to the end.
        explored.stop = Stop::Interrupted;
    }
    let lines = plan.all.iter().map(|&(name, demand, promised)| {
        let index = plan.checked.iter().position(|checked| *checked == name);
        let violation = index.and_then(|index| broken[index].as_ref().map(|violation| (index, violation)));
        property_line(&world, plan, &explored, (name, demand, promised), index.is_some(), violation)
    });
    let properties: Vec<PropertyLine> = lines.collect();
    let extent = match explored.stop {
        Stop::Exhausted => Extent::Complete,
        Stop::Decided => Extent::UntilViolation,
        _ => Extent::Bounded,
    };
    let sometimes = outline
        .sometimes
        .iter()
        .map(|&(what, status)| SometimesLine { what, reached: explored.reached & status_bit(status) != 0 });
    Ok(Report {
        algorithm: outline.algorithm.to_owned(),
        problem: outline.problem.to_owned(),
        processes: world.processes(),
        extent,
        stop: describe(explored.stop).to_owned(),
        states: explored.visited.len(),
        transitions: explored.transitions,
        quiet: explored.quiet,
        depth: explored.depth,
        bytes: explored.visited.bytes(),
        seconds: begin.elapsed().as_secs_f64(),
        properties,
        sometimes: sometimes.collect(),
        remarks,
    })
}

/// A run that breaks a property.
pub(crate) struct Violation {
    pub(crate) path: Path,
    /// From which step on it repeats itself, if it does.
    pub(crate) cycle: Option<usize>,
}

fn property_line(
    world: &World,
    plan: &Plan,
    explored: &Explored,
    (name, demand, promised): (&'static str, &'static str, bool),
    is_checked: bool,
    violation: Option<(usize, &Violation)>,
) -> PropertyLine {
    let mut line = PropertyLine {
        name: name.to_owned(),
        demand: demand.to_owned(),
        verdict: Verdict::NotCovered,
        explanation: None,
        promised,
        counterexample: None,
        steps: None,
    };
    if let Some((property, violation)) = violation {
        let steps = &violation.path.steps;
        let title = format!("{name} is broken after {} steps", steps.len());
        let cycle = violation.cycle;
        let story = Story { opening: &violation.path.opening, steps, property, cycle, title };
        let (trace, explanation) = world.protocol.narrate(&story);
        line.verdict = Verdict::Violated;
        line.explanation = explanation;
        line.steps = Some(steps.len());
        line.counterexample = Some(trace);
    } else if is_checked {
        line.verdict = if explored.stop == Stop::Exhausted { Verdict::Holds } else { Verdict::NotFound };
    } else if name == NEEDS_CLOCKS && !plan.clocks {
        line.explanation = Some("which request happened before which was not tracked".to_owned());
    } else {
        line.explanation = Some("it was not asked for".to_owned());
    }
    line
}

fn describe(stop: Stop) -> &'static str {
    match stop {
        Stop::Exhausted => "every run was covered",
        Stop::Decided => "a property is broken",
        Stop::Depth => "the limit on steps was reached",
        Stop::States => "the limit on states was reached",
        Stop::Memory => "the limit on memory was reached",
        Stop::Interrupted => "it was interrupted",
    }
}
