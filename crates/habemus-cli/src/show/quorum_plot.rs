//! How likely two are let in, over the size of the quorum, as a picture.

use super::grouped;
use super::plot::{BOTTOM, LEFT, Plot, RIGHT, Sample, TOP, between, powers, ticks};
use crate::commands::quorum::{Figure, QuorumReport, QuorumRow};

/// Less likely than this is not worth more room.
const MIN_LOG10: f64 = -60.0;

/// The probability that two are let in for each majority, on a logarithmic axis.
pub(crate) fn quorum_plot(report: &QuorumReport) -> String {
    let rows = &report.table;
    // What is below the axis is cut off there, not drawn along it; what cannot happen is far below.
    let log10 = |figure: &Figure| figure.exact.log10().max(100.0 * MIN_LOG10);
    let all = rows.iter().flat_map(|row| [&row.by_asking_all, &row.by_asking_worst, &row.by_asking_random]);
    let min_log10 = all.map(log10).fold(-1.0, f64::min).max(MIN_LOG10).floor();
    let (first, last) = (rows.first().map_or(0, |row| row.quorum), rows.last().map_or(1, |row| row.quorum));
    let width = (last - first).max(1) as f64;
    let x = |quorum: u64| between((quorum - first) as f64 / width, LEFT + 12.0, RIGHT - 12.0);
    let y = |log: f64| between((log - min_log10) / -min_log10, BOTTOM, TOP);
    let subtitle = format!(
        "{} coordinators, each forgets with probability {} while somebody is inside",
        grouped(report.coordinators),
        report.failure.exact
    );
    let mut plot = Plot::new("How likely two are let in", &subtitle);
    let step = ticks(width).get(1).map_or(1, |step| step.ceil() as u64).max(1);
    let quorums = (first..=last).filter(|quorum| width <= 12.0 || quorum % step == 0);
    let across: Vec<(f64, String)> = quorums.map(|quorum| (x(quorum), grouped(quorum))).collect();
    let up: Vec<(f64, String)> = powers(min_log10, 0.0).into_iter().map(|log| (y(log), power(log))).collect();
    plot.axes(("quorum", &across), ("probability", &up));
    let mut curve = |class: &str, figure: fn(&QuorumRow) -> &Figure| {
        plot.curve(class, rows.iter().map(|row| (x(row.quorum), y(log10(figure(row))))));
    };
    curve("red dashed", |row| &row.by_asking_worst);
    curve("green dotted", |row| &row.by_asking_random);
    curve("blue thick", |row| &row.by_asking_all);
    if let Some(row) = rows.iter().find(|row| row.quorum == report.quorum) {
        let (x, y) = (x(row.quorum), y(log10(&row.by_asking_all)));
        plot.path("drop", &format!("M{x:.1} {y:.1}V{BOTTOM}"));
        plot.circle("point", x, y, 6.0);
        let note = format!("quorum {}: {}", grouped(row.quorum), row.by_asking_all.exact);
        let (class, beside) =
            if x > (LEFT + RIGHT) / 2.0 { ("note end", x - 12.0) } else { ("note", x + 12.0) };
        plot.text(class, beside, (y - 12.0).max(TOP + 14.0), &note);
    }
    plot.legend(&[
        (Sample::Curve("blue thick"), "asks everybody (S4's P_v)".to_owned()),
        (Sample::Curve("red dashed"), "asks the worst quorum".to_owned()),
        (Sample::Curve("green dotted"), "asks a random quorum".to_owned()),
    ]);
    plot.finish()
}

fn power(exponent: f64) -> String {
    if exponent == 0.0 { "1".to_owned() } else { format!("1e{exponent}") }
}
