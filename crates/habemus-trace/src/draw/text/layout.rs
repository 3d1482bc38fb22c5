//! Where things are in the text: which column each process has, and where the words go.

use super::line::columns;
use crate::draw::rows::{Row, RowContent};
use crate::draw::scene::Scene;
use crate::draw::words;

/// The widest that the processes are set apart; more only makes the eye travel.
const WIDEST: usize = 24;
/// The least room for words beside the diagram.
const NARROWEST_MARGIN: usize = 20;

/// Where things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// How many columns the whole line has.
    pub(super) width: usize,
    /// How many columns the times take.
    pub(super) time: usize,
    /// The column of the first process.
    first: usize,
    /// How many columns further the next process is.
    pub(super) pitch: usize,
    /// Where the words begin, if they stand beside the diagram and not in it.
    pub(super) margin: Option<usize>,
}

impl Layout {
    /// The layout in which all processes fit side by side; none if there are too many.
    ///
    /// The words go on the arrows if all of them fit there. Otherwise they go beside the diagram, all of
    /// them, so that they can be read from top to bottom.
    pub(super) fn of(scene: &Scene<'_>, rows: &[Row], time: usize, width: usize) -> Option<Layout> {
        let name = scene.processes.iter().map(|id| id.to_string().len()).max().unwrap_or(1);
        let first = time + 2 + name / 2;
        let gaps = scene.processes.len().saturating_sub(1);
        let min = (name + 1).max(3);
        let inside = || {
            let pitch = rows.iter().map(|row| pitch_for(&row.what)).max().unwrap_or(0).max(min);
            let tail = words_right_of_last(rows, gaps);
            let max = width.checked_sub(first + tail)? / gaps.max(1);
            let comfortable = (pitch + 4).clamp(12, WIDEST.max(pitch));
            (pitch <= max).then(|| Layout { width, time, first, pitch: comfortable.min(max), margin: None })
        };
        let beside = || {
            let longest = rows.iter().map(|row| columns(&margin_words(scene, &row.what))).max().unwrap_or(0);
            let margin = longest.clamp(NARROWEST_MARGIN, (width * 2 / 5).max(NARROWEST_MARGIN));
            let pitch = (width.checked_sub(first + 3 + margin)? / gaps.max(1)).min(12);
            let margin = Some(first + gaps * pitch + 3);
            (pitch >= min).then_some(Layout { width, time, first, pitch, margin })
        };
        inside().or_else(beside)
    }

    /// The column of a process's lifeline.
    pub(super) fn column(&self, process: usize) -> usize {
        self.first + process * self.pitch
    }
}

/// The words that a row has beside the diagram.
pub(super) fn margin_words(scene: &Scene<'_>, what: &RowContent) -> String {
    match what {
        RowContent::Sends { .. } => words_at(scene, what),
        RowContent::Message { label, lost, .. } => match lost {
            Some(why) => format!("{label}: {}", words::reason(*why)),
            None => label.clone(),
        },
        RowContent::Mark { column, text, .. } => format!("{} {text}", scene.processes[*column]),
        RowContent::Silence(_)
        | RowContent::Network { .. }
        | RowContent::Cycle
        | RowContent::Violation { .. } => String::new(),
    }
}

/// The words that a row has next to a lifeline.
pub(super) fn words_at(scene: &Scene<'_>, what: &RowContent) -> String {
    match what {
        RowContent::Sends { from, to, label } => {
            let others = scene.processes.len() - 1;
            let receivers = match to.len() {
                many if many == others && many > 1 && !to.contains(from) => "all".into(),
                _ => to.iter().map(|&to| scene.processes[to].to_string()).collect::<Vec<_>>().join(" "),
            };
            format!("{label} → {receivers}")
        }
        RowContent::Mark { text, .. } => text.clone(),
        RowContent::Message { label, .. } => label.clone(),
        RowContent::Silence(_)
        | RowContent::Network { .. }
        | RowContent::Cycle
        | RowContent::Violation { .. } => String::new(),
    }
}

/// How far apart two processes must be so that the row's label fits on its arrow, between two dashes.
fn pitch_for(what: &RowContent) -> usize {
    match what {
        RowContent::Message { from, to, label, .. } if from != to => {
            (columns(label) + 3).div_ceil(from.abs_diff(*to))
        }
        _ => 0,
    }
}

/// How much room the words of the last process take.
fn words_right_of_last(rows: &[Row], last: usize) -> usize {
    let words = rows.iter().map(|row| match &row.what {
        RowContent::Mark { column, text, .. } if *column == last => columns(text) + 3,
        RowContent::Message { from, to, label, .. } if from == to && *from == last => columns(label) + 3,
        _ => 1,
    });
    words.max().unwrap_or(1).min(NARROWEST_MARGIN)
}
