//! Stepping, forking, sharing.

use habemus_scenario::parse;
use habemus_sim::run;
use serde_json::{Value, json};

use crate::support::{Bench, names, text};

fn without_branches(frame: &Value) -> Value {
    let mut frame = frame.clone();
    for changing in ["branches", "known", "marks", "over"] {
        frame[changing] = Value::Null;
    }
    frame
}

#[test]
fn every_exhibit_ends_as_the_command_has_it() {
    let mut bench = Bench::new();
    for name in names() {
        bench.done(&json!({ "wish": "open", "link": format!("e={name}") }));
        let frame = bench.end();
        let scenario = parse(&name, &text(&name)).expect("it is right").scenario;
        let report = run(&scenario, false).expect("it makes sense");
        assert_eq!(frame["fingerprint"], json!(report.fingerprint), "{name}");
        assert_eq!(frame["meter"]["messages"], json!(report.statistics.messages), "{name}");
        let verdicts: Vec<&Value> =
            frame["properties"].as_array().expect("a list").iter().map(|p| &p["verdict"]).collect();
        let expected: Vec<Value> = report.properties.iter().map(|line| json!(line.verdict)).collect();
        assert_eq!(verdicts, expected.iter().collect::<Vec<_>>(), "{name}");
        assert!(frame["over"].is_string(), "{name}");
    }
}

#[test]
fn twenty_steps_on_and_back_and_on_again_show_the_same() {
    let mut bench = Bench::with("s1-chang-roberts");
    let beginning = bench.step(0);
    let forward: Vec<Value> = (0..20).map(|_| without_branches(&bench.step(1))).collect();
    let back: Vec<Value> = (0..20).map(|_| without_branches(&bench.step(-1))).collect();
    assert_eq!(without_branches(&beginning), back[19]);
    assert!(forward.iter().rev().skip(1).eq(back.iter().take(19)));
    let again: Vec<Value> = (0..20).map(|_| without_branches(&bench.step(1))).collect();
    assert_eq!(forward, again);
}

#[test]
fn the_ring_of_the_notes_elects_28_after_19_messages_of_23_at_most() {
    let frame = Bench::with("s1-chang-roberts").end();
    assert_eq!((&frame["meter"]["messages"], &frame["meter"]["bound"]), (&json!(19), &json!(23.0)));
    assert_eq!(frame["meter"]["theory"], json!("at most 3n−1"));
    let leading: Vec<&Value> = frame["processes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|process| process["status"] == json!("leading"))
        .map(|process| &process["id"])
        .collect();
    assert_eq!(leading, [&json!(28)]);
}

#[test]
fn what_is_done_before_the_end_forks_and_its_link_and_its_file_lead_there() {
    let mut bench = Bench::with("s1-chang-roberts");
    let whole = bench.end();
    bench.done(&json!({ "wish": "seek", "to": 7 }));
    bench.done(&json!({ "wish": "select", "process": 24 }));
    let forked = bench.act("crash 28");
    assert_eq!(forked["branches"].as_array().map(Vec::len), Some(2));
    assert_eq!(forked["branches"][1]["label"], json!("crash 28"));
    assert_eq!(forked["cursor"], json!(8));
    let (link, file) = (bench.link(), bench.file("scenario"));
    assert!(link.starts_with("s=") && link.ends_with("&at=8&p=24&lang=en"), "{link}");
    let end = bench.end();
    assert_ne!(end["fingerprint"], whole["fingerprint"]);
    let mut elsewhere = Bench::new();
    let there = elsewhere.done(&json!({ "wish": "open", "link": format!("#{link}") }));
    assert_eq!((&there["cursor"], &there["fingerprint"]), (&json!(8), &forked["fingerprint"]));
    assert_eq!(there["process"]["id"], json!(24));
    assert_eq!(elsewhere.end()["fingerprint"], end["fingerprint"]);
    let played = run(&parse("file", &file).expect("it is right").scenario, false).expect("it makes sense");
    assert_eq!(json!(played.fingerprint), end["fingerprint"]);
    // The other branch is as it was.
    bench.done(&json!({ "wish": "visit", "branch": 0 }));
    assert_eq!(bench.end()["fingerprint"], whole["fingerprint"]);
}

#[test]
fn an_exhibit_that_nobody_touched_is_shared_by_its_name() {
    let mut bench = Bench::with("s4-lease");
    bench.step(3);
    assert_eq!(bench.link(), "e=s4-lease&at=3&lang=en");
    bench.act("crash 1");
    assert!(bench.link().starts_with("s="));
}

#[test]
fn acting_twice_at_the_end_goes_on_in_the_same_branch() {
    let mut bench = Bench::with("s0-bully-best-case");
    let end = bench.end();
    bench.act("pause 2");
    let frame = bench.act("resume 2");
    assert_eq!(frame["branches"].as_array().map(Vec::len), Some(1));
    assert_eq!(frame["cursor"].as_u64(), end["cursor"].as_u64().map(|events| events + 2));
    let one_back = bench.step(-1);
    assert!(
        one_back["processes"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|process| process["paused"] == json!(true))
    );
}

const TWO: &str = "algorithm = \"lamport\"\nprocesses = 2\nscript = [\"0ms acquire 1\", \"1ms acquire \
    2\"]\n[network]\n\
                   latency = \"9ms\"\n";

#[test]
fn the_second_message_of_a_link_is_refused_with_the_reason_unless_any_order_will_do() {
    let mut fifo = Bench::with_text(&format!("{TWO}order = \"fifo\"\n"));
    let before = fifo.step(3);
    let refused = fifo.ask(&json!({ "wish": "act", "text": "deliver 2nd 2->1" }));
    assert_eq!(
        refused["error"],
        json!("the link keeps its messages in order, and another was sent before this one")
    );
    assert_eq!(fifo.step(0)["fingerprint"], before["fingerprint"]);
    let second =
        before["messages"].as_array().expect("a list").iter().find(|message| !message["refusal"].is_null());
    assert!(second.is_some_and(|message| message["from"] == json!(2)));
    let mut any = Bench::with_text(&format!("{TWO}order = \"any\"\n"));
    any.step(3);
    assert_eq!(any.act("deliver 2nd 2->1")["cursor"], json!(4));
}

#[test]
fn a_stroke_across_the_picture_parts_the_network() {
    let mut bench = Bench::new();
    bench.done(&json!({ "wish": "open", "algorithm": { "name": "bully", "processes": 4 } }));
    // 1 stands at the top, 2 on the right, 3 at the bottom, 4 on the left.
    let parted = bench.done(&json!({ "wish": "stroke", "from": [300.0, 0.0], "to": [1000.0, 700.0] }));
    let cut = |link: &&Value| link["cut"] == json!(true);
    let cut: Vec<Value> = parted["links"].as_array().expect("a list").iter().filter(cut).cloned().collect();
    let between: Vec<(u64, u64)> =
        cut.iter().filter_map(|link| Some((link["from"].as_u64()?, link["to"].as_u64()?))).collect();
    assert_eq!(between, [(1, 3), (1, 4), (2, 3), (2, 4)]);
    assert!(
        bench.ask(&json!({ "wish": "stroke", "from": [0.0, 0.0], "to": [9.0, 0.0] }))["error"].is_string()
    );
}

#[test]
fn an_algorithm_begins_with_nothing_but_its_name() {
    let mut bench = Bench::new();
    let known = bench.ask(&json!({ "wish": "exhibits", "exhibits": [] }));
    for algorithm in known["algorithms"].as_array().expect("a list") {
        let start =
            json!({ "wish": "open", "algorithm": { "name": algorithm[0], "processes": 4, "seed": 3 } });
        let answer = bench.ask(&start);
        assert!(answer["error"].is_null(), "{algorithm}: {}", answer["error"]);
        assert!(bench.step(5)["cursor"].as_u64() > Some(0), "{algorithm}");
    }
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let mut bench = Bench::new();
    for wish in [
        json!({ "wish": "step", "by": 1 }),
        json!({ "wish": "dance" }),
        json!({ "wish": "open", "link": "x" }),
    ] {
        assert!(bench.ask(&wish)["error"].is_string(), "{wish}");
    }
    let mut bench = Bench::with("s4-lease");
    for text in ["crash 99", "fly 1", "deliver 1->2", "fire 1 Nothing"] {
        assert!(bench.ask(&json!({ "wish": "act", "text": text }))["error"].is_string(), "{text}");
    }
    assert_eq!(bench.step(0)["cursor"], json!(0));
}

#[test]
fn a_long_run_is_followed_to_its_limit_and_any_moment_of_it_is_found_again() {
    let mut bench = Bench::new();
    bench.done(&json!({ "wish": "open", "algorithm": { "name": "all-to-all", "processes": 80, "seed": 1 } }));
    let end = bench.end();
    let middle = end["cursor"].as_u64().expect("a number") / 2;
    assert!(middle > 2_500, "{middle}");
    let there = bench.done(&json!({ "wish": "seek", "to": middle }));
    bench.done(&json!({ "wish": "seek", "to": 1 }));
    let again = bench.done(&json!({ "wish": "seek", "to": middle }));
    assert_eq!(there["fingerprint"], again["fingerprint"]);
}

#[test]
fn a_run_among_many_is_left_before_it_fills_the_memory() {
    let mut bench = Bench::new();
    bench
        .done(&json!({ "wish": "open", "algorithm": { "name": "all-to-all", "processes": 200, "seed": 1 } }));
    let end = bench.end();
    assert_eq!(end["cursor"], json!(20_000));
    assert_eq!(end["over"], json!("so many events are followed and no more"));
}
