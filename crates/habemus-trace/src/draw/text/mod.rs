//! The space-time diagram for the terminal.

mod diagram;
mod layout;
mod legend;
mod lifeline;
mod line;
mod log;

use super::Options;
use super::rows;
use super::scene::Scene;
use super::time::Scale;
use super::words;
use layout::Layout;
use line::{Line, Paint};

/// Draws the scene.
pub(super) fn render(scene: &Scene<'_>, options: &Options) -> String {
    let mut page = Page { width: options.width, color: options.color, text: String::new() };
    let times: Vec<u64> = scene.moments.iter().map(|moment| moment.at).collect();
    let scale = Scale::of(&times);
    let rows = rows::rows(scene);
    let lengths = rows.iter().map(|row| scale.show(row.at).len());
    let time = lengths.max().unwrap_or(0).max(scale.unit.chars().count());
    let layout = Layout::of(scene, &rows, time, options.width);
    if layout.is_none() {
        let many = scene.processes.len();
        page.paragraph(
            &format!(
                "{many} processes do not fit side by side here: a log instead, one line for each event."
            ),
            Paint::Faint,
        );
        page.blank();
    }
    page.paragraph(&scene.title, Paint::Strong);
    page.paragraph(&scene.subtitle(), Paint::Faint);
    for sentence in scene.omissions() {
        page.paragraph(&sentence, Paint::Faint);
    }
    page.blank();
    match layout {
        _ if scene.moments.is_empty() => page.paragraph("Nothing happened.", Paint::Plain),
        Some(layout) => diagram::draw(&mut page, scene, &rows, &scale, &layout),
        None => log::draw(&mut page, scene, &scale),
    }
    page.text
}

/// The text as far as it is written.
struct Page {
    width: usize,
    color: bool,
    text: String,
}

impl Page {
    fn line(&mut self, line: &Line) {
        self.text += &line.finish(self.color);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes a text in as many lines as it needs; nothing if it is empty.
    fn paragraph(&mut self, text: &str, paint: Paint) {
        for part in line::wrap(&words::plain(text), self.width).iter().filter(|part| !part.is_empty()) {
            let mut line = Line::new(self.width);
            line.write(0, part, self.width, paint);
            self.line(&line);
        }
    }
}
