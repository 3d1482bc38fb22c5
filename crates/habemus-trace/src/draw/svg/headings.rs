//! The words around the picture: title, subtitle, sentences about violations, and a description.

use super::canvas::{Canvas, Point, text_width, wrap};
use crate::Happening;
use crate::draw::scene::Scene;
use crate::draw::{time, words};

const TITLE: f64 = 19.0;
const SUBTITLE: f64 = 12.0;
/// Headings are at most this wide.
const WIDEST: f64 = 960.0;

/// Draws the title and the subtitle.
pub(super) fn draw(canvas: &mut Canvas, scene: &Scene<'_>, upper_left: Point) {
    let mut at = upper_left.shifted(0.0, 15.0);
    for line in title(scene) {
        canvas.text("title", at, &line);
        at.y += 24.0;
    }
    at.y -= 3.0;
    for line in subtitle(scene) {
        canvas.text("subtitle", at, &line);
        at.y += 17.0;
    }
}

/// How high the headings are.
pub(super) fn height(scene: &Scene<'_>) -> f64 {
    15.0 + title(scene).len() as f64 * 24.0 + subtitle(scene).len() as f64 * 17.0
}

/// How wide the headings are.
pub(super) fn width(scene: &Scene<'_>) -> f64 {
    let widths = title(scene).into_iter().map(|line| text_width(&line, TITLE));
    let widths = widths.chain(subtitle(scene).into_iter().map(|line| text_width(&line, SUBTITLE)));
    widths.fold(0.0, f64::max)
}

fn title(scene: &Scene<'_>) -> Vec<String> {
    wrap(&words::plain(&scene.title), TITLE, WIDEST)
}

fn subtitle(scene: &Scene<'_>) -> Vec<String> {
    let mut subtitle = scene.subtitle();
    for sentence in scene.omissions() {
        subtitle += &format!(" · {}", sentence.trim_end_matches('.'));
    }
    wrap(&words::plain(&subtitle), SUBTITLE, WIDEST)
}

/// The violations as sentences.
pub(super) fn violations(scene: &Scene<'_>) -> Vec<String> {
    let sentences = scene.moments.iter().filter_map(|moment| match &moment.record.what {
        Happening::Violation { property, explanation } => {
            let at = if moment.at == 0 { String::new() } else { format!(" at {}", time::span(moment.at)) };
            Some(words::plain(&format!("{property} violated{at}: {explanation}")))
        }
        _ => None,
    });
    sentences.collect()
}

/// The picture in words, for those who cannot see it.
pub(super) fn description(scene: &Scene<'_>, violations: &[String]) -> String {
    let lost =
        scene.flights.iter().flat_map(|flight| &flight.ends).filter(|(_, lost)| lost.is_some()).count();
    let crashes = scene.moments.iter().filter(|moment| moment.record.what == Happening::Crash).count();
    let processes = count(scene.processes.len(), "process", "processes");
    let messages = count(scene.flights.len(), "message", "messages");
    let mut description =
        format!("A space-time diagram of {}: {processes}, {messages}", subtitle(scene).join(" "));
    if lost > 0 {
        description += &format!(" ({lost} lost)");
    }
    if crashes > 0 {
        description += &format!(", {}", count(crashes, "crash", "crashes"));
    }
    description.push('.');
    for violation in violations {
        description += &format!(" {violation}.");
    }
    description
}

fn count(many: usize, one: &str, several: &str) -> String {
    format!("{many} {}", if many == 1 { one } else { several })
}
