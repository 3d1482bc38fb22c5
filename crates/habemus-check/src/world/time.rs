//! Time, where it passes only when nothing else can happen.

use super::{Successors, Worker};
use crate::environment::Environment;
use crate::protocol::{Cause, TransitionKind, Trouble};
use crate::row::{put, situation};

impl Worker<'_> {
    /// Lets the timers run out that may be next; says how many steps that makes.
    pub(super) fn let_time_pass(&mut self, state: &[u32], out: &mut Successors) -> Result<usize, Trouble> {
        let n = self.world.processes;
        let system = &self.world.system;
        let mut all = Vec::new();
        for address in 0..n {
            let (local, _) = situation(state, address);
            all.extend(system.timers(local).iter().map(|running| (address, *running)));
        }
        let Some(latest) = all.iter().map(|(_, running)| running.max).min() else { return Ok(0) };
        let environment = Environment(state[self.world.environment_at()]);
        let mut steps = 0;
        for (address, running) in all.into_iter().filter(|(_, running)| running.min <= latest) {
            let mut waited = state.to_vec();
            for other in 0..n {
                let (local, inbox) = situation(state, other);
                put(&mut waited, other, (self.elapse(local, running.min), inbox));
            }
            let (local, inbox) = situation(&waited, address);
            for (choice, index) in self.reflexes.of(local, Cause::Timer(running.timer))?.enumerate() {
                let reflex = self.reflexes.at(index);
                self.begin_in(&waited, environment);
                self.apply(address, inbox, reflex, environment);
                let kind = TransitionKind::Timer { timer: running.timer, elapsed: running.min };
                self.emit(out, address, kind, choice);
                steps += 1;
                if self.world.system.facts.synchronous {
                    let what = (choice, reflex.sends().len());
                    self.crash_halfway(&waited, address, running, what, out)?;
                }
            }
        }
        Ok(steps)
    }

    /// The local state of a process after time has passed.
    fn elapse(&mut self, local: u32, nanos: u64) -> u32 {
        if nanos == 0 {
            return local;
        }
        let system = &self.world.system;
        *self.elapsed.entry((local, nanos)).or_insert_with(|| system.elapse(local, nanos))
    }
}
