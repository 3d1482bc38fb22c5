//! The axis of time, and the places where a silence was cut out.

use super::canvas::{Canvas, Point, text_width};
use super::spans::Span;
use super::timeline::Timeline;
use crate::draw::time::{self, Scale};

/// How far apart two named times are, more or less.
const SPACING: f64 = 64.0;
/// Half the height of a tooth of a torn edge.
const TOOTH: f64 = 7.0;
const LETTERS: f64 = 11.0;
/// How far apart two texts are at least.
const GAP: f64 = 8.0;

/// Draws the part of the axis that is in a row.
pub(super) fn draw(canvas: &mut Canvas, timeline: &Timeline, span: Span, y: f64) {
    let left = span.start + 12.0;
    canvas.line("axis", Point { x: left, y }, Point { x: span.end, y });
    if !timeline.has_time() {
        canvas.text("tick", Point { x: left, y: y + 18.0 }, "no clock: the events in their order");
        return;
    }
    let ticks = timeline.ticks(SPACING);
    let scale = Scale::of(&ticks.iter().map(|&(at, _)| at).collect::<Vec<_>>());
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (at, x) in ticks {
        let unit = if taken.is_empty() { format!(" {}", scale.unit) } else { String::new() };
        let text = format!("{}{unit}", scale.show(at));
        let half = text_width(&text, LETTERS) / 2.0;
        let free = taken.last().map_or(span.start, |(_, end)| *end + GAP);
        if x - half < free || x + half > span.end {
            continue;
        }
        canvas.line("axis", Point { x, y }, Point { x, y: y + 5.0 });
        canvas.text("tick middle", Point { x, y: y + 18.0 }, &text);
        taken.push((x - half, x + half));
    }
    for cut in timeline.breaks.iter().filter(|cut| span.has(cut.start)) {
        let text = format!("+{}", time::span(cut.silence));
        let half = text_width(&text, LETTERS) / 2.0;
        let middle = ((cut.start + cut.end) / 2.0).min(span.end - half).max(span.start + half);
        let collides = |(start, end): &(f64, f64)| middle - half < end + GAP && start - GAP < middle + half;
        // Beside the named times if there is room, else below them.
        let down = if taken.iter().any(collides) { 31.0 } else { 18.0 };
        canvas.text("silence middle", Point { x: middle, y: y + down }, &text);
    }
}

/// Tears a row apart where a silence was cut out.
pub(super) fn draw_breaks(canvas: &mut Canvas, timeline: &Timeline, span: Span, (top, bottom): (f64, f64)) {
    for cut in timeline.breaks.iter().filter(|cut| span.meets(cut.start, cut.end)) {
        let middle = (cut.start + cut.end) / 2.0;
        let half = ((cut.end - cut.start) / 2.0 - 8.0).clamp(1.0, 11.0);
        let left = torn_edge(middle - half, top, bottom);
        let right = torn_edge(middle + half, top, bottom);
        let back: Vec<String> = right.iter().rev().map(ToString::to_string).collect();
        let [left, right] =
            [left, right].map(|edge| edge.iter().map(ToString::to_string).collect::<Vec<_>>());
        canvas.path("torn", &format!("M{}L{}Z", left.join("L"), back.join("L")));
        canvas.path("tear", &format!("M{}", left.join("L")));
        canvas.path("tear", &format!("M{}", right.join("L")));
    }
}

fn torn_edge(x: f64, top: f64, bottom: f64) -> Vec<Point> {
    let teeth = ((bottom - top) / TOOTH).ceil().max(1.0) as usize;
    let height = (bottom - top) / teeth as f64;
    let side = |index: usize| if index.is_multiple_of(2) { -2.5 } else { 2.5 };
    (0..=teeth).map(|index| Point { x: x + side(index), y: top + index as f64 * height }).collect()
}
