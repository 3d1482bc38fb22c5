//! Writes scenario files.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::processes::range;
use crate::scenario::*;
use crate::script::show_action;
use crate::units::{show_duration, show_probability, show_range, show_rate};

/// Writes a scenario as a file that says the same: [`parse`](crate::parse()) gives the scenario back.
///
/// What is as usual is left out, except the seed, which makes the run what it is. Cues that concern nobody
/// are left out too, for a script has no words for them.
pub fn to_toml(scenario: &Scenario) -> String {
    let mut file = File::default();
    top(&mut file, scenario);
    options(&mut file, scenario);
    network(&mut file, &scenario.network);
    if let Some(random) = &scenario.random {
        random_faults(&mut file, random, scenario.ids.len());
    }
    if let Some(workload) = &scenario.workload {
        self::workload(&mut file, workload);
    }
    expect(&mut file, &scenario.expect);
    file.text
}

/// A file that is being written. A table's header comes with its first key.
#[derive(Default)]
struct File {
    text: String,
    header: Option<&'static str>,
}

impl File {
    fn table(&mut self, name: &'static str) {
        self.header = Some(name);
    }

    fn key(&mut self, key: &str, value: impl AsRef<str>) {
        if let Some(header) = self.header.take() {
            let _ = writeln!(self.text, "\n[{header}]");
        }
        let _ = writeln!(self.text, "{} = {}", key_text(key), value.as_ref());
    }

    fn key_if(&mut self, condition: bool, key: &str, value: impl FnOnce() -> String) {
        if condition {
            self.key(key, value());
        }
    }
}

fn top(file: &mut File, scenario: &Scenario) {
    let usual = Scenario::default();
    for (key, text) in [("title", &scenario.title), ("notes", &scenario.notes)] {
        if let Some(text) = text {
            file.key(key, quoted(text));
        }
    }
    file.key("algorithm", quoted(&scenario.algorithm));
    ids(file, &scenario.ids);
    match &scenario.topology {
        None => {}
        Some(TopologyChoice::Named(name)) => file.key("topology", quoted(name)),
        Some(TopologyChoice::Links(links)) => {
            // A link goes both ways: once is enough for each.
            let mut seen = BTreeSet::new();
            let links = links.iter().filter(|(one, other)| seen.insert((one.min(other), one.max(other))));
            file.key("links", array(links.map(|(one, other)| format!("\"{one}-{other}\""))));
        }
    }
    if let Some(detector) = &scenario.detector {
        file.key("detector", quoted(detector));
    }
    file.key_if(!scenario.resources.is_empty(), "resources", || {
        array(scenario.resources.iter().map(|name| quoted(name)))
    });
    file.key("seed", scenario.seed.to_string());
    file.key_if(!scenario.choices.is_empty(), "choices", || {
        array(scenario.choices.iter().map(u32::to_string))
    });
    file.key_if(scenario.until != usual.until, "until", || quoted(&scenario.until.to_string()));
    if let Some(limit) = scenario.time_limit {
        file.key("time-limit", quoted(&show_duration(limit)));
    }
    file.key_if(scenario.event_limit != usual.event_limit, "event-limit", || {
        scenario.event_limit.to_string()
    });
    script(file, scenario);
}

fn ids(file: &mut File, ids: &[u64]) {
    let numbered = ids.iter().copied().eq(1..=ids.len() as u64);
    match range(ids) {
        _ if numbered => file.key("processes", ids.len().to_string()),
        Some(range) => file.key("ids", quoted(&range)),
        None => file.key("ids", numbers(ids)),
    }
}

fn script(file: &mut File, scenario: &Scenario) {
    let lines: Vec<String> = scenario
        .script
        .iter()
        .filter(|cue| !concerns_nobody(&cue.action))
        .map(|cue| format!("{} {}", cue.occasion, show_action(&cue.action, &scenario.ids)))
        .map(|line| format!("    {},\n", quoted(&line)))
        .collect();
    file.key_if(!lines.is_empty(), "script", || format!("[\n{}]", lines.concat()));
}

fn concerns_nobody(action: &Action) -> bool {
    match action {
        Action::Command { processes, .. }
        | Action::Crash(processes)
        | Action::Recover { processes, .. }
        | Action::Pause(processes)
        | Action::Resume(processes)
        | Action::Slow { processes, .. }
        | Action::Drift { processes, .. } => processes.is_empty(),
        Action::Cut(links) => links.is_empty(),
        Action::Partition(groups) => groups.iter().all(Vec::is_empty),
        Action::Heal(_)
        | Action::Loss(_)
        | Action::Suspect { .. }
        | Action::Restore { .. }
        | Action::Message { .. }
        | Action::Fire { .. } => false,
    }
}

fn options(file: &mut File, scenario: &Scenario) {
    file.table("options");
    for (name, text) in &scenario.options {
        file.key(name, option_text(text));
    }
}

fn network(file: &mut File, network: &Network) {
    let usual = Network::default();
    file.table("network");
    match network.model {
        TimeModel::Asynchronous => {}
        TimeModel::Scripted => file.key("model", quoted("scripted")),
        TimeModel::Synchronous { pulse } => {
            file.key("model", quoted("synchronous"));
            file.key("pulse", quoted(&show_duration(pulse)));
        }
        TimeModel::PartiallySynchronous { gst, delta } => {
            file.key("model", quoted("partially-synchronous"));
            file.key("gst", quoted(&show_duration(gst)));
            file.key("delta", quoted(&show_duration(delta)));
        }
    }
    file.key_if(network.latency != usual.latency, "latency", || quoted(&network.latency.to_string()));
    file.key_if(!network.fifo, "order", || quoted("any"));
    file.key_if(network.loss != 0.0, "loss", || quoted(&show_probability(network.loss)));
    file.key_if(network.duplication != 0.0, "duplication", || quoted(&show_probability(network.duplication)));
    file.table("network.links");
    for ((from, to), latency) in &network.links {
        // Both directions alike are written once, where the smaller end comes first.
        let same_back = network.links.get(&(*to, *from)) == Some(latency);
        if !same_back {
            file.key(&format!("{from}->{to}"), quoted(&latency.to_string()));
        } else if from < to {
            file.key(&format!("{from}-{to}"), quoted(&latency.to_string()));
        }
    }
}

fn random_faults(file: &mut File, random: &RandomFaults, processes: usize) {
    let usual = RandomFaults::usual(processes);
    file.table("random");
    file.key_if(random.crashes != usual.crashes, "crashes", || quoted(&show_rate(random.crashes)));
    match random.recover_after {
        None => file.key("recover-after", quoted("never")),
        Some(range) if Some(range) == usual.recover_after => {}
        Some(range) => file.key("recover-after", quoted(&show_range(range))),
    }
    file.key_if(random.amnesia, "amnesia", || "true".to_owned());
    file.key_if(random.max_down != usual.max_down, "max-down", || random.max_down.to_string());
    file.key_if(random.pauses != usual.pauses, "pauses", || quoted(&show_rate(random.pauses)));
    file.key_if(random.pause_for != usual.pause_for, "pause-for", || quoted(&show_range(random.pause_for)));
    file.key_if(random.cuts != usual.cuts, "cuts", || quoted(&show_rate(random.cuts)));
    file.key_if(random.cut_for != usual.cut_for, "cut-for", || quoted(&show_range(random.cut_for)));
    file.key_if(random.partitions != usual.partitions, "partitions", || {
        quoted(&show_rate(random.partitions))
    });
    file.key_if(random.partition_for != usual.partition_for, "partition-for", || {
        quoted(&show_range(random.partition_for))
    });
    file.key_if(random.drifts != usual.drifts, "drifts", || quoted(&show_rate(random.drifts)));
    file.key_if(random.drift_by != usual.drift_by, "drift-by", || quoted(&show_probability(random.drift_by)));
    file.key_if(random.suspicions != usual.suspicions, "suspicions", || {
        quoted(&show_rate(random.suspicions))
    });
    file.key_if(random.suspect_for != usual.suspect_for, "suspect-for", || {
        quoted(&show_range(random.suspect_for))
    });
    file.key("until", quoted(&show_duration(random.until)));
}

fn workload(file: &mut File, workload: &Workload) {
    let usual = Workload::usual(false);
    file.table("workload");
    file.key("entries", workload.entries.to_string());
    file.key_if(!workload.clients.is_empty(), "clients", || process_list(&workload.clients));
    file.key_if(workload.hold != usual.hold, "hold", || quoted(&show_range(workload.hold)));
    file.key_if(workload.think != usual.think, "think", || quoted(&show_range(workload.think)));
    file.key_if(workload.rate != usual.rate, "rate", || quoted(&show_rate(workload.rate)));
}

fn expect(file: &mut File, expect: &Expectations) {
    file.table("expect");
    if let Some(leader) = expect.leader {
        file.key("leader", leader.to_string());
    }
    if let Some(leaders) = &expect.leaders {
        file.key("leaders", process_list(leaders));
    }
    if let Some(entered) = &expect.entered {
        // In text nobody may be named twice, but who enters again is.
        file.key("entered", numbers(entered));
    }
    if let Some(decided) = &expect.decided {
        file.key("decided", option_text(decided));
    }
    if let Some(within) = expect.within {
        file.key("within", quoted(&show_duration(within)));
    }
    file.key_if(!expect.holds.is_empty(), "holds", || array(expect.holds.iter().map(|name| quoted(name))));
    file.key_if(!expect.violates.is_empty(), "violates", || {
        array(expect.violates.iter().map(|name| quoted(name)))
    });
    file.key_if(!expect.outside.is_empty(), "outside", || {
        array(expect.outside.iter().map(|name| quoted(name)))
    });
    if let Some(quiet) = expect.quiet {
        file.key("quiet", quiet.to_string());
    }
    for (key, count) in [("leader-changes", expect.leader_changes), ("refused-writes", expect.refused_writes)]
    {
        if let Some(count) = count {
            file.key(key, count_text(count));
        }
    }
    match expect.messages.get("total") {
        Some(total) if expect.messages.len() == 1 => file.key("messages", count_text(*total)),
        _ => {
            file.table("expect.messages");
            for (kind, count) in &expect.messages {
                file.key(kind, count_text(*count));
            }
        }
    }
}

fn count_text(count: Count) -> String {
    if count.min == count.max { count.to_string() } else { quoted(&count.to_string()) }
}

/// A list of different processes: as a range, if it is a long one.
fn process_list(ids: &[u64]) -> String {
    match range(ids).filter(|_| ids.len() > 4) {
        Some(range) => quoted(&range),
        None => numbers(ids),
    }
}

/// An option reads as a number or a boolean where that means the same text.
fn option_text(text: &str) -> String {
    let is_integer = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let is_float =
        text.parse::<f64>().is_ok_and(|number| format!("{number:?}") == text && number.is_finite());
    // Exponents are written in more ways than one.
    let is_plain = !text.contains(['e', 'E']);
    if matches!(text, "true" | "false") || is_integer || is_float && is_plain {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn numbers(ids: &[u64]) -> String {
    array(ids.iter().map(u64::to_string))
}

/// A list in one line, or in as many as it needs.
fn array(items: impl Iterator<Item = String>) -> String {
    const WIDTH: usize = 90;
    let items: Vec<String> = items.collect();
    let one_line = format!("[{}]", items.join(", "));
    if one_line.len() <= WIDTH {
        return one_line;
    }
    let mut lines = vec![String::new()];
    for item in items {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() || line.len() + item.len() < WIDTH {
            let space = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{space}{item},");
        } else {
            lines.push(format!("{item},"));
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("[\n{}]", lines.concat())
}

fn key_text(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !key.is_empty() && key.bytes().all(is_bare) { key.to_owned() } else { quoted(key) }
}

/// A text between quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
