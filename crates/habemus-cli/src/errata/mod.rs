//! The errata of the lecture notes: what they say, what goes wrong, and the proof of it, made anew each time.

mod evidence;
mod list;
mod render;

use habemus_check::guarantees::Case;

pub(crate) use list::ERRATA;
pub(crate) use render::{page, section};

/// A place where the notes' own listing is wrong, or silent.
pub(crate) struct Erratum {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What goes wrong, in a line.
    pub(crate) title: &'static str,
    /// Where in the notes.
    pub(crate) notes: &'static str,
    /// What the notes say there.
    says: &'static str,
    /// What goes wrong.
    wrong: &'static str,
    /// What is done about it.
    cure: &'static str,
    evidence: &'static [Evidence],
}

/// What shows that something goes wrong.
enum Evidence {
    /// The checker refutes a property of the literal version, and not of the corrected one.
    Refuted { literal: &'static Case, property: &'static str, corrected: &'static Case },
    /// The simulator counts messages of both versions in the same run.
    Measured { about: &'static str, scenario: &'static str, literal: &'static str },
    /// An exhibit in which the simulator shows what happens.
    Played { file: &'static str, scenario: &'static str },
    /// A formula beside what it should be, in this unit.
    Computed { command: &'static str, unit: &'static str, rows: fn() -> Vec<(String, String)> },
}
