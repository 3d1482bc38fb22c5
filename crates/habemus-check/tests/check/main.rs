//! Checks of the catalogue's algorithms, and of the checker itself.

mod catalogue;
mod help;
