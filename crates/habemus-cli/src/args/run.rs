//! All flags that describe a run.

use std::time::Duration;

use clap::Args;
use habemus::catalogue::{Setup, Visitor};
use habemus::{ProblemKind, Process, catalogue};
use habemus_scenario::{Action, Cue, Occasion, Processes, Scenario, script, units};

use super::{
    ClientFlags, Described, NetworkFlags, RandomFlags, ScriptFlags, SubjectFlags, flag, has_command,
};
use crate::error::CliError;

/// Without a word about their number, so many processes run.
const USUAL_PROCESSES: u64 = 5;

/// What to run, and under which circumstances.
#[derive(Args, Debug, Clone)]
#[command(mut_arg("processes", |arg| arg.help("How many processes; their identifiers are 1 to N [default: \
    5]")))]
pub(crate) struct RunFlags {
    #[command(flatten)]
    subject: SubjectFlags,

    /// Who starts at the beginning: 17,3 or all (the default where nobody starts unless it is told to).
    #[arg(long, value_name = "IDS|all|none", help_heading = "Script")]
    start: Option<String>,
    #[command(flatten)]
    script: ScriptFlags,
    #[command(flatten)]
    network: NetworkFlags,
    #[command(flatten)]
    random: RandomFlags,
    #[command(flatten)]
    clients: ClientFlags,

    /// The seed of everything drawn at random [default: 1].
    #[arg(long, value_name = "SEED", help_heading = "Run")]
    seed: Option<u64>,
    /// When it is over: quiet, agree, 500ms, "10000 events" [default: quiet].
    #[arg(long, value_name = "WHEN", help_heading = "Run")]
    until: Option<String>,
    /// Virtual time at which it is cut off [default: a day after the last fault, or 10s with heartbeats].
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    time_limit: Option<String>,
    /// How long after the last fault everything promised must hold; then the run is over.
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    within: Option<String>,
    /// Events after which it is cut off [default: 1000000000].
    #[arg(long, value_name = "N", help_heading = "Run")]
    event_limit: Option<u64>,
}

impl RunFlags {
    /// Whether the command says what to run at all.
    pub(crate) fn is_given(&self) -> bool {
        self.subject.is_given()
    }

    /// The same circumstances for another algorithm.
    pub(crate) fn of(&self, algorithm: &str) -> Self {
        RunFlags { subject: self.subject.of(algorithm), ..self.clone() }
    }

    /// The algorithm, or the file, that the command names.
    pub(crate) fn algorithm(&self) -> Option<&str> {
        self.subject.named()
    }

    /// The seed that the command names.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Whether the command says who the processes are.
    pub(crate) fn names_processes(&self) -> bool {
        self.subject.names_processes()
    }

    /// The scenario that the flags and the file amount to.
    pub(crate) fn describe(&self) -> Result<Described, CliError> {
        let Described { mut scenario, parsed } = self.subject.describe(USUAL_PROCESSES)?;
        if let Some(seed) = self.seed {
            scenario.seed = seed;
        }
        self.network.apply(&mut scenario)?;
        self.script(&mut scenario, parsed.is_some())?;
        self.random.apply(&mut scenario)?;
        self.clients.apply(&mut scenario, parsed.is_some())?;
        self.limits(&mut scenario)?;
        Ok(Described { scenario, parsed })
    }

    fn script(&self, scenario: &mut Scenario, from_file: bool) -> Result<(), CliError> {
        let processes = Processes::new(&scenario.ids);
        let mut cues = self.script.cues(&processes)?;
        let entry = catalogue::entry(&scenario.algorithm).ok();
        let problem = entry.map(|entry| entry.problem);
        let start = match (&self.start, from_file) {
            (Some(start), _) if start == "none" => None,
            (Some(start), _) => {
                Some(script::parse_processes(start, &processes).map_err(|e| flag("start", &e))?)
            }
            (None, false) if is_asked(scenario) && !has_command(&cues) => Some(scenario.ids.clone()),
            (None, _) => None,
        };
        if let Some(start) = start {
            let word = match problem {
                Some(ProblemKind::Election) => "elect",
                Some(ProblemKind::Agreement) => "propose",
                _ => "acquire",
            };
            let action = Action::Command { word: word.to_owned(), processes: start };
            cues.push(Cue { occasion: Occasion::At(Duration::ZERO), action });
        }
        scenario.script.extend(cues);
        Ok(())
    }

    fn limits(&self, scenario: &mut Scenario) -> Result<(), CliError> {
        if let Some(until) = &self.until {
            scenario.until = until.parse().map_err(|e: units::UnitError| flag("until", &e))?;
        }
        if let Some(limit) = &self.time_limit {
            scenario.time_limit = Some(units::parse_duration(limit).map_err(|e| flag("time-limit", &e))?);
        }
        if let Some(within) = &self.within {
            let within = units::parse_duration(within).map_err(|e| flag("within", &e))?;
            scenario.expect.within = Some(within);
        }
        if let Some(limit) = self.event_limit {
            scenario.event_limit = limit;
        }
        Ok(())
    }
}

/// Whether its processes are told to begin, if nothing else is said: not the clients of a lock, which have a
/// rhythm of their own, and not those that begin by themselves. If these were told all at once, every run
/// would begin with a split vote.
fn is_asked(scenario: &Scenario) -> bool {
    let built = habemus_report::request(scenario).ok().and_then(|request| catalogue::build(&request).ok());
    let begins_alone = built.and_then(|chosen| chosen.accept(BeginsAlone).ok());
    // What cannot be built is told so later.
    !begins_alone.unwrap_or(false)
}

/// Asks a system whether its processes begin without being told to.
struct BeginsAlone;

impl Visitor for BeginsAlone {
    type Result = bool;

    fn visit<P: Process>(self, setup: Setup<P>) -> bool {
        setup.entry.problem == ProblemKind::MutualExclusion || setup.population.is_sure_to_start
    }
}
