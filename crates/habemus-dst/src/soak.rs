//! One run that lasts for hours: trouble and peace by turns, with the same members. What was judged is
//! forgotten, so that whatever still grows is the service's own.

use habemus_store::Revision;

use crate::calamity::{Calamity, Script};
use crate::clock::Micros;
use crate::history::Judge;
use crate::run::{END, PEACE, RECOVERY};
use crate::seen::Seen;
use crate::shape::SeedShape;
use crate::world::{Telling, World};

/// So long things go wrong in each round.
const TROUBLE: Micros = 15_000_000;

/// No store is ever larger: some keys, some sessions, and no more history than is wanted.
const MAX_STORE: usize = 4 << 20;

/// How a long run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How much virtual time has passed, in microseconds.
    pub micros: u64,
    /// How many things have happened.
    pub events: u64,
    /// How many calls about keys were answered.
    pub answered: u64,
    /// How often somebody was inside a lock.
    pub entered: u64,
    /// How many revisions there were.
    pub revisions: u64,
    /// How many bytes the largest disk of a member has.
    pub disk: usize,
    /// How many bytes the largest store takes when it is written down.
    pub store: usize,
    /// What went wrong, and what the service's code came to.
    pub seen: Seen,
}

/// Plays one seed for so many rounds of 33 s, and tells how it stands after each.
///
/// # Errors
/// If a promise is broken: which.
pub fn soak(seed: u64, rounds: u64, mut told: impl FnMut(&Standing)) -> Result<Standing, String> {
    let shape = SeedShape::of_long_run(seed, TROUBLE);
    let mut world = World::new(seed, &shape, Script::draw_sober(seed, TROUBLE), Telling::Nothing);
    let mut standing = Standing::default();
    let mut begin: Micros = 0;
    for round in 1..=rounds {
        world.run_until(begin + TROUBLE);
        world.heal();
        world.run_until(begin + TROUBLE + RECOVERY);
        world.clean_up();
        let before = world.progress();
        world.run_until(begin + TROUBLE + RECOVERY + PEACE);
        world.judge_progress(&before);
        if round == rounds {
            world.end();
        }
        world.run_until(begin + TROUBLE + RECOVERY + PEACE + END);
        if round == rounds {
            world.judge();
        } else {
            world.judge_and_forget(&mut standing);
        }
        begin = world.now();
        world.take_stock(&mut standing);
        told(&standing);
        if let Some(why) = world.history.violation.take() {
            return Err(why);
        }
        world.trouble(&Script::draw_sober(seed.wrapping_add(round << 32), TROUBLE));
    }
    Ok(standing)
}

impl World {
    /// Judges what happened, and forgets what cannot matter any more.
    fn judge_and_forget(&mut self, standing: &mut Standing) {
        self.judge_calls();
        self.history.judge_locks();
        let history = &mut self.history;
        let answered = history.key_calls.iter().filter(|call| call.responded.is_some()).count();
        standing.answered += answered as u64;
        standing.entered += history.inside.len() as u64;
        history.key_calls.clear();
        history.inside.clear();
        // Whoever was slow may still be answered as of some time ago.
        let first = Revision(self.forgotten_up_to.0.max(1));
        self.forgotten_up_to = self.last_revision();
        self.history.forget_before(first, self.now().saturating_sub(TROUBLE));
        self.forget_answers();
    }

    fn take_stock(&mut self, standing: &mut Standing) {
        standing.micros = self.now();
        standing.events = self.events;
        standing.revisions = self.history.revised.keys().next_back().map_or(0, |last| last.0);
        standing.seen.clone_from(&self.seen);
        (standing.disk, standing.store) = self.sizes();
        if standing.store > MAX_STORE {
            let why = format!("a store takes {} bytes", standing.store);
            self.history.violated(Judge::Disks, why);
        }
    }
}

impl Script {
    /// The script of a seed with clocks that are as right as clients allow for.
    fn draw_sober(seed: u64, end: Micros) -> Script {
        let mut script = Script::draw(seed, end);
        script.0.retain(|(_, calamity)| calamity.kind() != Calamity::WILD_CLOCK);
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_every_promise_and_grows_no_further() {
        let mut sizes = Vec::new();
        let standing = soak(1, 6, |standing| sizes.push(standing.disk)).expect("every promise is kept");
        assert_eq!(standing.micros, 6 * (TROUBLE + RECOVERY + PEACE + END));
        assert!(standing.answered > 500 && standing.entered > 100, "{standing:?}");
        assert!(sizes.iter().all(|disk| *disk < 1 << 21), "{sizes:?}");
    }
}
