//! A run that is taken step by step is the run that is played at once.

use std::collections::BTreeSet;

use habemus_report::{Finding, scenarios_of_locks};
use habemus_scenario::{Scenario, script};
use habemus_sim::{ActError, PendingKind, Refusal, Stepper, stepper};

use super::support::{parse, play, play_traced, read, root};

fn exhibits() -> Vec<(String, Scenario)> {
    let files = std::fs::read_dir(root().join("exhibits")).expect("they are there");
    let names = files.map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), read(&format!("exhibits/{name}")))).collect()
}

fn step_to_the_end(mut stepper: Stepper) -> Stepper {
    while stepper.step() {}
    stepper
}

fn begin(scenario: &Scenario) -> Stepper {
    stepper(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn act(stepper: &mut Stepper, text: &str) -> Result<(), ActError> {
    let ids = stepper.scenario().ids.clone();
    let action = script::parse_action(text, &habemus_scenario::Processes::new(&ids));
    stepper.act(&action.unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn every_exhibit_step_by_step_is_the_exhibit() {
    for (name, scenario) in exhibits() {
        let locks = scenarios_of_locks(&scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        let scenarios = if locks.is_empty() { vec![scenario] } else { locks.into_values().collect() };
        for scenario in scenarios {
            let mut stepped = step_to_the_end(begin(&scenario));
            let records = stepped.take_records();
            let report = stepped.report().unwrap_or_else(|error| panic!("{name}: {error}"));
            let played = play_traced(&scenario);
            assert_eq!(report.fingerprint, played.fingerprint, "{name}");
            assert_eq!(report.properties, played.properties, "{name}");
            assert_eq!(report.stop, played.stop, "{name}");
            assert_eq!(report.statistics.time, played.statistics.time, "{name}");
            assert_eq!(report.statistics.messages, played.statistics.messages, "{name}");
            assert_eq!(Some(records), played.trace.map(|trace| trace.records), "{name}");
        }
    }
}

#[test]
fn a_fork_goes_its_own_way_and_what_is_done_to_it_is_a_scenario() {
    let mut trunk = begin(&read("exhibits/s1-chang-roberts.toml"));
    for _ in 0..7 {
        assert!(trunk.step());
    }
    let mut fork = trunk.fork();
    act(&mut fork, "crash 28").expect("it can crash");
    let (trunk, fork) = (step_to_the_end(trunk), step_to_the_end(fork));
    assert_ne!(trunk.fingerprint(), fork.fingerprint());
    assert_eq!(play(trunk.scenario()).fingerprint, trunk.fingerprint());
    assert_eq!(
        fork.scenario().script.last().map(ToString::to_string).as_deref(),
        Some("after 7 events: crash 28")
    );
    assert_eq!(play(fork.scenario()).fingerprint, fork.fingerprint());
}

/// Whatever is picked on the way, in an order drawn from the numbers of the events.
#[test]
fn a_run_in_which_everything_was_picked_by_hand_is_played_alike() {
    for file in ["s0-bully-worst-case", "s1-ricart-agrawala", "s4-itai-rodeh", "s3-paxos-gst", "s1-flood-set"]
    {
        let mut stepper = begin(&read(&format!("exhibits/{file}.toml")));
        let mut picked = 0;
        for round in 0..60_usize {
            let choices: Vec<String> = stepper.pending().iter().filter_map(choice).collect();
            if choices.is_empty() || round % 3 == 0 {
                stepper.step();
                continue;
            }
            let choice = &choices[round * 7 % choices.len()];
            act(&mut stepper, choice).unwrap_or_else(|error| panic!("{file}: {choice}: {error}"));
            picked += 1;
        }
        let stepper = step_to_the_end(stepper);
        let played = play(stepper.scenario());
        assert!(picked > 5, "{file}: {picked}");
        assert_eq!(played.fingerprint, stepper.fingerprint(), "{file}");
        assert_eq!(played.unmet.len(), 0, "{file}: {:?}", played.unmet);
    }
}

/// How the script picks what may come next.
fn choice(pending: &habemus_sim::PendingEvent) -> Option<String> {
    match (&pending.what, pending.refusal) {
        (_, Some(_)) => None,
        (PendingKind::Message { from, nth, .. }, None) => {
            let ending = ["th", "st", "nd", "rd"][if *nth < 4 { *nth as usize } else { 0 }];
            Some(format!("deliver {nth}{ending} {from}->{}", pending.process))
        }
        (PendingKind::Timer { label, .. }, None) => Some(format!("fire {} {label}", pending.process)),
        _ => None,
    }
}

#[test]
fn the_second_message_of_a_link_waits_for_the_first_unless_any_order_will_do() {
    let scenario = |order: &str| {
        parse(&format!(
            "algorithm = \"lamport\"\nprocesses = 2\nscript = [\"0ms acquire 1\", \"1ms acquire 2\"]\n\
             [network]\nlatency = \"9ms\"\n{order}\n[workload]\nentries = 0\n"
        ))
    };
    // The request of 2 and its answer to 1 are on the same link.
    let waiting = |order| {
        let mut stepper = begin(&scenario(order));
        while stepper
            .pending()
            .iter()
            .all(|pending| !matches!(pending.what, PendingKind::Message { nth: 2, .. }))
        {
            assert!(stepper.step(), "there are never two messages on one link");
        }
        stepper
    };
    let mut fifo = waiting("order = \"fifo\"");
    let before = fifo.fingerprint();
    assert_eq!(act(&mut fifo, "deliver 2nd 2->1"), Err(ActError::Refused(Refusal::Order)));
    assert_eq!(fifo.fingerprint(), before);
    let mut any = waiting("order = \"any\"");
    assert_eq!(act(&mut any, "deliver 2nd 2->1"), Ok(()));
}

#[test]
fn what_is_wrong_with_a_choice_is_said_and_nothing_happens() {
    let mut stepper = begin(&read("exhibits/s0-bully-best-case.toml"));
    let ids = stepper.scenario().ids.clone();
    let (one, other) = (ids[0], ids[1]);
    assert_eq!(
        act(&mut stepper, &format!("lose 9th {one}->{other}")),
        Err(ActError::Refused(Refusal::NoMessage))
    );
    assert_eq!(act(&mut stepper, &format!("fire {one} Never")), Err(ActError::Refused(Refusal::NoTimer)));
    assert!(matches!(act(&mut stepper, &format!("dance {one}")), Err(ActError::Cue(_))));
    assert_eq!((stepper.events(), stepper.scenario().script.len()), (0, play_len()));
}

fn play_len() -> usize {
    read("exhibits/s0-bully-best-case.toml").script.len()
}

#[test]
fn what_must_still_happen_is_open_until_it_has() {
    let mut stepper = begin(&read("exhibits/s1-chang-roberts.toml"));
    let findings = |stepper: &Stepper| {
        let lines = stepper.properties();
        lines.into_iter().map(|line| line.verdict).collect::<BTreeSet<Finding>>()
    };
    while !findings(&stepper).contains(&Finding::Open) {
        assert!(stepper.step(), "nothing was ever open");
    }
    while stepper.step() {}
    let report = stepper.report().expect("it makes sense");
    assert!(report.properties.iter().all(|line| line.verdict != Finding::Violated));
}
