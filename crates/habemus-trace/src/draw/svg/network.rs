//! What happens to all at once: cuts of the network as bars above the lines, violations as bands across them.

use std::collections::BTreeSet;

use super::canvas::{Canvas, Point, shortened, text_width};
use super::spans::Span;
use super::timeline::Timeline;
use crate::Happening;
use crate::draw::scene::Scene;
use crate::draw::words;

/// How high one lane of cuts is.
pub(super) const LANE: f64 = 22.0;
const LETTERS: f64 = 11.0;
const LONGEST: usize = 60;

/// A cut in the picture.
pub(super) struct Cut {
    start: f64,
    /// None if it never healed.
    end: Option<f64>,
    lane: usize,
    text: String,
}

/// The cuts, each in a lane in which it does not cover another. What was cut before the picture begins is
/// cut from its left end on.
pub(super) fn cuts(scene: &Scene<'_>, timeline: &Timeline, left: f64) -> Vec<Cut> {
    let old = (left, 0, scene.cut.as_slice());
    let new = scene.moments.iter().enumerate().filter_map(|(index, moment)| match &moment.record.what {
        Happening::Cut { links } => Some((timeline.x[index], index + 1, links.as_slice())),
        _ => None,
    });
    let mut cuts = Vec::new();
    let mut lanes: Vec<f64> = Vec::new();
    for (start, next, links) in std::iter::once(old).chain(new).filter(|(.., links)| !links.is_empty()) {
        let end = healed(scene, next, links).map(|healed| timeline.x[healed]);
        let text = shortened(&format!("cut {}", words::links(links)), LONGEST);
        let covered = end.unwrap_or(f64::INFINITY).max(start + text_width(&text, LETTERS) + 16.0);
        let lane = lanes.iter().position(|&free| free <= start).unwrap_or(lanes.len());
        match lanes.get_mut(lane) {
            Some(free) => *free = covered,
            None => lanes.push(covered),
        }
        cuts.push(Cut { start, end, lane, text });
    }
    cuts
}

/// The moment from which all of these links work again, which are cut before the next moment.
fn healed(scene: &Scene<'_>, next: usize, links: &[(u64, u64)]) -> Option<usize> {
    let mut broken: BTreeSet<_> = links.iter().collect();
    (next..scene.moments.len()).find(|&index| {
        if let Happening::Heal { links } = &scene.moments[index].record.what {
            links.iter().for_each(|link| {
                broken.remove(link);
            });
        }
        broken.is_empty()
    })
}

/// How many lanes the cuts need.
pub(super) fn lanes(scene: &Scene<'_>, timeline: &Timeline) -> usize {
    cuts(scene, timeline, 0.0).iter().map(|cut| cut.lane + 1).max().unwrap_or(0)
}

/// Draws the bars of the cuts in one row between `top` and `first`, and lines from their ends to the
/// `bottom`.
pub(super) fn draw_cuts(
    canvas: &mut Canvas,
    cuts: &[Cut],
    (top, first): (f64, f64),
    bottom: f64,
    span: Span,
) {
    // In a picture that had to be squeezed there may be less room than lanes; then the last is shared.
    let lowest = ((first - top) / LANE - 1.0).max(0.0);
    for cut in cuts {
        let Some((start, end)) = span.cut(cut.start, cut.end.unwrap_or(f64::INFINITY)) else { continue };
        let corner = Point { x: start, y: top + (cut.lane as f64).min(lowest) * LANE };
        let end = end.min(if cut.end.is_none() { span.end } else { end });
        canvas.group(&cut.text, |canvas| {
            canvas.rectangle("cut", corner, (end - start).max(2.0), LANE - 5.0, 3.0);
            for edge in [Some(cut.start), cut.end].into_iter().flatten().filter(|edge| span.has(*edge)) {
                canvas.line("cut-edge", Point { x: edge, y: corner.y }, Point { x: edge, y: bottom });
            }
            let text = start.max(span.start) + 6.0;
            let fits = text + text_width(&cut.text, LETTERS) <= span.end;
            let (class, x) = if fits { ("cut-words", text) } else { ("cut-words end", span.end - 4.0) };
            canvas.text(class, Point { x, y: corner.y + 12.5 }, &cut.text);
        });
    }
}

/// What stands above the beginning of a cycle.
const CYCLE: &str = "goes round from here";

/// Draws a line where a cycle begins, and a band for each violation, with the property's name on top of it.
pub(super) fn draw_violations(
    canvas: &mut Canvas,
    scene: &Scene<'_>,
    timeline: &Timeline,
    (top, bottom): (f64, f64),
    span: Span,
) {
    let mut free = span.start;
    let (left, right) = (span.start, span.end);
    let cycle = scene.cycle.and_then(|cycle| timeline.x.get(cycle)).filter(|x| span.has(**x));
    if let Some(x) = cycle {
        let half = text_width(CYCLE, 13.5) / 2.0;
        let middle = x.min(right - half).max(left + half + 4.0);
        canvas.group(words::CYCLE, |canvas| {
            canvas.rectangle("band", Point { x: x - 10.0, y: top }, 2.0, bottom - top, 0.0);
            canvas.text("violation middle", Point { x: middle, y: top - 6.0 }, CYCLE);
        });
        free = middle + half + 8.0;
    }
    for (index, moment) in scene.moments.iter().enumerate() {
        let Happening::Violation { property, explanation } = &moment.record.what else {
            continue;
        };
        let x = timeline.x[index];
        if !span.meets(x - 8.0, x + 8.0) {
            continue;
        }
        let text = shortened(&words::plain(&format!("{property} violated")), LONGEST);
        // Bold letters are wider.
        let half = text_width(&text, 13.5) / 2.0;
        canvas.group(&format!("{property} violated: {explanation}"), |canvas| {
            canvas.rectangle("band", Point { x: x - 8.0, y: top }, 16.0, bottom - top, 3.0);
            let middle = x.min(right - half).max(left + half + 4.0);
            if middle - half >= free {
                canvas.text("violation middle", Point { x: middle, y: top - 6.0 }, &text);
                free = middle + half + 8.0;
            }
        });
    }
}
