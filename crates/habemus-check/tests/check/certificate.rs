//! Another program comes to the same counts and verdicts from a certificate alone, and refuses one that was
//! tampered with.

use habemus::Address;
use habemus_check::{CheckVerdict, CheckedProperty, DeliveryOrder, Extent, Properties, Setting, Timers};
use serde_json::Value;

use crate::help::{Model, model};
use crate::recheck::recheck;

fn timely(setting: &mut Setting) {
    setting.timers = Timers::MessagesFirst;
}

/// Models of every kind, with the numbers of their states as the checker counts them, nothing left out.
fn models() -> Vec<(&'static str, Model)> {
    let two_entries = |setting: &mut Setting| setting.entries = 2;
    vec![
        ("a ring", model("chang-roberts", 3)),
        ("messages that overtake", model("ricart-agrawala", 2).with(|s| s.order = DeliveryOrder::Any)),
        ("a deadlock", model("maekawa", 3).option("sets", "plane").option("variant", "plain")),
        ("two leaders", model("anonymous-ring", 3)),
        ("a crash", model("bully", 3).all_start().with(timely).with(|s| s.budget.crashes = 1)),
        (
            "a crash and recovery",
            model("coordinator", 2).with(|s| (s.budget.crashes, s.budget.recoveries) = (1, 1)),
        ),
        (
            "amnesia",
            model("coordinator", 2).with(|s| {
                (s.budget.crashes, s.budget.recoveries, s.budget.amnesia) = (1, 1, true);
                s.faulty = vec![Address(0)];
            }),
        ),
        (
            "an oracle that takes back what it was about to say",
            model("bully", 2)
                .all_start()
                .with(timely)
                .with(|s| (s.budget.crashes, s.budget.recoveries) = (2, 1)),
        ),
        ("ballots", model("paxos", 2).with(timely)),
        ("a lost message", model("lamport", 2).with(|s| s.budget.losses = 1)),
        (
            "a doubled message",
            model("suzuki-kasami", 2).with(two_entries).with(|s| s.budget.duplications = 1),
        ),
        ("a false suspicion", model("bully", 2).all_start().with(timely).with(|s| s.budget.suspicions = 1)),
        ("a wrong timeout", model("bully", 2).all_start().with(timely).with(|s| s.budget.wrong_timeouts = 1)),
        ("a partition", model("chang-roberts", 3).all_start().with(|s| s.budget.partitions = 1)),
        ("a crash in a pulse", model("flood-set", 3).all_start().with(|s| s.budget.crashes = 1)),
        (
            "a crash in a pulse that an oracle sees",
            model("all-to-all", 3)
                .detector("oracle")
                .all_start()
                .with(timely)
                .with(|s| (s.budget.crashes, s.faulty) = (1, vec![Address(2)])),
        ),
        ("timers at any time", model("coordinator", 2).option("timeout", "20ms").with(two_entries)),
        (
            "late clients",
            model("coordinator", 3).option("timeout", "20ms").with(|s| s.timers = Timers::LateClients),
        ),
        ("runs without end", model("token-ring", 3)),
        ("draws without end", model("itai-rodeh", 2).option("variant", "unnumbered")),
    ]
}

#[test]
fn another_program_comes_to_the_same_counts_and_verdicts() {
    let mut verdicts = std::collections::BTreeSet::new();
    for (what, model) in models() {
        let model = model.with(|setting| {
            if !matches!(setting.properties, Properties::Named(_)) {
                setting.properties = Properties::All;
            }
            setting.keep_going = true;
            setting.max_states = Some(50_000);
        });
        let found = recheck(&model.certificate()).unwrap_or_else(|error| panic!("{what}: {error}"));
        // A check by itself, with nothing left out, counts the same states, unless it ends with the last
        // property that is broken.
        let report = model.with(|s| (s.reduction, s.symmetry) = (false, false)).run();
        if report.extent == Extent::Complete {
            assert_eq!(found["states"], report.states, "{what}");
        } else {
            assert!(found["states"].as_u64() >= Some(report.states), "{what}");
            let open = |line: &&CheckedProperty| {
                !matches!(line.verdict, CheckVerdict::Violated | CheckVerdict::NotCovered)
            };
            let open: Vec<&str> =
                report.properties.iter().filter(open).map(|line| line.name.as_str()).collect();
            assert!(open.is_empty(), "{what}: {open:?}");
        }
        assert!(found["states"].as_u64() > Some(10), "{what}: {found}");
        verdicts.extend(
            found["verdicts"].as_array().into_iter().flatten().map(|line| line["verdict"].to_string()),
        );
    }
    assert_eq!(verdicts.len(), 4, "every kind of verdict is there: {verdicts:?}");
}

#[test]
fn a_certificate_that_was_tampered_with_is_refused() {
    let text = model("anonymous-ring", 2).property("uniqueness").certificate();
    assert!(recheck(&text).is_ok());
    let change = |which: &dyn Fn(&Value) -> bool, change: &dyn Fn(&mut Value)| {
        let mut changed = 0;
        let lines = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).expect("it is JSON");
            if which(&line) && changed == 0 {
                changed += 1;
                change(&mut line);
            }
            line.to_string()
        });
        let lines: Vec<String> = lines.collect();
        assert_eq!(changed, 1, "there is such a line");
        recheck(&lines.join("\n"))
    };
    let is_claim = |line: &Value| line["states"].is_u64();
    for count in ["states", "transitions", "quiet", "depth"] {
        let more = |line: &mut Value| line[count] = (line[count].as_u64().unwrap_or(0) + 1).into();
        assert!(change(&is_claim, &more).is_err(), "{count}");
    }
    assert!(change(&is_claim, &|line| line["verdicts"][0]["verdict"] = "holds".into()).is_err());
    assert!(change(&is_claim, &|line| line["verdicts"][0]["steps"] = 1.into()).is_err());
    // A reaction that sends nothing, one that is not there, monitors that never see what is wrong.
    let sends = |line: &Value| !line["reactions"][0][1][0].is_null();
    assert!(change(&sends, &|line| line["reactions"][0][1] = Value::Array(Vec::new())).is_err());
    assert!(change(&sends, &|line| line["reactions"] = Value::Array(Vec::new())).is_err());
    let is_broken = |line: &Value| !line["broken"][0].is_null();
    assert!(change(&is_broken, &|line| line["broken"] = Value::Array(Vec::new())).is_err());
}
