//! One seed replays everything, on every machine.

use std::time::Duration;

use habemus_scenario::{Action, Cue, Latency, Occasion, RandomFaults, Scenario, TimeModel};

use crate::support::{play, play_traced};

fn election(algorithm: &str, seed: u64) -> Scenario {
    let elect = Action::Command { word: "elect".to_owned(), processes: (1..=5).collect() };
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: (1..=5).collect(),
        seed,
        script: vec![Cue { occasion: Occasion::At(Duration::ZERO), action: elect }],
        ..Scenario::default()
    }
}

/// A run in which everything that can be drawn is drawn.
fn stormy(seed: u64) -> Scenario {
    let ms = Duration::from_millis;
    let mut scenario = election("bully", seed);
    scenario.detector = Some("heartbeat".to_owned());
    scenario.network.latency = Latency::LogNormal { median: ms(3), sigma: 0.8 };
    scenario.network.fifo = false;
    scenario.network.loss = 0.01;
    scenario.network.duplication = 0.01;
    scenario.network.model = TimeModel::PartiallySynchronous { gst: ms(2000), delta: ms(10) };
    scenario.random = Some(RandomFaults {
        crashes: 2.0,
        recover_after: Some((ms(50), ms(200))),
        amnesia: false,
        max_down: 2,
        pauses: 2.0,
        pause_for: (ms(10), ms(200)),
        cuts: 2.0,
        cut_for: (ms(10), ms(200)),
        until: ms(2000),
        ..RandomFaults::usual(5)
    });
    scenario
}

#[test]
fn the_same_seed_gives_the_same_run_with_or_without_a_trace() {
    let first = play_traced(&stormy(11));
    let again = play_traced(&stormy(11));
    assert_eq!(first.trace, again.trace);
    assert_eq!(first.fingerprint, play(&stormy(11)).fingerprint);
    assert_ne!(first.fingerprint, play(&stormy(12)).fingerprint);
}

/// If one of these changes, so does what a seed means: old failing seeds no longer replay.
#[test]
fn fingerprints_are_fixed() {
    let fingerprint = |scenario: &Scenario| play(scenario).fingerprint;
    let found = [
        fingerprint(&election("chang-roberts", 1)),
        fingerprint(&election("bully", 2)),
        fingerprint(&stormy(3)),
    ];
    assert_eq!(found, ["457f02ec5c5b3e53", "eba3e1414834d68f", "071ead34a843b0a6"]);
}

/// A trace is checked for what every consumer relies on.
#[test]
fn vector_clocks_rise_by_one_and_deliveries_know_their_sendings() {
    use habemus_trace::Happening;
    let trace = play_traced(&stormy(5)).trace.expect("it was asked for");
    let mut own = std::collections::BTreeMap::new();
    let mut sent = std::collections::BTreeMap::new();
    let mut last = 0;
    for record in &trace.records {
        assert!(record.at >= last, "time goes back");
        last = record.at;
        if record.clock.is_empty() {
            continue;
        }
        let process = record.process.expect("only processes have clocks");
        let ticks = own.entry(process).or_insert(0);
        *ticks += 1;
        assert_eq!(record.clock[&process], *ticks);
        match &record.what {
            Happening::Send { message, .. } => {
                sent.insert(*message, record.clock.clone());
            }
            Happening::Deliver { message, .. } => {
                let sent = &sent[message];
                assert!(sent.iter().all(|(process, ticks)| record.clock[process] >= *ticks));
            }
            _ => {}
        }
    }
    assert!(own.len() == 5 && sent.len() > 100);
}
