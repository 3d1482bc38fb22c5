//! The faults that the budget still allows, as steps like any other.

use habemus::{Address, Suspicion};

use super::{Successors, Worker};
use crate::environment::{Environment, Fault};
use crate::local::Running;
use crate::protocol::{Cause, Life, TransitionKind, Trouble};
use crate::row::{put, situation};

impl Worker<'_> {
    /// The faults that may happen in `state`, beside those that concern a single message.
    pub(super) fn faults(
        &mut self,
        state: &[u32],
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        for address in 0..n {
            match self.life(situation(state, address).0) {
                Life::Up if environment.left(Fault::Crash) > 0 && self.world.may_crash(address) => {
                    self.crash(state, address, environment, out)?;
                }
                Life::Down if environment.left(Fault::Recovery) > 0 => {
                    self.recover(state, address, environment, out)?;
                }
                _ => {}
            }
        }
        if environment.left(Fault::WrongTimeout) > 0 {
            self.time_out_wrongly(state, environment, out)?;
        }
        if environment.left(Fault::Suspicion) > 0 {
            self.suspect_falsely(state, environment, out)?;
        }
        if environment.left(Fault::Partition) > 0 && environment.group() == 0 {
            // The first process is always on the side that is not named: each split is made once.
            for group in (2..1_u32 << n).step_by(2) {
                self.begin_in(state, environment.after(Fault::Partition).with_group(group));
                self.emit(out, 0, TransitionKind::Cut(group), 0);
            }
        }
        Ok(())
    }

    fn crash(
        &mut self,
        state: &[u32],
        address: usize,
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let forever = environment.left(Fault::Recovery) == 0;
        let (local, inbox) = situation(state, address);
        let inbox = if forever { 0 } else { self.mail.without_notices(inbox) };
        let after = environment.after(Fault::Crash);
        for (choice, index) in self.reflexes.of(local, Cause::Crash { forever })?.enumerate() {
            self.begin_in(state, after);
            self.apply(address, inbox, self.reflexes.at(index), after);
            self.tell_of_crash(address);
            self.emit(out, address, TransitionKind::Crash { forever }, choice);
        }
        Ok(())
    }

    /// In a pulse a process may crash when some of its messages are sent and others are not: any of them, for
    /// nothing is said about their order.
    pub(super) fn crash_halfway(
        &mut self,
        waited: &[u32],
        address: usize,
        running: Running,
        (choice, sends): (usize, usize),
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let environment = Environment(waited[self.world.environment_at()]);
        if environment.left(Fault::Crash) == 0 || !self.world.may_crash(address) {
            return Ok(());
        }
        let (local, _) = situation(waited, address);
        let after = environment.after(Fault::Crash);
        // To crash before the first is to crash before the pulse, and to crash when all are sent is to crash
        // after it.
        assert!(sends < u32::BITS as usize, "a process has fewer than 32 neighbours");
        for kept in 1..(1_u32 << sends).saturating_sub(1) {
            let reflex = self.reflexes.halfway(local, running.timer, choice, kept)?;
            self.begin_in(waited, after);
            self.apply(address, 0, reflex, after);
            self.tell_of_crash(address);
            let kind = TransitionKind::Halfway { timer: running.timer, elapsed: running.min, kept };
            self.emit(out, address, kind, choice);
        }
        Ok(())
    }

    fn recover(
        &mut self,
        state: &[u32],
        address: usize,
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let n = self.world.processes;
        let (local, inbox) = situation(state, address);
        let after = environment.after(Fault::Recovery);
        for (choice, index) in self.reflexes.of(local, Cause::Recover)?.enumerate() {
            self.begin_in(state, after);
            self.apply(address, inbox, self.reflexes.at(index), after);
            if self.world.system.facts.oracle {
                for other in (0..n).filter(|&other| other != address) {
                    if self.life(situation(state, other).0) != Life::Up {
                        self.tell(address, Suspicion::Suspect(Address(other as u32)));
                    }
                }
            }
            self.take_back(Suspicion::Suspect(Address(address as u32)));
            self.tell_others(address, Suspicion::Restore(Address(address as u32)));
            self.emit(out, address, TransitionKind::Recover, choice);
        }
        Ok(())
    }

    /// Whether somebody is down and sure to come back.
    pub(super) fn owes_recovery(&mut self, state: &[u32], environment: Environment) -> bool {
        self.world.setting.sure_recovery
            && environment.left(Fault::Recovery) > 0
            && (0..self.world.processes).any(|address| self.life(situation(state, address).0) == Life::Down)
    }

    /// Any timer that runs may run out at once, and no time passes.
    fn time_out_wrongly(
        &mut self,
        state: &[u32],
        environment: Environment,
        out: &mut Successors,
    ) -> Result<(), Trouble> {
        let after = environment.after(Fault::WrongTimeout);
        let system = &self.world.system;
        for address in 0..self.world.processes {
            let (local, inbox) = situation(state, address);
            for timer in system.timers(local).iter().map(|running| running.timer) {
                for (choice, index) in self.reflexes.of(local, Cause::Timer(timer))?.enumerate() {
                    self.begin_in(state, after);
                    self.apply(address, inbox, self.reflexes.at(index), after);
                    self.emit(out, address, TransitionKind::WrongTimeout(timer), choice);
                }
            }
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
        let after = environment.after(Fault::Suspicion);
        for by in 0..n {
            let (local, inbox) = situation(state, by);
            for suspect in (0..n).filter(|&suspect| suspect != by) {
                if self.life(local) != Life::Up || self.life(situation(state, suspect).0) != Life::Up {
                    continue;
                }
                let address = Address(suspect as u32);
                let cause = Cause::Suspicion(Suspicion::Suspect(address));
                for (choice, index) in self.reflexes.of(local, cause)?.enumerate() {
                    self.begin_in(state, after);
                    self.apply(by, inbox, self.reflexes.at(index), after);
                    self.tell(by, Suspicion::Restore(address));
                    self.emit(out, by, TransitionKind::Suspect(suspect as u8), choice);
                }
            }
        }
        Ok(())
    }

    /// The oracle tells everybody, and no longer that this one is back.
    fn tell_of_crash(&mut self, crashed: usize) {
        let address = Address(crashed as u32);
        self.take_back(Suspicion::Restore(address));
        self.tell_others(crashed, Suspicion::Suspect(address));
    }

    /// The oracle tells every other live process.
    fn tell_others(&mut self, about: usize, suspicion: Suspicion) {
        if !self.world.system.facts.oracle {
            return;
        }
        for other in (0..self.world.processes).filter(|&other| other != about) {
            if self.life(situation(&self.scratch, other).0) == Life::Up {
                self.tell(other, suspicion);
            }
        }
    }

    /// The oracle takes back what it was about to say, and what is no longer true.
    fn take_back(&mut self, suspicion: Suspicion) {
        if !self.world.system.facts.oracle {
            return;
        }
        let notice = self.world.system.notice(suspicion);
        for address in 0..self.world.processes {
            let (local, inbox) = situation(&self.scratch, address);
            let inbox = self.mail.without(inbox, notice);
            put(&mut self.scratch, address, (local, inbox));
        }
    }

    fn tell(&mut self, whom: usize, suspicion: Suspicion) {
        let notice = self.world.system.notice(suspicion);
        let mut state = std::mem::take(&mut self.scratch);
        self.add(&mut state, whom, notice);
        self.scratch = state;
    }
}
