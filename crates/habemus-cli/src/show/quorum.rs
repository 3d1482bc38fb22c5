//! What is known of a forgetful quorum.

use std::fmt::Write;

use owo_colors::OwoColorize;

use super::{grouped, plural, wrap};
use crate::commands::quorum::{QuorumReport, QuorumRow, Target, TrialVerdict, Tried};

const WIDTH: usize = 80;
/// Of more rows than these, some are left out.
const MAX_ROWS: usize = 40;

pub(crate) fn quorum(report: &QuorumReport, all: bool) -> String {
    let QuorumReport { coordinators, quorum, shared, failure, .. } = report;
    let title =
        format!("quorum {} of {}", grouped(*quorum), plural(*coordinators, "coordinator", "coordinators"));
    let mut text = format!("{} · each forgets with probability {}\n\n", title.cyan().bold(), failure.exact);
    let explained = format!(
        "Two such quorums share at least {}. While one participant is inside, another can enter with this \
         probability, if it asks",
        plural(*shared, "coordinator", "coordinators")
    );
    text.push_str(&wrap("", &explained, WIDTH));
    text.push('\n');
    let worst = format!("a quorum that shares only {}", grouped(*shared));
    for (label, tried) in [
        ("everybody, contended (S4's P_v)", &report.by_asking_all),
        ("the same, the protocol itself", &report.protocol_contended),
        ("everybody, uncontended", &report.uncontended),
        (worst.as_str(), &report.by_asking_worst),
        ("a quorum drawn at random", &report.by_asking_random),
    ] {
        let _ = writeln!(text, "  {label:<32} {:>12}   {}", tried.figure.exact, said(tried));
    }
    text.push_str(&remarks(report));
    text.push_str(&table(report, all));
    if let Some(target) = &report.target {
        text.push('\n');
        text.push_str(&verdict(report, target));
    }
    if report.disagrees() {
        let _ = writeln!(text, "{} samples and formula disagree", "failed:".red().bold());
    }
    text
}

/// What the trials say of a figure.
fn said(tried: &Tried) -> String {
    let interval = format!("sampled {} to {}", share(tried.low), share(tried.high));
    match tried.verdict {
        TrialVerdict::Agrees => format!("{} {interval}", "✓".green()),
        TrialVerdict::Disagrees => format!("{} {interval}", "✗".red().bold()),
        TrialVerdict::TooRare => format!("{} too rare to be sampled", "–".yellow()),
        TrialVerdict::NotTried => String::new(),
    }
}

fn share(share: f64) -> String {
    habemus::analysis::LogProbability::new(share).map_or_else(|| share.to_string(), |share| share.to_string())
}

fn remarks(report: &QuorumReport) -> String {
    let figures = [&report.by_asking_all, &report.by_asking_worst, &report.by_asking_random];
    let mut text = String::new();
    if figures
        .iter()
        .any(|tried| tried.verdict == TrialVerdict::Agrees || tried.verdict == TrialVerdict::Disagrees)
    {
        let samples = plural(report.samples, "sample", "samples");
        let _ = writeln!(text, "\nThe intervals are those of {samples} at 99.9 % confidence.");
    }
    if let Some(rare) = figures.iter().find(|tried| tried.verdict == TrialVerdict::TooRare) {
        let samples = plural(report.samples, "sample", "samples");
        let remark = match rare.hits {
            0 => format!(
                "None of {samples} showed it, which says only that it is rarer than {}. Sampling would need \
                    about \
                 ten divided by the probability.",
                share(rare.high)
            ),
            hits => format!("{} of {samples} showed it: too few to say more.", grouped(hits)),
        };
        text.push_str(&wrap("\nToo rare: ", &remark, WIDTH).replace("\n           ", "\n          "));
    }
    text
}

fn table(report: &QuorumReport, all: bool) -> String {
    let mut text = format!(
        "\n  {:>8} {:>12} {:>8} {:>15} {:>15} {:>15}\n",
        "quorum", "may be down", "shared", "asks everybody", "worst quorum", "random quorum"
    );
    // Some are left out evenly, but neither the first, nor the last, nor the one asked for.
    let step = if all { 1 } else { report.table.len().div_ceil(MAX_ROWS) };
    let last = report.table.len().saturating_sub(1);
    let mut left_out = 0;
    for (index, row) in report.table.iter().enumerate() {
        let chosen = row.quorum == report.quorum;
        if index % step != 0 && index != last && !chosen {
            left_out += 1;
            continue;
        }
        let line = line(row);
        let _ = if chosen { writeln!(text, "▸ {}", line.bold()) } else { writeln!(text, "  {line}") };
    }
    if left_out > 0 {
        let _ = writeln!(
            text,
            "  {} are left out; --all shows them.",
            plural(left_out, "majority", "majorities")
        );
    }
    text
}

fn line(row: &QuorumRow) -> String {
    format!(
        "{:>8} {:>12} {:>8} {:>15} {:>15} {:>15}",
        grouped(row.quorum),
        grouped(row.may_be_down),
        grouped(row.shared),
        row.by_asking_all.exact,
        row.by_asking_worst.exact,
        row.by_asking_random.exact,
    )
}

fn verdict(report: &QuorumReport, target: &Target) -> String {
    let max = target.max.exact;
    let smallest = |quorum: Option<u64>| quorum.map_or("none".to_owned(), grouped);
    let mut text = wrap(
        "",
        &format!(
            "The smallest quorum for {max} at most: {} if participants ask everybody, {} if they ask one \
                quorum, \
             {} if that is drawn at random.",
            smallest(target.by_asking_all),
            smallest(target.by_asking_worst),
            smallest(target.by_asking_random),
        ),
        WIDTH,
    );
    let line = match (target.met, target.by_asking_all) {
        (true, _) => format!("{} a quorum of {} will do", "ok:".green().bold(), grouped(report.quorum)),
        (false, Some(enough)) => {
            let (quorum, enough) = (grouped(report.quorum), grouped(enough));
            format!("{} a quorum of {quorum} is too small; take {enough}", "failed:".red().bold())
        }
        (false, None) => format!("{} no quorum is large enough", "failed:".red().bold()),
    };
    text.push_str(&line);
    text.push('\n');
    text
}
