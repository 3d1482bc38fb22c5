//! The space-time diagram as an SVG picture.

mod arrows;
mod axis;
mod canvas;
mod frame;
mod headings;
mod legend;
mod lines;
mod marks;
mod network;
mod place;
mod sketch;
mod spans;
mod style;
mod timeline;

use std::collections::BTreeSet;

use super::scene::{Scene, SceneEvent};
use crate::Happening;
use arrows::Fate;
use canvas::{Canvas, Point, escape, number, wrap};
use frame::{BORDER, Frame};
use legend::{Legend, Sign};
use lines::Lifeline;
use marks::Pin;
use sketch::Sketch;
use spans::Span;

/// Draws the scene.
pub(super) fn render(scene: &Scene<'_>) -> String {
    let frame = Frame::new(scene);
    let sketch = Sketch::best(scene, &frame);
    Picture { scene, frame, sketch, canvas: Canvas::default(), used: BTreeSet::new() }.draw()
}

struct Picture<'s> {
    scene: &'s Scene<'s>,
    frame: Frame,
    sketch: Sketch,
    canvas: Canvas,
    used: BTreeSet<Sign>,
}

impl Picture<'_> {
    fn draw(mut self) -> String {
        let violations = headings::violations(self.scene);
        let right = self.sketch.page_right(&self.frame).max(headings::width(self.scene) + BORDER);
        self.note_signs();
        let kinds = arrows::kinds(self.scene);
        let legend = Legend::new(&self.used, &kinds, right - BORDER);
        let spans = self.sketch.spans.clone();
        let below = self.frame.axis() + (spans.len() - 1) as f64 * self.frame.row() + 50.0;
        let notes: Vec<String> =
            violations.iter().flat_map(|text| wrap(text, 12.5, right - BORDER)).collect();
        let after_notes = below + if notes.is_empty() { 0.0 } else { notes.len() as f64 * 18.0 + 10.0 };
        let height = after_notes + legend.height() + BORDER - 16.0;
        let width = right + BORDER;

        self.begin(width, height, &violations);
        headings::draw(&mut self.canvas, self.scene, Point { x: BORDER, y: BORDER });
        match spans.as_slice() {
            [only] => self.row(*only),
            rows => rows.iter().enumerate().for_each(|(index, span)| self.row_of_many(index, *span)),
        }
        for (index, note) in notes.iter().enumerate() {
            self.canvas.text("violation", Point { x: BORDER, y: below + index as f64 * 18.0 }, note);
        }
        legend.draw(&mut self.canvas, Point { x: BORDER, y: after_notes });
        self.canvas.raw("</svg>");
        self.canvas.finish()
    }

    /// One of several rows: its part of the whole is seen as through a window.
    fn row_of_many(&mut self, index: usize, span: Span) {
        let (top, height) = (self.frame.lanes, self.frame.row());
        let down = number(index as f64 * height);
        let [x, y, start, width, height] =
            [self.frame.left - 12.0, top, span.start, span.width(), height].map(number);
        self.canvas.raw(&format!(r#"<g transform="translate(0 {down})">"#));
        self.names();
        self.canvas.raw(&format!(
            r#"<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{start} {y} {width} {height}">"#
        ));
        self.lines(span);
        self.messages(span);
        self.canvas.raw("</svg>\n</g>");
    }

    /// The only row.
    fn row(&mut self, span: Span) {
        self.names();
        self.lines(span);
        self.messages(span);
    }

    fn begin(&mut self, width: f64, height: f64, violations: &[String]) {
        let (width, height) = (number(width), number(height));
        self.canvas.raw(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="habemus" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">"#
        ));
        self.canvas.raw(&format!("<title>{}</title>", escape(&self.scene.title)));
        self.canvas.raw(&format!("<desc>{}</desc>", escape(&headings::description(self.scene, violations))));
        self.canvas.raw(style::STYLE);
        let has_variables = |moment: &SceneEvent<'_>| matches!(moment.record.what, Happening::State { .. });
        if self.scene.moments.iter().any(has_variables) {
            self.canvas.raw(style::VARIABLES);
        }
        self.canvas.raw(&format!(r#"<rect class="ground" width="{width}" height="{height}" rx="10"/>"#));
    }

    /// The names of the processes, before their lines.
    fn names(&mut self) {
        let (frame, canvas) = (&self.frame, &mut self.canvas);
        for (process, id) in self.scene.processes.iter().enumerate() {
            let (y, height) = (frame.line(process), 24.0_f64.min(frame.pitch - 4.0));
            let width = frame.left - 12.0 - BORDER;
            let corner = Point { x: BORDER, y: y - height / 2.0 };
            canvas.rectangle("pill", corner, width, height, height / 2.0);
            canvas.text("name middle", Point { x: BORDER + width / 2.0, y: y + 5.0 }, &id.to_string());
        }
    }

    /// The lines of the processes, and behind them what happens to all of them.
    fn lines(&mut self, span: Span) {
        let (scene, frame, sketch, canvas) = (self.scene, &self.frame, &self.sketch, &mut self.canvas);
        let (right, bottom) = (sketch.right, frame.bottom());
        network::draw_violations(canvas, scene, &sketch.timeline, (frame.top, bottom), span);
        let cuts = network::cuts(scene, &sketch.timeline, frame.left);
        network::draw_cuts(canvas, &cuts, (frame.lanes, frame.top), bottom, span);
        for process in 0..scene.processes.len() {
            let start = Point { x: frame.left - 12.0, y: frame.line(process) };
            Lifeline::new(scene, &sketch.timeline, process, start, right).draw(canvas, span);
        }
        axis::draw(canvas, &sketch.timeline, span, frame.axis());
        axis::draw_breaks(canvas, &sketch.timeline, span, (frame.first - 24.0, frame.axis() + 5.0));
    }

    fn messages(&mut self, span: Span) {
        let (frame, sketch, canvas) = (&self.frame, &self.sketch, &mut self.canvas);
        sketch.arrows.iter().filter(|arrow| arrow.is_in(span)).for_each(|arrow| arrow.draw(canvas));
        for dot in marks::dots(self.scene, &sketch.timeline, |process| frame.line(process)) {
            if span.has(dot.x) {
                canvas.circle("dot", dot, 3.0);
            }
        }
        sketch.pins.iter().for_each(|pin| pin.draw(canvas, span));
        sketch.arrows.iter().for_each(|arrow| arrow.draw_label(canvas, span));
        sketch.pins.iter().for_each(|pin| pin.draw_label(canvas, span));
    }

    /// Notes all signs that the legend must explain.
    fn note_signs(&mut self) {
        let kinds = arrows::kinds(self.scene).len().min(arrows::COLORS + 1);
        self.used.extend((0..kinds).map(Sign::Kind));
        for arrow in &self.sketch.arrows {
            match arrow.fate() {
                Fate::Delivered => {}
                Fate::Lost => _ = self.used.insert(Sign::Lost),
                Fate::Pending => _ = self.used.insert(Sign::Pending),
            }
        }
        self.used.extend(self.sketch.pins.iter().filter_map(Pin::sign));
        for process in 0..self.scene.processes.len() {
            let start = Point { x: self.frame.left, y: 0.0 };
            let line = Lifeline::new(self.scene, &self.sketch.timeline, process, start, self.sketch.right);
            self.used.extend(line.signs());
        }
    }
}
