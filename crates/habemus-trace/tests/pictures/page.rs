//! The page that documents the format, `docs/trace.md`, must be true.

use std::collections::BTreeSet;

use habemus::{Id, Status};
use habemus_trace::draw::{self, Options};
use habemus_trace::{Dropped, Happening, Header, Record, Trace};
use serde_json::Value;

/// Every example is read, and written again with the same fields: a field that no program knows would be
/// lost.
#[test]
fn every_example_is_what_the_programs_read_and_write() {
    let page = page();
    let examples: Vec<&str> = blocks(&page, "json").into_iter().flat_map(str::lines).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let value: Value = serde_json::from_str(example).unwrap_or_else(|why| panic!("{why}: {example}"));
        let written = match value.get("format") {
            Some(_) => serde_json::from_str::<Header>(example).map(|header| serde_json::to_string(&header)),
            None => serde_json::from_str::<Record>(example).map(|record| serde_json::to_string(&record)),
        };
        let written = written.unwrap_or_else(|why| panic!("{why}: {example}"));
        assert_eq!(written.expect("what was read can be written"), example);
    }
}

#[test]
fn every_event_has_an_example() {
    let page = page();
    let examples = blocks(&page, "json").into_iter().flat_map(str::lines);
    let shown: BTreeSet<&str> = examples
        .filter_map(|example| serde_json::from_str::<Record>(example).ok())
        .map(|record| name(&record.what))
        .collect();
    assert_eq!(shown.into_iter().collect::<Vec<_>>(), NAMES);
}

#[test]
fn every_status_and_every_reason_has_an_example() {
    let page = page();
    let statuses = [
        Status::Idle,
        Status::Waiting,
        Status::Inside,
        Status::Leading,
        Status::Following(Some(Id(24))),
        Status::Following(None),
        Status::Decided,
    ];
    for status in statuses {
        let json = serde_json::to_string(&status).expect("a status can be written");
        assert!(page.contains(&format!("\"status\":{json}")), "{json}");
    }
    for why in [Dropped::Loss, Dropped::Cut, Dropped::Down] {
        let json = serde_json::to_string(&why).expect("a reason can be written");
        assert!(page.contains(&format!("\"why\":{json}")), "{json}");
    }
}

#[test]
fn the_whole_trace_is_drawn_as_the_page_shows_it() {
    let page = page();
    let (traces, pictures) = (blocks(&page, "jsonl"), blocks(&page, "text"));
    assert_eq!((traces.len(), pictures.len()), (1, 1));
    let trace = Trace::read(traces[0].as_bytes()).expect("the page shows a trace");
    let mut written = Vec::new();
    trace.write(&mut written).expect("memory takes everything");
    assert_eq!(String::from_utf8(written).expect("JSON is UTF-8"), traces[0]);
    let drawn = draw::text(&trace, &Options::default());
    assert!(drawn == pictures[0], "the page should show:\n{drawn}");
}

/// The names of all events, in alphabetical order.
const NAMES: [&str; 16] = [
    "command",
    "crash",
    "cut",
    "deliver",
    "drop",
    "heal",
    "output",
    "pause",
    "restore",
    "resume",
    "send",
    "start",
    "state",
    "suspect",
    "timer",
    "violation",
];

/// The name of an event in the file. A new kind of event does not compile until it has a name here.
fn name(what: &Happening) -> &'static str {
    match what {
        Happening::Start { .. } => "start",
        Happening::Crash => "crash",
        Happening::Pause => "pause",
        Happening::Resume => "resume",
        Happening::Send { .. } => "send",
        Happening::Deliver { .. } => "deliver",
        Happening::Drop { .. } => "drop",
        Happening::Timer { .. } => "timer",
        Happening::Command { .. } => "command",
        Happening::Output { .. } => "output",
        Happening::Suspect { .. } => "suspect",
        Happening::Restore { .. } => "restore",
        Happening::State { .. } => "state",
        Happening::Cut { .. } => "cut",
        Happening::Heal { .. } => "heal",
        Happening::Violation { .. } => "violation",
    }
}

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.md");
    std::fs::read_to_string(path).unwrap_or_else(|why| panic!("cannot read {path}: {why}"))
}

/// The contents of the code blocks in a language.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split_once("```").map_or(rest, |(block, _)| block)).collect()
}
