//! The page of each algorithm: there, complete, and with pictures that habemus itself draws.

use std::path::{Path, PathBuf};

use habemus::catalogue::{ENTRIES, Entry};

use crate::support::{compare, habemus, root, scratch};

fn page(entry: &Entry) -> PathBuf {
    root().join("docs/algorithms").join(format!("{}.md", entry.name))
}

/// Runs what draws, whatever the run comes to.
fn draws(arguments: &[&str]) {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{arguments:?}: {errors}");
}

/// Compares a picture that the command has just drawn with the one that is kept, or keeps it.
fn compare_picture(drawn: &Path, name: &str) {
    let drawn = std::fs::read_to_string(drawn).expect("it was drawn");
    compare(&drawn, &format!("docs/algorithms/images/{name}"));
}

#[test]
fn every_algorithm_has_a_page_with_its_options_promises_and_pictures() {
    for entry in ENTRIES {
        let text =
            std::fs::read_to_string(page(entry)).unwrap_or_else(|_| panic!("{} has no page", entry.name));
        let has = |what: &str| assert!(text.contains(what), "the page of {} lacks {what:?}", entry.name);
        entry.options.iter().for_each(|option| has(&format!("`{}`", option.name)));
        entry.promises.iter().for_each(|promise| has(promise.property));
        has(&format!("habemus run {}", entry.name));
        has(&format!("(images/{}.svg)", entry.name));
        if entry.cost_model.is_some() {
            has(&format!("(images/{}-cost.svg)", entry.name));
        }
        // Comments mark what is renewed by a test; any other is a note to oneself.
        let finished: String =
            text.lines().filter(|line| !line.starts_with("<!-- ") || !line.contains("catalogue")).collect();
        for left in ["<!--", "TODO"] {
            assert!(!finished.contains(left), "the page of {} is not finished", entry.name);
        }
    }
}

#[test]
fn every_page_shows_a_run_as_habemus_draws_it() {
    let drawn = scratch("page.svg");
    for entry in ENTRIES {
        let out = drawn.to_string_lossy();
        let mut arguments = vec!["run", entry.name, "-n", "4", "--draw", "svg", "--out", &out];
        match entry.name {
            // The story of the notes: the leader dies.
            "bully" => arguments.extend(["-o", "leader=4", "--start", "none", "--crash", "4@5ms"]),
            // The same of a lock: one is inside and one waits when the coordinator dies.
            "elected-coordinator" => arguments.extend([
                "--start",
                "none",
                "--at",
                "0ms acquire 3",
                "--at",
                "60ms acquire 1",
                "--at",
                "70ms acquire 2",
                "--crash",
                "4@80ms",
                "--hold",
                "60ms",
            ]),
            _ if entry.detectors.contains(&"none") => arguments.extend(["--detector", "none"]),
            _ => {}
        }
        // Those whose background traffic never ends are shown for as long as it takes to see what they do.
        arguments.extend(["--time-limit", "700ms"]);
        draws(&arguments);
        compare_picture(&drawn, &format!("{}.svg", entry.name));
    }
}

#[test]
fn every_page_shows_the_cost_as_habemus_measures_it() {
    let drawn = scratch("page-cost.svg");
    for entry in ENTRIES.iter().filter(|entry| entry.cost_model.is_some()) {
        let out = drawn.to_string_lossy();
        let sizes = match entry.name {
            // Messages as long as there are processes, n³ of them, n² signatures to verify: enough is enough.
            "flood-set" | "interactive-consistency" | "signed-generals" => "2..32",
            _ => "2..256",
        };
        let start: &[&str] = match entry.name {
            // If all stand at once, chance decides; who stands alone pays what theory says.
            "majority" => &["--start", "one"],
            "elected-coordinator" => &["--start", "one", "--arrangement", "best"],
            _ => &[],
        };
        let common = ["cost", entry.name, "-n", sizes, "--seeds", "5", "--plot", &out];
        draws(&[&common, start].concat());
        compare_picture(&drawn, &format!("{}-cost.svg", entry.name));
    }
}

#[test]
fn the_page_of_the_errata_is_what_the_command_makes() {
    let output = habemus(&["errata", "--page"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let made = String::from_utf8(output.stdout).expect("the page is text");
    // Of each listing that breaks something there is a run, and the corrected one is proved.
    assert_eq!(made.matches(" is broken after ").count(), 2 * 7, "{made}");
    assert_eq!(made.matches("Corrected, ").count(), 7, "{made}");
    compare(&made, "docs/errata.md");
}
