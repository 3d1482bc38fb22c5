//! What timeouts cost, as a picture that is at home on light and dark pages.

use habemus::analysis::timeout::Priced;

use super::plot::{BOTTOM, LEFT, Plot, RIGHT, Sample, TOP, between, ticks};
use super::timeout::{circumstances, figure, seconds};
use crate::commands::timeout::TimeoutReport;

/// How many points a curve has, more than there are pixels.
const POINTS: u32 = 1000;

/// Where values lie in the picture.
struct Scale {
    longest: f64,
    dearest: f64,
}

impl Scale {
    fn x(&self, timeout: f64) -> f64 {
        between(timeout / self.longest, LEFT, RIGHT)
    }

    fn y(&self, cost: f64) -> f64 {
        between(cost / self.dearest, BOTTOM, TOP)
    }
}

/// The cost over the timeout, and the two costs that it is the sum of.
pub(crate) fn timeout_plot(report: &TimeoutReport, cost: impl Fn(f64) -> Priced) -> String {
    let (best, rule) = (&report.best, &report.rule_of_thumb);
    let scale = scale(report, &cost);
    let subtitle = format!("{} · delays: {}", circumstances(report), report.delays);
    let mut plot = Plot::new("What a timeout costs", &subtitle);
    let across: Vec<(f64, String)> = ticks(scale.longest)
        .into_iter()
        .map(|value| (scale.x(value), seconds(value).replace(".00 ", " ").replace(".0 ", " ")))
        .collect();
    let up: Vec<(f64, String)> =
        ticks(scale.dearest).into_iter().map(|value| (scale.y(value), figure(value))).collect();
    plot.axes(("timeout", &across), ("cost", &up));
    let timeouts: Vec<f64> =
        (0..=POINTS).map(|point| scale.longest * f64::from(point) / f64::from(POINTS)).collect();
    let priced: Vec<Priced> = timeouts.into_iter().map(cost).collect();
    let mut curve = |class: &str, value: fn(&Priced) -> f64| {
        plot.curve(class, priced.iter().map(|point| (scale.x(point.timeout), scale.y(value(point)))));
    };
    curve("red dashed", |priced| priced.mistakes);
    curve("green dotted", |priced| priced.waiting);
    curve("blue thick", |priced| priced.cost);
    let (x, y) = (scale.x(best.timeout), scale.y(best.cost));
    plot.path("drop", &format!("M{x:.1} {y:.1}V{BOTTOM}"));
    let (rule_x, rule_y) = (scale.x(rule.timeout), scale.y(rule.cost));
    if rule_x <= RIGHT {
        plot.circle("ring", rule_x, rule_y, 5.0);
    }
    plot.circle("point", x, y, 6.0);
    let note = match best.timeout {
        0.0 => "least cost: do not wait".to_owned(),
        timeout => format!("least cost: {}", seconds(timeout)),
    };
    // In the hollow above the point, where no curve is, unless the picture ends there.
    let room = 70.0;
    if y - 34.0 > TOP && x - room > LEFT && x + room < RIGHT {
        plot.text("note middle", x, y - 34.0, &note);
    } else {
        let (side, beside) =
            if x > (LEFT + RIGHT) / 2.0 { ("note end", x - 12.0) } else { ("note", x + 12.0) };
        plot.text(side, beside, if y + 28.0 < BOTTOM { y + 22.0 } else { y - 14.0 }, &note);
    }
    plot.legend(&[
        (Sample::Curve("blue thick"), "cost".to_owned()),
        (Sample::Curve("red dashed"), "mistakes, C·p".to_owned()),
        (Sample::Curve("green dotted"), "waiting, E·T".to_owned()),
        (Sample::Circle("ring"), "S4's rule: C·p = E·T".to_owned()),
    ]);
    plot.finish()
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
