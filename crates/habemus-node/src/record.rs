//! What a node's disk knows of the node: which disk it is, how often it was started, what the node was told
//! to be, and whom it has met.
//!
//! Promises bind a disk, not a name. So a node that comes with another disk, with an older copy of its disk,
//! or beside a twin is found out by those who have met it, and a node that is told to be something else than
//! what its disk has promised is refused unless the change is safe.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::{Directory, Store, StoreError};

/// What a node is told to be, as far as others rely on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Configuration {
    /// Counts changes of the rest.
    pub(crate) epoch: u64,
    /// What all nodes must agree on, in words.
    pub(crate) agreement: String,
    /// Who takes part.
    pub(crate) ids: Vec<u64>,
    /// Whether votes have weights.
    pub(crate) weighted: bool,
    /// For how long at most a node binds itself by what it says.
    pub(crate) promised: Option<Duration>,
}

/// How a node's disk is recognised. All zero: it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// A number that was drawn when the node was started on it for the first time.
    pub number: u64,
    /// How often the node was started on it.
    pub starts: u64,
    /// How often the node has stored on it what others may rely on.
    pub writes: u64,
}

/// What the disk holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    number: u64,
    starts: u64,
    configuration: Configuration,
    /// Whether anybody has been elected under this configuration, as far as the node knows: then more than
    /// half of the nodes have left the one before.
    established: bool,
    /// Whether the process has a file of its own.
    lived: bool,
    /// The disks of the others, as they were seen last.
    met: BTreeMap<u64, Disk>,
}

/// What came of opening a disk.
pub(crate) struct Opened {
    pub(crate) memory: Memory,
    /// For how long the node must keep still, because of what it promised under its last configuration.
    pub(crate) wait: Duration,
    /// Whether the processes have other addresses than when the disk was last used.
    pub(crate) renumbered: bool,
}

/// The record in use, and whom the node has met.
#[derive(Debug)]
pub(crate) struct Memory {
    id: u64,
    state: Mutex<State>,
    /// `None`: the node has no disk.
    store: Mutex<Option<Store>>,
}

#[derive(Debug)]
struct State {
    record: Option<Record>,
    writes: u64,
    /// Which life of each peer was met last: of two that run on copies of one disk, only one has it.
    lives: BTreeMap<u64, u64>,
    changed: bool,
}

/// The name of the record among the stores.
const NAME: &str = "@node";

/// What to do with a directory that holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstStart {
    /// It is the first start, as the settings say.
    Asked,
    /// It is not.
    Denied,
    /// A supervisor knows what it does.
    Either,
}

impl Memory {
    /// Of a node without a disk.
    pub(crate) fn without_disk(id: u64) -> Self {
        Memory::new(id, None, None)
    }

    fn new(id: u64, record: Option<Record>, store: Option<Store>) -> Self {
        let state = State { record, writes: 0, lives: BTreeMap::new(), changed: false };
        Memory { id, state: Mutex::new(state), store: Mutex::new(store) }
    }

    /// Reads what the disk of node `id` knows, compares it with what the node is told to be, and counts the
    /// start; `number` is the disk's if it is new.
    pub(crate) fn open(
        directory: &Directory,
        id: u64,
        wanted: Configuration,
        first: FirstStart,
        number: u64,
    ) -> Result<Opened, StoreError> {
        let mut store = directory.store(NAME);
        let path = directory.path().to_owned();
        let (mut wait, mut renumbered) = (Duration::ZERO, false);
        let mut record = match (store.load()?, directory.holds("")) {
            (None, true) => return Err(StoreError::NoRecord { path }),
            (None, false) if first == FirstStart::Denied => return Err(StoreError::FirstStart { path, id }),
            (None, false) => Record {
                number,
                starts: 0,
                configuration: wanted.clone(),
                established: false,
                lived: false,
                met: BTreeMap::new(),
            },
            (Some(_), _) if first == FirstStart::Asked => return Err(StoreError::NotFirst { path, id }),
            (Some(bytes), lives) => {
                let record: Record = postcard::from_bytes(&bytes).map_err(|_| StoreError::Corrupt {
                    path: path.clone(),
                    how: "its record makes no sense",
                })?;
                if record.lived && !lives && first != FirstStart::Either {
                    return Err(StoreError::Missing { path, id });
                }
                record
            }
        };
        if record.configuration != wanted {
            if let Some(why) = refusal(&record, &wanted) {
                let (epoch, stored) = (record.configuration.epoch, record.configuration.agreement);
                return Err(StoreError::Changed { path, id, epoch, stored, wanted: wanted.agreement, why });
            }
            wait = record.configuration.promised.unwrap_or_default();
            renumbered = record.configuration.ids != wanted.ids;
            record.met.retain(|peer, _| wanted.ids.contains(peer));
            (record.configuration, record.established) = (wanted, false);
        }
        record.starts += 1;
        store.save(&encoded(&record))?;
        if !record.lived {
            // First it is written that the process may have a file, then that it has one.
            directory.store("").prepare()?;
            record.lived = true;
            store.save(&encoded(&record))?;
        }
        Ok(Opened { memory: Memory::new(id, Some(record), Some(store)), wait, renumbered })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node's own disk.
    pub(crate) fn disk(&self) -> Disk {
        let state = self.state();
        let writes = state.writes;
        state.record.as_ref().map_or(Disk::default(), |it| Disk {
            number: it.number,
            starts: it.starts,
            writes,
        })
    }

    /// Something was stored that others may rely on; the process has stored so often by now.
    pub(crate) fn on_write(&self, writes: u64) {
        let mut state = self.state();
        state.writes = state.writes.max(writes);
    }

    /// Somebody leads, or nobody ever will: the configuration is in force.
    pub(crate) fn on_established(&self) {
        let mut state = self.state();
        if let Some(record) = state.record.as_mut().filter(|record| !record.established) {
            record.established = true;
            state.changed = true;
        }
    }

    /// A peer shows its disk.
    ///
    /// # Errors
    /// What is wrong with it, if it is not the one that this node knows.
    pub(crate) fn meet(&self, peer: u64, life: u64, disk: Disk) -> Result<(), String> {
        let mut state = self.state();
        let (me, met_life) = (self.id, state.lives.get(&peer).copied());
        let Some(record) = &mut state.record else { return Ok(()) };
        if disk.number == 0 {
            return Ok(());
        }
        let advice =
            "Take it out of the cluster before anybody relies on it; docs/nodes.md says how it comes back";
        match record.met.get(&peer) {
            Some(known) if known.number != disk.number => {
                return Err(format!(
                    "node {peer} comes with another disk than the one that node {me} knows: its data was \
                     wiped, or two nodes are called {peer}. {advice}"
                ));
            }
            Some(known) if disk.starts < known.starts || disk.writes < known.writes => {
                return Err(format!(
                    "node {peer} comes with an older copy of its disk than node {me} has seen (start {}, \
                     write {}; known are start {}, write {}), so it has forgotten promises. {advice}",
                    disk.starts, disk.writes, known.starts, known.writes
                ));
            }
            Some(known) if disk.starts == known.starts && met_life.is_some_and(|met| met != life) => {
                return Err(format!(
                    "two nodes called {peer} run on copies of one disk: this one is not the one that node \
                     {me} has met. Stop one of them. {advice}"
                ));
            }
            _ => {}
        }
        let news = record.met.insert(peer, disk) != Some(disk);
        state.changed |= news;
        state.lives.insert(peer, life);
        Ok(())
    }

    /// A peer has said that it has stored so often what others rely on.
    pub(crate) fn on_stored(&self, peer: u64, writes: u64) {
        let mut state = self.state();
        if let Some(known) = state.record.as_mut().and_then(|record| record.met.get_mut(&peer)) {
            known.writes = known.writes.max(writes);
        }
    }

    /// Writes down what has changed, if anything worth it has. Whoever crashes before knows a little less of
    /// others.
    pub(crate) fn save(&self) -> Result<(), StoreError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = {
            let mut state = self.state();
            if !std::mem::take(&mut state.changed) {
                return Ok(());
            }
            state.record.as_ref().map(encoded)
        };
        match (store.as_mut(), bytes) {
            (Some(store), Some(bytes)) => store.save(&bytes),
            _ => Ok(()),
        }
    }
}

/// Why a node cannot go on under another configuration; `None`: it can, after what it promised has run out.
///
/// More than half of the old nodes and more than half of the new ones must have one in common, and whoever
/// has gone over does not go back; so once somebody leads under the new configuration, nobody can under the
/// old.
fn refusal(record: &Record, wanted: &Configuration) -> Option<String> {
    let Configuration { epoch, ids, weighted, .. } = &record.configuration;
    if wanted.epoch < *epoch {
        return Some(format!("its data has gone over to epoch {epoch}, and does not go back"));
    }
    if wanted.epoch == *epoch {
        return Some(format!(
            "to change settings, give the new ones to one node after the other with --epoch {}",
            epoch + 1
        ));
    }
    if !record.established {
        return Some(format!(
            "nobody was elected under epoch {epoch} as far as this node knows; start it with those settings \
             until somebody leads, and then make the next change"
        ));
    }
    let (old, new): (BTreeSet<u64>, BTreeSet<u64>) =
        (ids.iter().copied().collect(), wanted.ids.iter().copied().collect());
    if old.symmetric_difference(&new).count() > 1 {
        return Some(format!(
            "nodes come and go one at a time: from {ids:?} to {:?} there are more steps, each with its own \
                epoch",
            wanted.ids
        ));
    }
    if (*weighted || wanted.weighted) && (old != new || *weighted != wanted.weighted) {
        return Some("where votes have weights, neither the weights nor the nodes can be changed".to_owned());
    }
    None
}

fn encoded(record: &Record) -> Vec<u8> {
    postcard::to_allocvec(record).expect("a plain value can always be serialised")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use crate::store::Identity;

    fn directory(scratch: &Scratch) -> Directory {
        let identity = Identity { cluster: "test".to_owned(), algorithm: "majority".to_owned(), id: 1 };
        Directory::open(scratch.path(), identity).unwrap()
    }

    fn configuration(epoch: u64, ids: &[u64], options: &str) -> Configuration {
        let agreement = format!("majority with processes {ids:?}, {options}");
        let promised = Some(Duration::from_millis(150));
        Configuration { epoch, agreement, ids: ids.to_vec(), weighted: false, promised }
    }

    fn open(scratch: &Scratch, wanted: Configuration, first: FirstStart) -> Result<Opened, StoreError> {
        Memory::open(&directory(scratch), 1, wanted, first, 77)
    }

    /// A directory in which node 1 of three has lived, with a leader or not.
    fn lived_in(established: bool) -> Scratch {
        let scratch = Scratch::new();
        let opened = open(&scratch, configuration(1, &[1, 2, 3], ""), FirstStart::Asked).unwrap();
        if established {
            opened.memory.on_established();
            opened.memory.save().unwrap();
        }
        scratch
    }

    fn refused(scratch: &Scratch, wanted: Configuration) -> String {
        open(scratch, wanted, FirstStart::Denied).err().expect("it is refused").to_string()
    }

    #[test]
    fn a_first_start_is_asked_for_and_never_happens_twice() {
        let scratch = Scratch::new();
        let same = || configuration(1, &[1, 2, 3], "");
        let text = refused(&scratch, same());
        assert!(text.contains("--new") && text.contains("wiped"), "{text}");
        let opened = open(&scratch, same(), FirstStart::Asked).unwrap();
        assert_eq!(opened.memory.disk(), Disk { number: 77, starts: 1, writes: 0 });
        drop(opened);
        assert!(matches!(open(&scratch, same(), FirstStart::Asked), Err(StoreError::NotFirst { .. })));
        let again = open(&scratch, same(), FirstStart::Denied).unwrap();
        assert_eq!((again.memory.disk().starts, again.wait), (2, Duration::ZERO));
    }

    #[test]
    fn a_file_that_is_missing_is_not_taken_for_one_that_never_was() {
        let same = || configuration(1, &[1, 2, 3], "");
        let scratch = lived_in(true);
        std::fs::remove_file(scratch.path().join("@main.stable")).unwrap();
        let text = refused(&scratch, same());
        assert!(text.contains("@main.stable is missing"), "{text}");
        let scratch = lived_in(true);
        std::fs::remove_file(scratch.path().join("@node.stable")).unwrap();
        let text = refused(&scratch, same());
        assert!(text.contains("@node.stable is missing"), "{text}");
    }

    #[test]
    fn other_members_or_options_need_a_new_epoch_and_wait_until_the_old_promise_is_over() {
        let scratch = lived_in(true);
        for wanted in [configuration(1, &[1], ""), configuration(1, &[1, 2, 3], "min-timeout=1s")] {
            assert!(refused(&scratch, wanted).contains("--epoch 2"));
        }
        let opened =
            open(&scratch, configuration(2, &[1, 2, 3], "min-timeout=1s"), FirstStart::Denied).unwrap();
        assert_eq!((opened.wait, opened.renumbered), (Duration::from_millis(150), false));
        drop(opened);
        let text = refused(&scratch, configuration(1, &[1, 2, 3], ""));
        assert!(text.contains("does not go back"), "{text}");
    }

    #[test]
    fn nodes_come_and_go_one_at_a_time_and_only_after_somebody_has_led() {
        let scratch = lived_in(false);
        let text = refused(&scratch, configuration(2, &[1, 2, 3, 4], ""));
        assert!(text.contains("nobody was elected"), "{text}");
        let scratch = lived_in(true);
        for ids in [&[1, 2, 3, 4, 5][..], &[1], &[1, 2, 4]] {
            let text = refused(&scratch, configuration(2, ids, ""));
            assert!(text.contains("one at a time"), "{text}");
        }
        let opened = open(&scratch, configuration(2, &[1, 3], ""), FirstStart::Denied).unwrap();
        assert!(opened.renumbered);
    }

    #[test]
    fn another_disk_an_older_one_and_a_twin_are_told_apart() {
        let scratch = lived_in(true);
        let memory = open(&scratch, configuration(1, &[1, 2, 3], ""), FirstStart::Denied).unwrap().memory;
        let disk = |number, starts, writes| Disk { number, starts, writes };
        memory.meet(2, 900, disk(5, 3, 10)).unwrap();
        memory.on_stored(2, 12);
        let text = memory.meet(2, 901, disk(6, 1, 0)).unwrap_err();
        assert!(text.contains("another disk"), "{text}");
        let text = memory.meet(2, 902, disk(5, 2, 20)).unwrap_err();
        assert!(text.contains("older copy"), "{text}");
        let text = memory.meet(2, 903, disk(5, 4, 11)).unwrap_err();
        assert!(text.contains("older copy") && text.contains("write 12"), "{text}");
        let text = memory.meet(2, 904, disk(5, 3, 12)).unwrap_err();
        assert!(text.contains("two nodes called 2"), "{text}");
        memory.meet(2, 900, disk(5, 3, 12)).unwrap();
        memory.meet(2, 905, disk(5, 4, 12)).unwrap();
    }

    #[test]
    fn whom_a_node_has_met_it_knows_in_its_next_life() {
        let scratch = lived_in(true);
        let same = || configuration(1, &[1, 2, 3], "");
        let memory = open(&scratch, same(), FirstStart::Denied).unwrap().memory;
        memory.meet(3, 1, Disk { number: 8, starts: 2, writes: 4 }).unwrap();
        memory.save().unwrap();
        drop(memory);
        let memory = open(&scratch, same(), FirstStart::Denied).unwrap().memory;
        assert!(memory.meet(3, 2, Disk { number: 9, starts: 1, writes: 0 }).is_err());
    }
}
