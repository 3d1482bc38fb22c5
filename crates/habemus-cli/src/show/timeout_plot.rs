//! What timeouts cost, as a picture that is at home on light and dark pages.

use std::fmt::Write;

use habemus::analysis::timeout::Priced;

use super::timeout::{circumstances, figure, seconds};
use crate::commands::timeout::TimeoutReport;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 772.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 390.0;
/// How many points a curve has, more than there are pixels.
const POINTS: u32 = 1000;

/// Colours by name, not through variables, which converters and older viewers do not know.
const STYLE: &str = r#"<style>
.habemus{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;font-size:12px}
.habemus .ground{fill:#fff}
.habemus .title{font-size:17px;font-weight:600;fill:#1b2129}
.habemus .words{fill:#5a6470}
.habemus .middle{text-anchor:middle}
.habemus .end{text-anchor:end}
.habemus .grid{stroke:#e3e7eb;stroke-width:1;fill:none}
.habemus .axis{stroke:#9aa4ae;stroke-width:1;fill:none}
.habemus .curve{fill:none;stroke-width:2;stroke-linejoin:round}
.habemus .cost{stroke:#0072b2;stroke-width:3}
.habemus .mistakes{stroke:#d1490c;stroke-dasharray:7 4}
.habemus .waiting{stroke:#00704f;stroke-dasharray:2 4;stroke-linecap:round}
.habemus .best{fill:#0072b2}
.habemus .rule{fill:#fff;stroke:#0072b2;stroke-width:2}
.habemus .drop{stroke:#7d8893;stroke-width:1;stroke-dasharray:3 3;fill:none}
.habemus .note{font-weight:600;fill:#1b2129;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
@media (prefers-color-scheme:dark){
.habemus .ground{fill:#14181d}
.habemus .title{fill:#eef1f4}
.habemus .words{fill:#a3aeb9}
.habemus .grid{stroke:#2a3138}
.habemus .axis{stroke:#6b7682}
.habemus .cost{stroke:#6cc0f5}
.habemus .mistakes{stroke:#ff8a4f}
.habemus .waiting{stroke:#4fd3a8}
.habemus .best{fill:#6cc0f5}
.habemus .rule{fill:#14181d;stroke:#6cc0f5}
.habemus .drop{stroke:#8a95a1}
.habemus .note{fill:#eef1f4;stroke:#14181d}
}
</style>"#;

/// Where values lie in the picture.
struct Scale {
    longest: f64,
    dearest: f64,
}

impl Scale {
    fn x(&self, timeout: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * timeout / self.longest
    }

    fn y(&self, cost: f64) -> f64 {
        // What is far above the picture is cut off by it, but must remain a number.
        BOTTOM - (BOTTOM - TOP) * (cost / self.dearest).min(4.0)
    }
}

/// The cost over the timeout, and the two costs that it is the sum of.
pub(crate) fn timeout_plot(report: &TimeoutReport, cost: impl Fn(f64) -> Priced) -> String {
    let (best, rule) = (&report.best, &report.rule_of_thumb);
    let scale = scale(report, &cost);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"habemus\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<title>What a timeout costs</title>\n{STYLE}\n\
         <clipPath id=\"habemus-plot\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></clipPath>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
        RIGHT - LEFT,
        BOTTOM - TOP,
    );
    text(&mut svg, "title", 24.0, 32.0, "What a timeout costs");
    let subtitle = format!("{} · delays: {}", circumstances(report), report.delays);
    text(&mut svg, "words", 24.0, 52.0, &shortened(&subtitle, 118));
    axes(&mut svg, &scale);
    let timeouts: Vec<f64> =
        (0..=POINTS).map(|point| scale.longest * f64::from(point) / f64::from(POINTS)).collect();
    let priced: Vec<Priced> = timeouts.into_iter().map(cost).collect();
    curve(&mut svg, "mistakes", &scale, &priced, |priced| priced.mistakes);
    curve(&mut svg, "waiting", &scale, &priced, |priced| priced.waiting);
    curve(&mut svg, "cost", &scale, &priced, |priced| priced.cost);
    let (x, y) = (scale.x(best.timeout), scale.y(best.cost));
    let _ = writeln!(svg, r#"<path class="drop" d="M{x:.1} {y:.1}V{BOTTOM}"/>"#);
    let (rule_x, rule_y) = (scale.x(rule.timeout), scale.y(rule.cost));
    if rule_x <= RIGHT {
        let _ = writeln!(svg, r#"<circle class="rule" cx="{rule_x:.1}" cy="{rule_y:.1}" r="5"/>"#);
    }
    let _ = writeln!(svg, r#"<circle class="best" cx="{x:.1}" cy="{y:.1}" r="6"/>"#);
    let note = match best.timeout {
        0.0 => "least cost: do not wait".to_owned(),
        timeout => format!("least cost: {}", seconds(timeout)),
    };
    let (side, beside) = if x > (LEFT + RIGHT) / 2.0 { ("note end", x - 12.0) } else { ("note", x + 12.0) };
    // Below the point, unless the axis is there.
    let line = if y + 28.0 < BOTTOM { y + 22.0 } else { y - 14.0 };
    text(&mut svg, side, beside, line, &note);
    legend(&mut svg);
    svg + "</svg>\n"
}

/// The least cost stands in the middle, and what is much dearer is cut off.
fn scale(report: &TimeoutReport, cost: impl Fn(f64) -> Priced) -> Scale {
    let (best, rule) = (&report.best, &report.rule_of_thumb);
    let typical = report.quantiles.iter().find(|quantile| quantile.share >= 0.9);
    let typical = typical.map_or(0.0, |quantile| quantile.priced.timeout);
    let longest = match best.timeout {
        0.0 => 2.0 * typical,
        // Where answers are lost, the rule may wait for them far outside the picture.
        timeout => (2.0 * timeout).max((1.2 * rule.timeout).min(3.0 * timeout)),
    };
    let longest = if longest > 0.0 { longest } else { 1.0 };
    let dearest = (cost(longest).cost * 1.15).max(best.cost * 1.9);
    Scale { longest, dearest: if dearest > 0.0 { dearest } else { 1.0 } }
}

fn axes(svg: &mut String, scale: &Scale) {
    for value in ticks(scale.dearest) {
        let y = scale.y(value);
        let _ = writeln!(svg, r#"<path class="grid" d="M{LEFT} {y:.1}H{RIGHT}"/>"#);
        text(svg, "words end", LEFT - 8.0, y + 4.0, &figure(value));
    }
    for value in ticks(scale.longest) {
        let x = scale.x(value);
        let _ = writeln!(svg, r#"<path class="grid" d="M{x:.1} {TOP}V{BOTTOM}"/>"#);
        let label = seconds(value).replace(".00 ", " ").replace(".0 ", " ");
        text(svg, "words middle", x, BOTTOM + 18.0, &label);
    }
    let _ = writeln!(svg, r#"<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>"#);
    text(svg, "words end", LEFT - 8.0, TOP - 6.0, "cost");
    text(svg, "words end", RIGHT, BOTTOM + 36.0, "timeout");
}

/// Round values from 0 on, some eight of them at most.
fn ticks(max: f64) -> Vec<f64> {
    let rough = max / 8.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    (0..=10).map(|tick| f64::from(tick) * step).take_while(|value| *value <= max * 1.000_001).collect()
}

fn curve(svg: &mut String, class: &str, scale: &Scale, points: &[Priced], value: impl Fn(&Priced) -> f64) {
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let (x, y) = (scale.x(point.timeout), scale.y(value(point)));
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    let _ = writeln!(svg, r#"<path class="curve {class}" clip-path="url(#habemus-plot)" d="{path}"/>"#);
}

fn legend(svg: &mut String) {
    let y = HEIGHT - 18.0;
    let mut x = LEFT;
    for (class, label, width) in
        [("cost", "cost", 76.0), ("mistakes", "mistakes, C·p", 134.0), ("waiting", "waiting, E·T", 124.0)]
    {
        let _ = writeln!(svg, r#"<path class="curve {class}" d="M{x} {}h28"/>"#, y - 4.0);
        text(svg, "words", x + 36.0, y, label);
        x += width;
    }
    let _ = writeln!(svg, r#"<circle class="rule" cx="{}" cy="{}" r="5"/>"#, x + 14.0, y - 4.0);
    text(svg, "words", x + 28.0, y, "S4's rule: C·p = E·T");
}

fn shortened(text: &str, max: usize) -> String {
    match text.chars().count() {
        long if long > max => text.chars().take(max).chain(['…']).collect(),
        _ => text.to_owned(),
    }
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let clean: String =
        escaped.chars().map(|sign| if sign.is_control() { '\u{fffd}' } else { sign }).collect();
    let _ = writeln!(svg, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{clean}</text>"#);
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
    }
}
