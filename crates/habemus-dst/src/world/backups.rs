//! A backup of the cluster, and a new cluster made of it.

use habemus_replica::{MemberId, Recovered};
use habemus_store::Store;

use super::{World, member};
use crate::agreed::Agreed;
use crate::client::Client;
use crate::history::Judge;

/// So many revisions are left out, as `habemus restore` does it.
const SKIP: u64 = 1_000_000;

impl World {
    /// Somebody makes a backup.
    pub(super) fn back_up(&mut self) {
        if let Some(leader) = self.leader().and_then(|leader| self.machines[leader].running.as_ref()) {
            self.backup = Some(leader.replica.store().to_bytes());
        }
    }

    /// The cluster is stopped, and a new one made of the backup, with as many members as there were first.
    /// What came after the backup is lost, and everybody begins anew; tokens still grow.
    pub(super) fn restore(&mut self) -> bool {
        let Some(backup) = self.backup.take() else { return false };
        let store = match Store::from_bytes(&backup) {
            Ok(store) => store,
            Err(why) => {
                self.history.violated(Judge::Keys, format!("a backup cannot be read: {why}"));
                return false;
            }
        };
        let last = store.revision();
        for index in 0..self.machines.len() {
            self.crash(index);
            self.machines[index].gone = true;
        }
        self.judge_calls();
        for client in 0..self.people.len() {
            self.people[client].held.clear();
            self.with_hands(client, Client::begin_anew);
        }
        self.history.begin_anew_after(last);
        self.agreed = Agreed::default();
        self.leaders.clear();
        self.copy = None;
        let here = self.machines.len();
        let ids: Vec<MemberId> = (1..=self.members).map(|number| MemberId(here as u64 + number)).collect();
        let members = ids.iter().map(|id| (*id, member(*id, false)));
        let store = store.restored(SKIP);
        self.history.restore(&store);
        let first = Recovered::first_with(members, store);
        for id in ids {
            self.add_machine(id, &first);
        }
        for person in 0..self.people.len() {
            self.people[person].machine = here + self.random.below(self.members) as usize;
        }
        true
    }
}
