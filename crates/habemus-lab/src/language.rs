//! The languages of the page.

use serde::{Deserialize, Serialize};

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Portuguese, the language of the lecture notes.
    #[serde(rename = "pt")]
    Portuguese,
}

impl Language {
    /// One of two texts.
    pub fn of<T>(self, english: T, portuguese: T) -> T {
        match self {
            Language::English => english,
            Language::Portuguese => portuguese,
        }
    }

    /// The language with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Language::English),
            "pt" => Some(Language::Portuguese),
            _ => None,
        }
    }

    /// Its code.
    pub fn code(self) -> &'static str {
        self.of("en", "pt")
    }
}
