//! Locks with names: each is a run of its own, and all can be looked at.

use habemus_report::scenarios_of_locks;
use habemus_scenario::parse;
use habemus_sim::run;
use serde_json::{Value, json};

use crate::support::Bench;

const TWO_LOCKS: &str = "algorithm = \"ricart-agrawala\"\nprocesses = 3\nresources = \
    [\"orders\", \"stock\"]\nseed = 4\n\
                         [network]\nlatency = \"1ms..5ms\"\n[workload]\nentries = 2\n";

fn look(bench: &mut Bench, lock: &str) -> Value {
    bench.done(&json!({ "wish": "lock", "name": lock }))
}

#[test]
fn each_lock_is_shown_as_the_command_plays_it_and_keeps_its_branches_while_another_is_looked_at() {
    let scenario = parse("two-locks", TWO_LOCKS).expect("it is right").scenario;
    let mut bench = Bench::with_text(TWO_LOCKS);
    let mut ends = Vec::new();
    for (name, own) in scenarios_of_locks(&scenario).expect("they have names") {
        if name != "orders" {
            look(&mut bench, &name);
        }
        let frame = bench.end();
        assert_eq!((&frame["lock"], &frame["locks"]), (&json!(name), &json!(["orders", "stock"])));
        let expected = run(&own, false).expect("it runs").fingerprint;
        assert_eq!(frame["fingerprint"], json!(expected), "{name}");
        ends.push(frame["fingerprint"].clone());
    }
    assert_ne!(ends[0], ends[1]);
    bench.done(&json!({ "wish": "seek", "to": 3 }));
    let crashed = bench.act("crash 2");
    assert_eq!(look(&mut bench, "orders")["fingerprint"], ends[0]);
    let back = look(&mut bench, "stock");
    assert_eq!((&back["cursor"], &back["branches"]), (&crashed["cursor"], &crashed["branches"]));
    let nobody = bench.ask(&json!({ "wish": "lock", "name": "till" }));
    assert_eq!(nobody["error"], json!("there is no such lock"));
}

#[test]
fn a_scenario_without_names_has_no_locks_to_choose_from() {
    let mut bench = Bench::with_text(TWO_LOCKS);
    bench.done(&json!({ "wish": "open", "link": "#e=s1-chang-roberts" }));
    assert_eq!(bench.step(1)["locks"], json!([]));
}
