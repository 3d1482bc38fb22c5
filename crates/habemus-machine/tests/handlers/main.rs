//! Nothing that comes from a socket stops a process: every message of every algorithm, with addresses,
//! identifiers, sets and numbers out of range, in every order.

mod attack;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use attack::{Victim, targets};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// So many things are done to a process in one life.
const EVENTS: usize = 400;

fn bytes(seed: u64) -> impl Iterator<Item = u8> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    std::iter::repeat_with(move || random.next_u64().to_le_bytes()).flatten()
}

/// Lives through the attack of this seed; says how many messages were taken, and what became of the process.
/// An error names algorithm and seed.
fn live(index: usize, seed: u64, events: usize) -> Result<(u64, String), String> {
    let target = &targets()[index];
    let lived = std::panic::catch_unwind(|| {
        let mut victim = Victim::new(target, (seed % 4) as u32);
        let mut source = bytes(seed);
        (0..events).all(|_| victim.suffer(&mut source));
        (victim.taken, victim.state())
    });
    lived.map_err(|_| format!("{target} does not survive seed {seed}"))
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// `HABEMUS_FUZZ_SECONDS=600` goes on for so long; `HABEMUS_FUZZ_SEED` begins elsewhere.
#[test]
fn whatever_bytes_come_no_handler_panics() {
    let first = variable("HABEMUS_FUZZ_SEED").unwrap_or(0);
    let until = variable("HABEMUS_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let count = targets().len();
    let (mut taken, mut failures, mut seed) = (vec![0; count], BTreeMap::new(), first);
    while seed < first + 20 || until.is_some_and(|until| Instant::now() < until) {
        for (index, taken) in taken.iter_mut().enumerate() {
            match live(index, seed, EVENTS) {
                Ok((messages, _)) => *taken += messages,
                Err(why) => {
                    failures.entry(index).or_insert(why);
                }
            }
        }
        seed += 1;
    }
    assert!(failures.is_empty(), "{failures:#?}");
    for (taken, target) in taken.iter().zip(targets()) {
        assert!(*taken >= 20, "{target} took {taken} messages only");
    }
    let all: u64 = taken.iter().sum();
    println!("{} lives of each of {count} processes, {all} messages taken", seed - first);
}

#[test]
fn however_much_comes_a_process_does_not_grow_for_ever() {
    for (index, target) in targets().iter().enumerate() {
        if target.entry.is_synchronous() {
            // What waits for a pulse is gone with it, and has a bound of its own.
            continue;
        }
        let (_, state) = live(index, 1, 10 * EVENTS).unwrap_or_else(|why| panic!("{why}"));
        assert!(state.len() < 20_000, "{target}: {} bytes: {state:.2000}", state.len());
    }
}

/// What real nodes run unless they are told otherwise is not what the simulator runs.
#[test]
fn what_carries_a_load_on_real_nodes_is_attacked() {
    let names: Vec<String> = targets().iter().map(ToString::to_string).collect();
    for expected in [
        "a lock that shares the election of majority",
        r#"elected-coordinator on none with {"election": "majority", "fencing": "true", "keep-alive": "true"}"#,
    ] {
        assert!(names.iter().any(|name| name.contains(expected)), "{expected} is not among {names:#?}");
    }
}
