//! The faults that the budget still allows, as steps like any other.

use habemus::{Address, Suspicion};

use super::{Successors, Worker};
use crate::environment::{Environment, Fault};
use crate::protocol::{Act, Alarm, Cause, Life, Trouble};

impl Worker<'_> {
    /// The faults that may happen in `state`, beside those that concern a single message.
    pub(super) fn faults(
        &mut self,
        state: &[u32],
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        for place in 0..n {
            match self.life(state[place]) {
                Life::Up if environment.left(Fault::Crash) > 0 && self.world.may_crash(place) => {
                    self.crash(state, place, environment, out)?;
                }
                Life::Down if environment.left(Fault::Recovery) > 0 => {
                    self.recover(state, place, environment, out)?;
                }
                _ => {}
            }
        }
        if environment.left(Fault::Suspicion) > 0 {
            self.suspect_falsely(state, environment, out)?;
        }
        if environment.left(Fault::Partition) > 0 && environment.group() == 0 {
            // The first process is always on the side that is not named: each split is made once.
            for group in (2..1_u32 << n).step_by(2) {
                self.begin(state);
                self.scratch[n] = environment.after(Fault::Partition).with_group(group).0;
                self.emit(out, 0, Act::Cut(group), 0);
            }
        }
        Ok(())
    }

    fn crash(
        &mut self,
        state: &[u32],
        place: usize,
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        let forever = environment.left(Fault::Recovery) == 0;
        let (local, inbox) = self.situation(state[place]);
        let inbox = if forever { 0 } else { self.mail.without_notices(inbox) };
        for (choice, reaction) in self.react(local, Cause::Crash { forever })?.iter().enumerate() {
            self.begin(state);
            let after = environment.after(Fault::Crash);
            self.scratch[n] = after.0;
            self.scratch[place] = self.number((local, inbox));
            self.apply(place, reaction, after);
            self.tell_others(place, Suspicion::Suspect(Address(place as u32)));
            self.emit(out, place, Act::Crash { forever }, choice);
        }
        Ok(())
    }

    /// In a pulse a process may crash when some of its messages are sent and others are not.
    pub(super) fn crash_halfway(
        &mut self,
        waited: &[u32],
        place: usize,
        alarm: Alarm,
        (choice, sends): (usize, usize),
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        let environment = Environment(waited[n]);
        if environment.left(Fault::Crash) == 0 || !self.world.may_crash(place) {
            return Ok(());
        }
        let local = self.local(waited[place]);
        // To crash before the first is to crash before the pulse, and to crash after the last one to crash after it.
        for kept in 1..sends {
            let protocol = &self.world.protocol;
            let reaction = protocol.halfway(local, alarm.timer, choice, kept)?;
            self.begin(waited);
            let after = environment.after(Fault::Crash);
            (self.scratch[n], self.scratch[place]) = (after.0, self.number((local, 0)));
            self.apply(place, &reaction, after);
            let act = Act::Halfway { timer: alarm.timer, elapsed: alarm.least, kept: kept as u16 };
            self.emit(out, place, act, choice);
        }
        Ok(())
    }

    fn recover(
        &mut self,
        state: &[u32],
        place: usize,
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        let local = self.local(state[place]);
        for (choice, reaction) in self.react(local, Cause::Recover)?.iter().enumerate() {
            self.begin(state);
            let after = environment.after(Fault::Recovery);
            self.scratch[n] = after.0;
            self.apply(place, reaction, after);
            if self.world.oracle {
                for other in (0..n).filter(|&other| other != place) {
                    if self.life(state[other]) != Life::Up {
                        self.tell(place, Suspicion::Suspect(Address(other as u32)));
                    }
                }
            }
            self.tell_others(place, Suspicion::Restore(Address(place as u32)));
            self.emit(out, place, Act::Recover, choice);
        }
        Ok(())
    }

    fn suspect_falsely(
        &mut self,
        state: &[u32],
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        for by in 0..n {
            for suspect in (0..n).filter(|&suspect| suspect != by) {
                if self.life(state[by]) != Life::Up || self.life(state[suspect]) != Life::Up {
                    continue;
                }
                let address = Address(suspect as u32);
                let cause = Cause::Suspicion(Suspicion::Suspect(address));
                let local = self.local(state[by]);
                for (choice, reaction) in self.react(local, cause)?.iter().enumerate() {
                    self.begin(state);
                    let after = environment.after(Fault::Suspicion);
                    self.scratch[n] = after.0;
                    self.apply(by, reaction, after);
                    self.tell(by, Suspicion::Restore(address));
                    self.emit(out, by, Act::Suspect(suspect as u8), choice);
                }
            }
        }
        Ok(())
    }

    /// The oracle tells every other live process.
    fn tell_others(&mut self, about: usize, suspicion: Suspicion) {
        if !self.world.oracle {
            return;
        }
        for other in (0..self.world.processes).filter(|&other| other != about) {
            if self.life(self.scratch[other]) == Life::Up {
                self.tell(other, suspicion);
            }
        }
    }

    fn tell(&mut self, whom: usize, suspicion: Suspicion) {
        let notice = self.world.protocol.notice(suspicion);
        self.scratch[whom] = self.add(self.scratch[whom], notice);
    }
}
