//! What is written reads back as the same scenario.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::dice::Dice;
use habemus_scenario::*;

#[test]
fn every_scenario_survives_being_written_and_read() {
    let mut dice = Dice::new(1);
    for _ in 0..2000 {
        let scenario = scenario(&mut dice);
        let written = to_toml(&scenario);
        match parse("f.toml", &written) {
            Ok(parsed) => assert_eq!(parsed.scenario, scenario, "{written}"),
            Err(errors) => panic!("{errors}\n{written}"),
        }
    }
}

#[test]
fn a_written_scenario_is_good_to_read() {
    let milliseconds = Duration::from_millis;
    let at = |time, action| Cue { occasion: Occasion::At(milliseconds(time)), action };
    let trigger = Trigger { process: Some(3), what: TriggerKind::Sends("Ok".into()), nth: 2 };
    let scenario = Scenario {
        title: Some("The highest says \"Ok\" and dies".into()),
        notes: Some("S1".into()),
        algorithm: "bully".into(),
        ids: (1..=5).collect(),
        options: BTreeMap::from([("timeout".into(), "50ms".into()), ("rounds".into(), "3".into())]),
        seed: 7,
        network: Network {
            latency: Latency::Constant(milliseconds(5)),
            loss: 0.01,
            links: BTreeMap::from([
                ((1, 2), Latency::Constant(milliseconds(100))),
                ((2, 3), Latency::Constant(milliseconds(7))),
                ((3, 2), Latency::Constant(milliseconds(7))),
            ]),
            ..Network::default()
        },
        script: vec![
            at(0, Action::Command { word: "elect".into(), processes: (1..=5).collect() }),
            at(1500, Action::Cut(vec![(1, 2), (2, 1), (3, 4)])),
            Cue { occasion: Occasion::When(trigger), action: Action::Crash(vec![3]) },
            at(1600, Action::Crash(vec![])),
        ],
        until: Until::Agree,
        time_limit: Some(milliseconds(10_000)),
        expect: Expectations {
            leader: Some(2),
            messages: BTreeMap::from([("total".into(), Count { min: 0, max: 24 })]),
            ..Expectations::default()
        },
        ..Scenario::default()
    };
    let expected = r#"title = "The highest says \"Ok\" and dies"
notes = "S1"
algorithm = "bully"
processes = 5
seed = 7
until = "agree"
time-limit = "10s"
script = [
    "0ms elect all",
    "1.5s cut 1-2, 3->4",
    "when 3 sends Ok for the 2nd time: crash 3",
]

[options]
rounds = 3
timeout = "50ms"

[network]
latency = "5ms"
loss = "1%"

[network.links]
"1->2" = "100ms"
2-3 = "7ms"

[expect]
leader = 2
messages = "<= 24"
"#;
    assert_eq!(to_toml(&scenario), expected);
}

#[test]
fn long_lists_are_broken_into_lines() {
    let ids: Vec<u64> = (0..60).map(|number| number * number).collect();
    let written = to_toml(&Scenario { algorithm: "yo-yo".into(), ids: ids.clone(), ..Scenario::default() });
    assert!(written.lines().all(|line| line.len() < 100), "{written}");
    assert!(written.lines().count() < 12, "{written}");
    assert_eq!(parse("f.toml", &written).expect("it is right").scenario.ids, ids);
}

fn scenario(dice: &mut Dice) -> Scenario {
    let ids = ids(dice);
    let links = ids.len() > 1 && dice.once_in(4);
    let topology = match (links, dice.once_in(2)) {
        (true, _) => Some(TopologyChoice::Links(links_without_direction(dice, &ids))),
        (false, true) => Some(TopologyChoice::Named(text(dice))),
        (false, false) => None,
    };
    Scenario {
        title: maybe(dice, text),
        notes: maybe(dice, text),
        algorithm: text(dice),
        topology,
        detector: maybe(dice, text),
        options: (0..dice.below(4)).map(|_| (option_name(dice), option(dice))).collect(),
        seed: any_number(dice),
        choices: (0..dice.below(3)).map(|_| dice.below(9) as u32).collect(),
        network: network(dice, &ids),
        script: (0..dice.below(6)).map(|_| cue(dice, &ids)).collect(),
        random: maybe(dice, |dice| random_faults(dice, &ids)),
        resources: (0..dice.below(3)).map(|number| format!("lock-{number}_{}", any_number(dice))).collect(),
        workload: maybe(dice, |dice| workload(dice, &ids)),
        until: match dice.below(4) {
            0 => Until::Quiet,
            1 => Until::Agree,
            2 => Until::Time(some_time(dice)),
            _ => Until::Events(1 + dice.below(100_000)),
        },
        time_limit: maybe(dice, some_time),
        event_limit: 1 + any_number(dice) / 2,
        expect: expectations(dice, &ids),
        ids,
    }
}

fn ids(dice: &mut Dice) -> Vec<u64> {
    let number = 1 + dice.below(8);
    match dice.below(4) {
        0 => (1..=number).collect(),
        1 => (any_number(dice) / 2..).take(number as usize).collect(),
        2 => (10..10 + number).rev().collect(),
        _ => (0..number).map(|place| place * 7 % 11 + 1000 * (place / 11)).collect(),
    }
}

/// Some of these, at least one, in any order.
fn some(dice: &mut Dice, ids: &[u64]) -> Vec<u64> {
    if dice.once_in(4) {
        return ids.to_vec();
    }
    let mut rest = ids.to_vec();
    let number = 1 + dice.below(rest.len() as u64);
    (0..number).map(|_| rest.remove(dice.below(rest.len() as u64) as usize)).collect()
}

fn links_without_direction(dice: &mut Dice, ids: &[u64]) -> Vec<(u64, u64)> {
    let mut links = Vec::new();
    for (place, one) in ids.iter().enumerate() {
        for other in &ids[place + 1..] {
            if dice.once_in(2) {
                links.push(if dice.once_in(2) { (*one, *other) } else { (*other, *one) });
            }
        }
    }
    links
}

fn directions(dice: &mut Dice, ids: &[u64]) -> Vec<(u64, u64)> {
    let mut directions = Vec::new();
    for (one, other) in links_without_direction(dice, ids) {
        directions.push((one, other));
        if dice.once_in(2) {
            directions.push((other, one));
        }
    }
    directions
}

fn network(dice: &mut Dice, ids: &[u64]) -> Network {
    Network {
        model: match dice.below(4) {
            0 => TimeModel::Asynchronous,
            1 => TimeModel::Synchronous { pulse: some_time(dice) },
            2 => TimeModel::Scripted,
            _ => TimeModel::PartiallySynchronous { gst: time(dice), delta: some_time(dice) },
        },
        latency: latency(dice),
        links: directions(dice, ids).into_iter().map(|link| (link, latency(dice))).collect(),
        fifo: dice.once_in(2),
        loss: probability(dice),
        duplication: probability(dice),
    }
}

fn latency(dice: &mut Dice) -> Latency {
    match dice.below(4) {
        0 => Latency::Constant(some_time(dice)),
        1 => {
            let min = time(dice);
            Latency::Uniform { min, max: min + some_time(dice) }
        }
        2 => Latency::Exponential { mean: some_time(dice) },
        _ => Latency::LogNormal { median: some_time(dice), sigma: probability(dice) * 10.0 },
    }
}

fn cue(dice: &mut Dice, ids: &[u64]) -> Cue {
    let occasion = match dice.below(5) {
        0 | 1 => Occasion::At(time(dice)),
        2 | 3 => Occasion::When(trigger(dice, ids)),
        _ => Occasion::After(dice.below(100)),
    };
    Cue { occasion, action: action(dice, ids) }
}

fn trigger(dice: &mut Dice, ids: &[u64]) -> Trigger {
    let kind = (*dice.pick(&["Ok", "Election", "vote-for-me", "for", "Anúncio", "x_2"])).to_owned();
    let what = match dice.below(9) {
        0 => TriggerKind::Sends(kind),
        1 => TriggerKind::Receives(kind),
        2 => TriggerKind::Leads,
        3 => TriggerKind::Follows,
        4 => TriggerKind::Enters,
        5 => TriggerKind::Leaves,
        6 => TriggerKind::Decides,
        7 => TriggerKind::Crashes,
        _ => TriggerKind::Suspects,
    };
    Trigger { process: maybe(dice, |dice| *dice.pick(ids)), what, nth: 1 + dice.below(30) as u32 }
}

fn action(dice: &mut Dice, ids: &[u64]) -> Action {
    let processes = some(dice, ids);
    match dice.below(15) {
        0 => Action::Command {
            word: (*dice.pick(&["elect", "acquire", "step-down", "propose 7", "propose attack"])).to_owned(),
            processes,
        },
        1 => Action::Crash(processes),
        2 => Action::Recover { processes, amnesia: dice.once_in(2) },
        3 => Action::Pause(processes),
        4 => Action::Resume(processes),
        5 => Action::Slow { processes, by: time(dice) },
        6 => Action::Drift { processes, rate: 0.001 + probability(dice) * 2.0 },
        7 => match directions(dice, ids) {
            links if links.is_empty() => Action::Loss(probability(dice)),
            links => Action::Cut(links),
        },
        8 => Action::Partition(processes.chunks(2).map(<[u64]>::to_vec).collect()),
        9 => Action::Heal(directions(dice, ids)),
        10 => Action::Loss(probability(dice)),
        11 => Action::Fire {
            process: *dice.pick(ids),
            timer: (*dice.pick(&["NoAnswer", "Retry(3)", "Round { of: @2, at: 7 }"])).to_owned(),
        },
        12 => match processes.as_slice() {
            [by, suspect, ..] => Action::Suspect { by: *by, suspect: *suspect },
            _ => Action::Crash(processes),
        },
        13 => match processes.as_slice() {
            [by, restored, ..] => Action::Restore { by: *by, restored: *restored },
            _ => Action::Crash(processes),
        },
        _ => match processes.as_slice() {
            [from, to, ..] => {
                let delayed = MessageFate::Delay(time(dice));
                let fates = [MessageFate::Deliver, MessageFate::Duplicate, MessageFate::Lose, delayed];
                let fate = *dice.pick(&fates);
                Action::Message { fate, from: *from, to: *to, nth: 1 + dice.below(23) as u32 }
            }
            _ => Action::Crash(processes),
        },
    }
}

fn random_faults(dice: &mut Dice, ids: &[u64]) -> RandomFaults {
    RandomFaults {
        crashes: rate(dice),
        recover_after: maybe(dice, range),
        amnesia: dice.once_in(2),
        max_down: 1 + dice.below(ids.len() as u64) as usize,
        pauses: rate(dice),
        pause_for: some_range(dice),
        cuts: rate(dice),
        cut_for: some_range(dice),
        partitions: rate(dice),
        partition_for: some_range(dice),
        drifts: rate(dice),
        drift_by: dice.below(101) as f64 / 100.0,
        suspicions: rate(dice),
        suspect_for: some_range(dice),
        until: some_time(dice),
    }
}

fn workload(dice: &mut Dice, ids: &[u64]) -> Workload {
    Workload {
        entries: dice.below(5) as u32,
        clients: if dice.once_in(2) { Vec::new() } else { some(dice, ids) },
        hold: range(dice),
        think: range(dice),
        rate: if dice.once_in(2) { 0.0 } else { rate(dice) },
    }
}

fn expectations(dice: &mut Dice, ids: &[u64]) -> Expectations {
    let kinds = (0..dice.below(3)).map(|_| (*dice.pick(&["total", "Ok", "Election", "odd kind"])).to_owned());
    let kinds: Vec<String> = kinds.collect();
    Expectations {
        leader: maybe(dice, |dice| *dice.pick(ids)),
        leaders: maybe(dice, |dice| if dice.once_in(4) { Vec::new() } else { some(dice, ids) }),
        entered: maybe(dice, |dice| (0..dice.below(6)).map(|_| *dice.pick(ids)).collect()),
        decided: maybe(dice, |dice| (*dice.pick(&["attack", "7", "1,2,retreat"])).to_owned()),
        within: maybe(dice, some_time),
        holds: (0..dice.below(3)).map(|number| format!("EM{number}")).collect(),
        violates: (0..dice.below(3)).map(|number| format!("E{number}")).collect(),
        outside: (0..dice.below(3)).map(|number| format!("E{}", number + 7)).collect(),
        messages: kinds.into_iter().map(|kind| (kind, count(dice))).collect(),
        leader_changes: maybe(dice, count),
        quiet: maybe(dice, |dice| dice.once_in(2)),
        refused_writes: maybe(dice, count),
    }
}

fn maybe<T>(dice: &mut Dice, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    if dice.once_in(2) { Some(value(dice)) } else { None }
}

fn text(dice: &mut Dice) -> String {
    const TEXTS: &[&str] = &[
        "bully",
        "a \"quoted\" word",
        "C:\\new",
        "two\nlines",
        "tab\tand\u{7}bell",
        "ação",
        "'",
        "a\u{7f}b",
        "#no",
    ];
    (*dice.pick(TEXTS)).to_owned()
}

fn option_name(dice: &mut Dice) -> String {
    (*dice.pick(&["timeout", "rank-delay", "with space", "a.b", "\"", "", "é"])).to_owned()
}

fn option(dice: &mut Dice) -> String {
    const VALUES: &[&str] = &[
        "50ms",
        "3",
        "-3",
        "+3",
        "03",
        "0x1f",
        "1.5",
        "1.50",
        "1e3",
        "true",
        "True",
        "nan",
        "inf",
        "1,2,3",
        "",
        "-0",
        "99999999999999999999",
        "[1]",
        "a\"b",
        "-0.5",
        ".5",
        "5.",
    ];
    (*dice.pick(VALUES)).to_owned()
}

fn any_number(dice: &mut Dice) -> u64 {
    match dice.below(3) {
        0 => dice.below(10),
        1 => dice.below(1 << 31),
        _ => u64::MAX - dice.below(10),
    }
}

fn time(dice: &mut Dice) -> Duration {
    let unit = *dice.pick(&[1, 1_000, 1_000_000, 500_000_000, 60_000_000_000, 3_600_000_000_000]);
    Duration::from_nanos(dice.below(100) * unit + if dice.once_in(4) { dice.below(1000) } else { 0 })
}

fn some_time(dice: &mut Dice) -> Duration {
    time(dice) + Duration::from_nanos(1 + dice.below(3) * 999_999)
}

fn range(dice: &mut Dice) -> (Duration, Duration) {
    let min = time(dice);
    (min, if dice.once_in(3) { min } else { min + time(dice) })
}

fn some_range(dice: &mut Dice) -> (Duration, Duration) {
    let (min, max) = range(dice);
    (min, max + Duration::from_millis(1))
}

fn probability(dice: &mut Dice) -> f64 {
    match dice.below(3) {
        0 => 0.0,
        1 => dice.below(101) as f64 / 100.0,
        _ => dice.below(1 << 31) as f64 / (1_u64 << 31) as f64 / 3.0,
    }
}

fn rate(dice: &mut Dice) -> f64 {
    match dice.below(3) {
        0 => 0.0,
        1 => dice.below(50) as f64,
        _ => dice.below(1000) as f64 / 60.0,
    }
}

fn count(dice: &mut Dice) -> Count {
    let min = dice.below(4);
    match dice.below(3) {
        0 => Count::exactly(any_number(dice)),
        1 => Count { min, max: min + dice.below(9) },
        _ => Count { min, max: u64::MAX },
    }
}
