//! What the style promises, checked over the whole project: in its sources, its manifests and its
//! documentation.

mod architecture;
mod book;
mod core;
mod decisions;
mod dependencies;
mod manifests;
mod panics;
mod portuguese;
mod promises;
mod properties;
mod tree;
mod widths;
mod words;
