//! Reads the file of an exercise. The scenarios in it are texts of their own, as their own files would have
//! them.
//!
//! It is read as the files of scenarios are, piece by piece: what derives would make of it is a tenth of the
//! lab's engine.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use crate::exercise::{Prediction, Text};

/// What the file of an exercise says.
pub(crate) struct ExerciseFile {
    pub(crate) title: Text,
    pub(crate) text: Text,
    pub(crate) hints: Vec<Text>,
    pub(crate) start: String,
    pub(crate) change: Vec<String>,
    pub(crate) budget: BTreeMap<String, u32>,
    pub(crate) goal: String,
    pub(crate) wanted: Text,
    pub(crate) solution: String,
    pub(crate) predict: Vec<Prediction>,
}

const KEYS: &[&str] =
    &["title", "text", "wanted", "hints", "start", "change", "budget", "goal", "solution", "predict"];
const PREDICTION_KEYS: &[&str] = &["after", "question", "choices", "answer", "because", "shows"];

impl ExerciseFile {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string())?;
        let file = Part { table: table.get_ref(), what: "the exercise" };
        file.know(KEYS)?;
        let budget = match file.table.get("budget") {
            None => BTreeMap::new(),
            Some(value) => {
                let budget = Part::of(value.get_ref(), "budget")?;
                let names = budget.table.keys().map(|name| name.get_ref().to_string());
                names.map(|name| Ok((name.clone(), budget.number(&name)?))).collect::<Result<_, String>>()?
            }
        };
        Ok(ExerciseFile {
            title: file.text("title")?,
            text: file.text("text")?,
            wanted: file.text("wanted")?,
            hints: file.texts("hints")?,
            start: file.string("start")?,
            change: file.list("change")?.into_iter().map(string_of).collect::<Result<_, _>>()?,
            goal: file.string("goal")?,
            solution: file.string("solution")?,
            predict: file.list("predict")?.into_iter().map(prediction).collect::<Result<_, _>>()?,
            budget,
        })
    }
}

fn prediction(value: &DeValue<'_>) -> Result<Prediction, String> {
    let part = Part::of(value, "predict")?;
    part.know(PREDICTION_KEYS)?;
    let prediction = Prediction {
        after: u64::from(part.number("after")?),
        question: part.text("question")?,
        choices: part.texts("choices")?,
        answer: part.number("answer")? as usize,
        because: part.text("because")?,
        shows: part.string("shows")?,
    };
    if prediction.answer >= prediction.choices.len() {
        return Err(format!("predict: there is no choice {}", prediction.answer));
    }
    Ok(prediction)
}

fn string_of(value: &DeValue<'_>) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "a text is missing".to_owned())
}

fn text_of(value: &DeValue<'_>, what: &str) -> Result<Text, String> {
    let part = Part::of(value, what)?;
    part.know(&["en", "pt"])?;
    Ok(Text { en: part.string("en")?, pt: part.string("pt")? })
}

/// A part of the file, and what it is called in errors.
struct Part<'a> {
    table: &'a DeTable<'a>,
    what: &'a str,
}

impl<'a> Part<'a> {
    fn of(value: &'a DeValue<'a>, what: &'a str) -> Result<Self, String> {
        let table = value.as_table().ok_or_else(|| format!("{what} must be a table"))?;
        Ok(Part { table, what })
    }

    fn know(&self, keys: &[&str]) -> Result<(), String> {
        match self.table.keys().find(|key| !keys.contains(&&**key.get_ref())) {
            None => Ok(()),
            Some(key) => {
                Err(format!("{}: there is no `{}`; there are: {}", self.what, key.get_ref(), keys.join(", ")))
            }
        }
    }

    fn value(&self, key: &str) -> Result<&'a DeValue<'a>, String> {
        let value = self.table.get(key).ok_or_else(|| format!("{}: `{key}` is missing", self.what))?;
        Ok(value.get_ref())
    }

    fn string(&self, key: &str) -> Result<String, String> {
        string_of(self.value(key)?).map_err(|_| format!("{}: `{key}` must be a text", self.what))
    }

    fn number(&self, key: &str) -> Result<u32, String> {
        let number = self.value(key)?.as_integer().and_then(|number| number.as_str().parse().ok());
        number.ok_or_else(|| format!("{}: `{key}` must be a number", self.what))
    }

    fn text(&self, key: &str) -> Result<Text, String> {
        text_of(self.value(key)?, key)
    }

    fn list(&self, key: &str) -> Result<Vec<&'a DeValue<'a>>, String> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let list =
            value.get_ref().as_array().ok_or_else(|| format!("{}: `{key}` must be a list", self.what))?;
        Ok(list.iter().map(toml::Spanned::get_ref).collect())
    }

    fn texts(&self, key: &str) -> Result<Vec<Text>, String> {
        self.list(key)?.into_iter().map(|value| text_of(value, key)).collect()
    }
}
