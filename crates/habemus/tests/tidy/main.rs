//! What the style promises, checked over the whole project: in its sources, its manifests and its
//! documentation.

mod architecture;
mod core;
mod decisions;
mod manifests;
mod panics;
mod promises;
mod tree;
mod words;
