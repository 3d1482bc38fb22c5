//! Any events against the handlers of every algorithm: messages out of nothing and mutated ones, timers, commands,
//! suspicions, restarts. What libFuzzer invents is read as the story of one process among liars.

#![no_main]

#[path = "../../crates/habemus-machine/tests/handlers/attack.rs"]
mod attack;

use attack::{Victim, victims};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [which, place, story @ ..] = bytes else { return };
    let victims = victims();
    let (entry, detector) = victims[usize::from(*which) % victims.len()];
    let mut victim = Victim::new(entry, detector, u32::from(*place) % 4);
    let mut source = story.iter().copied();
    while victim.suffer(&mut source) {}
    let _ = (victim.taken, victim.state());
});
