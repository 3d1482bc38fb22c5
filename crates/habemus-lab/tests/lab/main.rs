//! Experiments as the page sees them, without the page.

mod check;
mod course;
mod diagrams;
mod experiments;
mod explanations;
mod languages;
mod locks;
mod moments;
mod recordings;
mod support;
