//! What came of it, for people: one page for all that were attacked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use habemus_dst::KeyResult;

use crate::Flags;
use crate::attack::Attack;
use crate::holder::{Holder, Trial};
use crate::record::Parts;
use crate::verdict::Verdict;

/// A gap between two writes that is longer than this counts as not being available.
const GAP: u64 = 100_000;

/// One siege, when it is over.
pub(crate) struct Siege {
    /// The program.
    pub(crate) name: &'static str,
    pub(crate) version: String,
    /// How many members, and where.
    pub(crate) place: String,
    pub(crate) parts: Parts,
    pub(crate) verdict: Verdict,
    /// Why it could not go on to its end, if not for what was attacked.
    pub(crate) failed: Option<String>,
    /// Holders that stood still.
    pub(crate) trials: Vec<Trial>,
}

pub(crate) fn quantile(sorted: &[u64], of_hundred: usize) -> u64 {
    sorted.get((sorted.len().saturating_sub(1)) * of_hundred / 100).copied().unwrap_or_default()
}

fn ms(micros: u64) -> String {
    format!("{:.0} ms", micros as f64 / 1000.0)
}

impl Siege {
    /// When the last write came through, in microseconds.
    pub(crate) fn end(&self) -> u64 {
        self.parts.probes.last().map_or(0, |(at, _)| *at)
    }

    /// For each kind of attack, the longest time without a write that began before its aftermath was over: a
    /// second and a half later, or when the next one came; sorted.
    pub(crate) fn outages(&self) -> BTreeMap<&'static str, Vec<u64>> {
        let Parts { probes, faults, .. } = &self.parts;
        let mut all: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for (number, fault) in faults.iter().enumerate() {
            let next = faults.get(number + 1).map_or(u64::MAX, |next| next.from);
            let over = next.min(fault.until + 1_500_000);
            let first = probes.partition_point(|(at, _)| *at < fault.from).saturating_sub(1);
            let gaps = probes[first..].windows(2).take_while(|pair| pair[0].0 < over);
            let longest = gaps.map(|pair| pair[1].0 - pair[0].0).max();
            all.entry(fault.kind).or_default().push(longest.unwrap_or_default());
        }
        all.values_mut().for_each(|longest| longest.sort_unstable());
        all
    }

    /// For how much of the time nothing could be written, in percent.
    fn away(&self) -> f64 {
        let gaps = self.parts.probes.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let away: u64 = gaps.filter(|gap| *gap > GAP).sum();
        away as f64 / self.end().max(1) as f64 * 100.0
    }

    fn latencies(&self) -> Vec<u64> {
        let mut took: Vec<u64> = self.parts.probes.iter().map(|(_, took)| *took).collect();
        took.sort_unstable();
        took
    }
}

/// The report as Markdown; `picture` is where its pictures are, if there are any.
pub(crate) fn markdown(sieges: &[Siege], flags: &Flags, picture: Option<&Path>) -> String {
    let mut text = String::new();
    write_all(&mut text, sieges, flags, picture).expect("memory takes text");
    text
}

fn row(text: &mut String, title: &str, cells: impl Iterator<Item = String>) -> std::fmt::Result {
    writeln!(text, "| {title} | {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn write_all(text: &mut String, sieges: &[Siege], flags: &Flags, picture: Option<&Path>) -> std::fmt::Result {
    let names: Vec<&str> = sieges.iter().map(|it| it.name).collect();
    writeln!(text, "# {} under siege\n", names.join(" and "))?;
    for siege in sieges {
        let (seconds, attacks) = (siege.end() as f64 / 1e6, siege.parts.faults.len());
        write!(text, "- {}: {}, {seconds:.0} s, {attacks} attacks", siege.version, siege.place)?;
        writeln!(text, "{}", siege.failed.as_ref().map_or(String::new(), |why| format!("; then {why}")))?;
    }
    writeln!(text, "\nSeed {}. Attacks come one after the other, each followed by a rest.", flags.seed)?;

    writeln!(text, "\n## Promises\n")?;
    row(text, "promise", sieges.iter().map(|it| it.name.to_owned()))?;
    row(text, "---", sieges.iter().map(|_| "---".to_owned()))?;
    for (number, (promise, _)) in sieges.first().map_or(&[][..], |it| &it.verdict.promises).iter().enumerate()
    {
        let kept = |siege: &Siege| match siege.verdict.promises.get(number) {
            Some((_, Err(why))) => format!("**broken**: {}", why.replace('|', "\\|")),
            _ => "kept".to_owned(),
        };
        row(text, promise, sieges.iter().map(kept))?;
    }
    let unknown = |siege: &Siege| {
        let all = siege.parts.calls.iter();
        all.filter(|call| call.result == KeyResult::Unknown).count().to_string()
    };
    writeln!(text, "\n## What was judged, and how it went\n")?;
    row(text, "", sieges.iter().map(|it| it.name.to_owned()))?;
    row(text, "---", sieges.iter().map(|_| "---".to_owned()))?;
    row(text, "calls about keys", sieges.iter().map(|it| it.parts.calls.len().to_string()))?;
    row(text, "of them never answered for sure", sieges.iter().map(unknown))?;
    row(text, "times inside a lock", sieges.iter().map(|it| it.parts.inside.len().to_string()))?;
    row(text, "of them lost, and known to be", sieges.iter().map(|it| it.parts.locks_lost.to_string()))?;
    row(text, "revisions", sieges.iter().map(|it| it.verdict.revisions.to_string()))?;
    row(text, "events told to a watch", sieges.iter().map(|it| it.parts.watched.to_string()))?;
    row(text, "writes of one who only writes", sieges.iter().map(|it| it.parts.probes.len().to_string()))?;
    row(text, "half of them within", sieges.iter().map(|it| ms(quantile(&it.latencies(), 50))))?;
    row(text, "99 of 100 within", sieges.iter().map(|it| ms(quantile(&it.latencies(), 99))))?;
    let away = format!("of the time, no write for {} or longer", ms(GAP));
    row(text, &away, sieges.iter().map(|it| format!("{:.1} %", it.away())))?;

    writeln!(text, "\n## Without a write\n")?;
    writeln!(
        text,
        "The longest time without a write from the beginning of an attack until a second and a half after \
            its end, or the next \
         one:\nhow often it came, median and worst.\n"
    )?;
    row(text, "what was done", sieges.iter().map(|it| it.name.to_owned()))?;
    row(text, "---", sieges.iter().map(|_| "---".to_owned()))?;
    let outages: Vec<_> = sieges.iter().map(Siege::outages).collect();
    for kind in Attack::kinds() {
        if !outages.iter().any(|all| all.contains_key(kind)) {
            continue;
        }
        let cell = |all: &BTreeMap<&str, Vec<u64>>| match all.get(kind) {
            Some(all) => {
                let worst = all.last().copied().unwrap_or_default();
                let half = ms(quantile(all, 50));
                // Of a few, the ninety-ninth is the worst.
                let many = if all.len() < 100 {
                    String::new()
                } else {
                    format!("99 of 100 within {}, ", ms(quantile(all, 99)))
                };
                format!("{}×: {half}, {many}{}", all.len(), ms(worst))
            }
            None => "–".to_owned(),
        };
        row(text, kind, outages.iter().map(cell))?;
    }
    let name = |kind: &str| picture.map(|path| format!("{}-{kind}.svg", path.display()));
    if let Some(name) = name("outages") {
        writeln!(text, "\n![each attack: how long nothing could be written]({name})")?;
    }
    for siege in sieges {
        if let Some(name) = name(siege.name) {
            writeln!(
                text,
                "\n![{}: writes, how long they took, and what was done when]({name})",
                siege.name
            )?;
        }
    }
    write_trials(text, sieges, name("paused").as_deref())
}

fn write_trials(text: &mut String, sieges: &[Siege], picture: Option<&str>) -> std::fmt::Result {
    if sieges.iter().all(|it| it.trials.is_empty()) {
        return Ok(());
    }
    writeln!(
        text,
        "\n## A holder that stands still\n\nA process takes the lock with a session of two seconds, and is \
            stopped just before \
         it writes to what the lock guards. The\nsession ends, a second one is let in and writes. Then the \
         first one goes on. \
         Its late write:\n"
    )?;
    row(text, "the first holder uses", sieges.iter().map(|it| it.name.to_owned()))?;
    row(text, "---", sieges.iter().map(|_| "---".to_owned()))?;
    for holder in Holder::ALL {
        let cell = |siege: &Siege| match siege.trials.iter().find(|it| it.holder == holder) {
            Some(it) if it.overwritten => {
                "**accepted**: two holders, and the second's write is lost".to_owned()
            }
            Some(it) => it.said.clone(),
            None => "–".to_owned(),
        };
        row(text, holder.describe(), sieges.iter().map(cell))?;
    }
    writeln!(
        text,
        "\nThe service cannot see that a holder stands still; whoever looks neither at its clock nor lets \
            its token be compared \
         is\nnot safe on either."
    )?;
    if let Some(name) = picture {
        writeln!(text, "\n![the first holder stands still, the second comes in, the first writes]({name})")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Fault;

    #[test]
    fn the_longest_time_without_a_write_is_found_also_where_it_ends_late() {
        let fault = |from| Fault { what: String::new(), kind: "kill -9", from, until: from + 1_000_000 };
        let probes = vec![(900_000, 1), (1_010_000, 1), (3_000_000, 1), (10_000_000, 1), (10_100_000, 1)];
        let parts = Parts { probes, faults: vec![fault(1_000_000), fault(9_000_000)], ..Parts::default() };
        let verdict = Verdict { promises: Vec::new(), revisions: 0 };
        let (version, place) = (String::new(), String::new());
        let (failed, trials) = (None, Vec::new());
        let siege = Siege { name: "habemusd", version, place, parts, verdict, failed, trials };
        // In the aftermath of the first nothing was written for seven seconds; the second found that so.
        assert_eq!(siege.outages()["kill -9"], [7_000_000, 7_000_000]);
    }
}
