//! Timers, time, topologies, two branches side by side, and errors in both languages.

use serde_json::{Value, json};

use crate::support::{Bench, names};

fn ids(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().filter_map(Value::as_u64).collect()
}

#[test]
fn the_network_knows_who_can_have_had_a_part_in_an_event_and_whom_it_has_reached() {
    let mut bench = Bench::with("s1-chang-roberts");
    let known = bench.end()["known"].as_u64().expect("a number");
    let all = |event: u64| json!({ "wish": "cone", "event": event, "from": 0, "to": known + 1 });
    for event in 1..=known {
        let cone = bench.ask(&all(event))["cone"].clone();
        let mut rows = bench.ask(&crate::support::rows(0.0, 1000.0, &json!({ "background": true })));
        let rows = rows["rows"]["rows"].take();
        // Whoever does something in a row of the cone has a mark in it.
        let marked = |part: &str| {
            let part = ids(&cone[part]);
            let within = rows
                .as_array()
                .expect("a list")
                .iter()
                .filter(|row| part.contains(&row["event"].as_u64().unwrap_or(0)));
            let mut columns: Vec<u64> = within
                .flat_map(|row| row["marks"].as_array().expect("a list").clone())
                .filter_map(|mark| mark["column"].as_u64())
                .collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        let columns = [3, 17, 24, 1, 28, 15, 9, 4];
        let at = |id: &u64| columns.iter().position(|other| other == id).expect("it is there") as u64;
        for (processes, part) in [("before", "past"), ("after", "future")] {
            // Event 0 has marks of everybody: that all start.
            let mut told: Vec<u64> = ids(&cone[processes]).iter().map(at).collect();
            told.sort_unstable();
            let own = rows[event as usize]["marks"][0]["column"].as_u64();
            let shown: Vec<u64> = marked(part).into_iter().filter(|column| Some(*column) != own).collect();
            if part == "future" {
                assert_eq!(told, shown, "{event}: {processes}");
            } else {
                assert!(told.iter().all(|column| shown.contains(column)), "{event}: {told:?} in {shown:?}");
            }
        }
    }
    let last = bench.ask(&all(known))["cone"].clone();
    assert_eq!((ids(&last["before"]).len(), ids(&last["after"])), (7, vec![]));
    let first = bench.ask(&all(1))["cone"].clone();
    assert_eq!((ids(&first["before"]), ids(&first["after"]).len()), (vec![], 7));
}

#[test]
fn a_timer_that_runs_is_an_arc_that_shrinks() {
    let mut bench = Bench::with("s0-bully-worst-case");
    let mut arcs = Vec::new();
    for _ in 0..20 {
        let frame = bench.step(1);
        let timer = frame["processes"][0]["timer"].clone();
        if let Some(left) = timer["left"].as_f64() {
            assert!((0.0..=1.0).contains(&left), "{timer}");
            assert!(timer["words"].as_str().is_some_and(|words| words.contains("runs out in")), "{timer}");
            arcs.push(left);
        }
    }
    assert!(arcs.len() > 2 && arcs.windows(2).any(|pair| pair[1] < pair[0]), "{arcs:?}");
}

#[test]
fn by_time_what_is_due_happens_and_nothing_else() {
    let mut bench = Bench::with("s1-chang-roberts");
    let events = bench.end()["known"].as_u64().expect("a number");
    let mut time = |event: u64| {
        let frame = bench.done(&json!({ "wish": "seek", "to": event }));
        frame["now"].as_u64().expect("a number")
    };
    let times: Vec<u64> = (0..=events).map(&mut time).collect();
    bench.done(&json!({ "wish": "seek", "to": 0 }));
    for to in (0..=*times.last().expect("there are some") + 2_000_000).step_by(1_700_000) {
        let frame = bench.done(&json!({ "wish": "advance", "to": to }));
        let due = times.iter().skip(1).take_while(|time| **time <= to).count() as u64;
        assert_eq!(frame["cursor"], json!(due), "{to}");
    }
}

#[test]
fn another_topology_is_chosen_by_name_where_there_is_a_choice() {
    let mut bench = Bench::new();
    let open = |bench: &mut Bench, name: &str, topology: &str| {
        bench.done(&json!({ "wish": "open", "algorithm": { "name": name, "processes": 8, "seed": 1, "topology": topology } }))
    };
    let ring = open(&mut bench, "yo-yo", "ring");
    let cube = open(&mut bench, "yo-yo", "hypercube");
    let links = |frame: &Value| frame["links"].as_array().map(Vec::len);
    assert_eq!((links(&ring), links(&cube)), (Some(8), Some(12)));
    assert_eq!(cube["topology"], json!("hypercube"));
    assert!(cube["topologies"].as_array().is_some_and(|all| all.contains(&json!("ring"))));
    let file = bench.file("scenario");
    assert!(file.contains("topology = \"hypercube\""), "{file}");
    // The bully has no choice, whatever was chosen before.
    assert_ne!(open(&mut bench, "bully", "hypercube")["topology"], json!("hypercube"));
}

#[test]
fn two_branches_are_compared_at_their_first_difference() {
    let mut bench = Bench::with("s1-chang-roberts");
    bench.end();
    bench.done(&json!({ "wish": "seek", "to": 7 }));
    let frame = bench.act("crash 28");
    let differs = &frame["branches"][0]["differs"];
    assert_eq!(differs["event"], json!(8));
    assert!(differs["here"].as_str().is_some_and(|words| words.contains("28 crashes")), "{differs}");
    assert!(differs["there"].as_str().is_some_and(|words| words.contains("receives")), "{differs}");
    assert_eq!(frame["branches"][1]["differs"], json!(null));
}

#[test]
fn every_error_is_told_in_portuguese_with_what_the_parser_says_apart() {
    let mut bench = Bench::with("s1-chang-roberts");
    bench.done(&json!({ "wish": "speak", "language": "pt" }));
    for (wish, said, is_detailed) in [
        (json!({ "wish": "open", "toml": "algorithm = 'nobody'" }), "este cenário não", true),
        (json!({ "wish": "open", "toml": "algorithm =" }), "este cenário não pode ser lido", true),
        (json!({ "wish": "open", "link": "#s=%%" }), "este link está danificado", false),
        (json!({ "wish": "open", "link": "#e=nothing" }), "não há: exemplo", false),
        (json!({ "wish": "act", "text": "dance 3" }), "isto não cabe neste sistema", true),
        (json!({ "wish": "act", "text": "deliver 3->17" }), "não há tal mensagem a caminho", false),
        (json!({ "wish": "search", "text": "xyzzy" }), "nada assim aconteceu", false),
        (json!({ "wish": "visit", "branch": 9 }), "não há: ramo", false),
        (json!({ "wish": "dance" }), "a página e o motor não se entendem", true),
        (
            json!({ "wish": "open", "toml": "algorithm = 'bully'\nprocesses = 600" }),
            "no máximo 512 processos",
            false,
        ),
    ] {
        let answer = bench.ask(&wish);
        let error = answer["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(said), "{wish}: {answer}");
        assert_eq!(answer["detail"].is_string(), is_detailed, "{wish}: {answer}");
    }
}

#[test]
fn why_a_property_is_not_promised_is_told_in_portuguese_in_every_exhibit() {
    let mut bench = Bench::new();
    for name in names() {
        bench.done(&json!({ "wish": "open", "link": format!("e={name}&lang=pt") }));
        for property in bench.end()["properties"].as_array().expect("a list") {
            let said = property["explanation"].as_str().unwrap_or_default();
            assert!(!said.contains("nestas circunstâncias"), "{name}: {property}");
        }
    }
}
