//! Any events against the handlers of every algorithm: messages out of nothing and mutated ones, timers, commands,
//! suspicions, restarts. What libFuzzer invents is read as the story of one process among liars.

#![no_main]

#[path = "../../crates/habemus-machine/tests/handlers/attack.rs"]
mod attack;

use attack::{Victim, targets};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [first, second, place, story @ ..] = bytes else { return };
    let target = &targets()[usize::from(u16::from_le_bytes([*first, *second])) % targets().len()];
    let mut victim = Victim::new(target, u32::from(*place) % 4);
    let mut source = story.iter().copied();
    while victim.suffer(&mut source) {}
    let _ = (victim.taken, victim.state());
});
