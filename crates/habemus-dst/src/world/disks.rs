//! What members know of each other's disks, as the server's members do: whoever comes back with an older one
//! must not be let in.

use std::rc::Rc;

use habemus_journal::{Extent, Known};
use habemus_replica::MemberId;

use super::World;
use crate::agenda::Due;
use crate::clock::Micros;
use crate::disk::Copied;
use crate::history::Judge;
use crate::machine::Directory;

/// How often members tell each other what they know.
const WORD_EVERY: Micros = 1_000_000;

/// A copy of the directory of a machine.
pub(super) struct Copy {
    machine: usize,
    files: Copied,
    directory: Directory,
    extent: Extent,
}

impl World {
    /// Whether a member listens to what another one says in this life: it looks at its disk when it first
    /// hears of it. What is still under way from an earlier life came in by an earlier look.
    pub(super) fn lets_in(&mut self, index: usize, (from, life): (MemberId, u64)) -> bool {
        let machine = &mut self.machines[index];
        let Some(running) = &mut machine.running else { return false };
        if running.met.get(&from).is_some_and(|met| *met >= life) {
            return true;
        }
        let Some(face) = self.faces.get(&(from, life)).copied() else { return false };
        let known = machine.directory.known.get(&from);
        match known.map_or(Ok(Known::first(face)), |known| known.with(face)) {
            Ok(known) => {
                machine.directory.known.insert(from, known);
                running.met.insert(from, life);
                let id = machine.id;
                if self.machines.iter().any(|it| it.id == from && it.older && it.life == life) {
                    let why = format!("member {id} lets in {from}, whose disk is an older one");
                    self.history.violated(Judge::Disks, why);
                }
                true
            }
            Err(_) => {
                let to = self.machines[index].id;
                if !self.cut.contains(&(to, from))
                    && let Some(machine) = self.machines.iter().position(|it| it.id == from)
                {
                    let at = self.now + self.random.between(50, self.weather.max_delay.max(50));
                    self.agenda.plan(at, Due::Dismissed { machine, life });
                }
                false
            }
        }
    }

    /// A machine hears that it is not let in, and ends.
    pub(super) fn dismiss(&mut self, index: usize, life: u64) {
        let machine = &mut self.machines[index];
        if machine.life != life || machine.running.is_none() {
            return;
        }
        if !machine.older {
            let why = format!("member {} is not let in, and its disk is what it was", machine.id);
            return self.history.violated(Judge::Disks, why);
        }
        machine.dismissed = true;
        self.crash(index);
    }

    /// A member says now and then what it knows, and how far its own journal goes.
    pub(super) fn tell_of_disks(&mut self, index: usize) {
        let machine = &mut self.machines[index];
        let (id, life) = (machine.id, machine.life);
        let Some(running) = machine.running.as_mut().filter(|running| running.speaks_at <= self.now) else {
            return;
        };
        running.speaks_at = self.now + WORD_EVERY;
        let own = Known { life: running.face, written: running.extent() };
        let known = machine.directory.known.iter().map(|(id, known)| (*id, *known));
        let disks: Rc<[(MemberId, Known)]> = known.chain([(id, own)]).collect();
        let others: Vec<MemberId> = running.replica.members().map(|(id, _)| id).collect();
        for to in others.into_iter().filter(|other| *other != id) {
            if !self.random.happens(self.weather.loss) {
                let at = self.now + self.random.between(50, self.weather.max_delay.max(50));
                self.agenda.plan(at, Due::Disks { from: id, life, to, disks: Rc::clone(&disks) });
            }
        }
    }

    /// A member hears what another one knows.
    pub(super) fn learn(&mut self, sender: (MemberId, u64), to: MemberId, disks: &[(MemberId, Known)]) {
        let Some(index) = self.machines.iter().position(|machine| machine.id == to) else { return };
        if self.cut.contains(&(sender.0, to)) || self.sleeps(index).is_some() || !self.lets_in(index, sender)
        {
            return;
        }
        let known = &mut self.machines[index].directory.known;
        for (member, told) in disks.iter().filter(|(member, _)| *member != to) {
            let entry = known.entry(*member).or_insert(*told);
            *entry = entry.heard(*told);
        }
    }

    /// Somebody copies the directory of a machine.
    pub(super) fn copy_disk(&mut self, index: usize) {
        let machine = &self.machines[index];
        if let Some(running) = machine.running.as_ref().filter(|_| !machine.has_bad_disk()) {
            let (files, directory) = (machine.disk.copied(), machine.directory.clone());
            self.copy = Some(Copy { machine: index, files, directory, extent: running.extent() });
        }
    }

    /// A machine comes back with the copy, if all others know that there was more.
    pub(super) fn put_back(&mut self) -> bool {
        let Some(copy) = self.copy.take() else { return false };
        let index = copy.machine;
        if !self.may_lose_disk(index) || !self.all_know_better(index, copy.directory.starts, copy.extent) {
            return false;
        }
        self.crash(index);
        let machine = &mut self.machines[index];
        machine.disk.put_back(copy.files);
        machine.directory = copy.directory;
        machine.older = true;
        self.start(index);
        true
    }

    /// One bit flips of what a machine wrote last, if all others know that it wrote that.
    pub(super) fn rot_last(&mut self, index: usize, place: u64) -> bool {
        let Some((segment, end)) = self.machines[index].disk.last_synced() else { return false };
        let left = Extent { segment, end: end as u64 };
        let starts = self.machines[index].directory.starts;
        if !self.may_lose_disk(index) || !self.all_know_better(index, starts, left) {
            return false;
        }
        self.crash(index);
        let machine = &mut self.machines[index];
        if machine.disk.last_synced() != Some((segment, end)) {
            return false;
        }
        machine.disk.rot_last(place);
        machine.older = true;
        self.start(index);
        true
    }

    /// Whether everybody else knows that this machine has been started more often than this, or that its
    /// journal went further.
    fn all_know_better(&self, index: usize, starts: u64, extent: Extent) -> bool {
        let id = self.machines[index].id;
        let knows = |known: &Known| known.life.starts > starts || known.written > extent;
        let others = self.machines.iter().filter(|machine| !machine.gone && machine.id != id);
        others.into_iter().all(|other| other.directory.known.get(&id).is_some_and(knows))
    }
}
