//! An exercise: where one starts, what may be done, and what must come out.

use std::collections::BTreeMap;

use habemus_scenario::{Expectations, Scenario, parse};
use serde::Serialize;

use crate::file::ExerciseFile;

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Text {
    /// In English.
    pub en: String,
    /// In Portuguese.
    pub pt: String,
}

/// An exercise.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Its name.
    pub name: String,
    /// What it is called.
    pub title: Text,
    /// What is asked for.
    pub text: Text,
    /// What helps, one after the other.
    pub hints: Vec<Text>,
    /// With what one starts.
    pub start: Scenario,
    /// What may be changed of it.
    pub change: Vec<Change>,
    /// How many lines may be added to its script, by their first word: `crash`, `elect`, `deliver`.
    pub budget: BTreeMap<String, u32>,
    /// What must come out.
    pub goal: Expectations,
    /// What must come out, in words.
    pub wanted: Text,
    /// A scenario that does it.
    pub solution: Scenario,
    /// Questions about what comes next.
    pub predict: Vec<Prediction>,
}

/// Something of a scenario that may be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The algorithm, with its options.
    Algorithm,
    /// The order of the identifiers.
    Ids,
    /// The seed.
    Seed,
    /// The whole script; without it, lines may be added within the budget.
    Script,
    /// One option.
    Option(String),
}

/// A question about what comes next, to be answered before one looks.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// After how many events it is asked.
    pub after: u64,
    /// The question.
    pub question: Text,
    /// What one may say.
    pub choices: Vec<Text>,
    /// Which of that is right, counted from 0.
    pub answer: usize,
    /// Why.
    pub because: Text,
    /// What the next event is, as a transcript in English tells it: by this a test knows that the answer is
    /// right.
    pub shows: String,
}

/// Why an exercise cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExerciseError {
    /// There is no exercise of this name.
    #[error("there is no exercise `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// Its file is wrong.
    #[error("the exercise `{name}` is wrong: {why}")]
    Wrong {
        /// Its name.
        name: String,
        /// In which way.
        why: String,
    },
}

impl Exercise {
    /// Reads the file of an exercise.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Self, ExerciseError> {
        let wrong = |why: String| ExerciseError::Wrong { name: name.to_owned(), why };
        let file = ExerciseFile::parse(text).map_err(wrong)?;
        let scenario = |what: &str, text: &str| {
            let parsed =
                parse(&format!("{name}: {what}"), text).map_err(|errors| wrong(errors.to_string()))?;
            Ok(parsed.scenario)
        };
        let start = scenario("start", &file.start)?;
        // A goal is the end of a scenario's file: what it names is what the start names.
        let goal = scenario("goal", &format!("{}\n[expect]\n{}", file.start, file.goal))?.expect;
        if goal == Expectations::default() {
            return Err(wrong("it has no goal".to_owned()));
        }
        let change = file.change.iter().map(|text| Change::parse(text).ok_or_else(|| wrong(unknown(text))));
        Ok(Exercise {
            name: name.to_owned(),
            change: change.collect::<Result<_, _>>()?,
            solution: scenario("solution", &file.solution)?,
            predict: file.predict,
            title: file.title,
            text: file.text,
            hints: file.hints,
            budget: file.budget,
            wanted: file.wanted,
            start,
            goal,
        })
    }
}

fn unknown(text: &str) -> String {
    format!("`{text}` cannot be changed: write algorithm, ids, seed, script or options.NAME")
}

impl Change {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "algorithm" => Change::Algorithm,
            "ids" => Change::Ids,
            "seed" => Change::Seed,
            "script" => Change::Script,
            _ => Change::Option(text.strip_prefix("options.")?.to_owned()),
        })
    }
}
