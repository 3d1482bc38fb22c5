//! Quantities as text: durations, probabilities, rates, counts. Scenario files and command line flags share
//! them.
//!
//! Everything is read exactly: what is printed here reads back as the same value.

use thiserror::Error;

mod count;
mod decimal;
mod drift;
mod duration;
mod latency;
mod probability;
mod rate;
mod until;

pub use drift::{parse_drift, show_drift};
pub(crate) use duration::is_unit;
pub use duration::{LONGEST, parse_duration, parse_range, show_duration, show_range};
pub use probability::{parse_probability, show_probability};
pub use rate::{parse_rate, show_rate};

/// Why a text is no quantity: what was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct UnitError {
    message: String,
}

impl UnitError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        UnitError { message: message.into() }
    }

    /// That `found` is not what was expected.
    pub(crate) fn expected(what: &str, found: &str) -> Self {
        match found.trim() {
            "" => UnitError::new(format!("expected {what}, found nothing")),
            found => UnitError::new(format!("expected {what}, found `{}`", crate::names::shortened(found))),
        }
    }
}
