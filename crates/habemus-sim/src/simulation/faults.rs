//! Faults, and whatever else is done to a system from outside.

use habemus::{Address, Context, Problem, Process, Status, Suspicion};
use habemus_trace::Dropped;

use super::events::local_time;
use super::{LocalClock, Pending, RareEvent, Simulation};
use crate::network::Changed;
use crate::observer::{NetworkChange, Notice, Observer};
use crate::plan::{Deed, Occurrence, ProcessDeed};
use crate::time::Time;

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    pub(super) fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Processes(processes, deed) => {
                processes.into_iter().for_each(|process| self.perform_at(process, &deed));
            }
            Deed::Network(deed) => match self.network.perform(deed) {
                Some(Changed::Cut(links)) => {
                    self.observer.network_changed(self.now, NetworkChange::Cut(&links));
                }
                Some(Changed::Healed(links)) => {
                    self.observer.network_changed(self.now, NetworkChange::Healed(&links));
                }
                None => {}
            },
            Deed::Foretell { at, suspicion } => {
                self.queue.push(self.now, self.in_this_life(at, RareEvent::Suspicion(suspicion)));
            }
            Deed::Message { fate, link, nth } => self.call_message(fate, link, nth),
            Deed::Fire { at, timer } => self.call_timer(at, &timer),
        }
    }

    pub(super) fn perform_at(&mut self, process: Address, deed: &ProcessDeed) {
        match deed {
            ProcessDeed::Command(word) => {
                if let Some(command) = P::Problem::command(word) {
                    self.command(process, command);
                }
            }
            ProcessDeed::Crash => self.crash(process),
            ProcessDeed::Recover { amnesia } => self.recover(process, *amnesia),
            ProcessDeed::Pause => self.pause(process),
            ProcessDeed::Resume => self.resume(process),
            ProcessDeed::Drift { rate } => {
                let showed = self.drift.get(&process).map_or(self.now, |clock| clock.at(self.now));
                self.drift.insert(process, LocalClock { rate: *rate, since: self.now, showed });
            }
        }
    }

    pub(super) fn start_process(&mut self, address: Address, recovered: Option<P::Stable>) {
        let again = self.slots[address.index()].life > 0;
        self.observer.noticed(self.now, address, Notice::Started { recovered: again });
        let now = local_time::<P>(&self.drift, address, self.now);
        let mut cx = Context::new(address, &self.system, now, &mut self.step, &mut self.choices);
        let process = P::on_start(recovered, &mut cx);
        let slot = &mut self.slots[address.index()];
        slot.process = Some(process);
        slot.life += 1;
        self.status[address.index()] = Status::Idle;
        self.carry_out(address);
    }

    fn crash(&mut self, address: Address) {
        let slot = &mut self.slots[address.index()];
        // One that is dead from the beginning has not lived, but its death is news.
        if slot.process.take().is_none() && slot.life > 0 {
            return;
        }
        slot.life = slot.life.max(1);
        self.status[address.index()] = Status::Idle;
        self.timers.cancel_all(address);
        let lost = self.held_back.remove(address).unwrap_or_default();
        self.observer.noticed(self.now, address, Notice::Crashed);
        for pending in lost {
            if let Pending::Deliver { from, to, stamp, .. } = pending {
                self.observer.dropped(self.now, from, to, &stamp, Dropped::Down);
            }
        }
        self.tell_all(address, Suspicion::Suspect(address));
        self.interrupted(address, Occurrence::Crashes);
    }

    fn recover(&mut self, address: Address, amnesia: bool) {
        if self.is_up(address) {
            return;
        }
        if amnesia {
            self.stable.remove(address);
        }
        let stable = (!amnesia).then(|| self.stable.get(address).cloned().unwrap_or_default());
        self.start_process(address, stable);
        let Some(delay) = self.oracle_delay() else { return };
        for other in self.system.addresses() {
            if other != address && !self.is_up(other) {
                self.foretell(address, Suspicion::Suspect(other), delay);
            }
        }
        self.tell_all(address, Suspicion::Restore(address));
    }

    /// The oracle tells everybody else, after its delay.
    fn tell_all(&mut self, about: Address, suspicion: Suspicion) {
        let Some(delay) = self.oracle_delay() else { return };
        for other in self.system.addresses().filter(|&other| other != about) {
            if self.is_up(other) {
                self.foretell(other, suspicion, delay);
            }
        }
    }

    /// When the oracle speaks, if it does: where everything is scripted, the script speaks for it.
    fn oracle_delay(&self) -> Option<Time> {
        self.oracle.filter(|_| self.stage.is_none())
    }

    fn foretell(&mut self, at: Address, suspicion: Suspicion, delay: Time) {
        self.queue.push(self.now + delay, self.in_this_life(at, RareEvent::Truth(suspicion)));
    }

    fn pause(&mut self, address: Address) {
        if self.is_up(address) && !self.held_back.contains(address) {
            self.held_back.insert(address, Vec::new());
            self.observer.noticed(self.now, address, Notice::Paused);
        }
    }

    fn resume(&mut self, address: Address) {
        let Some(waiting) = self.held_back.remove(address) else { return };
        self.observer.noticed(self.now, address, Notice::Resumed);
        for pending in waiting {
            self.queue.push(self.now, pending);
        }
    }
}
