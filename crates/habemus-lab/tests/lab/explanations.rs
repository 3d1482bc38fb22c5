//! Why processes wait, what caused what, what the diagram shows.

use std::collections::BTreeMap;

use habemus_lab::{Branch, Cone};
use habemus_scenario::parse;
use serde_json::{Value, json};

use crate::support::{Bench, names, rows, text};

fn why(bench: &mut Bench, process: u64, language: &str) -> Vec<String> {
    bench.done(&json!({ "wish": "speak", "language": language }));
    let frame = bench.done(&json!({ "wish": "select", "process": process }));
    let reasons = frame["process"]["why"].as_array().expect("a list").clone();
    reasons.iter().map(|reason| reason["text"].as_str().expect("a text").to_owned()).collect()
}

const RICART_AGRAWALA: &str = "algorithm = \"ricart-agrawala\"\nprocesses = 3\nscript = [\"0ms acquire 1\", \
                               \"20ms acquire 2\", \"20ms acquire 3\"]\n[network]\nlatency \
                               = \"1ms\"\n[workload]\n\
                               entries = 0\nhold = \"10s\"\n";

#[test]
fn whoever_waits_for_a_paused_holder_is_told_who_it_is_and_the_holder_whom_it_defers() {
    let mut bench = Bench::with_text(RICART_AGRAWALA);
    let mut frame = bench.step(0);
    while frame["processes"][0]["status"] != json!("inside") {
        frame = bench.step(1);
    }
    bench.act("pause 1");
    for _ in 0..10 {
        bench.step(1);
    }
    let reasons = why(&mut bench, 2, "en");
    assert!(
        reasons.iter().any(|reason| reason == "1 is in the critical section, and paused."),
        "{reasons:?}"
    );
    assert!(
        reasons.iter().any(|reason| reason.starts_with("1 is paused and has not read Request")),
        "{reasons:?}"
    );
    let holder = why(&mut bench, 1, "en");
    assert!(holder.iter().any(|reason| reason == "Deferred until 1 leaves: 2, 3."), "{holder:?}");
    let reasons = why(&mut bench, 2, "pt");
    assert!(reasons.iter().any(|reason| reason == "1 está na seção crítica, e pausado."), "{reasons:?}");
}

#[test]
fn whoever_waits_behind_a_cut_link_is_told_which() {
    let mut bench = Bench::with_text(RICART_AGRAWALA);
    bench.act("cut 1-2");
    for _ in 0..6 {
        bench.step(1);
    }
    let reasons = why(&mut bench, 1, "en");
    assert!(reasons.iter().any(|reason| reason.contains("the link 1→2 is cut")), "{reasons:?}");
    assert!(why(&mut bench, 1, "pt").iter().any(|reason| reason.contains("o enlace 1→2 está cortado")));
}

#[test]
fn whoever_is_down_or_deferred_is_told_so() {
    let mut bench = Bench::with_text(RICART_AGRAWALA);
    let mut frame = bench.step(0);
    while frame["processes"][0]["status"] != json!("inside") {
        frame = bench.step(1);
    }
    for _ in 0..6 {
        bench.step(1);
    }
    let reasons = why(&mut bench, 2, "en");
    assert!(reasons.iter().any(|reason| reason.contains("defers its answer")), "{reasons:?}");
    bench.act("crash 2");
    assert_eq!(why(&mut bench, 2, "en"), ["2 is down: it does nothing until it recovers."]);
}

#[test]
fn what_was_passed_on_is_followed_to_where_it_is() {
    let mut bench = Bench::with("s1-chang-roberts");
    bench.step(9);
    assert_eq!(
        why(&mut bench, 24, "en"),
        ["1 has passed Election(24) on: Election(28) is on its way from 17 to 24."]
    );
    assert_eq!(
        why(&mut bench, 24, "pt"),
        ["1 passou Election(24) adiante: Election(28) está a caminho de 17 para 24."]
    );
    let mut bench = Bench::with("s1-chang-roberts");
    bench.step(4);
    bench.act("cut 15->9");
    bench.end();
    let reasons = why(&mut bench, 24, "en");
    assert!(
        reasons[0].ends_with("Election(28) from 15 to 9 never arrived: the link 15→9 is cut."),
        "{reasons:?}"
    );
}

/// How the clock of an event's process stood at its first and at its last record; what happens at several
/// processes at once has no clock of its own.
fn clocks(branch: &Branch, event: u64) -> Option<[BTreeMap<u64, u32>; 2]> {
    let records = branch.history().records_of(event);
    let own: Vec<_> = records.iter().filter(|record| !record.clock.is_empty()).collect();
    let is_one = own.iter().all(|record| record.process == own[0].process);
    (is_one && !own.is_empty()).then(|| [own[0], own[own.len() - 1]].map(|record| record.clock.clone()))
}

/// By the book: one event is before another if the other's clock has counted at least as much at every
/// process.
#[test]
fn the_cones_of_every_event_of_every_exhibit_are_those_of_the_vector_clocks() {
    for name in names() {
        let scenario = parse("exhibit", &text(&name)).expect("it is right").scenario;
        let mut branch = Branch::begin(&scenario).expect("it makes sense");
        branch.explore(120);
        let known = branch.known();
        let clocks: Vec<_> = (0..=known).map(|event| clocks(&branch, event)).collect();
        let timed: Vec<u64> = (1..=known).filter(|event| clocks[*event as usize].is_some()).collect();
        // With its first record an event has begun, and after its last it has heard what it will.
        let before = |one: u64, other: u64| {
            let (Some([begin, _]), Some([_, end])) = (&clocks[one as usize], &clocks[other as usize]) else {
                return false;
            };
            one != other && begin.iter().all(|(id, ticks)| end.get(id).is_some_and(|known| known >= ticks))
        };
        for &event in &timed {
            let cone = Cone::of(branch.history(), event, 0, known + 1);
            let shown = |events: &[u64]| {
                events.iter().copied().filter(|event| timed.contains(event)).collect::<Vec<_>>()
            };
            let past: Vec<u64> = timed.iter().copied().filter(|other| before(*other, event)).collect();
            let future: Vec<u64> = timed.iter().copied().filter(|other| before(event, *other)).collect();
            assert_eq!((shown(&cone.past), shown(&cone.future)), (past, future), "{name}: {event}");
        }
    }
}

#[test]
fn the_diagram_has_a_row_for_each_event_and_an_arrow_for_each_message() {
    let mut bench = Bench::with("s1-chang-roberts");
    let end = bench.end();
    let window = bench.ask(&rows(0.0, 1000.0, &json!({ "background": true })))["rows"].clone();
    assert_eq!(window["total"].as_u64(), end["known"].as_u64().map(|events| events + 1));
    assert_eq!(window["arrows"].as_array().map(Vec::len), Some(19));
    let arrived = |arrow: &Value| {
        arrow["end"] == json!("arrived") && arrow["from"][0].as_f64() < arrow["to"][0].as_f64()
    };
    assert!(window["arrows"].as_array().expect("a list").iter().all(arrived));
    let words: Vec<&str> =
        window["rows"].as_array().expect("a list").iter().filter_map(|row| row["words"].as_str()).collect();
    assert_eq!(words[..3], ["everybody starts", "17: elect", "24 receives Election(17) from 17"]);
    // A piece has what passes through it.
    let piece = bench.ask(&rows(4.5, 5.5, &json!({ "background": true })))["rows"].clone();
    assert_eq!(piece["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!((&piece["rows"][0], &piece["first"]), (&window["rows"][4], &json!(4)));
}

#[test]
fn every_event_of_every_exhibit_is_told_in_both_languages() {
    let mut bench = Bench::new();
    for name in names() {
        for language in ["en", "pt"] {
            bench.done(&json!({ "wish": "open", "link": format!("e={name}&lang={language}") }));
            bench.step(300);
            let window = bench.ask(&rows(0.0, 400.0, &json!({ "background": true })))["rows"].clone();
            let told = |row: &Value| row["words"].as_str().is_some_and(|words| !words.is_empty());
            assert!(window["rows"].as_array().expect("a list").iter().all(told), "{name}");
        }
    }
}

#[test]
fn the_trace_of_a_branch_is_a_trace() {
    let mut bench = Bench::with("s0-bully-four-notices");
    bench.end();
    let trace = bench.file("trace");
    let read = habemus_trace::Trace::read(trace.as_bytes()).expect("it can be read");
    assert!(read.records.len() > 10);
}

#[test]
fn a_broken_property_leads_to_the_event_that_broke_it() {
    let mut bench = Bench::with("s4-anonymous-ring-two");
    let frame = bench.end();
    let broken: Vec<&Value> = frame["properties"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|property| property["verdict"] == json!("violated"))
        .collect();
    assert!(!broken.is_empty());
    let event = broken.iter().find_map(|property| property["event"].as_u64()).expect("an event broke it");
    let there = bench.done(&json!({ "wish": "seek", "to": event }));
    assert!(there["said"].as_str().is_some_and(|said| said.contains('✗')), "{}", there["said"]);
}
