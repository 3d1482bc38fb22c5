//! The legend below the diagram: only the signs that were used.

use std::collections::BTreeSet;

use super::Page;
use super::line::{Line, Paint, columns};
use crate::draw::words::Mark;

/// A sign whose meaning a reader may want to look up. The order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Arrow,
    Sent,
    SentEarlier,
    Lost,
    Itself,
    Leading,
    Inside,
    Waiting,
    Decided,
    Paused,
    Silence,
    Mark(Mark),
}

impl Sign {
    fn entry(self) -> (String, &'static str) {
        let (sign, meaning) = match self {
            Sign::Arrow => ("──▶", "message"),
            Sign::Sent => ("●", "sent"),
            Sign::SentEarlier => ("┄┄▶", "message sent earlier"),
            Sign::Lost => ("──╳", "lost message"),
            Sign::Itself => ("↻", "message to itself"),
            Sign::Leading => ("┃", "leads"),
            Sign::Inside => ("█", "in the critical section"),
            Sign::Waiting => ("┊", "waits"),
            Sign::Decided => ("║", "has decided"),
            Sign::Paused => ("·", "paused"),
            Sign::Silence => ("⋮", "a long time"),
            Sign::Mark(mark) => return (mark.sign().into(), mark.meaning()),
        };
        (sign.into(), meaning)
    }
}

/// Writes the legend.
pub(super) fn draw(page: &mut Page, used: &BTreeSet<Sign>) {
    page.blank();
    let mut line = Line::new(page.width);
    let mut at = 0;
    for sign in used {
        let (sign, meaning) = sign.entry();
        let length = columns(&sign) + 1 + columns(meaning);
        if at > 0 && at + length > page.width {
            page.line(&line);
            line = Line::new(page.width);
            at = 0;
        }
        line.write(at, &sign, page.width, Paint::Plain);
        line.write(at + columns(&sign) + 1, meaning, page.width, Paint::Faint);
        at += length + 3;
    }
    if at > 0 {
        page.line(&line);
    }
}
