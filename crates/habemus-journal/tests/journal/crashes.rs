//! Whenever the power goes: what was confirmed is there, and of what was not, all or nothing.

use habemus_journal::Journal;
use habemus_replica::{Recovered, Write};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::support::*;
use habemus_dst::CruelDisk;

enum Step {
    Write(Write),
    Compact(habemus_replica::StoredSnapshot),
}

fn draw(random: &mut Pcg32, bound: u64) -> u64 {
    u64::from(random.next_u32()) % bound
}

/// Something that a replica might want next.
fn next(known: &Recovered, random: &mut Pcg32) -> Step {
    let base = known.snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
    let last = base + known.entries.len() as u64;
    let term = known.state.term + u64::from(draw(random, 4) == 0);
    match draw(random, 12) {
        0 if last > base => Step::Compact(snapshot(base + 1 + draw(random, last - base), known.state.term)),
        1 => {
            let received = last + 1 + draw(random, 5);
            let count = draw(random, 3);
            Step::Write(Write {
                snapshot: Some(snapshot(received, term)),
                ..write(received + 1, count, term)
            })
        }
        // A new leader has other entries.
        2 if last > base => {
            Step::Write(write(base + 1 + draw(random, last - base), 1 + draw(random, 4), term + 1))
        }
        3 => Step::Write(Write { entries: vec![], ..write(last + 1, 0, term + 1) }),
        _ => Step::Write(write(last + 1, 1 + draw(random, 6), term)),
    }
}

fn tell(found: &Recovered) -> String {
    let base = found.snapshot.as_ref().map(|snapshot| (snapshot.index, snapshot.term));
    let last = found.entries.last().map(|entry| (entry.index, entry.term));
    format!("a log from {base:?} to {last:?} and {:?} were not to be expected", found.state)
}

fn play(seed: u64) {
    let disk = CruelDisk::new(seed);
    let mut random = Pcg32::new(seed, 2);
    let mut journal = Journal::create(disk.clone(), SMALL, &first()).expect("the disk works");
    let mut known = first();
    for _ in 0..6 {
        disk.fail_after(draw(&mut random, 120) as usize);
        let (attempted, extent) = loop {
            let step = next(&known, &mut random);
            let before = journal.extent();
            let mut after = known.clone();
            let done = match &step {
                Step::Write(write) => {
                    apply(&mut after, write);
                    journal.write(std::slice::from_ref(write))
                }
                Step::Compact(snapshot) => {
                    compact(&mut after, snapshot);
                    journal.compact(snapshot)
                }
            };
            match done {
                Ok(()) => known = after,
                Err(_) => break (after, before),
            }
            let grew = journal.extent() > before || matches!(step, Step::Compact(_));
            assert!(grew, "seed {seed}: what was made durable does not show in {before:?}");
        };
        disk.restart();
        let (opened, found) =
            Journal::open(disk.clone(), SMALL).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(
            opened.extent() >= extent,
            "seed {seed}: {extent:?} was durable, {:?} is left",
            opened.extent()
        );
        // Of a received snapshot with entries, the snapshot may have come through alone.
        let without_entries = Recovered { entries: Vec::new(), ..attempted.clone() };
        let received = attempted.snapshot != known.snapshot && found == without_entries;
        assert!(found == known || found == attempted || received, "seed {seed}: {}", tell(&found));
        (journal, known) = (opened, found);
    }
}

#[test]
fn what_was_confirmed_survives_whenever_the_power_goes() {
    let seeds = std::env::var("HABEMUS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        play(seed);
    }
}
