//! How good failure detectors are, as a table.

use std::fmt::Write;

use habemus_scenario::{TimeModel, units};
use habemus_sim::{Quality, QualityRequest};
use owo_colors::OwoColorize;

use super::{grouped, plural, span, wrap};

pub(crate) fn detectors(request: &QualityRequest, measured: &[Quality]) -> String {
    let mut text = format!("{} · {}\n", "failure detectors".cyan().bold(), circumstances(request));
    text.push_str(&wrap("", &network(request), 80));
    let _ = writeln!(text, "\n{:>37} {:>30}", "detection time", "mistakes");
    let _ = writeln!(
        text,
        "{:<18} {:>9} {:>9} {:>7} {:>11} {:>10} {:>10}",
        "detector", "mean", "max", "missed", "per hour", "duration", "right"
    );
    for quality in measured {
        let _ = writeln!(text, "{}", row(quality));
    }
    text.push('\n');
    text.push_str(&wrap("", &remarks(request, measured), 80));
    text
}

fn circumstances(request: &QualityRequest) -> String {
    let processes = plural(request.scenario.ids.len() as u64, "process", "processes");
    let runs = plural(request.seeds, "run", "runs");
    format!("{processes} · {runs} of {} each", units::show_duration(request.until))
}

fn network(request: &QualityRequest) -> String {
    let network = &request.scenario.network;
    let mut words = match network.model {
        TimeModel::Synchronous { pulse } => format!("Pulses of {}", units::show_duration(pulse)),
        _ => format!("Latency {}", network.latency),
    };
    if let TimeModel::PartiallySynchronous { gst, delta } = network.model {
        let (gst, delta) = (units::show_duration(gst), units::show_duration(delta));
        let _ = write!(words, ", at most {delta} from {gst} on");
    }
    if !network.fifo {
        words += ", in any order";
    }
    for (share, what) in [(network.loss, "lost"), (network.duplication, "duplicated")] {
        if share > 0.0 {
            let _ = write!(words, ", {} {what}", units::show_probability(share));
        }
    }
    words + "."
}

fn row(quality: &Quality) -> String {
    let none = || "–".to_owned();
    let detection = |nanos: Option<f64>| nanos.map_or_else(none, |nanos| span(nanos as u64));
    let max = (quality.detection.count > 0).then_some(quality.detection.max as f64);
    format!(
        "{:<18} {:>9} {:>9} {:>7} {:>11} {:>10} {:>10}",
        quality.detector,
        detection(quality.detection.mean()),
        detection(max),
        grouped(quality.undetected),
        quality.mistake_rate().map_or_else(none, |rate| figure(rate * 3600.0)),
        detection(quality.mistake_duration()),
        quality.accuracy().map_or_else(none, |share| percent(quality.mistakes, share)),
    )
}

/// Three digits or so; a whole number stays one.
fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        ..10.0 => format!("{value:.2}"),
        10.0..1000.0 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    }
}

/// A share near one with as many digits as tell it from one.
fn percent(mistakes: u64, share: f64) -> String {
    if mistakes == 0 {
        return "100 %".to_owned();
    }
    let text = format!("{:.4}", share * 100.0);
    // What is not quite everything must not look like it.
    if text == "100.0000" { "<100 %".to_owned() } else { format!("{text} %") }
}

fn remarks(request: &QualityRequest, measured: &[Quality]) -> String {
    let mut words = String::new();
    if request.one_crash {
        words += "In each run one process crashes, the same for every detector. ";
    }
    words += "Mistakes are counted for each process that watches another, per hour in which both are up.";
    let rate = |quality: &Quality| quality.messages as f64 / (quality.time as f64 / 1e9).max(1e-9);
    let busy = measured.iter().map(|quality| (quality, rate(quality))).find(|(_, rate)| *rate > 0.0);
    if let Some((quality, rate)) = busy {
        let _ = write!(words, " {} sends {} messages a second in all.", quality.detector, figure(rate));
    }
    let missed: u64 = measured.iter().map(|quality| quality.undetected).sum();
    if missed > 0 {
        words += " Missed are crashes that a process had not noticed when the run ended or the crashed one \
            came back.";
    }
    let silent = measured.iter().filter(|quality| quality.runs < request.seeds);
    for quality in silent {
        let _ = write!(words, " {}: only {}.", quality.detector, plural(quality.runs, "run", "runs"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_almost_certain_does_not_look_certain() {
        assert_eq!(percent(0, 1.0), "100 %");
        assert_eq!(percent(1, 1.0 - 1e-9), "<100 %");
        assert_eq!(percent(7, 0.998_765), "99.8765 %");
        assert_eq!([0.0, 0.123, 12.34, 123_456.7].map(figure), ["0", "0.12", "12.3", "123,457"]);
    }
}
