//! The axis of time, and the places where a silence was cut out.

use super::canvas::{Canvas, Point, text_width};
use super::timeline::Timeline;
use crate::draw::time::{self, Scale};

/// How far apart two named times are, more or less.
const SPACING: f64 = 64.0;
/// Half the height of a tooth of a torn edge.
const TOOTH: f64 = 7.0;

/// Draws the axis from the left to the right end.
pub(super) fn draw(canvas: &mut Canvas, timeline: &Timeline, (left, right): (f64, f64), y: f64) {
    canvas.line("axis", Point { x: left, y }, Point { x: right, y });
    if !timeline.has_time() {
        canvas.text("tick", Point { x: left, y: y + 18.0 }, "no clock: the events in their order");
        return;
    }
    let ticks = timeline.ticks(SPACING);
    let scale = Scale::of(&ticks.iter().map(|&(at, _)| at).collect::<Vec<_>>());
    for (index, &(at, x)) in ticks.iter().enumerate() {
        canvas.line("axis", Point { x, y }, Point { x, y: y + 5.0 });
        let unit = if index == 0 { format!(" {}", scale.unit) } else { String::new() };
        canvas.text("tick middle", Point { x, y: y + 18.0 }, &format!("{}{unit}", scale.show(at)));
    }
    for cut in &timeline.breaks {
        let middle = (cut.start + cut.end) / 2.0;
        let text = format!("+{}", time::span(cut.silence));
        if text_width(&text, 11.0) < cut.end - cut.start + 24.0 {
            canvas.text("silence middle", Point { x: middle, y: y + 18.0 }, &text);
        }
    }
}

/// Tears the picture apart where a silence was cut out.
pub(super) fn draw_breaks(canvas: &mut Canvas, timeline: &Timeline, top: f64, bottom: f64) {
    for cut in &timeline.breaks {
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
