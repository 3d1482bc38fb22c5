//! Locks with names that share one election: whoever leads coordinates them all.
//!
//! Each lock is the elected coordinator of the catalogue, but what elects its coordinator is the election of
//! the node. Its reigns are the terms of that election, which everybody has stored already, so a lock stores
//! nothing itself, and one that nobody uses can be forgotten.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use habemus::election::Output;
use habemus_machine::{Machine, Standing, shared_memory, sharing};
use tracing::debug;

use super::instance::Instance;
use super::{Engine, EngineError, RecordedEvent};
use crate::clock::BootInstant as Instant;

/// The lease of a lock that shares its election; it is renewed as long as the lock is held.
pub const SHARED_LEASE: Duration = Duration::from_secs(1);

/// How often locks are looked for that nobody has used since the last time.
const SWEEP: Duration = Duration::from_secs(1);

/// A life opens fewer locks than this, and there are fewer than 2³⁰ lives: numbers from a network end at 2⁶².
const LOCKS_OF_A_LIFE: u64 = 1 << 32;

fn nanos_since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// What the locks of a node share.
pub(super) struct SharedLocks {
    /// A lock that has not started.
    blank: Box<dyn Machine>,
    /// The last number that tells a process of a lock from its former ones.
    incarnation: u64,
    /// What the election says, and since when.
    said: Output,
    since: Instant,
    /// How many grants of this term may be forgotten.
    given: u64,
    next_sweep: Option<Instant>,
}

impl SharedLocks {
    fn standing(&self) -> Standing {
        let (said, given) = (self.said, self.given);
        let over = self.since + SHARED_LEASE + SHARED_LEASE / 4;
        Standing { said, grace: over.duration_since(Instant::now()), given }
    }

    /// A number greater than all before, also than those of former lives: `starts` says how many there were.
    /// Only where no disk counts them does it depend on a clock, which may be put back.
    fn next_incarnation(&mut self, starts: u64) -> u64 {
        let life = if starts > 0 { starts.saturating_mul(LOCKS_OF_A_LIFE) } else { nanos_since_1970() };
        self.incarnation = life.max(self.incarnation + 1);
        self.incarnation
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.next_sweep
    }
}

impl Engine {
    /// If the process without a name has an election that locks can share, they do.
    pub(super) fn share_election(&mut self) {
        let Some(said) = self.instances.get("").and_then(|main| main.machine.leadership()) else { return };
        let ids = &self.parts.facts.population.ids;
        let machine = sharing(ids, self.parts.weights.clone(), SHARED_LEASE, self.parts.me);
        let blank = machine.expect("the election has the same processes");
        let (since, next_sweep) = (Instant::now(), None);
        self.shared = Some(SharedLocks { blank, incarnation: 0, said, since, given: 0, next_sweep });
    }

    /// Starts the process of a lock that shares the election.
    pub(super) async fn open_shared(&mut self, name: &str, base: Instant) -> Result<(), EngineError> {
        let starts = self.parts.endpoint.memory.disk().starts;
        let Some(shared) = &mut self.shared else { return Ok(()) };
        let (mut machine, memory) = (shared.blank.fresh(), shared_memory(shared.next_incarnation(starts)));
        shared.next_sweep.get_or_insert(Instant::now() + SWEEP);
        let mut step = std::mem::take(&mut self.step);
        let begun = machine.start(Some(&memory), self.clock.shows(Instant::now()), &mut step);
        begun.expect("the memory was made for it");
        let mut instance = Instance::new(machine, None, None);
        instance.shared = true;
        self.instances.insert(name.to_owned(), instance);
        debug!(process = name, "opened");
        self.carry_out(name, RecordedEvent::Start { recovered: false }, step, base).await?;
        self.tell_standing(name).await
    }

    /// If the election has news, all locks that share it hear of them before anything else happens to them.
    pub(super) async fn follow_election(&mut self) -> Result<(), EngineError> {
        let said = self.instances.get("").and_then(|main| main.machine.leadership());
        let (Some(shared), Some(said)) = (&mut self.shared, said) else { return Ok(()) };
        if shared.said == said {
            return Ok(());
        }
        (shared.said, shared.since, shared.given) = (said, Instant::now(), 0);
        let names: Vec<String> = self.shared_names().cloned().collect();
        for name in names {
            self.tell_standing(&name).await?;
        }
        Ok(())
    }

    fn shared_names(&self) -> impl Iterator<Item = &String> {
        self.instances.iter().filter(|(_, it)| it.shared).map(|(name, _)| name)
    }

    async fn tell_standing(&mut self, name: &str) -> Result<(), EngineError> {
        let now = Instant::now();
        let elapsed = self.clock.shows(now);
        let (Some(shared), Some(instance)) = (&self.shared, self.instances.get_mut(name)) else {
            return Ok(());
        };
        let mut step = std::mem::take(&mut self.step);
        instance.machine.tell_standing(shared.standing(), elapsed, &mut step);
        self.carry_out(name, RecordedEvent::Standing, step, now).await
    }

    /// Forgets locks that nobody has used for a while.
    pub(super) fn sweep(&mut self) {
        self.forget_unused(|instance| !std::mem::take(&mut instance.used));
        let left = self.shared_names().next().is_some();
        if let Some(shared) = &mut self.shared {
            shared.next_sweep = left.then(|| Instant::now() + SWEEP);
        }
    }

    /// Forgets locks that nobody uses, if there is room for none else.
    pub(super) fn make_room(&mut self) {
        if self.shared.is_some() && self.instances.len() > crate::MAX_LOCKS {
            self.forget_unused(|_| true);
        }
    }

    fn forget_unused(&mut self, mut may_go: impl FnMut(&mut Instance) -> bool) {
        let Some(shared) = &mut self.shared else { return };
        let timers = &mut self.timers;
        self.instances.retain(|name, instance| {
            if !instance.shared {
                return true;
            }
            let may_go = may_go(instance) && !instance.is_listened_to();
            let Some(given) = instance.machine.at_rest().filter(|_| may_go) else { return true };
            shared.given = shared.given.max(given);
            timers.cancel_all(name);
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use habemus::Address;
    use habemus::Id;

    use super::*;

    #[test]
    fn a_lock_of_a_later_life_is_a_later_one_whatever_the_clock_says() {
        let life = || SharedLocks {
            blank: sharing(&[Id(1)], Vec::new(), SHARED_LEASE, Address(0)).expect("it is a system"),
            incarnation: 0,
            said: Output::Leaderless,
            since: Instant::now(),
            given: 0,
            next_sweep: None,
        };
        let (mut first, mut second) = (life(), life());
        let numbers = [
            first.next_incarnation(1),
            first.next_incarnation(1),
            second.next_incarnation(2),
            second.next_incarnation(2),
        ];
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert!(numbers[3] < nanos_since_1970() / 1000, "no clock has a part in it: {numbers:?}");
        let mut without_disk = life();
        let one = without_disk.next_incarnation(0);
        assert!(one < without_disk.next_incarnation(0));
    }
}
