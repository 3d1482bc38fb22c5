//! What timeouts cost.

use std::fmt::Write;

use habemus::analysis::timeout::Priced;
use owo_colors::OwoColorize;

use super::{span, wrap};
use crate::commands::timeout::TimeoutReport;

pub(crate) fn timeout(report: &TimeoutReport) -> String {
    let mut text = format!("{} · {}\n", "timeout".cyan().bold(), circumstances(report));
    text.push_str(&wrap("Delays: ", &report.delays, 80));
    let _ = writeln!(
        text,
        "\n{:<26} {:>10} {:>9} {:>10} {:>10} {:>10}",
        "", "timeout", "late", "mistakes", "waiting", "cost"
    );
    let best = row("least cost", &report.best);
    let _ = writeln!(text, "{}", best.bold());
    let _ = writeln!(text, "{}", row("S4's rule, C·p = E·T", &report.rule_of_thumb));
    for quantile in &report.quantiles {
        let share = habemus_scenario::units::show_probability(quantile.share);
        let _ = writeln!(text, "{}", row(&format!("within which {share} come"), &quantile.priced));
    }
    text.push('\n');
    text.push_str(&wrap("", &advice(report), 80));
    text
}

/// The costs in words: "a mistake costs 100, waiting 5 per second".
pub(super) fn circumstances(report: &TimeoutReport) -> String {
    let crashed = match report.crashed {
        Some(crashed) => format!(", {} crashed", habemus_scenario::units::show_probability(crashed)),
        None => String::new(),
    };
    let (mistake, waiting) = (figure(report.mistake_cost), figure(report.waiting_cost));
    format!("a mistake costs {mistake}, waiting {waiting} per second{crashed}")
}

fn row(label: &str, priced: &Priced) -> String {
    let Priced { late, mistakes, waiting, cost, .. } = *priced;
    let [late, mistakes, waiting, cost] = [late, mistakes, waiting, cost].map(figure);
    format!("{label:<26} {:>10} {late:>9} {mistakes:>10} {waiting:>10} {cost:>10}", seconds(priced.timeout))
}

fn advice(report: &TimeoutReport) -> String {
    let Priced { timeout, late, cost, .. } = report.best;
    if timeout == 0.0 {
        return "Do not wait at all: waiting would cost more than it saves in mistakes.".to_owned();
    }
    let often = if late > 0.0 {
        let times = 1.0 / late;
        format!("One answer in {} is then late", figure(times))
    } else {
        "No answer is then late".to_owned()
    };
    let lost =
        if report.lost > 0.0 { format!(" ({} of all are lost)", figure(report.lost)) } else { String::new() };
    format!("Wait {}. {often}{lost}; each wait costs {} on average.", seconds(timeout), figure(cost))
}

/// Seconds with a unit.
pub(super) fn seconds(seconds: f64) -> String {
    // About three hours: beyond, what matters is the magnitude.
    if seconds >= 1e4 { format!("{seconds:.1e} s") } else { span((seconds * 1e9).round() as u64) }
}

/// Three significant digits or so.
pub(super) fn figure(value: f64) -> String {
    let text = match value {
        0.0 => "0".to_owned(),
        ..9.995e-4 => format!("{value:.2e}"),
        9.995e-4..1.0 => format!("{value:.4}"),
        1.0..100.0 => format!("{value:.2}"),
        100.0..1e4 => format!("{value:.1}"),
        1e4..1e9 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    };
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_fit_a_column() {
        assert_eq!([0.0, 0.0415, 12.0, 9e15].map(seconds), ["0 ms", "41.5 ms", "12.00 s", "9.0e15 s"]);
    }

    #[test]
    fn figures_are_short() {
        let figures =
            [0.0, 1.0, 100.0, 0.5, 0.01234, 0.000_999_9, 1234.56, 2.5e-7, 1e12, 40_000.0].map(figure);
        assert_eq!(
            figures,
            ["0", "1", "100", "0.5", "0.0123", "0.001", "1234.6", "2.50e-7", "1.00e12", "40000"]
        );
    }
}
