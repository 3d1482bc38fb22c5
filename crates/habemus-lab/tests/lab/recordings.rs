//! Runs that were recorded elsewhere, and pictures of them.

use serde_json::{Value, json};

use crate::support::{Bench, rows};

#[test]
fn a_trace_that_was_saved_is_opened_and_shows_the_same_in_the_end() {
    let mut bench = Bench::with("s1-chang-roberts");
    let end = bench.end();
    let trace = bench.file("trace");
    let mut other = Bench::new();
    let opened = other.done(&json!({ "wish": "open", "trace": trace }));
    assert_eq!((&opened["recorded"], &opened["cursor"]), (&json!(true), &json!(0)));
    let there = other.end();
    let status = |frame: &Value| -> Vec<(Value, Value)> {
        let processes = frame["processes"].as_array().expect("a list").iter();
        processes.map(|process| (process["id"].clone(), process["status"].clone())).collect()
    };
    assert_eq!(status(&there), status(&end));
    assert_eq!(there["meter"]["messages"], json!(19));
    let drawn = other.ask(&rows(0.0, 1e6, &json!({})))["rows"].clone();
    assert_eq!(drawn["arrows"].as_array().map(Vec::len), Some(19));
    let refused = other.ask(&json!({ "wish": "act", "text": "crash 28" }));
    assert_eq!(refused["error"], json!("this is a recording"));
    assert!(other.ask(&json!({ "wish": "open", "trace": "{}" }))["error"].is_string());
}

#[test]
fn a_run_is_exported_as_pictures() {
    let mut bench = Bench::with("s1-chang-roberts");
    bench.end();
    assert!(bench.file("svg").starts_with("<svg"));
    assert!(bench.file("mermaid").contains("sequenceDiagram"));
    assert!(bench.file("shiviz").contains("Election 17"));
    assert!(bench.ask(&json!({ "wish": "file", "format": "clay" }))["error"].is_string());
}

#[test]
fn records_of_real_nodes_are_shown_as_they_come() {
    let mut bench = Bench::with("s0-bully-best-case");
    bench.end();
    let trace = bench.file("trace");
    let lines: Vec<&str> = trace.lines().collect();
    let mut live = Bench::new();
    live.ask(&json!({ "wish": "open", "live": null }));
    let first = live.done(&json!({ "wish": "records", "lines": &lines[..8] }));
    assert_eq!((&first["live"], &first["over"]), (&json!(true), &Value::Null));
    let more = live.done(&json!({ "wish": "records", "lines": &lines[8..] }));
    assert_eq!(more["cursor"], more["known"]);
    let leading = more["processes"].as_array().expect("a list").iter();
    let leading: Vec<&Value> = leading
        .filter(|process| process["status"] == json!("leading"))
        .map(|process| &process["id"])
        .collect();
    assert_eq!(leading, [&json!(7)]);
    // Whoever looks back stays there when more comes.
    live.done(&json!({ "wish": "seek", "to": 2 }));
    let stays = live.done(&json!({ "wish": "records", "lines": [lines[lines.len() - 1]] }));
    assert_eq!(stays["cursor"], json!(2));
}
