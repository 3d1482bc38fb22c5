//! The checker as the page asks it.

use habemus_lab::Checker;
use habemus_scenario::parse;
use serde_json::{Value, json};

use crate::support::{Bench, text};

fn ask(checker: &mut Checker, wish: &Value) -> Value {
    serde_json::from_str(&checker.ask(&wish.to_string())).expect("it answers JSON")
}

/// Asks until it is done.
fn check(question: &Value) -> (Value, usize) {
    let mut checker = Checker::new();
    let mut answer = ask(&mut checker, question);
    let mut pieces = 1;
    while answer["done"] == json!(false) {
        answer = ask(&mut checker, &json!({ "wish": "on" }));
        pieces += 1;
    }
    (answer, pieces)
}

#[test]
fn two_leaders_are_found_on_the_anonymous_ring_and_the_run_can_be_opened() {
    let question = json!({
        "wish": "check", "toml": text("s4-anonymous-ring-two"), "properties": "uniqueness", "max-states": 100_000,
    });
    let (answer, _) = check(&question);
    let line = answer["result"]["properties"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|line| line["name"] == json!("uniqueness"))
        .expect("it was asked for")
        .clone();
    assert_eq!(line["verdict"], json!("violated"), "{answer}");
    let scenario = line["scenario"].as_str().expect("it has an end");
    assert!(parse("run", scenario).is_ok());
    let end = Bench::with_text(scenario).end();
    let leading = end["processes"].as_array().expect("a list").iter();
    assert_eq!(leading.filter(|process| process["status"] == json!("leading")).count(), 2);
}

#[test]
fn a_run_that_goes_round_for_ever_is_a_recording_with_its_cycle_marked() {
    let question = json!({
        "wish": "check", "properties": "E2", "max-states": 200_000, "language": "pt",
        "toml": "algorithm = \"yo-yo\"\nprocesses = 3\n[options]\nvariant = \"as-printed\"\n",
    });
    let (answer, _) = check(&question);
    let line = answer["result"]["properties"][0].clone();
    assert_eq!(line["verdict"], json!("violated"), "{answer}");
    let trace = line["trace"].as_str().expect("it has no end");
    let mut bench = Bench::new();
    bench.done(&json!({ "wish": "open", "trace": trace }));
    let end = bench.end();
    assert!(end["cycle"].as_u64() < end["cursor"].as_u64(), "{}", end["cycle"]);
}

#[test]
fn a_long_check_tells_how_far_it_is_and_stops_where_it_may_go_no_further() {
    let question = json!({
        "wish": "check", "toml": "algorithm = \"ricart-agrawala\"\nprocesses = 3\n", "properties": "EM1",
        "max-states": 12_000, "faults": { "crashes": 1, "losses": 1, "duplications": 1 },
    });
    let (answer, pieces) = check(&question);
    assert!(pieces > 1 && answer["error"].is_null(), "{answer}");
    assert_eq!(answer["result"]["complete"], json!(false));
    let nonsense = ask(&mut Checker::new(), &json!({ "wish": "on" }));
    assert!(nonsense["error"].is_string());
    let unknown = json!({ "wish": "check", "toml": "algorithm = \"dance\"\nprocesses = \
        3\n", "properties": "all", "max-states": 10 });
    assert!(check(&unknown).0["error"].is_string());
}
