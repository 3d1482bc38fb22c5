//! What the core must never do, looked for in its text: an algorithm that reads a clock or hashes in random order
//! could be neither replayed nor checked.

use std::path::{Path, PathBuf};

/// Words that have no place below the drivers, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("Instant", "algorithms know time only through timers"),
    ("SystemTime", "algorithms know time only through timers"),
    ("std::thread", "drivers decide what runs where"),
    ("async ", "drivers decide what runs when"),
    ("std::net", "drivers send"),
    ("std::fs", "drivers store"),
    ("std::env", "constants come in through the system"),
    ("println!", "outputs go to the application"),
    ("HashMap", "its order is random; use an ordered collection"),
    ("HashSet", "its order is random; use an ordered collection"),
    ("RefCell", "state is plain data"),
    ("static mut", "state is plain data"),
    ("thread_rng", "choices are the driver's"),
    ("todo!", "no stub is delivered"),
    ("unimplemented!", "no stub is delivered"),
];

/// Files longer than this no longer fit in one head.
const MOST_LINES: usize = 600;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_core_has_no_clock_no_thread_no_chance_and_no_input_or_output() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for (word, why) in FORBIDDEN {
                assert!(!line.contains(word), "{}:{}: {word}: {why}", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn no_file_of_the_workspace_has_outgrown_one_head() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    // Tests are lists, and may be long.
    files.retain(|file| file.components().any(|part| part.as_os_str() == "src"));
    for file in files {
        let lines = std::fs::read_to_string(&file).expect("it can be read").lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines; where is the seam?", file.display());
    }
}

#[test]
fn the_core_depends_on_nothing_but_optional_serde() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).expect("the manifest is there");
    let dependencies = text.split("[dependencies]").nth(1).expect("there is a list of dependencies");
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let lines: Vec<&str> = dependencies.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines, ["serde = { workspace = true, optional = true }"]);
}
