//! What of a run is shown, and messages that are moved in it.

use serde_json::{Value, json};

use crate::support::{Bench, rows};

fn window(bench: &mut Bench, view: &Value) -> Value {
    let answer = bench.ask(&rows(0.0, 1e6, view));
    assert!(answer["error"].is_null(), "{answer}");
    answer["rows"].clone()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

#[test]
fn kinds_and_processes_that_are_not_wanted_are_not_shown() {
    let mut bench = Bench::with("s1-chang-roberts");
    bench.end();
    let all = window(&mut bench, &json!({}));
    assert_eq!(all["kinds"], json!(["Elected", "Election"]));
    let elections = window(&mut bench, &json!({ "hidden": ["Elected"] }));
    assert_eq!(list(&elections["arrows"]).len(), 11);
    assert!(list(&elections["arrows"]).iter().all(|arrow| arrow["kind"] == json!("Election")));
    assert!(elections["hidden"].as_u64() > Some(0));
    let two = window(&mut bench, &json!({ "processes": [17, 24] }));
    assert_eq!(two["columns"], json!([17, 24]));
    // 17 sends to 24: once its own, once what comes round, and the news.
    assert!(list(&two["arrows"]).iter().all(|arrow| arrow["sender"] == json!(17)));
    assert!(list(&two["rows"]).len() < list(&all["rows"]).len());
}

#[test]
fn by_time_what_comes_later_is_lower_and_silences_are_cut() {
    let mut bench = Bench::with("s4-lease");
    bench.end();
    let by_time = window(&mut bench, &json!({ "axis": "time" }));
    let tops: Vec<f64> = list(&by_time["rows"]).iter().filter_map(|row| row["top"].as_f64()).collect();
    // Rows never overlap, and are not at one distance.
    assert!(tops.windows(2).all(|pair| pair[1] - pair[0] >= 1.0 - 1e-9));
    assert!(tops.windows(2).any(|pair| pair[1] - pair[0] > 1.2));
    assert!(list(&by_time["rows"]).iter().any(|row| row["silence"].is_string()), "{tops:?}");
    let by_order = window(&mut bench, &json!({ "axis": "order" }));
    assert_eq!(list(&by_order["rows"])[3]["top"], json!(3.0));
}

#[test]
fn words_are_searched_for_from_the_cursor_on_and_then_from_the_beginning() {
    let mut bench = Bench::with("s1-chang-roberts");
    let end = bench.end();
    bench.done(&json!({ "wish": "seek", "to": 0 }));
    let found = bench.done(&json!({ "wish": "search", "text": "28 LEADS" }));
    assert!(found["said"].as_str().is_some_and(|said| said.contains("28 leads")), "{}", found["said"]);
    assert!(found["cursor"].as_u64() < end["cursor"].as_u64());
    let again = bench.done(&json!({ "wish": "search", "text": "28 leads" }));
    assert_eq!(again["cursor"], found["cursor"]);
    let process = bench.done(&json!({ "wish": "search", "text": " 15 " }));
    assert_eq!(process["process"]["id"], json!(15));
    let nothing = bench.ask(&json!({ "wish": "search", "text": "elephant" }));
    assert_eq!(nothing["error"], json!("nothing of the kind has happened"));
}

const TWO: &str = "algorithm = \"lamport\"\nprocesses = 2\nscript = [\"0ms acquire 1\", \"1ms acquire \
    2\"]\n[network]\n\
                   latency = \"9ms\"\n";

#[test]
fn a_message_is_moved_to_an_earlier_and_a_later_moment() {
    for order in ["fifo", "any"] {
        let mut bench = Bench::with_text(&format!("{TWO}order = \"{order}\"\n"));
        let end = bench.end();
        let arrows = window(&mut bench, &json!({}))["arrows"].clone();
        let first = list(&arrows).iter().find(|arrow| arrow["sender"] == json!(1)).expect("1 sends").clone();
        let to_event = |after: u64| json!({ "wish": "move", "sender": first["sender"], "number": first["number"], "after": after });
        let sent = first["event"].as_u64().expect("a number");
        let too_early = bench.ask(&to_event(sent - 1));
        assert_eq!(too_early["error"], json!("it had not been sent by then"));
        let earlier = bench.done(&to_event(sent));
        assert_eq!(earlier["cursor"].as_u64(), Some(sent + 1));
        assert!(
            earlier["said"].as_str().is_some_and(|said| said.starts_with("2 receives")),
            "{}",
            earlier["said"]
        );
        assert_eq!(earlier["branches"].as_array().map(Vec::len), Some(2));
        bench.done(&json!({ "wish": "visit", "branch": 0 }));
        let late = end["known"].as_u64().expect("a number") - 1;
        let later = bench.done(&to_event(late));
        assert!(later["branches"][2]["label"].as_str().is_some_and(|label| label.starts_with("delay")));
    }
}

#[test]
fn a_message_that_must_not_overtake_another_is_not_moved_before_it() {
    let mut bench = Bench::with_text(&format!("{TWO}order = \"fifo\"\n"));
    bench.end();
    let arrows = window(&mut bench, &json!({}))["arrows"].clone();
    let from_two: Vec<&Value> = list(&arrows).iter().filter(|arrow| arrow["sender"] == json!(2)).collect();
    // The second that 2 sends, right after it was sent, while the first is still on its way.
    let second = from_two
        .windows(2)
        .find(|pair| pair[0]["to"][0].as_f64() > pair[1]["from"][0].as_f64())
        .expect("two are on their way at once")[1];
    let before = bench.step(0);
    let refused = bench.ask(&json!({
        "wish": "move", "sender": 2, "number": second["number"], "after": second["event"],
    }));
    assert_eq!(
        refused["error"],
        json!("the link keeps its messages in order, and another was sent before this one")
    );
    assert_eq!(bench.step(0)["cursor"], before["cursor"]);
}

#[test]
fn a_fork_is_another_branch_that_can_go_another_way() {
    let mut bench = Bench::with("s1-chang-roberts");
    let end = bench.end();
    bench.done(&json!({ "wish": "seek", "to": 5 }));
    let fork = bench.done(&json!({ "wish": "fork" }));
    assert_eq!((&fork["cursor"], fork["branches"].as_array().map(Vec::len)), (&json!(5), Some(2)));
    assert_eq!(bench.end()["fingerprint"], end["fingerprint"]);
    bench.done(&json!({ "wish": "visit", "branch": 0 }));
    bench.done(&json!({ "wish": "visit", "branch": 1 }));
    bench.act("crash 28");
    assert_ne!(bench.end()["fingerprint"], end["fingerprint"]);
}

#[test]
fn a_process_is_cut_off_and_connected_again_and_its_clock_drifts() {
    let mut bench = Bench::with("s0-bully-worst-case");
    let frame = bench.step(3);
    let action = |frame: &Value, begin: &str| {
        let actions = frame["processes"][2]["actions"].as_array().expect("a list").clone();
        let found =
            actions.iter().find(|action| action[0].as_str().is_some_and(|act| act.starts_with(begin)));
        found.map(|action| action[0].as_str().expect("a text").to_owned())
    };
    let cut = action(&frame, "cut").expect("it can be cut off");
    let parted = bench.act(&cut);
    let cut_links =
        parted["links"].as_array().expect("a list").iter().filter(|link| link["cut"] == json!(true));
    assert_eq!(cut_links.count(), 7);
    let mended = bench.act(&action(&parted, "heal").expect("it can be mended"));
    assert!(mended["links"].as_array().expect("a list").iter().all(|link| link["cut"] == json!(false)));
    for way in ["drift 3 by 10%", "drift 3 by -10%"] {
        assert!(action(&mended, way).is_some_and(|act| act == way), "{way}");
        bench.act(way);
    }
}
