//! The report of one run.

use std::fmt::Write;

use habemus::ProblemKind;
use habemus_report::{Conclusion, Finding, PropertyLine, Report};
use habemus_scenario::Scenario;
use owo_colors::OwoColorize;

use super::{grouped, ids, plural, span, wrap};

const WIDTH: usize = 80;

pub(crate) fn report(scenario: &Scenario, report: &Report) -> String {
    let mut text = String::new();
    let processes = plural(report.processes as u64, "process", "processes");
    let seed = if report.is_repeatable() { format!(" · seed {}", report.seed) } else { String::new() };
    let _ = writeln!(text, "{} · {processes}{seed}", report.algorithm.cyan().bold());
    if let Some(title) = &scenario.title {
        text.push_str(&wrap("", title, WIDTH));
    }
    text.push('\n');
    text.push_str(&wrap("", &result(report), WIDTH));
    let end = format!("Ended after {}: {}.", span(report.statistics.time), report.stop);
    text.push_str(&wrap("", &end, WIDTH));
    text.push('\n');
    for (label, value) in figures(report) {
        text.push_str(&wrap(&format!("{label:<16}"), &value, WIDTH));
    }
    text.push('\n');
    if !report.locks.is_empty() {
        text.push_str(&locks(report));
        text.push('\n');
    }
    for line in &report.properties {
        text.push_str(&property(line));
    }
    text.push('\n');
    for line in &report.unmet {
        text.push_str(&wrap("note: ", &format!("this never came: {line}"), WIDTH));
    }
    for remark in &report.remarks {
        text.push_str(&wrap("note: ", remark, WIDTH));
    }
    text.push_str(&verdict(report));
    text
}

/// What it came to, in a sentence.
fn result(report: &Report) -> String {
    let down = if report.down.is_empty() { String::new() } else { format!(" ({} down)", ids(&report.down)) };
    match report.problem {
        ProblemKind::Election => match (report.leader, report.leaders.as_slice()) {
            (Some(leader), _) => format!("{leader} leads, and every live process knows it{down}."),
            (None, []) => format!("Nobody leads{down}."),
            (None, [one]) => format!("{one} leads, but not every live process knows it{down}."),
            (None, several) => format!("{} all consider themselves leader{down}.", ids(several)),
        },
        ProblemKind::Agreement => format!("{}{down}.", decisions(report)),
        ProblemKind::MutualExclusion | ProblemKind::FailureDetection => {
            format!("{}{down}.", entries(report))
        }
    }
}

/// How often somebody entered, and in which order.
fn entries(report: &Report) -> String {
    let entries = report.statistics.entries;
    let order = match (entries, report.locks.len()) {
        (0, _) => String::new(),
        (_, locks @ 1..) => format!(" into {}", plural(locks as u64, "lock", "locks")),
        // Only the first are kept, and the first of those are enough to see.
        _ if entries > report.entered.len() as u64 => {
            let first: Vec<String> = report.entered.iter().take(12).map(u64::to_string).collect();
            format!(", in this order: {}, …", first.join(", "))
        }
        _ => format!(", in this order: {}", ids(&report.entered)),
    };
    format!("{}{order}", plural(entries, "entry", "entries"))
}

/// Who decided what: "1, 2 and 4 decided attack; 3 decided retreat".
fn decisions(report: &Report) -> String {
    let mut by_decision: Vec<(&str, Vec<u64>)> = Vec::new();
    for (id, decision) in &report.decided {
        match by_decision.iter_mut().find(|(known, _)| known == decision) {
            Some((_, who)) => who.push(*id),
            None => by_decision.push((decision, vec![*id])),
        }
    }
    if by_decision.is_empty() {
        return "Nobody has decided".to_owned();
    }
    let each = by_decision.iter().map(|(decision, who)| format!("{} decided {decision}", ids(who)));
    each.collect::<Vec<_>>().join("; ")
}

fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let statistics = &report.statistics;
    let by_kind: Vec<String> =
        statistics.by_kind.iter().map(|(kind, count)| format!("{} {kind}", grouped(*count))).collect();
    let mut figures = vec![("messages", grouped(statistics.messages))];
    if by_kind.len() > 1 {
        figures[0].1 = format!("{}: {}", grouped(statistics.messages), by_kind.join(", "));
    }
    if statistics.dropped > 0 {
        figures.push(("lost", plural(statistics.dropped, "message", "messages")));
    }
    // A recorded trace does not know them.
    if statistics.bytes > 0 {
        let bytes = format!("{}, the largest message {}", grouped(statistics.bytes), statistics.largest);
        figures.push(("bytes", bytes));
    }
    figures.push(("longest chain", plural(u64::from(statistics.longest_chain), "message", "messages")));
    figures.push(("events", grouped(statistics.events)));
    if report.problem == ProblemKind::Election {
        figures.push(("leader changes", grouped(statistics.leader_changes)));
    }
    if statistics.entries > 1
        && let Some(throughput) = statistics.throughput()
    {
        figures.push(("throughput", format!("{throughput:.2} entries per message delay")));
        let (min, max) = (grouped(statistics.min_entries), grouped(statistics.max_entries));
        let ratio = statistics.unfairness().map(|ratio| format!(": {ratio:.2} times")).unwrap_or_default();
        figures.push(("fairness", format!("most entries {max}, fewest {min}{ratio}")));
    }
    if let Some(mean) = statistics.waiting.mean() {
        let (min, max) = (span(statistics.waiting.min), span(statistics.waiting.max));
        figures.push(("waiting", format!("{min} to {max}, {} on average", span(mean as u64))));
    }
    if statistics.refused_writes > 0 {
        figures.push(("refused", plural(statistics.refused_writes, "late write", "late writes")));
    }
    if statistics.crashes > 0 {
        let recoveries = plural(statistics.recoveries, "recovery", "recoveries");
        figures.push(("crashes", format!("{}, {recoveries}", grouped(statistics.crashes))));
    }
    figures.push(("fingerprint", report.fingerprint.clone()));
    figures
}

/// What each of the locks that have names had to do.
fn locks(report: &Report) -> String {
    let mut text = format!("{:<24} {:>11} {:>13} {:>15}\n", "lock", "entries", "messages", "waiting");
    for (name, own) in &report.locks {
        let figures = &own.statistics;
        let waiting = figures.waiting.mean().map_or_else(|| "–".to_owned(), |mean| span(mean as u64));
        let name = if name.is_empty() { "(without a name)" } else { name };
        let (entries, messages) = (grouped(figures.entries), grouped(figures.messages));
        let _ = writeln!(text, "{name:<24} {entries:>11} {messages:>13} {waiting:>15}");
    }
    text
}

fn property(line: &PropertyLine) -> String {
    let sign = match line.verdict {
        Finding::Holds => "✓".green().to_string(),
        Finding::Violated if line.promised => "✗".red().bold().to_string(),
        Finding::Violated => "✗".dimmed().to_string(),
        Finding::DoesNotApply => "–".dimmed().to_string(),
        _ => "?".yellow().to_string(),
    };
    let note = match &line.outside {
        _ if line.promised || matches!(line.verdict, Finding::Holds | Finding::DoesNotApply) => String::new(),
        Some(why) => format!(" (outside its model: {why})"),
        None => " (not promised)".to_owned(),
    };
    let said = match &line.explanation {
        None => line.verdict.to_string(),
        Some(why) => format!("{}{note}: {why}", line.verdict),
    };
    // The sign is one column wide, whatever colours surround it.
    wrap(&format!("@ {:<20} ", line.name), &said, WIDTH).replacen('@', &sign, 1)
}

fn verdict(report: &Report) -> String {
    let mut text = String::new();
    for failure in &report.failures {
        text.push_str(&wrap("@ ", failure, WIDTH).replacen('@', &"✗".red().bold().to_string(), 1));
    }
    for open in &report.open {
        text.push_str(&wrap("@ ", open, WIDTH).replacen('@', &"?".yellow().to_string(), 1));
    }
    let _ = match report.conclusion() {
        Conclusion::AsExpected => {
            let what = if report.expected_something { "as expected" } else { "every promise was kept" };
            writeln!(text, "{} {what}", "ok:".green().bold())
        }
        Conclusion::NotAsExpected => writeln!(text, "{} not as expected", "failed:".red().bold()),
        Conclusion::Open => writeln!(text, "{} the run was cut off too early", "open:".yellow().bold()),
    };
    text
}
