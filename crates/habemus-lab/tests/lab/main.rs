//! Experiments as the page sees them, without the page.

mod experiments;
mod explanations;
mod support;
