//! Time, where it passes only when nothing else can happen.

use super::{Successors, Worker};
use crate::environment::Environment;
use crate::protocol::{Act, Cause, Trouble};

impl Worker<'_> {
    /// Lets the timers run out that may be next; says how many steps that makes.
    pub(super) fn let_time_pass(&mut self, state: &[u32], out: &mut Successors) -> Result<usize, Trouble> {
        let n = self.world.processes;
        let protocol = &self.world.protocol;
        let mut all = Vec::new();
        for (place, &situation) in state[..n].iter().enumerate() {
            let local = self.local(situation);
            let alarms = self.alarms.entry(local).or_insert_with(|| protocol.alarms(local));
            all.extend(alarms.iter().map(|alarm| (place, *alarm)));
        }
        let Some(latest) = all.iter().map(|(_, alarm)| alarm.most).min() else { return Ok(0) };
        let environment = Environment(state[n]);
        let mut steps = 0;
        for (place, alarm) in all.into_iter().filter(|(_, alarm)| alarm.least <= latest) {
            let mut waited = state.to_vec();
            for situation in &mut waited[..n] {
                *situation = self.elapse(*situation, alarm.least);
            }
            let local = self.local(waited[place]);
            let reactions = self.react(local, Cause::Timer(alarm.timer))?;
            for (choice, reaction) in reactions.iter().enumerate() {
                self.begin(&waited);
                self.apply(place, reaction, environment);
                self.emit(out, place, Act::Timer { timer: alarm.timer, elapsed: alarm.least }, choice);
                steps += 1;
                if self.world.protocol.in_pulses() {
                    let what = (choice, reaction.sends.len());
                    self.crash_halfway(&waited, place, alarm, what, out)?;
                }
            }
        }
        Ok(steps)
    }

    /// The situation of a process after time has passed.
    fn elapse(&mut self, situation: u32, nanos: u64) -> u32 {
        if nanos == 0 {
            return situation;
        }
        let (local, inbox) = self.situation(situation);
        let protocol = &self.world.protocol;
        let local = *self.elapsed.entry((local, nanos)).or_insert_with(|| protocol.elapse(local, nanos));
        self.number((local, inbox))
    }
}
