//! What the core must never do, looked for in its text: an algorithm that reads a clock or hashes in random
//! order could be neither replayed nor checked.

use crate::tree::{File, assert_none, files};

/// Words that have no place below the drivers, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("Instant", "algorithms know time only through timers"),
    ("SystemTime", "algorithms know time only through timers"),
    ("std::thread", "drivers decide what runs where"),
    ("thread_local!", "drivers decide what runs where"),
    ("std::sync::Mutex", "drivers decide what runs where"),
    ("async ", "drivers decide what runs when"),
    ("std::net", "drivers send"),
    ("std::fs", "drivers store"),
    ("std::io", "drivers read and write"),
    ("std::env", "constants come in through the system"),
    ("std::process", "drivers decide what runs where"),
    ("println!", "outputs go to the application"),
    ("HashMap", "its order is random; use an ordered collection"),
    ("HashSet", "its order is random; use an ordered collection"),
    ("RandomState", "choices are the driver's"),
    ("RefCell", "state is plain data"),
    ("static mut", "state is plain data"),
    ("rand::", "choices are the driver's"),
    ("thread_rng", "choices are the driver's"),
    ("todo!", "no stub is delivered"),
    ("unimplemented!", "no stub is delivered"),
];

#[test]
fn the_core_has_no_clock_no_thread_no_chance_and_no_input_or_output() {
    let sources = files("crates/habemus/src", ".rs");
    assert!(sources.len() > 20);
    let mut wrong = Vec::new();
    for file in &sources {
        // To notice who looks at an opaque number something must be kept beside the number; no algorithm gets
        // at it.
        let is_notice = |word: &str| word == "thread_local!" && file.path.ends_with("habemus/src/opaque.rs");
        for (number, line) in file.lines().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let found = FORBIDDEN.iter().filter(|(word, _)| line.contains(word) && !is_notice(word));
            wrong.extend(found.map(|(word, why)| format!("{}:{number}: {word}: {why}", file.path)));
        }
    }
    assert_none(&wrong);
}

/// What would let an algorithm read or make a time or a term: drivers need it, and may take states for one
/// only because no algorithm does it.
const OPAQUE: [&str; 5] = ["time_of(", "symmetry::shift(", "Term::of(", "LamportClock::at(", "has_peeked("];

#[test]
fn times_and_terms_are_opaque_to_algorithms() {
    let folders = ["agreement", "detector", "election", "mutex"];
    let sources = folders.map(|folder| files(&format!("crates/habemus/src/{folder}"), ".rs"));
    let mut wrong = Vec::new();
    // A lock that shares an election is told of its terms by a driver, in numbers; no checker renames them.
    let is_told = |file: &&File| {
        ["mutex/elected/borrowing.rs", "mutex/elected/mod.rs"].iter().any(|path| file.path.ends_with(path))
    };
    let sources = sources.iter().flatten().filter(|file| !file.is_test() && !is_told(file));
    for file in sources {
        let tests = file.text.find("#[cfg(test)]\nmod tests {").unwrap_or(file.text.len());
        let before = file.text[..tests].lines().count();
        for (number, line) in file.lines().take(before) {
            let found = OPAQUE.iter().filter(|word| line.contains(**word));
            wrong.extend(found.map(|word| format!("{}:{number}: {word}", file.path)));
        }
    }
    assert_none(&wrong);
}

#[test]
fn the_core_depends_on_nothing_but_optional_serde() {
    let manifest = &files("crates/habemus", "Cargo.toml")[0].text;
    let dependencies = manifest.split("[dependencies]").nth(1).expect("there is a list of dependencies");
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let lines: Vec<&str> = dependencies.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines, ["serde = { workspace = true, optional = true }"]);
}
