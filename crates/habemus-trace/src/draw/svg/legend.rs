//! The legend below the picture: only the signs that occur in it.

use std::collections::BTreeSet;

use super::arrows::{cross, head};
use super::canvas::{Canvas, Point, shortened, text_width};
use super::marks::draw_sign;
use crate::draw::words::{self, Mark};

const LETTERS: f64 = 12.0;
/// How wide a sign is, with the space behind it.
const SAMPLE: f64 = 34.0;
const GAP: f64 = 22.0;
/// How high a row of the legend is.
pub(super) const ROW: f64 = 22.0;

/// A sign of the picture. The order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// A kind of messages, by its colour.
    Kind(usize),
    Lost,
    Pending,
    Waiting,
    Inside,
    Leading,
    Decided,
    Paused,
    Down,
    Mark(Mark),
}

/// The entries of a legend in rows that fit a width.
pub(super) struct Legend {
    rows: Vec<Vec<(Sign, String)>>,
}

impl Legend {
    /// The legend of these signs; `kinds` names the colours.
    pub(super) fn new(used: &BTreeSet<Sign>, kinds: &[&str], width: f64) -> Legend {
        let mut rows = vec![Vec::new()];
        let mut x = 0.0;
        for &sign in used {
            let text = meaning(sign, kinds);
            let length = SAMPLE + text_width(&text, LETTERS) + GAP;
            if x > 0.0 && x + length - GAP > width {
                rows.push(Vec::new());
                x = 0.0;
            }
            x += length;
            rows.last_mut().expect("there is always a last row").push((sign, text));
        }
        Legend { rows }
    }

    pub(super) fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    /// Draws the legend with the middle of its first row there.
    pub(super) fn draw(&self, canvas: &mut Canvas, at: Point) {
        let mut place = at;
        for row in &self.rows {
            for (sign, text) in row {
                draw_sample(canvas, *sign, place);
                canvas.text("legend", place.shifted(SAMPLE, 4.0), text);
                place.x += SAMPLE + text_width(text, LETTERS) + GAP;
            }
            place = Point { x: at.x, y: place.y + ROW };
        }
    }
}

fn meaning(sign: Sign, kinds: &[&str]) -> String {
    let text = match sign {
        Sign::Kind(color) => match kinds.get(color) {
            Some(&"") | None => "message",
            Some(_) if color >= super::arrows::COLORS => "other messages",
            Some(kind) => return shortened(&words::plain(kind), 24),
        },
        Sign::Lost => "lost",
        Sign::Pending => "still on its way",
        Sign::Waiting => "waits",
        Sign::Inside => "in the critical section",
        Sign::Leading => "leads",
        Sign::Decided => "has decided",
        Sign::Paused => "paused",
        Sign::Down => "down",
        Sign::Mark(mark) => mark.meaning(),
    };
    text.into()
}

fn draw_sample(canvas: &mut Canvas, sign: Sign, at: Point) {
    let end = at.shifted(26.0, 0.0);
    let mut bar = |class: &str, height: f64| {
        canvas.rectangle(class, at.shifted(0.0, -height / 2.0), 26.0, height, 3.0);
    };
    match sign {
        Sign::Kind(color) => {
            canvas.line(&format!("message k{color}"), at, end);
            head(canvas, &format!("head k{color}"), at, end);
        }
        Sign::Lost => {
            canvas.line("message lost k2", at, end.shifted(-5.0, 0.0));
            cross(canvas, "loss", end.shifted(-5.0, 0.0), 4.5);
        }
        Sign::Pending => canvas.line("message pending k2", at, end),
        Sign::Waiting => bar("waiting", 6.0),
        Sign::Inside => bar("inside", 14.0),
        Sign::Leading => bar("leading", 9.0),
        Sign::Decided => bar("decided", 9.0),
        Sign::Paused => bar("paused", 14.0),
        Sign::Down => canvas.line("line down", at, end),
        Sign::Mark(mark) => {
            draw_sign(canvas, mark, at.shifted(13.0, if mark == Mark::Command { 8.0 } else { 0.0 }));
        }
    }
}
