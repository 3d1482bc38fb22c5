//! The model checker for the page: asked in JSON, it explores a piece at a time, and says how far it is.
//!
//! A browser's engine has one thread, and while that explores nobody can ask it anything. So it explores a
//! few states first, and then four times as many, until it knows or may go no further: all pieces together
//! take little longer than the last one, and between two of them it can be told to stop.

use habemus::catalogue::{self, Entry};
use habemus_check::{
    Budget, CheckHandle, CheckReport, CheckVerdict, Extent, NEED_CLOCKS, Properties, Setting, Timers, check,
    replay,
};
use habemus_scenario::{Scenario, TimeModel, parse, to_toml};
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::language::Language;
use crate::portuguese::monitor_words;
use crate::texts::{demand_words, property_words};

/// The states of the first piece.
const FIRST: u64 = 5_000;
/// How many times more the next piece has.
const MORE: u64 = 4;

/// What the page may ask of the checker.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "wish", rename_all = "kebab-case")]
enum Wish {
    /// Check a system.
    Check(Box<Question>),
    /// Go on.
    On,
}

/// What is to be checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Question {
    /// The system, as a scenario has it.
    toml: String,
    /// How often the environment may do harm.
    #[serde(default)]
    faults: Faults,
    /// `promised`, `all`, or the name of a property.
    properties: String,
    /// How many states are too many.
    max_states: u64,
    #[serde(default)]
    language: Language,
}

/// How often the environment may do harm.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Faults {
    crashes: u8,
    recoveries: u8,
    amnesia: bool,
    losses: u8,
    duplications: u8,
    suspicions: u8,
    partitions: u8,
    wrong_timeouts: u8,
}

/// What the checker answers.
#[derive(Default, Serialize)]
struct Answer {
    /// How many states were looked at so far.
    states: u64,
    /// Whether that is all.
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<CheckResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What the checker says of it, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// What came of a check.
#[derive(Serialize)]
struct CheckResult {
    /// Whether every run was looked at.
    complete: bool,
    states: u64,
    depth: u32,
    properties: Vec<CheckLine>,
}

/// What came of one property.
#[derive(Serialize)]
struct CheckLine {
    name: String,
    title: String,
    demand: String,
    verdict: CheckVerdict,
    promised: bool,
    explanation: String,
    /// How many steps the run has that breaks it.
    steps: Option<usize>,
    /// That run as a scenario; absent if it goes round for ever.
    scenario: Option<String>,
    /// That run as a trace, if it goes round for ever.
    trace: Option<String>,
}

/// A check that goes on piece by piece.
struct Running {
    question: Question,
    scenario: Scenario,
    setting: Setting,
    states: u64,
}

/// The checker.
#[derive(Default)]
pub struct Checker {
    running: Option<Running>,
    language: Language,
}

impl Checker {
    /// A checker without a question.
    pub fn new() -> Self {
        Checker::default()
    }

    /// Does what the page wishes, and answers; both are JSON.
    pub fn ask(&mut self, wish: &str) -> String {
        let answer =
            match serde_json::from_str(wish).map_err(LabError::from).and_then(|wish| self.grant(wish)) {
                Ok(answer) => answer,
                Err(error) => {
                    let (error, detail) = error.words(self.language);
                    Answer { error: Some(error), detail, done: true, ..Answer::default() }
                }
            };
        // An answer is made of texts and numbers.
        serde_json::to_string(&answer).unwrap_or_default()
    }

    fn grant(&mut self, wish: Wish) -> Result<Answer, LabError> {
        match wish {
            Wish::Check(question) => {
                self.language = question.language;
                self.running = Some(Running::new(*question)?);
            }
            Wish::On => {}
        }
        let running = self.running.as_mut().ok_or(LabError::Missing("check"))?;
        let answer = running.go_on()?;
        if answer.done {
            self.running = None;
        }
        Ok(answer)
    }
}

impl Running {
    fn new(question: Question) -> Result<Self, LabError> {
        let parsed = parse("scenario", &question.toml);
        let scenario = parsed.map_err(|errors| LabError::Scenario(errors.to_string()))?.scenario;
        let entry = catalogue::entry(&scenario.algorithm);
        let entry = entry.map_err(|error| LabError::Scenario(error.to_string()))?;
        let setting = setting(&question, &scenario, entry);
        Ok(Running { question, scenario, setting, states: FIRST })
    }

    fn go_on(&mut self) -> Result<Answer, LabError> {
        let limit = self.states.min(self.question.max_states.max(1));
        let setting = Setting { max_states: Some(limit), ..self.setting.clone() };
        let request = habemus_report::request(&self.scenario)?;
        let report = check(&request, &setting, &CheckHandle::default())
            .map_err(|error| LabError::Scenario(error.to_string()))?;
        let may_go_on = report.extent == Extent::Bounded && limit < self.question.max_states;
        if may_go_on && report.states >= limit {
            self.states = limit.saturating_mul(MORE);
            return Ok(Answer { states: report.states, ..Answer::default() });
        }
        let states = report.states;
        let result = Some(result(report, self.question.language));
        Ok(Answer { states, done: true, result, ..Answer::default() })
    }
}

/// The circumstances of a check.
fn setting(question: &Question, scenario: &Scenario, entry: &Entry) -> Setting {
    let Faults { crashes, recoveries, amnesia, losses, .. } = question.faults;
    let Faults { duplications, suspicions, partitions, wrong_timeouts, .. } = question.faults;
    let properties = match question.properties.as_str() {
        "promised" | "" => Properties::Promised,
        "all" => Properties::All,
        name => Properties::Named(vec![name.to_owned()]),
    };
    let needs_clocks = NEED_CLOCKS.contains(&question.properties.as_str());
    let mut setting = Setting {
        timers: Timers::usual(entry),
        budget: Budget {
            crashes,
            recoveries,
            amnesia,
            losses,
            duplications,
            suspicions,
            partitions,
            wrong_timeouts,
        },
        properties,
        clocks: needs_clocks,
        ..Setting::default()
    };
    if !scenario.network.fifo && !matches!(scenario.network.model, TimeModel::Synchronous { .. }) {
        setting.order = habemus_check::DeliveryOrder::Any;
    }
    setting
}

fn result(report: CheckReport, language: Language) -> CheckResult {
    let complete = report.extent == Extent::Complete;
    let line = |line: habemus_check::CheckedProperty| {
        let repeated = line.counterexample.as_ref().and_then(|trace| replay(trace, None).ok());
        let scenario = repeated.and_then(|repeated| repeated.scenario()).map(|scenario| to_toml(&scenario));
        let trace = line.counterexample.as_ref().filter(|_| scenario.is_none()).map(|trace| {
            let mut bytes = Vec::new();
            // Memory takes whatever is written to it.
            let _ = trace.write(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        CheckLine {
            title: property_words(&line.name, language).to_owned(),
            demand: demand_words(&line.demand, language).to_owned(),
            explanation: line
                .explanation
                .as_deref()
                .and_then(|why| monitor_words(why, language))
                .unwrap_or_default(),
            verdict: line.verdict,
            promised: line.promised,
            steps: line.steps,
            name: line.name,
            scenario,
            trace,
        }
    };
    let (states, depth) = (report.states, report.depth);
    // What nobody asked for, nobody need be told of.
    let asked = report.properties.into_iter().filter(|line| line.verdict != CheckVerdict::NotCovered);
    CheckResult { complete, states, depth, properties: asked.map(line).collect() }
}
