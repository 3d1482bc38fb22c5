//! Time, where it passes only when nothing else can happen.

use super::{Successors, Worker};
use crate::environment::Environment;
use crate::protocol::{Act, Cause, Trouble};
use crate::row::{put, situation};

impl Worker<'_> {
    /// Lets the timers run out that may be next; says how many steps that makes.
    pub(super) fn let_time_pass(&mut self, state: &[u32], out: &mut Successors) -> Result<usize, Trouble> {
        let n = self.world.processes;
        let protocol = &self.world.protocol;
        let mut all = Vec::new();
        for place in 0..n {
            let (local, _) = situation(state, place);
            let alarms = self.alarms.entry(local).or_insert_with(|| protocol.alarms(local));
            all.extend(alarms.iter().map(|alarm| (place, *alarm)));
        }
        let Some(latest) = all.iter().map(|(_, alarm)| alarm.most).min() else { return Ok(0) };
        let environment = Environment(state[self.world.environment_at()]);
        let mut steps = 0;
        for (place, alarm) in all.into_iter().filter(|(_, alarm)| alarm.least <= latest) {
            let mut waited = state.to_vec();
            for other in 0..n {
                let (local, inbox) = situation(state, other);
                put(&mut waited, other, (self.elapse(local, alarm.least), inbox));
            }
            let (local, inbox) = situation(&waited, place);
            for (choice, index) in self.reflexes.of(local, Cause::Timer(alarm.timer))?.enumerate() {
                let reflex = self.reflexes.at(index);
                self.begin_in(&waited, environment);
                self.apply(place, inbox, reflex, environment);
                self.emit(out, place, Act::Timer { timer: alarm.timer, elapsed: alarm.least }, choice);
                steps += 1;
                if self.world.protocol.in_pulses() {
                    let what = (choice, reflex.sends().len());
                    self.crash_halfway(&waited, place, alarm, what, out)?;
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
        let protocol = &self.world.protocol;
        *self.elapsed.entry((local, nanos)).or_insert_with(|| protocol.elapse(local, nanos))
    }
}
