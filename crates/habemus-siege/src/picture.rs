//! Pictures: what was done when and how the writes fared, how long nothing could be written, and a holder
//! that stands still.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::attack::Attack;
use crate::holder::Trial;
use crate::report::{Siege, quantile};

const WIDTH: f64 = 1000.0;
const BLUE: &str = "blue";
const ORANGE: &str = "orange";
const GREEN: &str = "green";
/// What is only there to be measured against.
const GRID: &str = "grid";
/// The line of somebody who does nothing.
const LANE: &str = "lane";

/// The colours of the project's other pictures, by day and by night.
const STYLE: &str = "<style>
text{fill:#1b2129}.ground{fill:#fff}
.stroke{fill:none}.blue{fill:#0072b2}.orange{fill:#d1490c}.green{fill:#009e73}.lane{fill:#7d8893}
.stroke.blue{fill:none;stroke:#0072b2}.stroke.orange{fill:none;stroke:#d1490c}
.stroke.green{fill:none;stroke:#009e73}
.stroke.grid{stroke:#e3e7eb}.stroke.lane{fill:none;stroke:#7d8893}
@media (prefers-color-scheme:dark){
text{fill:#a3aeb9}.ground{fill:#14181d}
.blue{fill:#6cc0f5}.orange{fill:#ff8a4f}.green{fill:#4fd3a8}.lane{fill:#8a95a1}
.stroke.blue{stroke:#6cc0f5}.stroke.orange{stroke:#ff8a4f}.stroke.green{stroke:#4fd3a8}
.stroke.grid{stroke:#2a3138}.stroke.lane{stroke:#8a95a1}
}
</style>";

/// A picture under way.
struct Picture(String);

impl Picture {
    fn new(height: f64) -> Picture {
        Picture(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n{STYLE}\n\
             <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
        ))
    }

    fn text(&mut self, x: f64, y: f64, text: &str) {
        self.anchored(x, y, "start", text);
    }

    fn anchored(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.add(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    fn bar(&mut self, x: (f64, f64), y: f64, height: f64, colour: &str, title: &str) {
        let wide = (x.1 - x.0).max(1.0);
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        self.add(&format!(
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{height:.1}\" class=\"{colour}\" \
             opacity=\"0.3\"><title>{title}</title></rect>",
            x.0
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        self.add(&format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"stroke {colour}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    fn curve(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.add(&format!("<polyline points=\"{points}\" class=\"stroke {colour}\"/>"));
    }

    fn dot(&mut self, x: f64, y: f64, colour: &str) {
        self.add(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"{colour}\" opacity=\"0.7\"/>"
        ));
    }

    fn add(&mut self, what: &str) {
        writeln!(self.0, "{what}").expect("memory takes text");
    }

    fn end(mut self) -> String {
        self.add("</svg>");
        self.0
    }
}

/// Where a time stands between a hundredth of a second and a hundred seconds, each ten times the one before.
fn by_tens(micros: u64, from: f64, to: f64) -> f64 {
    let tens = (micros.max(1) as f64 / 1e4).log10().clamp(0.0, 4.0);
    from + (to - from) * tens / 4.0
}

const TENS: [(u64, &str); 5] = [
    (10_000, "10 ms"),
    (100_000, "100 ms"),
    (1_000_000, "1 s"),
    (10_000_000, "10 s"),
    (100_000_000, "100 s"),
];

/// How far apart the marks on a line of so many seconds stand: 1, 2 or 5, times a power of ten, so that there
/// are at most ten.
fn round_step(seconds: u64) -> usize {
    let tens = (0..).map(|exponent| 10_u64.pow(exponent));
    let mut steps = tens.flat_map(|ten| [ten, 2 * ten, 5 * ten]);
    let step = steps.find(|step| seconds / step < 11).unwrap_or(1);
    usize::try_from(step).unwrap_or(usize::MAX)
}

/// Writes in each tenth of a second, how long the slowest took, and below what was done when.
pub(crate) fn course(siege: &Siege) -> String {
    let kinds: Vec<&str> =
        Attack::kinds().filter(|kind| siege.parts.faults.iter().any(|it| it.kind == *kind)).collect();
    let (left, top, height) = (230.0, 30.0, 110.0);
    let end = siege.end().max(1);
    let x = |at: u64| left + at as f64 / end as f64 * (WIDTH - left - 20.0);
    let second_panel = top + height + 25.0;
    let rows = second_panel + height + 25.0;
    let mut picture = Picture::new(rows + 16.0 * kinds.len() as f64 + 25.0);
    picture.text(10.0, 18.0, &format!("{}, {}", siege.version, siege.place));
    let mut tenths: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (at, took) in &siege.parts.probes {
        let (count, slowest) = tenths.entry(at / 100_000).or_default();
        (*count, *slowest) = (*count + 1, (*slowest).max(*took));
    }
    for fault in &siege.parts.faults {
        let bounds = (x(fault.from), x(fault.until));
        picture.bar(bounds, top, 2.0 * height + 25.0, ORANGE, &fault.what);
        let row = kinds.iter().position(|kind| *kind == fault.kind).unwrap_or_default();
        picture.bar(bounds, rows + 16.0 * row as f64, 12.0, ORANGE, &fault.what);
        // Bars are pale: in a row of its own it is drawn twice.
        picture.bar(bounds, rows + 16.0 * row as f64, 12.0, ORANGE, &fault.what);
    }
    let max = tenths.values().map(|(count, _)| *count).max().unwrap_or(1);
    let curve: Vec<(f64, f64)> = (0..=end / 100_000)
        .map(|tenth| {
            let count = tenths.get(&tenth).map_or(0, |(count, _)| *count);
            (x(tenth * 100_000), top + height - count as f64 / max as f64 * height)
        })
        .collect();
    picture.curve(&curve, BLUE);
    picture.anchored(left - 8.0, top + 10.0, "end", &format!("{max} writes in 0.1 s"));
    picture.anchored(left - 8.0, top + height, "end", "0");
    for (at, name) in &TENS[..4] {
        let y = by_tens(*at, second_panel + height, second_panel - height / 3.0);
        picture.line((left, y), (WIDTH - 20.0, y), GRID);
        picture.anchored(left - 8.0, y + 4.0, "end", name);
    }
    for (tenth, (_, slowest)) in &tenths {
        let y = by_tens(*slowest, second_panel + height, second_panel - height / 3.0);
        picture.line((x(tenth * 100_000), second_panel + height), (x(tenth * 100_000), y), GREEN);
    }
    picture.anchored(left - 8.0, second_panel + height + 16.0, "end", "slowest write answered in 0.1 s");
    for (row, kind) in kinds.iter().enumerate() {
        picture.anchored(left - 8.0, rows + 16.0 * row as f64 + 10.0, "end", kind);
    }
    let below = rows + 16.0 * kinds.len() as f64 + 14.0;
    for second in (0..=end / 1_000_000).step_by(round_step(end / 1_000_000)) {
        picture.anchored(x(second * 1_000_000), below, "middle", &format!("{second} s"));
    }
    picture.end()
}

/// How long nothing could be written: a dot for each attack.
pub(crate) fn outages(sieges: &[Siege]) -> String {
    let all: Vec<_> = sieges.iter().map(Siege::outages).collect();
    let kinds: Vec<&str> =
        Attack::kinds().filter(|kind| all.iter().any(|it| it.contains_key(kind))).collect();
    let (left, top, step) = (230.0, 40.0, 9.0 + 9.0 * sieges.len() as f64);
    let bottom = top + step * kinds.len() as f64;
    let mut picture = Picture::new(bottom + 30.0);
    let colours = [BLUE, ORANGE, GREEN];
    for (number, siege) in sieges.iter().enumerate() {
        let at = left + 160.0 * number as f64;
        picture.dot(at, 15.0, colours[number % colours.len()]);
        picture.text(at + 10.0, 19.0, &siege.version);
    }
    for (at, name) in TENS {
        let x = by_tens(at, left, WIDTH - 40.0);
        picture.line((x, top - 8.0), (x, bottom), GRID);
        picture.anchored(x, bottom + 16.0, "middle", name);
    }
    for (row, kind) in kinds.iter().enumerate() {
        let y = top + step * row as f64;
        picture.anchored(left - 8.0, y + step / 2.0, "end", kind);
        for (number, outages) in all.iter().enumerate() {
            let y = y + 4.0 + 9.0 * number as f64;
            let colour = colours[number % colours.len()];
            let Some(times) = outages.get(kind) else { continue };
            for time in times {
                picture.dot(by_tens(*time, left, WIDTH - 40.0), y, colour);
            }
            let median = by_tens(quantile(times, 50), left, WIDTH - 40.0);
            picture.line((median, y - 5.0), (median, y + 5.0), colour);
        }
    }
    picture.end()
}

/// A holder that stands still, the one that comes in meanwhile, and the late write.
pub(crate) fn paused(siege: &Siege, trial: &Trial) -> String {
    let (begin, end) = (trial.inside.saturating_sub(200_000), trial.done + 300_000);
    let x = |at: u64| 150.0 + (at - begin) as f64 / (end - begin) as f64 * (WIDTH - 190.0);
    let mut picture = Picture::new(230.0);
    picture.text(10.0, 18.0, &format!("{}: {}", siege.version, trial.holder.describe()));
    let lanes = [(70.0, "first holder"), (130.0, siege.name), (190.0, "second holder")];
    for (y, name) in lanes {
        picture.anchored(140.0, y + 4.0, "end", name);
        picture.line((150.0, y), (WIDTH - 40.0, y), LANE);
    }
    picture.bar((x(trial.inside), x(trial.stopped)), 60.0, 20.0, BLUE, "inside");
    picture.bar((x(trial.stopped), x(trial.continued)), 60.0, 20.0, LANE, "stands still");
    picture.bar((x(trial.continued), x(trial.done)), 60.0, 20.0, ORANGE, "goes on");
    picture.bar((x(trial.second), x(end)), 180.0, 20.0, GREEN, "inside");
    picture.text(x(trial.inside), 52.0, "inside, then stopped: it believes to hold the lock all along");
    let over = trial.stopped + 2_000_000;
    picture.line((x(over), 120.0), (x(over), 140.0), ORANGE);
    picture.anchored(x(over), 115.0, "middle", "its session ends");
    picture.line((x(trial.second), 190.0), (x(trial.second), 130.0), GREEN);
    picture.anchored(x(trial.second), 216.0, "middle", "inside, writes");
    picture.line((x(trial.continued), 70.0), (x(trial.done), 130.0), ORANGE);
    let late = if trial.overwritten { "late write, accepted" } else { "late write: none, or refused" };
    picture.anchored(x(trial.done), 150.0, "end", late);
    picture.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_at_most_eleven() {
        let steps = [0, 10, 11, 65, 130, 1_000, 86_400].map(round_step);
        assert_eq!(steps, [1, 1, 2, 10, 20, 100, 10_000]);
    }
}
