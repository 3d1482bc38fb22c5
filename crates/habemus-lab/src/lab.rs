//! The lab: it is asked for something as JSON and answers as JSON.

use std::collections::{BTreeMap, BTreeSet};

use habemus::ProblemKind;
use habemus::catalogue;
use habemus_report::scenarios_of_locks;
use habemus_scenario::{Action, Cue, Occasion, Scenario, TopologyChoice, parse};
use habemus_sim::{wrong_besides, wrong_with};

use crate::cone::Cone;
use crate::course::Course;
use crate::diagram::{Diagram, DiagramView, DiagramWindow};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::files;
use crate::frame::Frame;
use crate::history::History;
use crate::language::Language;
use crate::link::{Place, Sharing, read_link, write_link};
use crate::portuguese::title_words;
use crate::recording::Recording;
use crate::sentences::in_words;
use crate::texts::{problem_words, words};
use crate::wish::{Answer, Start, Wish};

/// How many processes an algorithm has if nobody says.
const USUAL_PROCESSES: usize = 5;
/// However fast time passes, the page is shown a moment after so many events.
const MAX_AT_ONCE: usize = 20_000;
/// The page draws no more than these.
const MAX_PROCESSES: usize = 512;

/// What is looked at.
enum Subject {
    /// A run that can be changed.
    Experiment(Box<Experiment>),
    /// One that was recorded.
    Recording(Box<Recording>),
}

impl Subject {
    fn history(&self) -> &History {
        match self {
            Subject::Experiment(experiment) => experiment.branch().history(),
            Subject::Recording(recording) => recording.history(),
        }
    }

    fn cursor(&self) -> u64 {
        match self {
            Subject::Experiment(experiment) => experiment.cursor(),
            Subject::Recording(recording) => recording.cursor(),
        }
    }

    fn seek(&mut self, events: u64) {
        match self {
            Subject::Experiment(experiment) => experiment.seek(events),
            Subject::Recording(recording) => recording.seek(events),
        }
    }

    /// When the event after this one comes, if there is one.
    fn time_after(&mut self, event: u64) -> Option<u64> {
        if let Subject::Experiment(experiment) = self {
            experiment.look_ahead();
        }
        let history = self.history();
        (event < history.known()).then(|| history.time_of(event + 1))
    }

    fn act_before(&self, event: u64) -> Option<String> {
        match self {
            Subject::Experiment(experiment) => experiment.branch().act_before(event),
            Subject::Recording(_) => None,
        }
    }
}

/// A diagram, and of what it is.
struct Drawn {
    branch: usize,
    known: u64,
    records: usize,
    view: DiagramView,
    diagram: Diagram,
}

/// The lab.
#[derive(Default)]
pub struct Lab {
    exhibits: BTreeMap<String, Scenario>,
    subject: Option<Subject>,
    /// The example run with which it began, if it began with one.
    exhibit: Option<String>,
    course: Option<Course>,
    /// Which lock is looked at, where locks have names,
    lock: String,
    /// and the runs of the others.
    other_locks: BTreeMap<String, Box<Experiment>>,
    selected: Option<u64>,
    language: Language,
    hidden: Vec<String>,
    drawn: Option<Drawn>,
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
                Err(error) => {
                    let (error, detail) = error.words(self.language);
                    Answer { error: Some(error), detail, ..Answer::default() }
                }
            };
        // An answer is made of texts and numbers.
        serde_json::to_string(&answer).unwrap_or_default()
    }

    fn grant(&mut self, wish: Wish) -> Result<Answer, LabError> {
        match wish {
            Wish::Exhibits { exhibits } => return Ok(self.take_exhibits(&exhibits)),
            Wish::Open(start) => return self.open(start),
            Wish::Speak { language } => {
                self.language = language;
                let lists = self.lists();
                let speech =
                    Answer { exhibits: lists.exhibits, algorithms: lists.algorithms, ..self.speech() };
                return Ok(match self.subject {
                    Some(_) => Answer { exercises: lists.exercises, ..self.frame()?.joined(speech) },
                    None => Answer { exercises: lists.exercises, ..speech },
                });
            }
            Wish::Select { process } => self.selected = process,
            Wish::Rows { top, bottom, view } => {
                let rows = self.rows(top, bottom, view)?;
                return Ok(Answer { rows: Some(rows.0), top: Some(rows.1), ..Answer::default() });
            }
            Wish::Cone { event, from, to } => {
                let cone = Cone::of(self.subject()?.history(), event, from, to);
                return Ok(Answer { cone: Some(cone), ..Answer::default() });
            }
            Wish::Share { hide } => {
                return Ok(Answer { link: Some(self.share(hide)?), ..Answer::default() });
            }
            Wish::File { format } => {
                return Ok(Answer { file: Some(self.file(&format)?), ..Answer::default() });
            }
            Wish::Report => {
                let report = self.experiment()?.branch().tip().report()?;
                return Ok(Answer { report: Some(report), ..Answer::default() });
            }
            Wish::Step { by } => {
                let cursor = self.subject()?.cursor();
                self.go(cursor.saturating_add_signed(by))?;
            }
            Wish::Seek { to } => self.go(to)?,
            Wish::Advance { to } => self.advance(to)?,
            Wish::RunOn => return self.run_on(),
            Wish::Act { text } => self.experiment_mut()?.act(&text)?,
            Wish::Stroke { from, to } => self.stroke(from, to)?,
            Wish::Hop { on } => self.hop(on)?,
            Wish::Visit { branch } => self.experiment_mut()?.visit(branch)?,
            Wish::Move { sender, number, after } => {
                self.experiment_mut()?.move_message(sender, number, after)?;
            }
            Wish::Lock { name } => self.look_at_lock(name)?,
            Wish::Fork => self.experiment_mut()?.fork(),
            Wish::Search { text } => self.search(&text)?,
            Wish::Answer { choice } => {
                let language = self.language;
                let cursor = self.subject()?.cursor();
                let course = self.course.as_mut().ok_or(LabError::Missing("exercise"))?;
                course.answer(cursor, choice, language)?;
            }
            Wish::Hint => self.course.as_mut().ok_or(LabError::Missing("exercise"))?.hint(),
            Wish::Records { lines } => self.take_records(&lines)?,
        }
        self.frame()
    }

    fn subject(&self) -> Result<&Subject, LabError> {
        self.subject.as_ref().ok_or(LabError::Missing("experiment"))
    }

    fn experiment(&self) -> Result<&Experiment, LabError> {
        match self.subject()? {
            Subject::Experiment(experiment) => Ok(experiment),
            Subject::Recording(_) => Err(LabError::Recorded),
        }
    }

    fn experiment_mut(&mut self) -> Result<&mut Experiment, LabError> {
        match self.subject.as_mut().ok_or(LabError::Missing("experiment"))? {
            Subject::Experiment(experiment) => Ok(experiment),
            Subject::Recording(_) => Err(LabError::Recorded),
        }
    }

    /// Goes to a moment, but not past a question that waits for its answer.
    fn go(&mut self, to: u64) -> Result<(), LabError> {
        let subject = self.subject.as_mut().ok_or(LabError::Missing("experiment"))?;
        let question = self.course.as_ref().and_then(|course| course.question_from(subject.cursor()));
        subject.seek(question.map_or(to, |question| to.min(question)));
        Ok(())
    }

    /// Goes on as long as what comes next has come by this time.
    fn advance(&mut self, to: u64) -> Result<(), LabError> {
        for _ in 0..MAX_AT_ONCE {
            let subject = self.subject.as_mut().ok_or(LabError::Missing("experiment"))?;
            let cursor = subject.cursor();
            if subject.time_after(cursor).is_none_or(|time| time > to) {
                break;
            }
            self.go(cursor + 1)?;
            if self.subject()?.cursor() == cursor {
                break;
            }
        }
        Ok(())
    }

    fn run_on(&mut self) -> Result<Answer, LabError> {
        let cursor = self.subject()?.cursor();
        let question = self.course.as_ref().and_then(|course| course.question_from(cursor));
        let done = match (question, self.subject.as_mut()) {
            (None, Some(Subject::Experiment(experiment))) => experiment.run_on(),
            _ => {
                self.go(u64::MAX)?;
                true
            }
        };
        Ok(Answer { done: Some(done), ..self.frame()? })
    }

    fn frame(&mut self) -> Result<Answer, LabError> {
        let mut frame = match self.subject()? {
            Subject::Experiment(experiment) => self.frame_of(experiment),
            Subject::Recording(recording) => recording.frame(self.selected, self.language),
        };
        if !self.other_locks.is_empty() {
            let names = self.other_locks.keys().chain([&self.lock]);
            frame.locks = names.cloned().collect::<BTreeSet<_>>().into_iter().collect();
            frame.lock.clone_from(&self.lock);
        }
        let mut course = None;
        if let (Some(course_now), Some(Subject::Experiment(experiment))) = (&mut self.course, &self.subject) {
            course_now.judge(experiment, &frame);
            course = Some(course_now.view(experiment.cursor(), self.language));
        }
        Ok(Answer { frame: Some(frame), course, ..Answer::default() })
    }

    fn frame_of(&self, experiment: &Experiment) -> Frame {
        let ids = &experiment.branch().scenario().ids;
        let selected = self.selected.and_then(|id| ids.iter().position(|other| *other == id));
        Frame::new(experiment, selected, self.language)
    }

    /// A piece of the diagram, and where the row of the cursor is.
    fn rows(&mut self, top: f64, bottom: f64, view: DiagramView) -> Result<(DiagramWindow, f64), LabError> {
        let subject = self.subject.as_ref().ok_or(LabError::Missing("experiment"))?;
        let history = subject.history();
        let branch = match subject {
            Subject::Experiment(experiment) => experiment.current(),
            Subject::Recording(_) => 0,
        };
        let (known, records) = (history.known(), history.records().len());
        let is_drawn = |drawn: &Drawn| {
            (drawn.branch, drawn.known, drawn.records) == (branch, known, records) && drawn.view == view
        };
        if !self.drawn.as_ref().is_some_and(is_drawn) {
            let diagram = Diagram::new(history, &view);
            self.drawn = Some(Drawn { branch, known, records, view, diagram });
        }
        let drawn = self.drawn.as_ref().ok_or(LabError::Missing("diagram"))?;
        let by_hand = |event| subject.act_before(event);
        let window = drawn.diagram.window(history, &by_hand, (top, bottom), self.language);
        Ok((window, drawn.diagram.top_of(subject.cursor())))
    }

    fn take_exhibits(&mut self, exhibits: &[(String, String)]) -> Answer {
        for (name, text) in exhibits {
            if let Ok(parsed) = parse(name, text) {
                self.exhibits.insert(name.clone(), parsed.scenario);
            }
        }
        self.lists().joined(self.speech())
    }

    /// What one can begin with.
    fn lists(&self) -> Answer {
        let title = |scenario: &Scenario| {
            title_words(scenario.title.as_deref().unwrap_or_default(), self.language).to_owned()
        };
        let exhibits = self.exhibits.iter().map(|(name, scenario)| (name.clone(), title(scenario))).collect();
        let shown = catalogue::ENTRIES.iter().filter(|entry| entry.problem != ProblemKind::FailureDetection);
        let algorithms =
            shown.map(|entry| (entry.name, problem_words(entry.problem, self.language))).collect();
        let exercises = Course::titles(self.language);
        Answer {
            exhibits: Some(exhibits),
            algorithms: Some(algorithms),
            exercises: Some(exercises),
            ..Answer::default()
        }
    }

    fn speech(&self) -> Answer {
        Answer { texts: Some(words(self.language)), language: Some(self.language), ..Answer::default() }
    }

    fn open(&mut self, start: Start) -> Result<Answer, LabError> {
        let plain = |scenario| (scenario, Sharing::Nothing, Place::default());
        let (scenario, sharing, place) = match start {
            Start::Link(link) => {
                let (sharing, place) = read_link(&link)?;
                (self.follow(&sharing)?, sharing, place)
            }
            Start::Exercise(name) => {
                let sharing = Sharing::Exercise(name, None);
                (self.follow(&sharing)?, sharing, Place::default())
            }
            Start::Toml(text) => {
                let parsed = parse("scenario", &text);
                let parsed = parsed.map_err(|errors| LabError::in_file(&wrong_besides(errors)))?;
                if let Some(errors) = wrong_with(&parsed) {
                    return Err(LabError::in_file(&errors));
                }
                // Whoever edits the scenario of an exercise goes on with the exercise.
                let sharing = match &self.course {
                    Some(course) => Sharing::Exercise(course.name().to_owned(), None),
                    None => Sharing::Nothing,
                };
                (parsed.scenario, sharing, Place::default())
            }
            Start::Trace(text) => return self.open_recording(Recording::read(&text)?),
            Start::Live => {
                self.close();
                return Ok(self.speech());
            }
            Start::Algorithm { name, processes, seed, topology } => {
                plain(usual_scenario(&name, processes, seed, topology)?)
            }
        };
        if scenario.ids.len() > MAX_PROCESSES {
            return Err(LabError::TooMany(MAX_PROCESSES));
        }
        // Where locks have names each is a run of its own: the first is shown first.
        let mut locks = BTreeMap::new();
        for (name, scenario) in scenarios_of_locks(&scenario)? {
            locks.insert(name, Box::new(Experiment::new(&scenario)?));
        }
        let (lock, mut experiment) = match locks.pop_first() {
            Some(first) => first,
            None => (String::new(), Box::new(Experiment::new(&scenario)?)),
        };
        if let Some(at) = place.at {
            experiment.seek(at);
        }
        self.close();
        self.subject = Some(Subject::Experiment(experiment));
        (self.lock, self.other_locks) = (lock, locks);
        match sharing {
            Sharing::Exhibit(name) => self.exhibit = Some(name),
            Sharing::Exercise(name, _) => {
                self.course = Some(Course::new(&name, place.at.unwrap_or_default())?);
            }
            Sharing::Scenario(_) | Sharing::Nothing => {}
        }
        self.selected = place.process;
        self.language = place.language.unwrap_or(self.language);
        self.hidden = place.hide;
        let speech = Answer {
            exhibit: Some(self.exhibit.clone().unwrap_or_default()),
            hide: Some(self.hidden.clone()),
            ..self.lists().joined(self.speech())
        };
        Ok(self.frame()?.joined(speech))
    }

    fn open_recording(&mut self, recording: Recording) -> Result<Answer, LabError> {
        self.close();
        self.subject = Some(Subject::Recording(Box::new(recording)));
        let speech = Answer { exhibit: Some(String::new()), ..self.speech() };
        Ok(self.frame()?.joined(speech))
    }

    fn close(&mut self) {
        (self.subject, self.exhibit, self.course, self.drawn) = (None, None, None, None);
        self.other_locks.clear();
        self.selected = None;
    }

    /// Goes on with the run of another lock, and keeps this one.
    fn look_at_lock(&mut self, name: String) -> Result<(), LabError> {
        let Some(other) = self.other_locks.remove(&name) else { return Err(LabError::Missing("lock")) };
        if let Some(Subject::Experiment(experiment)) = self.subject.replace(Subject::Experiment(other)) {
            self.other_locks.insert(std::mem::replace(&mut self.lock, name), experiment);
        }
        self.drawn = None;
        Ok(())
    }

    /// Takes note of what real nodes did.
    fn take_records(&mut self, lines: &[String]) -> Result<(), LabError> {
        let mut lines = lines.iter();
        if !matches!(self.subject, Some(Subject::Recording(_))) {
            let header = lines.next().ok_or(LabError::Missing("header"))?;
            let recording = Recording::begin(serde_json::from_str(header)?, true);
            self.subject = Some(Subject::Recording(Box::new(recording)));
        }
        let Some(Subject::Recording(recording)) = &mut self.subject else { return Ok(()) };
        for line in lines {
            recording.add(serde_json::from_str(line)?);
        }
        Ok(())
    }

    fn follow(&self, sharing: &Sharing) -> Result<Scenario, LabError> {
        match sharing {
            Sharing::Exhibit(name) => self.exhibits.get(name).cloned().ok_or(LabError::Missing("example")),
            Sharing::Exercise(name, None) => Course::start(name),
            Sharing::Exercise(_, Some(scenario)) | Sharing::Scenario(scenario) => Ok((**scenario).clone()),
            Sharing::Nothing => Err(LabError::Link("it names no experiment")),
        }
    }

    fn share(&self, hide: Vec<String>) -> Result<String, LabError> {
        let experiment = self.experiment()?;
        let place = Place {
            at: Some(experiment.cursor()),
            process: self.selected,
            language: Some(self.language),
            hide: if hide.is_empty() { self.hidden.clone() } else { hide },
        };
        let untouched = experiment.branch().acts().is_empty();
        let scenario = || Box::new(experiment.scenario());
        let sharing = match (&self.exhibit, &self.course) {
            (_, Some(course)) => {
                let as_it_was = untouched && course.is_start(&experiment.scenario());
                Sharing::Exercise(course.name().to_owned(), (!as_it_was).then(scenario))
            }
            (Some(name), None) if untouched => Sharing::Exhibit(name.clone()),
            _ => Sharing::Scenario(scenario()),
        };
        Ok(write_link(&sharing, &place))
    }

    /// A file and its name.
    fn file(&self, format: &str) -> Result<(String, String), LabError> {
        match self.subject()? {
            Subject::Experiment(experiment) => {
                let name = self.exhibit.as_deref().unwrap_or(&experiment.branch().scenario().algorithm);
                if format == "scenario" {
                    return Ok((format!("{name}.toml"), experiment.toml()));
                }
                files::file(name, format, &experiment.branch().trace()?)
            }
            Subject::Recording(recording) => files::file(recording.algorithm(), format, &recording.trace()),
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
        let subject = self.subject.as_mut().ok_or(LabError::Missing("experiment"))?;
        let cursor = subject.cursor();
        let here = |subject: &Subject, event: u64| {
            subject.history().records_of(event).first().and_then(|record| record.process) == Some(selected)
        };
        if !on {
            let before = (0..cursor).rev().find(|event| here(subject, *event));
            subject.seek(before.unwrap_or(0));
            return Ok(());
        }
        loop {
            let before = subject.cursor();
            subject.seek(before + 1);
            if subject.cursor() == before || here(subject, subject.cursor()) {
                return Ok(());
            }
        }
    }

    /// Selects a process, or goes to the next event that is told in such words; behind the last one the first
    /// comes.
    fn search(&mut self, text: &str) -> Result<(), LabError> {
        let text = text.trim().to_lowercase();
        let subject = self.subject.as_mut().ok_or(LabError::Missing("experiment"))?;
        if let Ok(id) = text.parse()
            && subject.history().ids().contains(&id)
        {
            self.selected = Some(id);
            return Ok(());
        }
        let (cursor, known) = (subject.cursor(), subject.history().known());
        let tells = |event: &u64| {
            let act = subject.act_before(*event);
            let words = in_words(subject.history(), *event, act.as_deref(), self.language);
            !text.is_empty() && words.to_lowercase().contains(&text)
        };
        let found = (cursor + 1..=known).chain(0..=cursor.min(known)).find(tells);
        subject.seek(found.ok_or(LabError::NotFound)?);
        Ok(())
    }
}

/// An algorithm with nothing but its name, as `habemus run` has it.
fn usual_scenario(
    name: &str,
    processes: Option<usize>,
    seed: Option<u64>,
    topology: Option<String>,
) -> Result<Scenario, LabError> {
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
    // Whoever goes on to another algorithm may have chosen a topology that it does not know.
    let known = topology.filter(|name| entry.topologies[1..].contains(&name.as_str()));
    scenario.topology = known.map(TopologyChoice::Named);
    scenario.ids = ids;
    Ok(scenario)
}
