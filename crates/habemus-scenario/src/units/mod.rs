//! Quantities as text: what [`habemus::units`] reads, and what only scenarios know: counts, latencies, the
//! end of a run.

mod count;
mod latency;
mod until;

pub use habemus::units::{
    LONGEST, UnitError, parse_drift, parse_duration, parse_probability, parse_range, parse_rate, show_drift,
    show_duration, show_probability, show_range, show_rate,
};
