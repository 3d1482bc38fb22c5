//! The kept table of guarantees is what the checker says, and the page shows it.

use std::fmt::Write;
use std::path::Path;

use habemus::ProblemKind;
use habemus_check::guarantees::{
    Cell, CellStanding, EXHIBITS, GuaranteeRow, PROBLEMS, PROCESSES, QUICK, RowContract, from_lines, models,
    to_lines,
};
use habemus_check::{CheckHandle, NEED_CLOCKS};
use habemus_trace::draw;

/// Whether to write the files anew instead of comparing: 1 for the quick rows, missing for rows that are not
/// there, all for every row, or the names of algorithms, with commas between them, for theirs.
fn rewrite() -> Option<String> {
    std::env::var("HABEMUS_REWRITE").ok()
}

/// The manifest as it is now, which may be newer than what was compiled.
fn kept() -> Vec<GuaranteeRow> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guarantees.jsonl");
    from_lines(&std::fs::read_to_string(path).expect("the manifest is there"))
}

fn find<'a>(
    rows: &'a [GuaranteeRow],
    algorithm: &str,
    variant: Option<&str>,
    faults: &str,
) -> Option<&'a GuaranteeRow> {
    rows.iter()
        .find(|row| row.algorithm == algorithm && row.variant.as_deref() == variant && row.faults == faults)
}

#[test]
fn the_quick_rows_of_the_manifest_are_what_the_checker_says() {
    let kept = kept();
    let rewrite = rewrite();
    let is_quick = |row: Option<&GuaranteeRow>| row.is_some_and(|row| row.states <= QUICK);
    let mut rows = Vec::new();
    let mut quick = 0;
    for model in models() {
        let old = kept.iter().find(|row| model.is_of(row));
        let renew = match rewrite.as_deref() {
            None => is_quick(old),
            Some("1") => is_quick(old),
            Some("missing") => old.is_none(),
            Some("all") => true,
            Some(names) => names.split(',').any(|name| name == model.entry.name),
        };
        if !renew {
            rows.extend(old.cloned());
            continue;
        }
        let new = model.check(&CheckHandle::default()).map(|(row, _)| row);
        if rewrite.is_none() {
            let advice = "the manifest is out of date: HABEMUS_REWRITE=all renews it";
            assert_eq!(new.as_ref(), old, "{advice}");
            quick += 1;
        }
        rows.extend(new);
    }
    if rewrite.is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guarantees.jsonl");
        std::fs::write(path, to_lines(&rows)).expect("the manifest can be written");
    } else {
        assert!(quick > 50, "only {quick} rows are quick");
        assert_eq!(rows, kept, "the manifest has a row for every model and no other");
    }
}

/// "As recorded" is no excuse: what the checker refutes inside an algorithm's model, the algorithm does not
/// promise.
#[test]
fn no_promise_is_refuted_inside_its_model() {
    let broken: Vec<String> = kept().iter().flat_map(GuaranteeRow::broken_promises).collect();
    assert!(broken.is_empty(), "mend the algorithm, or narrow the promise: {broken:#?}");
}

/// How many rows have an open cell, of those with a promise that is not decided and of the others.
fn open_rows(rows: &[GuaranteeRow]) -> (Vec<String>, Vec<String>) {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(contract) = row.contract() else { continue };
        let standings = || row.properties.iter().map(|(name, cell)| contract.standing(name, *cell));
        let name = format!("{}, {}", row.algorithm, row.faults);
        if standings().any(|standing| standing == CellStanding::Open) {
            inside.push(name);
        } else if standings().any(|standing| standing == CellStanding::OpenUnpromised) {
            outside.push(name);
        }
    }
    (inside, outside)
}

#[test]
fn no_promise_is_left_open_and_at_most_a_tenth_of_the_rows_is_for_other_reasons() {
    let kept = kept();
    let (inside, outside) = open_rows(&kept);
    assert!(inside.is_empty(), "promised and not decided: {inside:#?}");
    assert!(
        10 * outside.len() <= kept.len(),
        "{} of {} rows are open: {outside:#?}",
        outside.len(),
        kept.len()
    );
}

#[test]
fn every_promise_is_put_to_the_test_under_every_fault_of_its_model_that_the_checker_knows() {
    let kept = kept();
    for model in models().into_iter().filter(|model| model.variant.is_none()) {
        let Some(contract) = model.contract() else { continue };
        let Some(row) = kept.iter().find(|row| model.is_of(row)) else { continue };
        for promise in model.entry.promises {
            let has_it = |row: &GuaranteeRow| row.properties.contains_key(promise.property);
            // What has no end with any number of entries is put to the test with two.
            let is_elsewhere = NEED_CLOCKS.contains(&promise.property)
                && find(&kept, model.entry.name, None, "none").is_some_and(has_it);
            assert!(
                has_it(row) || is_elsewhere || !contract.claim(promise.property).is_promised(),
                "{}, {}: nobody looked at {}",
                model.entry.name,
                model.faults(),
                promise.property
            );
        }
    }
}

#[test]
fn a_promise_that_is_false_is_found_out() {
    let rows = kept();
    let row = find(&rows, "bully", None, "a partition").expect("there is such a row");
    let contract = row.contract().expect("it is a row of the catalogue");
    let standing = |name: &str| contract.standing(name, row.properties[name]);
    // E1 is promised, but not while a partition lasts; agreement is, and holds; uniqueness never is.
    assert!(matches!(standing("E1"), CellStanding::RefutedOutside(why) if why.starts_with("partitions")));
    assert_eq!(standing("agreement"), CellStanding::Kept);
    assert_eq!(standing("uniqueness"), CellStanding::Refuted);
    assert_eq!(row.broken_promises(), Vec::<String>::new());
    assert_eq!(contract.standing("agreement", Cell::Refuted(7)), CellStanding::Broken);
    let mut false_row = row.clone();
    false_row.properties.insert("agreement".to_owned(), Cell::Refuted(7));
    let told = ["bully promises agreement, and breaks it in 7 steps; faults: a partition"];
    assert_eq!(false_row.broken_promises(), told);
}

#[test]
fn the_page_shows_the_manifest() {
    let page = page(&kept());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md");
    if rewrite().is_some() {
        std::fs::write(path, page).expect("the page can be written");
    } else {
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == page, "docs/guarantees.md is out of date: HABEMUS_REWRITE=1 renews it");
    }
}

#[test]
fn every_exhibit_that_fails_is_found_without_a_script() {
    let kept = kept();
    for &(exhibit, algorithm, variant, faults, property) in EXHIBITS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../exhibits/{exhibit}.toml"));
        let scenario = habemus_scenario::read(path).expect("the exhibit is there").scenario;
        assert_eq!(scenario.algorithm, algorithm, "{exhibit}");
        assert!(scenario.expect.violates.contains(&property.to_owned()), "{exhibit} {property}");
        let row = find(&kept, algorithm, variant, faults).unwrap_or_else(|| panic!("no row for {exhibit}"));
        let cell = row.properties.get(property);
        assert!(cell.is_some_and(|cell| cell.steps().is_some()), "{exhibit}: {property} is {cell:?}");
    }
    // The split brain of the bully is drawn in no exhibit.
    for faults in ["a partition", "two wrong timeouts"] {
        let bully = find(&kept, "bully", None, faults).expect("there is such a row");
        assert!(bully.properties.get("uniqueness").is_some_and(|cell| cell.steps().is_some()), "{faults}");
    }
    // Those that the notes are about are all there.
    let all: Vec<&str> = EXHIBITS.iter().map(|(exhibit, ..)| *exhibit).collect();
    for exhibit in [
        "s4-anonymous-ring-two",
        "s4-timeout-hurts",
        "s4-quorum-amnesia",
        "s4-quorum-deadlock",
        "s1-maekawa-deadlock",
        "s1-generals-three",
    ] {
        assert!(all.contains(&exhibit), "{exhibit}");
    }
}

/// Further runs that the notes would draw if they had seen them: the checker finds each by itself.
const PICTURES: &[(&str, Option<&str>, &str, &str)] = &[
    ("bully", None, "two wrong timeouts", "uniqueness"),
    ("bully", None, "a partition", "uniqueness"),
    ("ricart-agrawala", None, "a lost message", "EM2"),
    ("token-ring", None, "reordered messages", "EM2"),
    ("interactive-consistency", None, "n = 3, m = 1, 3 betrays", "agreement"),
];

fn page(rows: &[GuaranteeRow]) -> String {
    let mut page = format!(
        "# What each algorithm guarantees\n\n\
         Every algorithm of the catalogue under every kind of fault, with {PROCESSES} processes if the row \
         does not\n\
         say otherwise, by the model checker. At a glance:\n\n\
         | | promised here | not promised here |\n|---|---|---|\n\
         | proved: it holds in every run | **✓** | ✓ |\n\
         | open: not broken in the states that were reached, but these are not all | **?** | ? |\n\
         | refuted, in so many steps; ≤ if a shorter run may do | **‼ ✗ 7**, which fails the tests | ✗ 7 |\n\
         | refuted by faults outside the model under which it is promised | | *✗ 7* |\n\
         | does not apply: nothing ever happens of which it demands anything, terms for example | – | – |\n\n\
         What is [promised](properties.md) under which faults is in the catalogue (`habemus list bully`) and \
         on each algorithm's page. An open row\n\
         says how many states were looked at, and how many steps deep. `habemus guarantees` rechecks the \
         whole\n\
         table; the tests recheck its quick rows. Elections are started by every choice of processes in the \
         rows\n\
         without faults and with reordered messages, and by everybody in the others, or by one, whichever, \
         where it\n\
         says so (✓ one): there were too many states. Each client of a lock enters twice, or once where it \
         says so (✓ once); where there are still too many states, there are two processes instead of three \
         (✓ n = 2). EM3 and bounded-waiting are\n\
         checked apart, as `--property EM3` does: they need to know which request happened before\n\
         which, and that makes more states than the table counts; with any number of entries that has no \
         end, and the cell is empty.\n\
         Where all is asynchronous, timers run out at any time. Majority and quorum set timers that send for \
         ever, so there messages\n\
         come before timers, but for two that run out too early in a row of its own.\n\n\
         A crash may come before anything else, and stays for ever unless a recovery is named. A partition \
         heals\n\
         in the end. A row that is missing cannot be: in an algorithm that works in pulses nothing is late \
         or lost,\n\
         and only the oracle detector suspects. What an agreement must withstand are crashes, also in the \
         midst of a\n\
         pulse, and traitors: these tell each general `attack`, `retreat` or nothing, and every\n\
         combination is tried. The errata of the notes are on [a page of their own](errata.md).\n"
    );
    for problem in PROBLEMS {
        let of_problem = |row: &&GuaranteeRow| {
            habemus::catalogue::entry(&row.algorithm).is_ok_and(|entry| entry.problem == problem)
        };
        let rows: Vec<&GuaranteeRow> = rows.iter().filter(of_problem).collect();
        let mut names: Vec<&String> = rows.iter().flat_map(|row| row.properties.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let title = match problem {
            ProblemKind::Election => "Elections",
            ProblemKind::Agreement => "Agreement",
            _ => "Mutual exclusion",
        };
        let heads: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let _ = writeln!(page, "\n## {title}\n\n| algorithm | faults | states | {} |", heads.join(" | "));
        let _ = writeln!(page, "|---|---|---:|{}", "---|".repeat(names.len()));
        for row in rows {
            let variant = row.variant.as_deref().map(|variant| format!(" ({variant})")).unwrap_or_default();
            let more = match (row.complete, row.depth) {
                (true, _) => String::new(),
                (false, None) => "+".to_owned(),
                (false, Some(depth)) => format!("+, {depth} deep"),
            };
            let contract = row.contract();
            let link = format!("[{0}](algorithms/{0}.md){variant}", row.algorithm);
            let _ = write!(page, "| {link} | {} | {}{more} |", row.faults, row.states);
            for name in &names {
                let cell = row.properties.get(*name).copied();
                let cell = cell.map(|cell| show(contract.as_ref(), name, cell)).unwrap_or_default();
                let _ = write!(page, " {cell} |");
            }
            page.push('\n');
        }
    }
    page.push_str(
        "\n## Exhibits that fail\n\nEvery example run of the notes in which something goes wrong, found \
            without a script. Each run is \
         a shortest one,\n`--trace` keeps it, `habemus run --replay` repeats it, and `--scenario` makes a \
         scenario of it. The notes' seven \
         coordinators of\nwhich one forgets are shown with three here; the checker finds two inside with all \
         seven, too: `habemus check\n\
         exhibits/s4-quorum-amnesia.toml --property EM1` takes 20 steps, 76,657,876 states, 7.3 GB and some \
         minutes.\n",
    );
    for &(exhibit, algorithm, variant, faults, property) in EXHIBITS {
        let link = format!("Exhibit: [{exhibit}](../exhibits/{exhibit}.toml). ");
        picture(&mut page, rows, (algorithm, variant, faults, property), &link);
    }
    page.push_str("\n## More counterexamples\n");
    for &model in PICTURES {
        picture(&mut page, rows, model, "");
    }
    page
}

/// A cell as the page has it.
fn show(contract: Option<&RowContract>, name: &str, cell: Cell) -> String {
    let found = cell.show();
    match contract.map(|contract| contract.standing(name, cell)) {
        Some(CellStanding::Kept | CellStanding::Open) => format!("**{found}**"),
        Some(CellStanding::Broken) => format!("**‼ {found}**"),
        Some(CellStanding::RefutedOutside(_)) => format!("*{found}*"),
        _ => found,
    }
}

/// Shows a counterexample of a row: the command that finds it, and the run.
fn picture(
    page: &mut String,
    rows: &[GuaranteeRow],
    (algorithm, variant, faults, property): (&str, Option<&str>, &str, &str),
    link: &str,
) {
    let row = find(rows, algorithm, variant, faults).expect("the manifest has the row");
    let model = models().into_iter().find(|model| model.is_of(row)).expect("a row has its model");
    let report = model.check_property(property, &CheckHandle::default()).expect("a row can be checked");
    let line = report.property(property).expect("the row has the property");
    let steps = line.steps.unwrap_or_else(|| panic!("{algorithm} {faults}: {property} is not refuted"));
    let trace = line.counterexample.as_ref().expect("what is refuted has a counterexample");
    let text = draw::text(trace, &draw::Options { width: 100, ..draw::Options::default() });
    let name = match (variant, faults) {
        (Some(variant), _) => format!(" ({variant})"),
        (None, "none") => String::new(),
        (None, faults) => format!(" ({faults})"),
    };
    let _ = write!(
        page,
        "\n### {algorithm}{name}: {property} is broken after {steps} steps\n\n{link}`{} --property \
            {property}`\n\n```\n{}\n```\n",
        model.command(),
        text.trim_end()
    );
}
