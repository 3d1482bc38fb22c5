//! The examples of the documentation are right.

use habemus_scenario::{Scenario, parse, to_toml};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md");

/// The page of the documentation.
pub(crate) fn page() -> String {
    std::fs::read_to_string(PAGE).expect("the documentation is part of the repository")
}

/// The blocks of TOML in the documentation.
pub(crate) fn blocks() -> Vec<String> {
    let blocks: Vec<String> = page()
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("\n```").map(|(block, _)| format!("{block}\n")))
        .collect();
    assert!(blocks.len() > 5, "the page has examples");
    blocks
}

/// An example that is no whole scenario becomes one with an algorithm and nine processes.
fn completed(block: &str) -> String {
    let has = |key: &str| block.lines().any(|line| line.starts_with(&format!("{key} =")));
    let mut file = String::new();
    if !has("algorithm") {
        file.push_str("algorithm = \"bully\"\n");
    }
    if !has("processes") && !has("ids") {
        file.push_str("processes = 9\n");
    }
    file + block
}

fn read(block: &str) -> Scenario {
    let file = completed(block);
    match parse("scenarios.md", &file) {
        Ok(parsed) => parsed.scenario,
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{file}\n{}", errors.join("\n"));
        }
    }
}

#[test]
fn every_example_is_a_scenario() {
    let whole = blocks().iter().filter(|block| block.contains("algorithm =")).count();
    assert!(whole >= 2, "the page shows whole scenarios");
    for block in blocks() {
        let scenario = read(&block);
        let again = parse("again.toml", &to_toml(&scenario)).expect("what is written can be read");
        assert_eq!(again.scenario, scenario);
    }
}

#[test]
fn every_key_is_in_an_example() {
    let all: String = blocks().concat();
    for key in [
        "title",
        "notes",
        "algorithm",
        "processes",
        "ids",
        "topology",
        "links",
        "detector",
        "seed",
        "choices",
        "until",
        "time-limit",
        "event-limit",
        "script",
        "model",
        "pulse",
        "gst",
        "delta",
        "latency",
        "order",
        "loss",
        "duplication",
        "crashes",
        "recover-after",
        "amnesia",
        "max-down",
        "pauses",
        "pause-for",
        "cuts",
        "cut-for",
        "entries",
        "clients",
        "hold",
        "think",
        "rate",
        "leader",
        "leaders",
        "entered",
        "decided",
        "holds",
        "violates",
        "quiet",
        "leader-changes",
        "refused-writes",
        "messages",
    ] {
        let shown = all.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} =")));
        assert!(shown, "{key} is in no example");
    }
}
