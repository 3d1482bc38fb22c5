//! Nothing that the lab says in Portuguese is English.

use serde_json::{Value, json};

use crate::support::{Bench, names, rows};

/// What is called as in the sources and on the wire, in every language.
const NAMES: &[&str] = &[
    "algorithm",
    "variables",
    "stable",
    "changed",
    "kinds",
    "kind",
    "label",
    "name",
    "fingerprint",
    "topology",
    "topologies",
    "status",
    "lock",
    "locks",
    "act",
];

/// Words of which no Portuguese sentence has one.
const ENGLISH: &[&str] = &[
    "the",
    "is",
    "are",
    "of",
    "and",
    "to",
    "from",
    "by",
    "with",
    "at",
    "which",
    "nobody",
    "everybody",
    "receives",
    "sends",
    "waits",
    "runs",
    "crashes",
    "leads",
    "follows",
    "starts",
    "enters",
    "leaves",
    "exactly",
    "most",
    "broken",
    "promised",
    "message",
    "down",
    "lost",
    "uniqueness",
    "termination",
    "agreement",
    "stability",
    "accuracy",
    "waiting",
    "fencing",
    "integrity",
    "validity",
    "leader",
    "link",
    "now",
    "deliver",
    "lose",
    "delay",
    "crash",
    "recover",
    "pause",
    "slow",
    "clock",
    "cut",
    "heal",
];

/// All sentences in an answer.
fn sentences(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        // What can be done: a line of the script, and words for it.
        Value::Array(pair) if pair.len() == 2 && pair.iter().all(Value::is_string) => {
            sentences(&pair[1], found);
        }
        Value::Array(list) => list.iter().for_each(|value| sentences(value, found)),
        Value::Object(fields) => {
            let is_act = |name: &str, value: &Value| name == "action" && value.is_string();
            let said =
                fields.iter().filter(|(name, value)| !NAMES.contains(&name.as_str()) && !is_act(name, value));
            said.for_each(|(_, value)| sentences(value, found));
        }
        _ => {}
    }
}

/// What a message carries is as on the wire: in braces, or in brackets right behind its kind.
fn without_what_messages_carry(sentence: &str) -> String {
    let (mut depth, mut before) = (0, ' ');
    let mut spoken = String::new();
    for sign in sentence.chars() {
        match sign {
            '{' => depth += 1,
            '(' if depth > 0 || before.is_alphanumeric() => depth += 1,
            '}' | ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => spoken.push(sign),
            _ => {}
        }
        before = sign;
    }
    spoken
}

fn assert_portuguese(answer: &Value, place: &str) {
    let mut found = Vec::new();
    sentences(answer, &mut found);
    for sentence in found {
        let spoken = without_what_messages_carry(&sentence);
        let words = spoken.split(|sign: char| sign.is_whitespace() || ",.:;·".contains(sign));
        let left: Vec<&str> = words.filter(|word| ENGLISH.contains(word)).collect();
        assert!(left.is_empty(), "{place}: {left:?} in {sentence:?}");
    }
}

#[test]
fn every_moment_of_every_exhibit_is_told_in_portuguese_alone() {
    let mut bench = Bench::new();
    for name in names() {
        bench.done(&json!({ "wish": "open", "link": format!("e={name}&lang=pt") }));
        let ids: Vec<Value> = bench.step(0)["processes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["id"].clone())
            .collect();
        for turn in 0..5 {
            bench.done(&json!({ "wish": "select", "process": ids[turn % ids.len()] }));
            let frame = bench.step(9);
            assert_portuguese(&frame, &format!("{name} at {}", frame["cursor"]));
        }
        let end = bench.end();
        assert_portuguese(&end, &name);
        for axis in ["order", "time"] {
            let window =
                bench.ask(&rows(0.0, 300.0, &json!({ "background": true, "axis": axis })))["rows"].clone();
            assert_portuguese(&window["rows"], &name);
        }
    }
}

#[test]
fn a_number_has_the_sign_of_its_language_before_its_fraction() {
    let mut bench = Bench::with("s1-chang-roberts");
    assert_eq!(bench.step(2)["time"], json!("6.6 ms"));
    let said = bench.done(&json!({ "wish": "speak", "language": "pt" }));
    assert_eq!(said["time"], json!("6,6 ms"));
}
