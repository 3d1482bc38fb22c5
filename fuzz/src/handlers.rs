//! Any events against the handlers of every algorithm: messages out of nothing and mutated ones, timers,
//! commands, suspicions, restarts. What libFuzzer invents is read as the story of one process among liars.

#[path = "../../crates/habemus-machine/tests/handlers/attack.rs"]
mod victim;

use victim::{Victim, targets};

/// A story of one process among liars.
pub fn attack(bytes: &[u8]) {
    let [first, second, place, story @ ..] = bytes else { return };
    let target = &targets()[usize::from(u16::from_le_bytes([*first, *second])) % targets().len()];
    let mut victim = Victim::new(target, u32::from(*place) % 4);
    let mut source = story.iter().copied();
    while victim.suffer(&mut source) {}
    let _ = (victim.taken, victim.state());
}
