//! How things go wrong, and how they are well again.

use habemus_replica::{Change, MemberId, Recovered};
use habemus_store::{Command, Revision};

use super::{CALM, Trap, Weather, World, member};
use crate::calamity::{Calamity, DRIFT_BOUND};
use crate::machine::Machine;
use crate::seen::Kind;

/// No more machines than this are members at once.
const MAX_MEMBERS: usize = 7;

impl World {
    pub(super) fn befall(&mut self, calamity: Calamity) {
        // A disk is lost only where that can be borne.
        if !calamity.is_conditional() {
            self.seen.note(Kind::Fault, calamity.kind());
        }
        let before = self.story.as_ref().map(|_| self.cut.clone());
        self.befall_now(calamity);
        if let (Some(story), Some(before)) = (&mut self.story, before) {
            let ids = |(from, to): &(MemberId, MemberId)| (from.0, to.0);
            story.healed(self.now, before.difference(&self.cut).map(ids).collect());
            let cut: Vec<(u64, u64)> = self.cut.difference(&before).map(ids).collect();
            if !cut.is_empty() {
                story.cut(self.now, cut);
            }
        }
    }

    fn befall_now(&mut self, calamity: Calamity) {
        // Whoever is gone and does not run any more cannot be hurt.
        let here = |index: &usize| !self.machines[*index].gone || self.machines[*index].running.is_some();
        let here: Vec<usize> = (0..self.machines.len()).filter(here).collect();
        let machine = |number: u64| here[(number % here.len() as u64) as usize];
        match calamity {
            Calamity::Crash(one) => self.crash(machine(one)),
            Calamity::CrashMidway(one, effects) => self.machines[machine(one)].stops_after = Some(effects),
            Calamity::Restart(one) => self.start(machine(one)),
            Calamity::Bounce(one) => {
                self.crash(machine(one));
                self.start(machine(one));
            }
            Calamity::LoseDisk(one) => self.lose_disk(machine(one), calamity),
            Calamity::Pause(one, long) => self.machines[machine(one)].paused_until = self.now + long,
            Calamity::PauseClient(one, long) => {
                let client = one as usize % self.people.len();
                self.people[client].paused_until = self.now + long;
            }
            Calamity::SlowDisk(one, takes) => self.machines[machine(one)].slowness = takes,
            Calamity::FullDisk(one, full) => self.machines[machine(one)].disk.fill(full),
            Calamity::FailingDisk(one, operations) => {
                if self.machines[machine(one)].running.is_some() {
                    self.machines[machine(one)].disk.fail_after(operations as usize);
                }
            }
            Calamity::CrashGarbling(one) => {
                self.machines[machine(one)].disk.garble();
                self.crash(machine(one));
            }
            Calamity::Rot(one, _) => self.lose_disk(machine(one), calamity),
            Calamity::CutPair(one, other) => {
                let pair = (self.machines[machine(one)].id, self.machines[machine(other)].id);
                self.cut.extend([pair, (pair.1, pair.0)]);
            }
            Calamity::Bridge(one) => {
                let middle = machine(one);
                self.part(|index| index % 2 == 1);
                let id = self.machines[middle].id;
                self.cut.retain(|(from, to)| *from != id && *to != id);
            }
            Calamity::CutOneWay(one, other) => {
                let pair = (self.machines[machine(one)].id, self.machines[machine(other)].id);
                self.cut.insert(pair);
            }
            Calamity::Isolate(one) => self.part(|index| index == machine(one)),
            Calamity::Partition(sides) => self.part(|index| sides >> (index % 64) & 1 == 1),
            Calamity::CutClients(one) => drop(self.unreachable.insert(machine(one))),
            Calamity::Heal => {
                self.cut.clear();
                self.unreachable.clear();
            }
            Calamity::Weather { loss, duplication, max_delay } => {
                self.weather = Weather { loss, duplication, max_delay };
            }
            Calamity::Skew(one, skew) => {
                let now = self.now;
                self.machines[machine(one)].clock.change(now, skew);
            }
            Calamity::Transfer(one) => self.transfer(machine(one)),
            Calamity::Add => self.add(),
            Calamity::Promote => self.promote(),
            // Whoever has lost a member for ever takes no other one away.
            Calamity::Remove(_)
            | Calamity::RemoveAndCrash(..)
            | Calamity::RemoveLeader(_)
            | Calamity::RemoveAndTell(_)
                if self.machines.iter().any(Machine::has_bad_disk) => {}
            Calamity::Remove(one) => self.change(&Change::Remove(self.machines[machine(one)].id)),
            Calamity::RemoveAndCrash(one, other, effects) => {
                let removed = self.machines[machine(one)].id;
                self.machines[machine(other)].stops_after = Some(effects);
                self.change(&Change::Remove(removed));
            }
            Calamity::RemoveLeader(effects) => {
                let leader = self.leader().map(|leader| self.machines[leader].id);
                if let Some(id) = leader {
                    self.trap = Some(Trap::Written(effects));
                    self.change(&Change::Remove(id));
                }
            }
            Calamity::RemoveAndTell(one) => {
                self.trap = Some(Trap::Told);
                self.change(&Change::Remove(self.machines[machine(one)].id));
            }
            Calamity::CopyDisk(one) => self.copy_disk(machine(one)),
            Calamity::PutBack => {
                if self.put_back() {
                    self.seen.note(Kind::Fault, calamity.kind());
                }
            }
            Calamity::RotLast(one, place) => {
                if self.rot_last(machine(one), place) {
                    self.seen.note(Kind::Fault, calamity.kind());
                }
            }
            Calamity::Backup => self.back_up(),
            Calamity::Restore => {
                if self.restore() {
                    self.seen.note(Kind::Fault, calamity.kind());
                }
            }
            Calamity::Compact(kept) => self.compact(kept),
        }
    }

    /// Nothing passes between the ones and the others.
    fn part(&mut self, is_one: impl Fn(usize) -> bool) {
        let ids: Vec<MemberId> = self.machines.iter().map(|machine| machine.id).collect();
        for (one, from) in ids.iter().enumerate() {
            for (other, to) in ids.iter().enumerate() {
                if is_one(one) != is_one(other) {
                    self.cut.insert((*from, *to));
                }
            }
        }
    }

    /// What was synced is not what it was, or not there. A machine must notice when it starts, and then stays
    /// away: its operator replaces it by a new one. That can be borne once, and only if there are enough
    /// others.
    fn lose_disk(&mut self, index: usize, calamity: Calamity) {
        if !self.may_lose_disk(index) {
            return;
        }
        self.crash(index);
        let disk = &self.machines[index].disk;
        let is_lost = match calamity {
            Calamity::Rot(_, place) => disk.rot(place),
            _ => {
                disk.wipe();
                true
            }
        };
        if is_lost {
            self.machines[index].rotten = true;
            self.seen.note(Kind::Fault, calamity.kind());
            self.start(index);
        }
    }

    /// Whether the others can bear it that a machine loses its disk.
    pub(super) fn may_lose_disk(&self, index: usize) -> bool {
        let voters = self.leader().and_then(|leader| self.machines[leader].running.as_ref()).map(|leader| {
            let of_all = leader.replica.members().filter(|(_, member)| !member.learner);
            of_all.map(|(id, _)| id).collect::<Vec<_>>()
        });
        let id = self.machines[index].id;
        let ids = |machine: &Machine| machine.has_bad_disk() || (machine.gone && machine.running.is_some());
        voters.is_some_and(|voters| {
            let all_run = voters.iter().all(|id| self.machines.iter().any(|it| it.id == *id && !it.gone));
            voters.len() >= 4 && voters.contains(&id) && all_run
        }) && !self.machines.iter().any(ids)
    }

    fn transfer(&mut self, to: usize) {
        let to = self.machines[to].id;
        let Some(leader) = self.leader() else { return };
        if let Some(running) = &mut self.machines[leader].running {
            running.replica.transfer_leadership(to);
        }
        self.flush(leader);
    }

    fn change(&mut self, change: &Change) {
        let Some(leader) = self.leader() else { return };
        let request = self.next_request(self.machines[leader].id);
        if let Some(running) = &mut self.machines[leader].running {
            // If it cannot be done now, it is not done.
            let _ = running.replica.change(request, change);
        }
        self.flush(leader);
    }

    fn add(&mut self) {
        let here = self.machines.iter().filter(|machine| !machine.gone).count();
        if here < MAX_MEMBERS {
            let id = MemberId(self.machines.len() as u64 + 1);
            self.add_machine(id, &Recovered::added());
            self.change(&Change::Add(id, member(id, true)));
        }
    }

    fn promote(&mut self) {
        let Some(leader) = self.leader() else { return };
        let Some(running) = &self.machines[leader].running else { return };
        let learner = running.replica.members().find(|(_, member)| member.learner).map(|(id, _)| id);
        if let Some(id) = learner {
            self.change(&Change::Promote(id));
        }
    }

    /// Whoever was removed is switched off: it has heard of it, or not.
    pub(super) fn membership_changed(&mut self, change: &Change) {
        if let Change::Remove(id) = change
            && let Some(index) = self.machines.iter().position(|machine| machine.id == *id)
            && !self.machines[index].gone
        {
            self.machines[index].gone = true;
            // It may go on for a while.
            self.machines[index].stops_after = Some(self.random.below(2_000));
        }
    }

    /// Forgets all but so many revisions.
    fn compact(&mut self, kept: u64) {
        let Some(leader) = self.leader() else { return };
        let request = self.next_request(self.machines[leader].id);
        if let Some(running) = &mut self.machines[leader].running {
            let revision = Revision(running.replica.store().revision().0.saturating_sub(kept));
            running.replica.propose(request, Command::Compact(revision));
        }
        self.flush(leader);
    }

    /// Machines that were to be added and never were are switched off, and clients go elsewhere. One whose
    /// disk rotted is removed.
    pub(crate) fn clean_up(&mut self) {
        if let Some(rotten) = self.machines.iter().find(|machine| machine.has_bad_disk()) {
            let id = rotten.id;
            self.change(&Change::Remove(id));
        }
        let Some(leader) = self.leader().and_then(|leader| self.machines[leader].running.as_ref()) else {
            return;
        };
        let members: Vec<MemberId> = leader.replica.members().map(|(id, _)| id).collect();
        for index in 0..self.machines.len() {
            let machine = &mut self.machines[index];
            if !machine.gone && !machine.has_bad_disk() && !members.contains(&machine.id) {
                machine.gone = true;
                self.crash(index);
            }
        }
    }

    /// From now on nothing goes wrong.
    pub(crate) fn heal(&mut self) {
        self.cut.clear();
        self.unreachable.clear();
        self.weather = CALM;
        self.trap = None;
        for index in 0..self.machines.len() {
            let machine = &mut self.machines[index];
            machine.paused_until = 0;
            machine.slowness = 0;
            machine.disk.fill(false);
            machine.clock.come_to_reason(self.now, DRIFT_BOUND);
            machine.disk.mend();
            if !machine.gone {
                machine.stops_after = None;
                self.start(index);
            } else if machine.running.is_some() {
                self.crash(index);
            }
        }
        for person in &mut self.people {
            person.paused_until = 0;
        }
    }
}
