//! Experiments as the page sees them, without the page.

mod check;
mod course;
mod diagrams;
mod experiments;
mod explanations;
mod recordings;
mod support;
