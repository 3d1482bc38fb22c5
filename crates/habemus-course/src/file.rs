//! What the file of an exercise says, word by word.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::exercise::Text;

/// The file of an exercise. The scenarios in it are texts of their own, as their own files would have them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ExerciseFile {
    pub(crate) title: Text,
    pub(crate) text: Text,
    #[serde(default)]
    pub(crate) hints: Vec<Text>,
    /// With what one starts.
    pub(crate) start: String,
    /// What may be changed of it.
    #[serde(default)]
    pub(crate) change: Vec<String>,
    /// How many lines of the script may be added, by their first word.
    #[serde(default)]
    pub(crate) budget: BTreeMap<String, u32>,
    /// What must come out: the lines of an `[expect]`.
    pub(crate) goal: String,
    /// What must come out, in words.
    pub(crate) wanted: Text,
    /// A scenario that does it.
    pub(crate) solution: String,
    #[serde(default)]
    pub(crate) predict: Vec<PredictionFile>,
}

/// A question about what comes next.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PredictionFile {
    pub(crate) after: u64,
    pub(crate) question: Text,
    pub(crate) choices: Vec<Text>,
    pub(crate) answer: usize,
    pub(crate) because: Text,
    pub(crate) shows: String,
}
