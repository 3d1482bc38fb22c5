//! An exercise that somebody is working on.

use habemus_course::{Change, Exercise, Objection, Text};
use habemus_report::Report;
use habemus_scenario::Scenario;
use serde::Serialize;

use crate::branch::Branch;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::frame::Frame;
use crate::language::Language;
use crate::portuguese::monitor_words;
use crate::texts::property_words;

/// An exercise that somebody is working on.
pub(crate) struct Course {
    exercise: Exercise,
    /// Which questions have been answered, and rightly.
    answered: Vec<Option<bool>>,
    hints: usize,
    judged: Option<Judged>,
    /// What was said to the last answer.
    said: Option<(bool, String)>,
}

/// What was found out about one branch.
struct Judged {
    branch: usize,
    acts: usize,
    objections: Vec<Objection>,
}

/// What the page shows of an exercise.
#[derive(Clone, Debug, Serialize)]
pub struct CourseView {
    /// Its name.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What is asked for.
    pub text: String,
    /// What must come out.
    pub wanted: String,
    /// What may be done to the system, and how often.
    pub budget: Vec<(String, u32)>,
    /// What may be changed of the scenario.
    pub change: Vec<String>,
    /// The hints that were asked for.
    pub hints: Vec<String>,
    /// Whether there is another one.
    pub more: bool,
    /// Whether it is solved.
    pub solved: bool,
    /// What speaks against the answer, if there is one.
    pub objections: Vec<String>,
    /// The question that waits for its answer.
    pub question: Option<QuestionView>,
    /// Whether the last answer was right, and why.
    pub said: Option<(bool, String)>,
    /// How many questions there are, and how many were answered.
    pub questions: (usize, usize),
}

/// A question about what comes next.
#[derive(Clone, Debug, Serialize)]
pub struct QuestionView {
    /// The question.
    pub text: String,
    /// What one may say.
    pub choices: Vec<String>,
}

fn of(text: &Text, language: Language) -> String {
    language.of(&text.en, &text.pt).clone()
}

fn exercise(name: &str) -> Result<Exercise, LabError> {
    habemus_course::exercise(name).map_err(|error| LabError::Scenario(error.to_string()))
}

/// What comes of a scenario, played step by step: the loop that plays it at once would make the engine a
/// third larger.
fn played(scenario: &Scenario) -> Result<Report, LabError> {
    let mut branch = Branch::begin(scenario)?;
    branch.explore(u64::MAX);
    Ok(branch.tip().report()?)
}

impl Course {
    /// The exercise of this name; questions before `at` are not asked again.
    pub(crate) fn new(name: &str, at: u64) -> Result<Self, LabError> {
        let exercise = exercise(name)?;
        let answered =
            exercise.predict.iter().map(|question| (question.after < at).then_some(true)).collect();
        Ok(Course { exercise, answered, hints: 0, judged: None, said: None })
    }

    /// What all exercises are called.
    pub(crate) fn titles(language: Language) -> Vec<(&'static str, String)> {
        let title = |name| exercise(name).map(|exercise| (name, of(&exercise.title, language)));
        habemus_course::names().filter_map(|name| title(name).ok()).collect()
    }

    /// With what an exercise starts.
    pub(crate) fn start(name: &str) -> Result<Scenario, LabError> {
        Ok(exercise(name)?.start)
    }

    pub(crate) fn name(&self) -> &str {
        &self.exercise.name
    }

    pub(crate) fn is_start(&self, scenario: &Scenario) -> bool {
        *scenario == self.exercise.start
    }

    pub(crate) fn hint(&mut self) {
        self.hints = (self.hints + 1).min(self.exercise.hints.len());
    }

    /// After how many events the next question is asked, from a moment on.
    pub(crate) fn question_from(&self, cursor: u64) -> Option<u64> {
        let mut open = self.exercise.predict.iter().zip(&self.answered);
        open.find(|(question, answered)| answered.is_none() && question.after >= cursor)
            .map(|(question, _)| question.after)
    }

    /// Answers the question that is asked here.
    pub(crate) fn answer(&mut self, cursor: u64, choice: usize, language: Language) -> Result<(), LabError> {
        let questions = self.exercise.predict.iter();
        let place = questions
            .zip(&self.answered)
            .position(|(question, answered)| answered.is_none() && question.after == cursor);
        let place = place.ok_or(LabError::Missing("question"))?;
        let question = &self.exercise.predict[place];
        let right = choice == question.answer;
        self.answered[place] = Some(right);
        self.said = Some((right, of(&question.because, language)));
        Ok(())
    }

    /// Judges the branch that is looked at, if its run has shown something.
    pub(crate) fn judge(&mut self, experiment: &Experiment, frame: &Frame) {
        let broken = || frame.properties.iter().any(|line| line.event.is_some());
        let (branch, acts) = (experiment.current(), experiment.branch().acts().len());
        let known = |judged: &Judged| (judged.branch, judged.acts) == (branch, acts);
        if self.judged.as_ref().is_some_and(known) {
            return;
        }
        self.judged = None;
        let has_shown = frame.over.is_some() || (broken() && !self.exercise.goal.violates.is_empty());
        if has_shown && let Ok(report) = played(&experiment.scenario()) {
            let judgement = self.exercise.judge_run(&experiment.scenario(), report);
            self.judged = Some(Judged { branch, acts, objections: judgement.objections });
        }
    }

    pub(crate) fn view(&self, cursor: u64, language: Language) -> CourseView {
        let Exercise { name, title, text, wanted, hints, budget, change, predict, .. } = &self.exercise;
        let open = predict
            .iter()
            .zip(&self.answered)
            .find(|(question, answered)| answered.is_none() && question.after == cursor);
        let answered = self.answered.iter().flatten().count();
        let judged = self.judged.as_ref();
        let is_right = judged.is_some_and(|judged| judged.objections.is_empty());
        CourseView {
            name: name.clone(),
            title: of(title, language),
            text: of(text, language),
            wanted: of(wanted, language),
            budget: budget
                .iter()
                .map(|(word, count)| (budget_words(word, language).to_owned(), *count))
                .collect(),
            change: change.iter().map(|change| change_words(change, language)).collect(),
            hints: hints.iter().take(self.hints).map(|hint| of(hint, language)).collect(),
            more: self.hints < hints.len(),
            solved: is_right && answered == predict.len(),
            objections: judged
                .map(|judged| {
                    judged.objections.iter().map(|other| objection_words(other, language)).collect()
                })
                .unwrap_or_default(),
            question: open.map(|(question, _)| QuestionView {
                text: of(&question.question, language),
                choices: question.choices.iter().map(|choice| of(choice, language)).collect(),
            }),
            said: self.said.clone(),
            questions: (predict.len(), answered),
        }
    }
}

fn budget_words(word: &str, language: Language) -> &str {
    match word {
        "elect" => language.of("start an election", "iniciar uma eleição"),
        "acquire" => language.of("ask to enter", "pedir para entrar"),
        "crash" => language.of("crash a process", "derrubar um processo"),
        "recover" => language.of("let one recover", "recuperar um processo"),
        "partition" => language.of("part the network", "dividir a rede"),
        "heal" => language.of("mend it", "refazê-la"),
        "pause" => language.of("pause a process", "pausar um processo"),
        "deliver" => language.of("choose what is delivered", "escolher o que é entregue"),
        other => other,
    }
}

fn change_words(change: &Change, language: Language) -> String {
    match change {
        Change::Algorithm => language.of("the algorithm", "o algoritmo").to_owned(),
        Change::Ids => language.of("the order of the identifiers", "a ordem dos identificadores").to_owned(),
        Change::Seed => language.of("the seed", "a semente").to_owned(),
        Change::Script => language.of("the script", "o roteiro").to_owned(),
        Change::Option(name) => format!("{} {name}", language.of("the option", "a opção")),
    }
}

/// What speaks against an answer; in Portuguese what was expected of the run is said more shortly.
fn objection_words(objection: &Objection, language: Language) -> String {
    if language == Language::English {
        return objection.to_string();
    }
    match objection {
        Objection::Changed { .. } => "algo foi mudado que deve ficar como no início".to_owned(),
        Objection::Budget { word, used, allowed } => {
            let words = budget_words(word, language);
            format!("{words}: permitido {allowed} vezes, feito {used}")
        }
        Objection::Goal { why } => goal_words(why),
    }
}

fn goal_words(why: &str) -> String {
    if let Some(rest) = why.strip_prefix("expected ")
        && let Some((name, _)) = rest.split_once(" to be violated")
    {
        return format!("{} não foi violada", property_words(name, Language::Portuguese));
    }
    if let Some(rest) = why.strip_prefix("expected ")
        && let Some((name, told)) = rest.split_once(" to hold, but it is ")
    {
        let why = told.split_once(": ").and_then(|(_, why)| monitor_words(why, Language::Portuguese));
        let name = property_words(name, Language::Portuguese);
        return format!("{name} não vale: {}", why.unwrap_or_default());
    }
    if let Some(rest) = why.strip_prefix("expected ")
        && let Some((wanted, found)) = rest.split_once(" messages, found ")
    {
        return format!("esperavam-se {wanted} mensagens, foram {found}");
    }
    "a execução não é a que se pede".to_owned()
}
