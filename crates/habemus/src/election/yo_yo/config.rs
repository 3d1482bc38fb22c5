//! The constants of Yo-Yo.

use std::time::Duration;

use crate::election::Wins;

/// Which identifier wins, and how long a neighbour may be silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which end of the order wins; S4: the lowest.
    pub wins: Wins,
    /// How long to wait for a neighbour's hello before its link counts as broken; `None`: for ever.
    pub hello_timeout: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Config { variant: Variant::Pruned, wins: Wins::Lowest, hello_timeout: None }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Santoro's: one NO outvotes every YES, and links that are of no more use are struck out.
    Pruned,
    /// As S4 has it, an internal process passes YES up when it heard some YES; useless links are struck out.
    SomeYes,
    /// S4's listing by the letter: some YES is enough, nothing is struck out, and so it never ends.
    AsPrinted,
    /// A mutant: of the links into a process all but one are struck out, whatever they brought, kept to show
    /// that the checker catches it.
    MutantPruneUnequal,
}
