//! Lines of a script that wait for a number of events, and those that pick a message or a timer.

use habemus_report::Report;
use habemus_scenario::{Cue, Occasion, Scenario};
use habemus_trace::{Dropped, Happening};

use super::support::{parse, play, play_traced};

/// Three processes in a complete graph, of which 1 has asked the others who leads.
fn bully(lines: &[&str], network: &str) -> Scenario {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line:?}")).collect();
    let script = lines.join(", ");
    parse(&format!(
        "algorithm = \"bully\"\nprocesses = 3\nscript = [\"0ms elect 1\", {script}]\n[network]\n{network}"
    ))
}

fn deliveries(report: &Report) -> Vec<(u64, u64, String)> {
    let records = &report.trace.as_ref().expect("it was kept").records;
    let delivered = records.iter().filter_map(|record| match &record.what {
        Happening::Deliver { from, kind, .. } => Some((*from, record.process?, kind.to_string())),
        _ => None,
    });
    delivered.collect()
}

#[test]
fn an_action_takes_place_after_its_number_of_events_and_is_one_itself() {
    let plain = play_traced(&bully(&[], ""));
    for events in 0..=plain.statistics.events {
        let line = format!("after {events} events: crash 3");
        let report = play_traced(&bully(&[&line], ""));
        let trace = report.trace.as_ref().expect("it was kept");
        let happened = |what: &Happening| {
            matches!(what, Happening::Deliver { .. } | Happening::Timer { .. } | Happening::Command { .. })
        };
        let crash = trace.records.iter().position(|record| record.what == Happening::Crash);
        let crash = crash.unwrap_or_else(|| panic!("nobody crashed after {events} events"));
        let before = trace.records[..crash].iter().filter(|record| happened(&record.what)).count();
        assert_eq!(before as u64, events);
        assert!(report.unmet.is_empty());
    }
    let late = play(&bully(&["after 999 events: crash 3"], ""));
    assert_eq!(late.unmet, ["after 999 events: crash 3"]);
    assert_eq!(late.fingerprint, plain.fingerprint);
}

#[test]
fn lines_for_the_same_number_come_in_their_order() {
    let report = play_traced(&bully(&["after 1 event: pause 2", "after 1 event: resume 2"], ""));
    let records = &report.trace.as_ref().expect("it was kept").records;
    let place = |what: &Happening| records.iter().position(|record| record.what == *what);
    assert!(place(&Happening::Pause).is_some() && place(&Happening::Pause) < place(&Happening::Resume));
}

#[test]
fn a_message_is_delivered_before_another_that_would_come_first() {
    let constant = "latency = \"5ms\"\n";
    let first = |lines: &[&str]| deliveries(&play_traced(&bully(lines, constant))).remove(0);
    let asked = |to| (1, to, "Election".to_owned());
    assert_eq!(first(&[]), asked(2));
    assert_eq!(first(&["after 1 event: deliver 1->3"]), asked(3));
}

#[test]
fn a_message_is_lost_doubled_and_delayed() {
    let lost = play_traced(&bully(&["after 1 event: lose 1->3"], ""));
    let trace = lost.trace.as_ref().expect("it was kept");
    let dropped = |why: Dropped| {
        trace.records.iter().any(|record| matches!(&record.what, Happening::Drop { why: w, .. } if *w == why))
    };
    assert!(dropped(Dropped::Loss), "{lost:?}");
    let twice = play_traced(&bully(&["after 1 event: duplicate 1->3"], ""));
    let question = (1, 3, "Election".to_owned());
    let asked = |report: &Report| deliveries(report).iter().filter(|it| **it == question).count();
    assert_eq!(asked(&twice), asked(&play_traced(&bully(&[], ""))) + 1);
    let late = play_traced(&bully(&["after 1 event: delay 1->3 by 7ms"], "latency = \"5ms\"\n"));
    let records = &late.trace.as_ref().expect("it was kept").records;
    let from_one = |record: &&habemus_trace::Record| {
        record.process == Some(3) && matches!(record.what, Happening::Deliver { from: 1, .. })
    };
    assert_eq!(records.iter().find(from_one).map(|record| record.at), Some(12_000_000));
}

#[test]
fn the_order_of_a_link_is_kept_unless_it_need_not_be() {
    // The request of 2 and its answer to 1 are on the same link.
    let two = |order: &str| {
        play(&parse(&format!(
            "algorithm = \"lamport\"\nprocesses = 2\nscript = [\"0ms acquire 1\", \"1ms acquire 2\", \
             \"after 3 events: deliver 2nd 2->1\"]\n[network]\nlatency = \"9ms\"\norder = \"{order}\"\n"
        )))
    };
    let refused = two("fifo").failures;
    assert!(matches!(&refused[..], [failure] if failure.contains("in order")), "{refused:?}");
    assert_eq!(two("any").failures, [""; 0]);
}

#[test]
fn a_message_that_was_put_off_is_not_overtaken_on_its_link() {
    let script = ["after 1 event: delay 1->3 by 500ms", "after 1 event: elect 1"];
    let report = play_traced(&bully(&script, "latency = \"5ms\"\n"));
    let records = &report.trace.as_ref().expect("it was kept").records;
    let mut on_link = Vec::new();
    for record in records {
        match &record.what {
            Happening::Deliver { from: 1, message, .. } if record.process == Some(3) => {
                on_link.push(*message);
            }
            _ => {}
        }
    }
    assert!(on_link.is_sorted() && !on_link.is_empty(), "{on_link:?}");
}

#[test]
fn a_timer_runs_out_early_where_the_network_promises_nothing_about_time() {
    let slow = "latency = \"50ms\"\n";
    let scenario = bully(&["after 1 event: fire 1 NoAnswer"], slow);
    let report = play_traced(&scenario);
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    let records = &report.trace.as_ref().expect("it was kept").records;
    let timer = records.iter().find(|record| matches!(record.what, Happening::Timer { .. }));
    assert_eq!(timer.map(|record| record.at), Some(0));
    let timely = "model = \"partially-synchronous\"\ngst = \"0ms\"\ndelta = \"50ms\"\n";
    let refused = play(&bully(&["after 1 event: fire 1 NoAnswer"], timely));
    assert!(refused.failures.iter().any(|failure| failure.contains("clocks")), "{:?}", refused.failures);
}

#[test]
fn a_script_with_numbers_of_events_is_written_as_it_was_read() {
    let scenario = bully(&["after 1 event: deliver 1->3", "after 17 events: delay 2nd 1->3 by 5ms"], "");
    let again = parse(&habemus_scenario::to_toml(&scenario));
    assert_eq!(again, scenario);
    assert!(matches!(scenario.script[2], Cue { occasion: Occasion::After(17), .. }));
}
