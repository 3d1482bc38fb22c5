//! What came of it, for people: text, and a picture of when what was done and how many writes got through.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use habemus_dst::KeyResult;

use crate::cluster::Cluster;
use crate::record::{Parts, Record};
use crate::verdict::Verdict;
use crate::{Flags, Kind};

/// A gap between two writes that is longer than this counts as not being available.
const GAP: u64 = 100_000;

fn quantile(sorted: &[u64], of_hundred: usize) -> u64 {
    sorted.get((sorted.len().saturating_sub(1)) * of_hundred / 100).copied().unwrap_or_default()
}

fn ms(micros: u64) -> String {
    format!("{:.0} ms", micros as f64 / 1000.0)
}

/// For each fault, how long nothing could be written from its beginning until three seconds after its end.
fn outages(parts: &Parts) -> BTreeMap<&'static str, Vec<u64>> {
    let mut all: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
    for fault in &parts.faults {
        let (from, until) = (fault.from, fault.until + 3_000_000);
        let first = parts.probes.partition_point(|(at, _)| *at < from);
        let mut last = parts.probes[..first].last().map_or(from, |(at, _)| *at);
        let mut longest = 0;
        for (at, _) in parts.probes[first..].iter().take_while(|(at, _)| *at <= until) {
            longest = longest.max(at - last);
            last = *at;
        }
        all.entry(fault.kind)
            .or_default()
            .push(longest.max(until.min(last_probe(parts)).saturating_sub(last)));
    }
    all
}

fn last_probe(parts: &Parts) -> u64 {
    parts.probes.last().map_or(0, |(at, _)| *at)
}

/// The report as Markdown.
pub(crate) fn markdown(cluster: &Cluster, flags: &Flags, record: &Record, verdict: &Verdict) -> String {
    let parts = record.parts();
    let mut text = String::new();
    let name = if cluster.program.kind == Kind::Etcd { "etcd" } else { "habemusd" };
    let place = if flags.namespaces { "in network namespaces" } else { "on loopback addresses" };
    let seconds = last_probe(&parts) as f64 / 1e6;
    let unknown = parts.calls.iter().filter(|call| call.result == KeyResult::Unknown).count();
    let mut lines = || -> std::fmt::Result {
        writeln!(text, "# {name} under siege\n")?;
        writeln!(
            text,
            "{} members {place}, {seconds:.0} s, {} attacks, seed {}.\n",
            cluster.members.len(),
            parts.faults.len(),
            flags.seed
        )?;
        writeln!(text, "| promise | verdict |\n|---|---|")?;
        for (promise, kept) in &verdict.promises {
            let kept = kept.as_ref().map_or_else(|why| format!("**broken**: {why}"), |()| "kept".to_owned());
            writeln!(text, "| {promise} | {} |", kept.replace('|', "\\|"))?;
        }
        writeln!(
            text,
            "\nJudged: {} calls about keys ({unknown} never answered for sure), {} times inside a lock ({} lost), {} \
             revisions, {} events told to a watch.\n",
            parts.calls.len(),
            parts.inside.len(),
            parts.locks_lost,
            verdict.revisions,
            parts.watched
        )?;
        let mut took: Vec<u64> = parts.probes.iter().map(|(_, took)| *took).collect();
        took.sort_unstable();
        let gaps = parts.probes.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|gap| *gap > GAP);
        let away: u64 = gaps.sum();
        writeln!(
            text,
            "A client that does nothing but write, through whichever member answers, wrote {} times: half within {}, 99 of \
             100 within {}. For {:.1} % of the time it could not write for {} or longer.\n",
            took.len(),
            ms(quantile(&took, 50)),
            ms(quantile(&took, 99)),
            away as f64 / last_probe(&parts).max(1) as f64 * 100.0,
            ms(GAP)
        )?;
        writeln!(
            text,
            "| what was done | times | longest time without a write: median | 90 of 100 | worst |"
        )?;
        writeln!(text, "|---|---|---|---|---|")?;
        for (kind, mut longest) in outages(&parts) {
            longest.sort_unstable();
            let (half, p90) = (ms(quantile(&longest, 50)), ms(quantile(&longest, 90)));
            let worst = ms(longest.last().copied().unwrap_or_default());
            writeln!(text, "| {kind} | {} | {half} | {p90} | {worst} |", longest.len())?;
        }
        Ok(())
    };
    lines().expect("memory takes text");
    text
}

/// The report with its picture.
pub(crate) fn with_picture(text: &str, path: &Path) -> String {
    let name = path.with_extension("svg");
    let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{text}\n![writes per tenth of a second, and what was done when]({name})\n")
}

/// Writes per tenth of a second, above what was done when.
pub(crate) fn svg(record: &Record) -> String {
    let parts = record.parts();
    let end = last_probe(&parts).max(1);
    let (width, height) = (1000.0, 160.0);
    let x = |at: u64| 20.0 + at as f64 / end as f64 * (width - 40.0);
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, _) in &parts.probes {
        *buckets.entry(at / 100_000).or_default() += 1;
    }
    let max = buckets.values().copied().max().unwrap_or(1) as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        height + 60.0
    );
    for fault in &parts.faults {
        let (from, wide) = (x(fault.from), (x(fault.until) - x(fault.from)).max(1.0));
        text += &format!(
            "<rect x=\"{from:.1}\" y=\"20\" width=\"{wide:.1}\" height=\"{height}\" fill=\"#d55e00\" opacity=\"0.25\">\
             <title>{}</title></rect>\n",
            fault.what
        );
    }
    let mut points = String::new();
    for bucket in 0..=end / 100_000 {
        let count = buckets.get(&bucket).copied().unwrap_or_default() as f64;
        points += &format!("{:.1},{:.1} ", x(bucket * 100_000), 20.0 + height - count / max * height);
    }
    text += &format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1\"/>\n");
    for second in (0..=end / 1_000_000).step_by(((end / 10_000_000).max(1)) as usize) {
        let at = x(second * 1_000_000);
        text += &format!("<text x=\"{at:.1}\" y=\"{}\">{second} s</text>\n", height + 34.0);
    }
    text += &format!(
        "<text x=\"20\" y=\"{}\">blue: writes in a tenth of a second, at most {max}; orange: attacks</text>\n</svg>\n",
        height + 52.0
    );
    text
}
