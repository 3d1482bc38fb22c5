//! Quantities as text: durations, rates, probabilities. Options of algorithms, scenario files and command
//! line flags read them here, so that what one of them understands all do.
//!
//! Everything is read exactly: what is printed here reads back as the same value.

use std::fmt;

mod decimal;
mod drift;
mod duration;
mod probability;
mod rate;

pub use decimal::{Decimal, split_number};
pub use drift::{parse_drift, show_drift};
pub use duration::{LONGEST, is_unit, parse_duration, parse_range, show_duration, show_range};
pub use probability::{parse_probability, show_probability};
pub use rate::{parse_rate, show_rate};

/// Why a text is no quantity: what was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    message: String,
}

impl UnitError {
    /// An error that says this.
    pub fn new(message: impl Into<String>) -> Self {
        UnitError { message: message.into() }
    }

    /// That `found` is not what was expected.
    pub fn expected(what: &str, found: &str) -> Self {
        match found.trim() {
            "" => UnitError::new(format!("expected {what}, found nothing")),
            found => UnitError::new(format!("expected {what}, found `{}`", shortened(found))),
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}

/// A found text, cut short: a message must stay readable whatever somebody has written.
pub fn shortened(text: &str) -> String {
    const MAX_LETTERS: usize = 40;
    let line = text.trim().split('\n').next().unwrap_or_default().trim_end();
    if line.chars().count() > MAX_LETTERS || line.len() < text.trim().len() {
        let start: String = line.chars().take(MAX_LETTERS).collect();
        format!("{start}…")
    } else {
        line.to_owned()
    }
}
