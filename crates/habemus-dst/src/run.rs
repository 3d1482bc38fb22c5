//! One run: first everything goes wrong, then nothing, and then everything must be well.

use habemus_trace::Trace;

use crate::calamity::Script;
use crate::clock::Micros;
use crate::history::Judge;
use crate::linearizability;
use crate::seen::Seen;
use crate::shape::SeedShape;
use crate::world::{Telling, World};

/// So long after the last thing went wrong everybody must be served again,
pub(crate) const RECOVERY: Micros = 4_000_000;
/// within this time.
pub(crate) const PEACE: Micros = 8_000_000;
/// And so long after the last word of a client its session has ended.
pub(crate) const END: Micros = 6_000_000;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// What went wrong by intent.
    pub script: Script,
    /// What must not have happened: who judged it, and what it was.
    pub violation: Option<String>,
    /// How much virtual time passed, in microseconds.
    pub micros: u64,
    /// How many things happened.
    pub events: u64,
    /// How many calls about keys were answered.
    pub answered: u64,
    /// How often somebody was inside a lock.
    pub entered: u64,
    /// What went wrong, and what the service's code came to.
    pub seen: Seen,
}

/// Plays a seed.
pub fn play(seed: u64) -> Outcome {
    play_script(seed, Script::draw(seed, SeedShape::draw(seed).trouble))
}

/// Plays a seed with another script than its own.
pub fn play_script(seed: u64, script: Script) -> Outcome {
    play_and_tell(seed, script, Telling::Nothing).0
}

/// Plays a seed with this script again, and tells all that happens as a trace.
pub fn tell(seed: u64, script: Script) -> Trace {
    play_and_tell(seed, script, Telling::All).1.expect("it was asked for")
}

fn play_and_tell(seed: u64, script: Script, telling: Telling) -> (Outcome, Option<Trace>) {
    let shape = SeedShape::draw(seed);
    let mut world = World::new(seed, &shape, script.clone(), telling);
    world.run_until(shape.trouble);
    world.heal();
    world.run_until(shape.trouble + RECOVERY);
    world.clean_up();
    let before = world.progress();
    let end = world.now() + PEACE;
    world.run_until_well(end, |world| !shape.is_patient && world.is_served_since(&before));
    world.judge_progress(&before);
    world.end();
    let end = world.now() + END;
    world.run_until_well(end, |world| !shape.is_patient && world.is_at_rest());
    world.judge();
    let violation = world.history.violation.take();
    let trace = world.story.take().map(|story| story.end(world.now(), violation.as_deref()));
    let outcome = Outcome {
        seed,
        script,
        violation,
        micros: world.now(),
        events: world.events,
        answered: world.history.key_calls.iter().filter(|call| call.responded.is_some()).count() as u64,
        entered: world.history.inside.len() as u64,
        seen: world.seen,
    };
    (outcome, trace)
}

/// The same seed with as few calamities as still lead to a violation, of whatever kind; and how many runs it
/// took.
pub fn shrink(outcome: Outcome, mut tried: impl FnMut(usize)) -> Outcome {
    let mut best = outcome;
    let mut size = best.script.len().div_ceil(2).max(1);
    loop {
        let mut first = 0;
        while first < best.script.len() {
            let outcome = play_script(best.seed, best.script.without(first, size));
            tried(best.script.len());
            if outcome.violation.is_some() {
                best = outcome;
            } else {
                first += size;
            }
        }
        if size == 1 {
            return best;
        }
        size = size.div_ceil(2);
    }
}

impl World {
    pub(crate) fn judge(&mut self) {
        self.judge_locks_and_sessions();
        self.judge_calls();
    }

    pub(crate) fn judge_calls(&mut self) {
        if let Err(why) = linearizability::judge(&self.history.revised, &self.history.key_calls) {
            self.history.violated(Judge::Keys, why);
        }
    }

    fn judge_locks_and_sessions(&mut self) {
        self.history.judge_locks();
        for (judge, why) in self.violations_at_the_end(self.last_revision()) {
            self.history.violated(judge, why);
        }
    }
}
