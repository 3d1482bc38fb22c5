//! What every text keeps to: how long its files are, how it begins, and white space.

use crate::tree::{assert_none, files};

/// Files longer than this no longer fit in one head.
const MAX_LINES: usize = 600;

#[test]
fn no_source_has_outgrown_one_head() {
    let mut wrong = Vec::new();
    // Tests are lists, and may be long.
    for file in files("", ".rs").iter().filter(|file| !file.is_test()) {
        let lines = file.text.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{} has {lines} lines; where is the seam?", file.path));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_source_opens_by_saying_what_it_is() {
    let silent = files("", ".rs").into_iter().filter(|file| !file.text.starts_with("//! "));
    assert_none(&silent.map(|file| format!("{} does not open with `//!`", file.path)).collect::<Vec<_>>());
}

#[test]
fn no_text_has_tabs_or_spaces_at_the_end_of_a_line() {
    let mut wrong = Vec::new();
    for ending in [".rs", ".md", ".toml", ".sh"] {
        for file in files("", ending) {
            let bad = file.lines().filter(|(_, line)| line.contains('\t') || line.ends_with([' ', '\r']));
            wrong.extend(bad.map(|(number, _)| format!("{}:{number}: white space", file.path)));
            if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
                wrong.push(format!("{} does not end with one line feed", file.path));
            }
        }
    }
    assert_none(&wrong);
}
