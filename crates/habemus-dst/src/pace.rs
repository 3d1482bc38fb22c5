//! How fast everybody is: some seeds have machines that look at their clocks as often as the server does and
//! clients that never rest, most have fewer things to do and so more time for things to go wrong.

use habemus_replica::{MemberId, Settings};

use crate::clock::Micros;
use crate::random::Random;

/// How fast everybody is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How often a machine looks at its clock.
    pub(crate) tick: Micros,
    /// How long a client rests at most between two calls.
    pub(crate) think: Micros,
    /// How many revisions are remembered.
    pub(crate) history: usize,
}

impl Pace {
    pub(crate) fn draw(random: &mut Random) -> Pace {
        Pace {
            tick: if random.happens(125) { 5_000 } else { 20_000 },
            think: if random.happens(60) { 40_000 } else { 400_000 },
            history: if random.happens(60) { 10_000 } else { 200 },
        }
    }

    /// The settings of a member: whatever is counted in ticks takes as long as with the server's own.
    pub(crate) fn settings(&self, id: MemberId, seed: u64) -> Settings {
        let mut settings = Settings::new(id, seed);
        if self.tick > 5_000 {
            settings.heartbeat_ticks = 2;
            settings.min_election_ticks = 9;
            settings.max_election_ticks = 13;
        }
        settings.patience_ticks = 1_500_000 / self.tick;
        settings.snapshot_after_bytes = 16_000;
        settings.keep_entries = 20;
        settings
    }
}
