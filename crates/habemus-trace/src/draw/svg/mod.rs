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
mod style;
mod timeline;

use std::collections::BTreeSet;

use super::scene::Scene;
use arrows::Fate;
use canvas::{Canvas, Point, escape, number, wrap};
use frame::{BORDER, Frame};
use legend::{Legend, Sign};
use lines::Lifeline;
use marks::Pin;
use sketch::Sketch;

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
        let right = self.sketch.right;
        self.note_signs();
        let kinds = arrows::kinds(self.scene);
        let legend = Legend::new(&self.used, &kinds, right - BORDER);
        let below = self.frame.axis() + 50.0;
        let notes: Vec<String> =
            violations.iter().flat_map(|text| wrap(text, 12.5, right - BORDER)).collect();
        let after_notes = below + if notes.is_empty() { 0.0 } else { notes.len() as f64 * 18.0 + 10.0 };
        let height = after_notes + legend.height() + BORDER - 16.0;
        let width = right + BORDER;

        self.begin(width, height, &violations);
        headings::draw(&mut self.canvas, self.scene, Point { x: BORDER, y: BORDER });
        self.lines();
        self.messages();
        for (index, note) in notes.iter().enumerate() {
            self.canvas.text("violation", Point { x: BORDER, y: below + index as f64 * 18.0 }, note);
        }
        legend.draw(&mut self.canvas, Point { x: BORDER, y: after_notes });
        self.canvas.raw("</svg>");
        self.canvas.finish()
    }

    fn begin(&mut self, width: f64, height: f64, violations: &[String]) {
        let (width, height) = (number(width), number(height));
        self.canvas.raw(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="habemus" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">"#
        ));
        self.canvas.raw(&format!("<title>{}</title>", escape(&self.scene.title)));
        self.canvas.raw(&format!("<desc>{}</desc>", escape(&headings::description(self.scene, violations))));
        self.canvas.raw(style::STYLE);
        self.canvas.raw(&format!(r#"<rect class="ground" width="{width}" height="{height}" rx="10"/>"#));
    }

    /// The lines of the processes, and behind them what happens to all of them.
    fn lines(&mut self) {
        let (scene, frame, sketch, canvas) = (self.scene, &self.frame, &self.sketch, &mut self.canvas);
        let (right, bottom) = (sketch.right, frame.bottom());
        network::draw_violations(canvas, scene, &sketch.timeline, frame.top, bottom, right);
        let cuts = network::cuts(scene, &sketch.timeline, frame.left);
        network::draw_cuts(canvas, &cuts, (frame.lanes, frame.top), bottom, right);
        for (process, id) in scene.processes.iter().enumerate() {
            let start = Point { x: frame.left - 12.0, y: frame.line(process) };
            Lifeline::new(scene, &sketch.timeline, process, start, right).draw(canvas);
            let (name, height) = (id.to_string(), 24.0_f64.min(frame.pitch - 4.0));
            let width = frame.left - 12.0 - BORDER;
            canvas.rectangle(
                "pill",
                Point { x: BORDER, y: start.y - height / 2.0 },
                width,
                height,
                height / 2.0,
            );
            canvas.text("name middle", Point { x: BORDER + width / 2.0, y: start.y + 5.0 }, &name);
        }
        axis::draw(canvas, &sketch.timeline, (frame.left, right), frame.axis());
        axis::draw_breaks(canvas, &sketch.timeline, frame.first - 24.0, frame.axis() + 5.0);
    }

    fn messages(&mut self) {
        let (frame, sketch, canvas) = (&self.frame, &self.sketch, &mut self.canvas);
        sketch.arrows.iter().for_each(|arrow| arrow.draw(canvas));
        for dot in marks::dots(self.scene, &sketch.timeline, |process| frame.line(process)) {
            canvas.circle("dot", dot, 3.0);
        }
        sketch.pins.iter().for_each(|pin| pin.draw(canvas));
        sketch.arrows.iter().for_each(|arrow| arrow.draw_label(canvas));
        sketch.pins.iter().for_each(|pin| pin.draw_label(canvas));
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
