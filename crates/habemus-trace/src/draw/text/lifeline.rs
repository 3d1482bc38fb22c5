//! The vertical line of a process: one character that shows what the process is.

use habemus::Status;

use super::legend::Sign;
use super::line::Paint;
use crate::draw::scene::{Condition, Life};

/// How the line of a process looks.
pub(super) fn lifeline(condition: Condition) -> (char, Paint) {
    match (condition.life, condition.status) {
        (Life::Down | Life::Unborn, _) => (' ', Paint::Plain),
        (Life::Paused, _) => ('·', Paint::Faint),
        (Life::Up, Status::Leading) => ('┃', Paint::Leader),
        (Life::Up, Status::Inside) => ('█', Paint::Inside),
        (Life::Up, Status::Waiting) => ('┊', Paint::Waiting),
        (Life::Up, Status::Decided) => ('║', Paint::Leader),
        (Life::Up, Status::Idle | Status::Following(_)) => ('│', Paint::Faint),
    }
}

/// What the legend says of a lifeline; nothing of one that needs no explanation.
pub(super) fn meaning(lifeline: char) -> Option<Sign> {
    match lifeline {
        '┃' => Some(Sign::Leading),
        '█' => Some(Sign::Inside),
        '┊' => Some(Sign::Waiting),
        '║' => Some(Sign::Decided),
        '·' => Some(Sign::Paused),
        _ => None,
    }
}

/// A lifeline where an arrow passes; none where the arrow hides it.
pub(super) fn crossing(lifeline: char) -> Option<char> {
    match lifeline {
        '│' | '┊' => Some('┼'),
        '┃' => Some('╂'),
        '║' => Some('╫'),
        '█' => Some('█'),
        _ => None,
    }
}

/// A lifeline where an arrow begins.
pub(super) fn origin(lifeline: char, rightwards: bool) -> char {
    match (lifeline, rightwards) {
        ('│' | '┊', true) => '├',
        ('│' | '┊', false) => '┤',
        ('┃', true) => '┠',
        ('┃', false) => '┨',
        ('║', true) => '╟',
        ('║', false) => '╢',
        (other, _) => other,
    }
}
