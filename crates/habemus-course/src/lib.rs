//! The course: exercises about elections and locks, and the judge of what somebody answers.
//!
//! An [`Exercise`] is a file: a text in both languages, the scenario with which one starts, what may be
//! changed of it, how often the environment may do harm, and a goal, in the words of a scenario's `[expect]`.
//! An answer is a scenario; it is played in the simulator, and [`Exercise::judge`] says whether it does what
//! was asked for. The page and the command have one judge.

mod exercise;
mod file;
mod judge;

pub use exercise::{Change, Exercise, ExerciseError, Prediction, Text};
pub use judge::{Judgement, Objection};

/// The exercises that there are, by name, in the order in which they are meant to be solved.
const FILES: &[(&str, &str)] = &[
    ("follow-the-ring", include_str!("../exercises/follow-the-ring.toml")),
    ("two-leaders", include_str!("../exercises/two-leaders.toml")),
    ("cure-the-ring", include_str!("../exercises/cure-the-ring.toml")),
    ("most-messages", include_str!("../exercises/most-messages.toml")),
    ("tell-everybody", include_str!("../exercises/tell-everybody.toml")),
    ("fewest-messages", include_str!("../exercises/fewest-messages.toml")),
    ("dearest-capture", include_str!("../exercises/dearest-capture.toml")),
    ("choose-an-interval", include_str!("../exercises/choose-an-interval.toml")),
    ("split-brain", include_str!("../exercises/split-brain.toml")),
    ("lost-token", include_str!("../exercises/lost-token.toml")),
    ("deadlock", include_str!("../exercises/deadlock.toml")),
    ("choose-a-timeout", include_str!("../exercises/choose-a-timeout.toml")),
    ("break-the-quorum", include_str!("../exercises/break-the-quorum.toml")),
];

/// The names of all exercises, in the order in which they are meant to be solved.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The exercise of this name.
///
/// # Errors
/// If there is none, or its file is wrong.
pub fn exercise(name: &str) -> Result<Exercise, ExerciseError> {
    let (name, text) = FILES
        .iter()
        .find(|(other, _)| *other == name)
        .ok_or_else(|| ExerciseError::Unknown { name: name.to_owned() })?;
    Exercise::parse(name, text)
}
