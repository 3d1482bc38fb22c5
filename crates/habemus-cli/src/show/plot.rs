//! What all plots share: a page that is at home on light and dark grounds, axes with round ticks, and text.

use std::fmt::Write;

pub(super) const WIDTH: f64 = 800.0;
pub(super) const HEIGHT: f64 = 460.0;
pub(super) const LEFT: f64 = 78.0;
pub(super) const RIGHT: f64 = 772.0;
pub(super) const TOP: f64 = 84.0;
pub(super) const BOTTOM: f64 = 390.0;
/// How many letters fit below the title.
const LINE: usize = 118;

/// Colours by name, not through variables, which converters and older viewers do not know; the same as in
/// space-time diagrams.
const STYLE: &str = r#"<style>
.habemus{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;font-size:12px}
.habemus .ground{fill:#fff}
.habemus .title{font-size:19px;font-weight:600;fill:#1b2129}
.habemus .words{fill:#5a6470}
.habemus .middle{text-anchor:middle}
.habemus .end{text-anchor:end}
.habemus .grid{stroke:#e3e7eb;stroke-width:1;fill:none}
.habemus .axis{stroke:#9aa4ae;stroke-width:1;fill:none}
.habemus .curve{fill:none;stroke-width:2;stroke-linejoin:round}
.habemus .blue{stroke:#0072b2}
.habemus .thick{stroke-width:3}
.habemus .red{stroke:#d1490c}
.habemus .green{stroke:#00704f}
.habemus .dashed{stroke-dasharray:7 4}
.habemus .dotted{stroke-dasharray:2 4;stroke-linecap:round}
.habemus .point{fill:#0072b2}
.habemus .spread{stroke:#0072b2;stroke-width:3;opacity:.45;fill:none}
.habemus .ring{fill:#fff;stroke:#0072b2;stroke-width:2}
.habemus .drop{stroke:#7d8893;stroke-width:1;stroke-dasharray:3 3;fill:none}
.habemus .note{font-weight:600;fill:#1b2129;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
@media (prefers-color-scheme:dark){
.habemus .ground{fill:#14181d}
.habemus .title{fill:#eef1f4}
.habemus .words{fill:#a3aeb9}
.habemus .grid{stroke:#2a3138}
.habemus .axis{stroke:#6b7682}
.habemus .blue,.habemus .spread{stroke:#6cc0f5}
.habemus .red{stroke:#ff8a4f}
.habemus .green{stroke:#4fd3a8}
.habemus .point{fill:#6cc0f5}
.habemus .ring{fill:#14181d;stroke:#6cc0f5}
.habemus .drop{stroke:#8a95a1}
.habemus .note{fill:#eef1f4;stroke:#14181d}
}
</style>"#;

/// A plot as far as it is drawn.
pub(super) struct Plot {
    svg: String,
}

impl Plot {
    pub(super) fn new(title: &str, subtitle: &str) -> Plot {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"habemus\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<title>{}</title>\n{STYLE}\n\
             <clipPath id=\"habemus-plot\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" \
             height=\"{}\"/></clipPath>\n\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"10\"/>\n",
            escape(title),
            RIGHT - LEFT,
            BOTTOM - TOP,
        );
        let mut plot = Plot { svg };
        plot.text("title", 24.0, 34.0, title);
        plot.text("words", 24.0, 54.0, &shortened(subtitle, LINE));
        plot
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = writeln!(self.svg, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escape(text));
    }

    pub(super) fn path(&mut self, class: &str, path: &str) {
        let _ = writeln!(self.svg, r#"<path class="{class}" d="{path}"/>"#);
    }

    pub(super) fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        let _ = writeln!(self.svg, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/>"#);
    }

    /// A line through these points; what lies outside the axes is cut off.
    pub(super) fn curve(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (index, (x, y)) in points.into_iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
        }
        let _ =
            writeln!(self.svg, r#"<path class="curve {class}" clip-path="url(#habemus-plot)" d="{path}"/>"#);
    }

    /// The axes, with lines and words at these places, and what each axis is about.
    pub(super) fn axes(&mut self, x: (&str, &[(f64, String)]), y: (&str, &[(f64, String)])) {
        for (place, label) in y.1 {
            self.path("grid", &format!("M{LEFT} {place:.1}H{RIGHT}"));
            self.text("words end", LEFT - 8.0, place + 4.0, label);
        }
        let mut free = f64::NEG_INFINITY;
        for (place, label) in x.1 {
            self.path("grid", &format!("M{place:.1} {TOP}V{BOTTOM}"));
            // Letters are narrower than this.
            let half = label.chars().count() as f64 * 3.6;
            if place - half >= free {
                self.text("words middle", *place, BOTTOM + 18.0, label);
                free = place + half + 8.0;
            }
        }
        self.path("axis", &format!("M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"));
        self.text("words end", LEFT - 8.0, TOP - 8.0, y.0);
        self.text("words end", RIGHT, BOTTOM + 36.0, x.0);
    }

    /// Entries of a legend below the plot, one after the other.
    pub(super) fn legend(&mut self, entries: &[(Sample, String)]) {
        let (mut x, y) = (LEFT, HEIGHT - 18.0);
        for (sample, label) in entries {
            match sample {
                Sample::Curve(class) => self.path(&format!("curve {class}"), &format!("M{x} {}h28", y - 4.0)),
                Sample::Circle(class) => self.circle(class, x + 14.0, y - 4.0, 5.0),
            }
            self.text("words", x + 36.0, y, label);
            x += 36.0 + label.chars().count() as f64 * 6.4 + 20.0;
        }
    }

    pub(super) fn finish(self) -> String {
        self.svg + "</svg>\n"
    }
}

/// What stands before an entry of a legend.
pub(super) enum Sample {
    Curve(&'static str),
    Circle(&'static str),
}

/// A value's place between two ends.
pub(super) fn between(part: f64, from: f64, to: f64) -> f64 {
    // What is far outside is cut off by the plot, but must remain a number.
    from + (to - from) * part.clamp(-4.0, 4.0)
}

/// Round values from 0 on, some eight of them at most.
pub(super) fn ticks(max: f64) -> Vec<f64> {
    let rough = max / 8.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    (0..=10).map(|tick| f64::from(tick) * step).take_while(|value| *value <= max * 1.000_001).collect()
}

/// Powers of ten from one exponent to another, some eight of them at most.
pub(super) fn powers(from: f64, to: f64) -> Vec<f64> {
    let (from, to) = (from.ceil(), to.floor());
    let step = ((to - from) / 8.0).ceil().max(1.0);
    let count = ((to - from) / step).floor().max(-1.0);
    (0..=count as i32).map(|index| from + f64::from(index) * step).collect()
}

fn shortened(text: &str, max: usize) -> String {
    match text.chars().count() {
        long if long > max => text.chars().take(max - 1).chain(['…']).collect(),
        _ => text.to_owned(),
    }
}

fn escape(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.chars().map(|sign| if sign.is_control() { '\u{fffd}' } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        for max in [1e-9, 0.037, 3.0, 12.5, 9e12] {
            let count = ticks(max).len();
            assert!((4..=9).contains(&count), "{max}: {count}");
        }
        assert_eq!(powers(0.3, 3.9), [1.0, 2.0, 3.0]);
        assert!((4..=9).contains(&powers(-300.0, 0.0).len()));
        assert!(powers(0.3, 0.6).is_empty());
    }

    #[test]
    fn words_of_an_axis_do_not_touch() {
        let mut plot = Plot::new("a < b", "");
        let near: Vec<(f64, String)> =
            (0..40).map(|index| (80.0 + f64::from(index) * 9.0, "10,000".into())).collect();
        plot.axes(("x", &near), ("y", &[]));
        let svg = plot.finish();
        assert!(svg.matches("10,000").count() <= 8, "{svg}");
        assert!(svg.contains("<title>a &lt; b</title>"));
    }
}
