//! The lab: it is asked for something as JSON and answers as JSON.

use std::collections::BTreeMap;

use habemus::ProblemKind;
use habemus::catalogue;
use habemus_report::{Report, scenarios_of_locks};
use habemus_scenario::{Action, Cue, Occasion, Scenario, parse};
use habemus_trace::Trace;
use serde::{Deserialize, Serialize};

use crate::cone::Cone;
use crate::diagram::{DiagramWindow, visible};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::frame::Frame;
use crate::language::Language;
use crate::link::{Place, Sharing, read_link, write_link};
use crate::texts::{refusal_words, words};

/// How many processes an algorithm has if nobody says.
const USUAL_PROCESSES: usize = 5;
/// The page draws no more than these.
const MAX_PROCESSES: usize = 512;

/// What the page may ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "wish", rename_all = "kebab-case")]
pub enum Wish {
    /// Here are the example runs, by name.
    Exhibits {
        /// Name and text of each.
        exhibits: Vec<(String, String)>,
    },
    /// Begin an experiment.
    Open(Start),
    /// Go so many events on or back.
    Step {
        /// How many.
        by: i64,
    },
    /// Go to the moment after so many events.
    Seek {
        /// How many.
        to: u64,
    },
    /// Go on towards the end, a good piece at a time.
    RunOn,
    /// Do something, in the words of a script.
    Act {
        /// What.
        text: String,
    },
    /// Part the network along a stroke across its picture.
    Stroke {
        /// Where it begins.
        from: (f64, f64),
        /// Where it ends.
        to: (f64, f64),
    },
    /// Look at a process closely, or at none.
    Select {
        /// Its identifier.
        process: Option<u64>,
    },
    /// The next or the last event of the selected process.
    Hop {
        /// Whether to go on, not back.
        on: bool,
    },
    /// Look at another branch.
    Visit {
        /// Which.
        branch: usize,
    },
    /// Speak this language.
    Speak {
        /// Which.
        language: Language,
    },
    /// A piece of the diagram.
    Rows {
        /// The first row.
        first: usize,
        /// How many.
        count: usize,
        /// Whether background traffic is shown.
        background: bool,
    },
    /// What an event can have caused, and what can have caused it, among some events.
    Cone {
        /// The event.
        event: u64,
        /// The first of those events.
        from: u64,
        /// The one behind the last.
        to: u64,
    },
    /// A link to this moment.
    Share,
    /// The scenario of this branch, or its trace, as a file.
    File {
        /// `scenario` or `trace`.
        format: String,
    },
    /// What came of the run, if it is over.
    Report,
}

/// How an experiment begins.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// With a link, or the part of it behind its `#`.
    Link(String),
    /// With a scenario as a file has it.
    Toml(String),
    /// With nothing but the name of an algorithm.
    Algorithm {
        /// Its name.
        name: String,
        /// How many processes.
        processes: Option<usize>,
        /// The seed.
        seed: Option<u64>,
    },
}

/// What the lab answers; what was not asked for is absent.
#[derive(Default, Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<Frame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<DiagramWindow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cone: Option<Cone>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exhibits: Option<Vec<(String, String)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithms: Option<Vec<(&'static str, String)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exhibit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The lab.
#[derive(Default)]
pub struct Lab {
    exhibits: BTreeMap<String, Scenario>,
    experiment: Option<Experiment>,
    /// The example run with which it began, if it began with one.
    exhibit: Option<String>,
    selected: Option<u64>,
    language: Language,
}

impl Lab {
    /// A lab without an experiment.
    pub fn new() -> Self {
        Lab::default()
    }

    /// Does what the page wishes, and answers; both are JSON.
    pub fn ask(&mut self, wish: &str) -> String {
        let answer =
            match serde_json::from_str(wish).map_err(LabError::from).and_then(|wish| self.grant(wish)) {
                Ok(answer) => answer,
                Err(error) => Answer { error: Some(self.error_words(&error)), ..Answer::default() },
            };
        // An answer is made of texts and numbers.
        serde_json::to_string(&answer).unwrap_or_default()
    }

    fn error_words(&self, error: &LabError) -> String {
        match error {
            LabError::Refused(refusal) => refusal_words(*refusal, self.language),
            other => other.to_string(),
        }
    }

    fn grant(&mut self, wish: Wish) -> Result<Answer, LabError> {
        match wish {
            Wish::Exhibits { exhibits } => return Ok(self.take_exhibits(&exhibits)),
            Wish::Open(start) => return self.open(start),
            Wish::Speak { language } => {
                self.language = language;
                let frame = self.experiment.as_ref().map(|experiment| self.frame_of(experiment));
                return Ok(Answer { frame, ..self.speech() });
            }
            Wish::Select { process } => self.selected = process,
            Wish::Rows { first, count, background } => {
                let branch = self.experiment()?.branch();
                let rows = visible(branch, background);
                let rows = DiagramWindow::new(branch, &rows, first, count, background, self.language);
                return Ok(Answer { rows: Some(rows), ..Answer::default() });
            }
            Wish::Cone { event, from, to } => {
                let cone = Cone::of(self.experiment()?.branch(), event, from, to);
                return Ok(Answer { cone: Some(cone), ..Answer::default() });
            }
            Wish::Share => return Ok(Answer { link: Some(self.share()?), ..Answer::default() }),
            Wish::File { format } => {
                return Ok(Answer { file: Some(self.file(&format)?), ..Answer::default() });
            }
            Wish::Report => {
                let report = self.experiment()?.branch().tip().report()?;
                return Ok(Answer { report: Some(report), ..Answer::default() });
            }
            Wish::Step { by } => self.experiment_mut()?.step(by),
            Wish::Seek { to } => self.experiment_mut()?.seek(to),
            Wish::RunOn => {
                let done = self.experiment_mut()?.run_on();
                return Ok(Answer { done: Some(done), ..self.frame()? });
            }
            Wish::Act { text } => self.experiment_mut()?.act(&text)?,
            Wish::Stroke { from, to } => self.stroke(from, to)?,
            Wish::Hop { on } => self.hop(on)?,
            Wish::Visit { branch } => self.experiment_mut()?.visit(branch)?,
        }
        self.frame()
    }

    fn experiment(&self) -> Result<&Experiment, LabError> {
        self.experiment.as_ref().ok_or(LabError::Missing("experiment"))
    }

    fn experiment_mut(&mut self) -> Result<&mut Experiment, LabError> {
        self.experiment.as_mut().ok_or(LabError::Missing("experiment"))
    }

    fn frame(&self) -> Result<Answer, LabError> {
        Ok(Answer { frame: Some(self.frame_of(self.experiment()?)), ..Answer::default() })
    }

    fn frame_of(&self, experiment: &Experiment) -> Frame {
        let ids = &experiment.branch().scenario().ids;
        let selected = self.selected.and_then(|id| ids.iter().position(|other| *other == id));
        Frame::new(experiment, selected, self.language)
    }

    fn take_exhibits(&mut self, exhibits: &[(String, String)]) -> Answer {
        for (name, text) in exhibits {
            if let Ok(parsed) = parse(name, text) {
                self.exhibits.insert(name.clone(), parsed.scenario);
            }
        }
        let title = |scenario: &Scenario| scenario.title.clone().unwrap_or_default();
        let exhibits = self.exhibits.iter().map(|(name, scenario)| (name.clone(), title(scenario))).collect();
        let shown = catalogue::ENTRIES.iter().filter(|entry| entry.problem != ProblemKind::FailureDetection);
        let algorithms = shown.map(|entry| (entry.name, entry.problem.to_string())).collect();
        Answer { exhibits: Some(exhibits), algorithms: Some(algorithms), ..self.speech() }
    }

    fn speech(&self) -> Answer {
        Answer { texts: Some(words(self.language)), language: Some(self.language), ..Answer::default() }
    }

    fn open(&mut self, start: Start) -> Result<Answer, LabError> {
        let (scenario, exhibit, place) = match start {
            Start::Link(link) => self.follow(&link)?,
            Start::Toml(text) => {
                let parsed = parse("scenario", &text);
                let parsed = parsed.map_err(|errors| LabError::Scenario(errors.to_string()))?;
                (parsed.scenario, None, Place::default())
            }
            Start::Algorithm { name, processes, seed } => {
                (usual_scenario(&name, processes, seed)?, None, Place::default())
            }
        };
        if scenario.ids.len() > MAX_PROCESSES {
            let why = format!("the lab shows at most {MAX_PROCESSES} processes");
            return Err(LabError::Scenario(why));
        }
        // Where locks have names each is a run of its own: the first is shown.
        let scenario = scenarios_of_locks(&scenario)?.into_values().next().unwrap_or(scenario);
        let mut experiment = Experiment::new(&scenario)?;
        if let Some(at) = place.at {
            experiment.seek(at);
        }
        self.experiment = Some(experiment);
        self.exhibit = exhibit;
        self.selected = place.process;
        self.language = place.language.unwrap_or(self.language);
        let frame = self.frame()?.frame;
        Ok(Answer { frame, exhibit: Some(self.exhibit.clone().unwrap_or_default()), ..self.speech() })
    }

    fn follow(&self, link: &str) -> Result<(Scenario, Option<String>, Place), LabError> {
        let (sharing, place) = read_link(link)?;
        match sharing {
            Some(Sharing::Exhibit(name)) => {
                let scenario = self.exhibits.get(&name).ok_or(LabError::Missing("example"))?;
                Ok((scenario.clone(), Some(name), place))
            }
            Some(Sharing::Scenario(scenario)) => Ok((*scenario, None, place)),
            None => Err(LabError::Link("it names no experiment")),
        }
    }

    fn share(&self) -> Result<String, LabError> {
        let experiment = self.experiment()?;
        let place =
            Place { at: Some(experiment.cursor()), process: self.selected, language: Some(self.language) };
        let untouched = experiment.branch().acts().is_empty();
        let sharing = match &self.exhibit {
            Some(name) if untouched => Sharing::Exhibit(name.clone()),
            _ => Sharing::Scenario(Box::new(experiment.scenario())),
        };
        Ok(write_link(&sharing, &place))
    }

    /// A file and its name.
    fn file(&self, format: &str) -> Result<(String, String), LabError> {
        let branch = self.experiment()?.branch();
        let name = self.exhibit.as_deref().unwrap_or(&branch.scenario().algorithm);
        match format {
            "scenario" => Ok((format!("{name}.toml"), self.experiment()?.toml())),
            "trace" => {
                let header = branch.tip().header().ok_or(LabError::Missing("trace"))?;
                let trace = Trace { header, records: branch.records().to_vec() };
                let mut bytes = Vec::new();
                trace.write(&mut bytes).map_err(|_| LabError::Missing("trace"))?;
                Ok((format!("{name}.jsonl"), String::from_utf8_lossy(&bytes).into_owned()))
            }
            _ => Err(LabError::Missing("format")),
        }
    }

    /// Parts the network along a stroke: those on one side of it cannot talk to those on the other.
    fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) -> Result<(), LabError> {
        let frame = self.frame_of(self.experiment()?);
        let is_left = |x: f64, y: f64| (to.0 - from.0) * (y - from.1) - (to.1 - from.1) * (x - from.0) > 0.0;
        let (one, other): (Vec<_>, Vec<_>) =
            frame.processes.iter().partition(|process| is_left(process.x, process.y));
        let list = |side: &[&crate::frame::ProcessView]| {
            side.iter().map(|process| process.id.to_string()).collect::<Vec<_>>().join(",")
        };
        if one.is_empty() || other.is_empty() {
            return Err(LabError::Missing("side without a process"));
        }
        let text = format!("partition {} | {}", list(&one), list(&other));
        self.experiment_mut()?.act(&text)
    }

    /// Goes to the next or the last event at the selected process.
    fn hop(&mut self, on: bool) -> Result<(), LabError> {
        let Some(selected) = self.selected else { return Ok(()) };
        let experiment = self.experiment_mut()?;
        let cursor = experiment.cursor();
        let here = |experiment: &Experiment, event: u64| {
            experiment.branch().records_of(event).first().and_then(|record| record.process) == Some(selected)
        };
        if !on {
            let before = (0..cursor).rev().find(|event| here(experiment, *event));
            experiment.seek(before.unwrap_or(0));
            return Ok(());
        }
        loop {
            let before = experiment.cursor();
            experiment.step(1);
            if experiment.cursor() == before || here(experiment, experiment.cursor()) {
                return Ok(());
            }
        }
    }
}

/// An algorithm with nothing but its name, as `habemus run` has it.
fn usual_scenario(name: &str, processes: Option<usize>, seed: Option<u64>) -> Result<Scenario, LabError> {
    let entry = catalogue::entry(name).map_err(|error| LabError::Scenario(error.to_string()))?;
    let ids: Vec<u64> = (1..=processes.unwrap_or(USUAL_PROCESSES).clamp(1, MAX_PROCESSES) as u64).collect();
    let word = match entry.problem {
        ProblemKind::Election => Some("elect"),
        ProblemKind::Agreement => Some("propose"),
        ProblemKind::MutualExclusion | ProblemKind::FailureDetection => None,
    };
    let cue = |word: &str| Cue {
        occasion: Occasion::At(std::time::Duration::ZERO),
        action: Action::Command { word: word.to_owned(), processes: ids.clone() },
    };
    let mut scenario =
        Scenario { algorithm: name.to_owned(), seed: seed.unwrap_or(1), ..Scenario::default() };
    scenario.script.extend(word.map(cue));
    if entry.problem == ProblemKind::MutualExclusion {
        scenario.workload = Some(habemus_scenario::Workload::usual(false));
    }
    if entry.is_synchronous() {
        scenario.network.model = habemus_scenario::TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
    }
    scenario.ids = ids;
    Ok(scenario)
}
