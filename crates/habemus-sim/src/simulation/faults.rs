//! Faults, and whatever else is done to a system from outside.

use habemus::{Address, Context, Process, Status, Suspicion};
use habemus_trace::Dropped;

use super::events::local_time;
use super::{LocalClock, Pending, RareEvent, Simulation};
use crate::network::Link;
use crate::observer::{NetworkChange, Notice, Observer};
use crate::plan::{Deed, Occurrence};
use crate::time::Time;

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    pub(super) fn perform(&mut self, deed: Deed<P>) {
        match deed {
            Deed::Command(command, processes) => {
                for process in processes {
                    self.command(process, command.clone());
                }
            }
            Deed::Crash(processes) => processes.into_iter().for_each(|process| self.crash(process)),
            Deed::Recover { processes, amnesia } => {
                processes.into_iter().for_each(|process| self.recover(process, amnesia));
            }
            Deed::Pause(processes) => processes.into_iter().for_each(|process| self.pause(process)),
            Deed::Resume(processes) => processes.into_iter().for_each(|process| self.resume(process)),
            Deed::Slow { processes, by } => {
                processes.into_iter().for_each(|process| self.network.slow(process, by));
            }
            Deed::Drift { processes, rate } => {
                for process in processes {
                    let showed = self.drift.get(&process).map_or(self.now, |clock| clock.at(self.now));
                    self.drift.insert(process, LocalClock { rate, since: self.now, showed });
                }
            }
            Deed::Cut(links) => {
                let cut = self.network.cut(links);
                self.observer.network_changed(self.now, NetworkChange::Cut(&cut));
            }
            Deed::Heal(links) => {
                let healed = self.network.heal(links);
                self.healed(&healed);
            }
            Deed::HealAll => {
                let healed = self.network.heal_all();
                self.healed(&healed);
            }
            Deed::Loss(probability) => self.network.lose(probability),
            Deed::Foretell { at, suspicion } => self.foretell(at, suspicion, 0),
            Deed::Message { fate, link, nth } => self.call_message(fate, link, nth),
            Deed::Fire { at, timer } => self.call_timer(at, &timer),
        }
    }

    fn healed(&mut self, links: &[Link]) {
        self.observer.network_changed(self.now, NetworkChange::Healed(links));
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
        let lost = self.held_back.remove(&address).unwrap_or_default();
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
            self.stable.remove(&address);
        }
        let stable = (!amnesia).then(|| self.stable.get(&address).cloned().unwrap_or_default());
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
        self.queue.push(self.now + delay, self.in_this_life(at, RareEvent::Suspicion(suspicion)));
    }

    fn pause(&mut self, address: Address) {
        if self.is_up(address) && !self.held_back.contains_key(&address) {
            self.held_back.insert(address, Vec::new());
            self.observer.noticed(self.now, address, Notice::Paused);
        }
    }

    fn resume(&mut self, address: Address) {
        let Some(waiting) = self.held_back.remove(&address) else { return };
        self.observer.noticed(self.now, address, Notice::Resumed);
        for pending in waiting {
            self.queue.push(self.now, pending);
        }
    }
}
