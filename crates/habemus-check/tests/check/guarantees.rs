//! The kept table of guarantees is what the checker says, and the page shows it.

use std::fmt::Write;
use std::path::Path;

use habemus_check::Control;
use habemus_check::guarantees::{
    Cell, PROBLEMS, PROCESSES, QUICK, Row, check_model, manifest, models, to_lines,
};
use habemus_trace::draw;

/// Whether to write the files anew instead of comparing: 1 for the quick rows, all for every row.
fn rewrite() -> Option<String> {
    std::env::var("HABEMUS_REWRITE").ok()
}

fn find<'a>(rows: &'a [Row], algorithm: &str, variant: Option<&str>, faults: &str) -> Option<&'a Row> {
    rows.iter()
        .find(|row| row.algorithm == algorithm && row.variant.as_deref() == variant && row.faults == faults)
}

#[test]
fn the_quick_rows_of_the_manifest_are_what_the_checker_says() {
    let kept = manifest();
    let all = rewrite().is_some_and(|how| how == "all");
    let mut rows = Vec::new();
    let mut quick = 0;
    for model in models() {
        let (entry, variant, fault) = model;
        let old = find(&kept, entry.name, variant, habemus_check::guarantees::FAULTS[fault].0);
        if !all && old.is_none_or(|old| old.states > QUICK) {
            rows.extend(old.cloned());
            continue;
        }
        let new = check_model(model, &Control::default()).map(|(row, _)| row);
        if !all {
            assert_eq!(new.as_ref(), old, "the manifest is out of date: HABEMUS_REWRITE=all renews it");
            quick += 1;
        }
        rows.extend(new);
    }
    if all {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guarantees.jsonl");
        std::fs::write(path, to_lines(&rows)).expect("the manifest can be written");
    } else {
        assert!(quick > 50, "only {quick} rows are quick");
        assert_eq!(rows, kept, "the manifest has a row for every model and no other");
    }
}

#[test]
fn the_page_shows_the_manifest() {
    let page = page(&manifest());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md");
    if rewrite().is_some() {
        std::fs::write(path, page).expect("the page can be written");
    } else {
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == page, "docs/guarantees.md is out of date: HABEMUS_REWRITE=1 renews it");
    }
}

/// Runs that the notes draw, or would if they had seen them; the checker finds each by itself.
const PICTURES: &[(&str, Option<&str>, &str, &str)] = &[
    ("anonymous-ring", None, "none", "uniqueness"),
    ("capture-async", Some("as-printed"), "none", "uniqueness"),
    ("bully", Some("as-printed"), "none", "E2"),
    ("bully", None, "wrong timeouts", "uniqueness"),
    ("bully", None, "a partition", "uniqueness"),
    ("quorum", None, "a crash and amnesia", "EM1"),
    ("ricart-agrawala", None, "a lost message", "EM2"),
];

fn page(rows: &[Row]) -> String {
    let mut page = format!(
        "# What each algorithm guarantees\n\n\
         Every algorithm of the catalogue under every kind of fault, with {PROCESSES} processes, by the model\n\
         checker. ✓ is a proof: it holds in every run. ✗ is refuted, with the number of steps of a shortest run\n\
         that breaks it. ? was not broken in the states that were reached, but these are not all. **Bold** is what\n\
         the algorithm promises under the model that it was made for. `habemus guarantees` rechecks the whole\n\
         table; the tests recheck its quick rows. Elections are started by every choice of processes in the rows\n\
         without faults and with reordered messages, and by everybody in the others; each client of a lock\n\
         enters once. EM3 is left out here: it needs `habemus check --clocks`.\n\n\
         A crash may come before anything else, and stays for ever unless a recovery is named. A partition heals\n\
         in the end. A row that is missing cannot be: an algorithm in pulses has no faults, and only the oracle\n\
         detector suspects.\n"
    );
    for problem in PROBLEMS {
        let of_problem = |row: &&Row| {
            habemus::catalogue::entry(&row.algorithm).is_ok_and(|entry| entry.problem == problem)
        };
        let rows: Vec<&Row> = rows.iter().filter(of_problem).collect();
        let mut names: Vec<&String> = rows.iter().flat_map(|row| row.properties.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let title = if problem == "election" { "Elections" } else { "Mutual exclusion" };
        let heads: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let _ = writeln!(page, "\n## {title}\n\n| algorithm | faults | states | {} |", heads.join(" | "));
        let _ = writeln!(page, "|---|---|---:|{}", "---|".repeat(names.len()));
        for row in rows {
            let variant = row.variant.as_deref().map(|variant| format!(" ({variant})")).unwrap_or_default();
            let more = if row.complete { "" } else { "+" };
            let link = format!("[{0}](algorithms/{0}.md){variant}", row.algorithm);
            let _ = write!(page, "| {link} | {} | {}{more} |", row.faults, row.states);
            for name in &names {
                let cell = row.properties.get(*name).map(|cell| cell.show()).unwrap_or_default();
                let cell = if row.promises(name) && !cell.is_empty() { format!("**{cell}**") } else { cell };
                let _ = write!(page, " {cell} |");
            }
            page.push('\n');
        }
    }
    page.push_str("\n## Counterexamples\n\nFound without a script, each a shortest one.\n");
    for &(algorithm, variant, faults, property) in PICTURES {
        let Some(row) = find(rows, algorithm, variant, faults) else { continue };
        let Some(Cell::Refuted(steps)) = row.properties.get(property).copied() else { continue };
        let model = models().into_iter().find(|(entry, other, fault)| {
            let name = habemus_check::guarantees::FAULTS[*fault].0;
            entry.name == algorithm && *other == variant && name == faults
        });
        let report = model.and_then(|model| check_model(model, &Control::default()));
        let Some((_, report)) = report else { continue };
        let Some(trace) = report.property(property).and_then(|line| line.counterexample.clone()) else {
            continue;
        };
        let picture = draw::text(&trace, &draw::Options { width: 100, ..draw::Options::default() });
        let variant = variant.map(|variant| format!(" ({variant})")).unwrap_or_default();
        let command = format!("{} --property {property}", row.command());
        let _ = write!(
            page,
            "\n### {algorithm}{variant}: {property} is broken after {steps} steps\n\n`{command}`\n\n```\n{}\n```\n",
            picture.trim_end()
        );
    }
    page
}
