//! What must be at the end.

use habemus_store::Revision;

use super::World;
use crate::agenda::Due;
use crate::client::Client;
use crate::clock::Micros;
use crate::history::Judge;

/// How often it is looked at whether all is well.
const LOOK_EVERY: Micros = 250_000;

/// No disk ever holds more at the end: a snapshot and some segments.
const MAX_DISK: usize = 2 << 20;

impl World {
    /// How far every client has come.
    pub(crate) fn progress(&self) -> Vec<u64> {
        let how_far = |client: &Client| match client {
            Client::Keys(keys) => keys.answered,
            Client::Lock(lock) => lock.entered,
            Client::Watch(watch) => watch.next.0,
        };
        self.people.iter().map(|person| how_far(&person.client)).collect()
    }

    /// Lets everything happen until `end`, or until all is well, if this is looked at now and then.
    pub(crate) fn run_until_well(&mut self, end: Micros, is_well: impl Fn(&World) -> bool) {
        while self.now < end && self.history.violation.is_none() {
            self.run_until((self.now + LOOK_EVERY).min(end));
            if is_well(self) {
                return;
            }
        }
    }

    /// Whether every client has come further.
    pub(crate) fn is_served_since(&self, before: &[u64]) -> bool {
        before.iter().zip(self.progress()).all(|(before, now)| now > *before)
    }

    /// Whether nothing will happen any more, and everything is as it must be at the end.
    pub(crate) fn is_at_rest(&self) -> bool {
        let leader = self.leader().and_then(|leader| self.machines[leader].running.as_ref());
        leader.is_some_and(|leader| leader.replica.store().session_count() == 0)
            && self.violations_at_the_end(self.last_revision()).is_empty()
    }

    /// Everybody has come further.
    pub(crate) fn judge_progress(&mut self, before: &[u64]) {
        for (client, (before, now)) in before.iter().zip(self.progress()).enumerate() {
            if now <= *before {
                let why = format!("nothing is wrong any more, and client {client} waits");
                self.history.violated(Judge::Progress, why);
            }
        }
    }

    /// Clients begin nothing new any more, and vanish.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
        for client in 0..self.people.len() {
            let at = self.now + 1;
            self.people[client].wakes_at = at;
            self.agenda.plan(at, Due::Wake { client, at });
        }
    }

    /// The last revision that anybody has heard of.
    pub(crate) fn last_revision(&self) -> Revision {
        self.history.revised.keys().next_back().copied().unwrap_or(Revision(1))
    }

    /// What is not as it must be, when nothing happens any more and `last` was the last revision.
    pub(crate) fn violations_at_the_end(&self, last: Revision) -> Vec<(Judge, String)> {
        let mut violations = Vec::new();
        let Some(leader) = self.leader().and_then(|leader| self.machines[leader].running.as_ref()) else {
            return vec![(Judge::Progress, "nothing is wrong any more, and nobody leads".to_owned())];
        };
        let store = leader.replica.store();
        if store.session_count() > 0 {
            violations.push((Judge::Sessions, format!("{} sessions have not ended", store.session_count())));
        }
        if store.revision() != last {
            let why = format!("the last revision is {}, and there was {last}", store.revision());
            violations.push((Judge::Keys, why));
        }
        for (id, _) in leader.replica.members() {
            let machine = self.machines.iter().find(|machine| machine.id == id);
            let Some(running) = machine.and_then(|machine| machine.running.as_ref()) else {
                violations.push((Judge::Progress, format!("member {id} does not run")));
                continue;
            };
            let bytes = machine.map_or(0, |machine| machine.disk.bytes());
            if bytes > MAX_DISK {
                violations.push((Judge::Disks, format!("the disk of member {id} holds {bytes} bytes")));
            }
            if running.replica.applied() != leader.replica.applied() {
                violations.push((Judge::Progress, format!("member {id} is behind")));
            } else if running.replica.store().to_bytes() != store.to_bytes() {
                violations.push((Judge::Members, format!("member {id} has another store")));
            }
        }
        for person in &self.people {
            match &person.client {
                Client::Watch(watch) if watch.next <= last => {
                    let why = format!("a watch waits for {}, and {last} has happened", watch.next);
                    violations.push((Judge::Watches, why));
                }
                Client::Lock(lock) if lock.inside().is_some() => {
                    violations.push((Judge::Locks, "somebody who is gone is inside".to_owned()));
                }
                _ => {}
            }
        }
        violations
    }
}
