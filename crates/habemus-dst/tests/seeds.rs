//! Seeds, a few of them; `HABEMUS_FIRST_SEED` and `HABEMUS_SEEDS` choose others, and `habemus-dst` plays
//! many.

use std::sync::atomic::{AtomicU64, Ordering};

use habemus_dst::{Seen, play, play_script};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn every_promise_is_kept_whatever_goes_wrong_and_everything_does() {
    let first = variable("HABEMUS_FIRST_SEED").unwrap_or(0);
    let count = variable("HABEMUS_SEEDS").unwrap_or(2000);
    let next = AtomicU64::new(first);
    let play_some = || {
        let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let outcomes = seeds.take_while(|seed| *seed < first + count).map(|seed| {
            let outcome = play(seed);
            let repeat = format!("HABEMUS_FIRST_SEED={seed} HABEMUS_SEEDS=1 repeats this");
            assert_eq!(outcome.violation, None, "{repeat}\n{}", outcome.script);
            assert!(outcome.answered > 0 && outcome.entered > 0, "too quiet: {repeat}");
            outcome.seen
        });
        outcomes.collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut seen = Seen::default();
    let all: Vec<_> = std::thread::scope(|scope| {
        let players: Vec<_> = (0..cores).map(|_| scope.spawn(play_some)).collect();
        players.into_iter().flat_map(|player| player.join().expect("every promise is kept")).collect()
    });
    if count >= 500 {
        all.iter().for_each(|it| seen.add(it));
        assert_eq!(seen.missing(), [], "what never happened proves nothing");
    }
}

#[test]
fn a_seed_is_played_the_same_way_each_time() {
    let once = play(3);
    let again = play_script(3, once.script.clone());
    let all = |outcome: &habemus_dst::Outcome| {
        (outcome.events, outcome.answered, outcome.entered, outcome.seen.clone())
    };
    assert_eq!(all(&once), all(&again));
}
