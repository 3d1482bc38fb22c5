//! Seeds, a few of them; `HABEMUS_FIRST_SEED` and `HABEMUS_SEEDS` choose others, and `habemus-dst` plays many.

use std::collections::BTreeMap;

use habemus_dst::{missing, play, play_script};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn every_promise_is_kept_whatever_goes_wrong_and_everything_does() {
    let first = variable("HABEMUS_FIRST_SEED").unwrap_or(0);
    let count = variable("HABEMUS_SEEDS").unwrap_or(200);
    let mut calamities: Vec<BTreeMap<&str, u64>> = Vec::new();
    for seed in first..first + count {
        println!("HABEMUS_FIRST_SEED={seed} HABEMUS_SEEDS=1 repeats this");
        let outcome = play(seed);
        assert_eq!(outcome.violation, None, "seed {seed}\n{}", outcome.script);
        assert!(outcome.answered > 0 && outcome.entered > 0, "seed {seed} is too quiet");
        calamities.push(outcome.calamities);
    }
    if count >= 200 {
        assert_eq!(missing(&calamities), [""; 0], "what never happened proves nothing");
    }
}

#[test]
fn a_seed_is_played_the_same_way_each_time() {
    let once = play(3);
    let again = play_script(3, once.script.clone());
    let all = |outcome: &habemus_dst::Outcome| {
        (outcome.events, outcome.answered, outcome.entered, outcome.calamities.clone())
    };
    assert_eq!(all(&once), all(&again));
}
