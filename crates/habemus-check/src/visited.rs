//! Every state that was ever reached, whole, with the state it was first reached from.
//!
//! States are kept whole, not as fingerprints: no state is ever taken for another, so what holds is proved
//! and not merely likely. A state is a short row of numbers, so that this takes less room than fingerprints
//! do elsewhere.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use crate::fit::MAX_PROCESSES;
use crate::row::{append, unrolled};
use crate::rows::{CHUNK, Rows, room};

mod spilled;
use spilled::Spilled;

/// The shards are locked one by one, so that threads seldom wait for each other. A power of two.
pub(crate) const SHARDS: usize = 64;

/// A slot without a state. It is not 0: the system gives memory full of zeros only when it is written to, and
/// to read it before is to be given it twice, with all threads held up.
const FREE: u64 = u64::MAX;

/// The number of a state: its index in its shard, times [`SHARDS`], plus the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateId(pub(crate) u32);

/// The parent of a state in which a run begins.
pub(crate) const NO_PARENT: StateId = StateId(u32::MAX);

/// The set of states.
#[derive(Debug)]
pub(crate) struct Visited {
    width: usize,
    shards: Vec<Mutex<Shard>>,
    states: AtomicU64,
    /// Where states go for which memory has no room, if anywhere.
    directory: Option<PathBuf>,
    /// Held by the thread that spills.
    spilling: Mutex<()>,
    /// What went wrong with the files, if anything did: then what was found since is worth nothing.
    failure: OnceLock<String>,
}

#[derive(Debug)]
struct Shard {
    /// The first states, if they are on disk; what follows is about the others.
    spilled: Option<Box<Spilled>>,
    /// How many states are on disk.
    base: usize,
    /// Open addressing: the high half of the hash, and the index of the state behind those on disk.
    slots: Vec<u64>,
    states: Rows,
    parents: Vec<Vec<u32>>,
}

/// States on their way into a shard.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The hash of each state, and its parent.
    heads: Vec<(u64, u32)>,
    words: Vec<u32>,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(crate) fn push(&mut self, hash: u64, parent: StateId, state: &[u32]) {
        self.heads.push((hash, parent.0));
        append(&mut self.words, state);
    }

    /// Keeps some of its states only.
    fn keep(&mut self, these: &[bool], width: usize) {
        let mut to = 0;
        for at in (0..these.len()).filter(|&at| these[at]) {
            self.heads[to] = self.heads[at];
            self.words.copy_within(at * width..(at + 1) * width, to * width);
            to += 1;
        }
        self.heads.truncate(to);
        self.words.truncate(to * width);
    }

    fn clear(&mut self) {
        self.heads.clear();
        self.words.clear();
    }
}

/// A hash of a state, whose low bits name the shard. The products do not wait for each other (J. Black and
/// others, *UMAC: fast and secure message authentication*, 1999).
#[inline]
pub(crate) fn hash(state: &[u32]) -> u64 {
    debug_assert!(state.len().is_multiple_of(2) && state.len() <= 2 * SALTS.len(), "rows are of pairs");
    let sum = unrolled!(state => {
        state.chunks_exact(2).zip(&SALTS).fold(0_u64, |sum, (pair, salt)| {
            let one = u64::from(pair[0].wrapping_add(salt.0));
            let other = u64::from(pair[1].wrapping_add(salt.1));
            sum.wrapping_add(one * other)
        })
    });
    let mixed = (sum ^ (sum >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 29)
}

/// Enough for the widest row.
const SALTS: [(u32, u32); MAX_PROCESSES + 2] = salts();

const fn salts() -> [(u32, u32); MAX_PROCESSES + 2] {
    let mut salts = [(0, 0); MAX_PROCESSES + 2];
    let (mut index, mut salt) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    while index < salts.len() {
        salts[index] = (salt as u32, (salt >> 32) as u32);
        salt = salt.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(23);
        index += 1;
    }
    salts
}

#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    hash as usize & (SHARDS - 1)
}

impl Visited {
    /// No states yet. Those for which memory has no room may go to this directory.
    pub(crate) fn new(width: usize, directory: Option<&Path>) -> Self {
        Visited {
            width,
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::new(width))).collect(),
            states: AtomicU64::new(0),
            directory: directory.map(Path::to_owned),
            spilling: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }

    /// Adds the states of a batch to their shard, and empties the batch; says whether one of them was among
    /// the first `old` of the shard.
    ///
    /// # Panics
    /// If there are more than 2³² states: a limit on memory comes first.
    pub(crate) fn add(&self, shard: usize, batch: &mut Batch, old: usize) -> bool {
        self.add_to(self.shard(shard), batch, old)
    }

    /// The same, unless another thread is at the shard.
    pub(crate) fn try_add(&self, shard: usize, batch: &mut Batch, old: usize) -> bool {
        match self.shards[shard].try_lock() {
            Ok(guard) => self.add_to(guard, batch, old),
            Err(TryLockError::Poisoned(poisoned)) => self.add_to(poisoned.into_inner(), batch, old),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    fn add_to(&self, mut guard: MutexGuard<'_, Shard>, batch: &mut Batch, old: usize) -> bool {
        let inner = &mut *guard;
        let mut new = 0;
        let mut earliest = usize::MAX;
        if inner.spilled.is_some() {
            earliest = self.attempt(inner.leave_out_spilled(batch, self.width)).unwrap_or(usize::MAX);
        }
        inner.reserve(batch.len());
        inner.fetch(&batch.heads);
        for (&(hash, parent), state) in batch.heads.iter().zip(batch.words.chunks_exact(self.width)) {
            match inner.find(hash, state) {
                Ok(index) => earliest = earliest.min(inner.base + index),
                Err(free) => {
                    inner.push(free, hash, state, parent);
                    new += 1;
                }
            }
        }
        batch.clear();
        assert!(inner.len() < (u32::MAX as usize) / SHARDS, "there are more states than can be numbered");
        drop(guard);
        self.states.fetch_add(new, Ordering::Relaxed);
        earliest < old
    }

    /// The number of a state, if it was reached.
    pub(crate) fn find(&self, state: &[u32]) -> Option<StateId> {
        let hash = hash(state);
        let shard = shard_of(hash);
        let mut inner = self.shard(shard);
        let young = if inner.slots.is_empty() {
            None
        } else {
            inner.find(hash, state).ok().map(|at| inner.base + at)
        };
        let index = match (young, &mut inner.spilled) {
            (None, Some(spilled)) => self.attempt(spilled.find(hash, state))??,
            (young, _) => young?,
        };
        Some(StateId((index * SHARDS + shard) as u32))
    }

    /// How many states each shard has.
    pub(crate) fn lens(&self) -> Vec<usize> {
        (0..SHARDS).map(|shard| self.shard(shard).len()).collect()
    }

    /// Copies states of a shard, those at `range`, to the end of `to`.
    pub(crate) fn copy(&self, shard: usize, range: std::ops::Range<usize>, to: &mut Vec<u32>) {
        let inner = self.shard(shard);
        let base = inner.base.clamp(range.start, range.end);
        if let Some(spilled) = &inner.spilled
            && base > range.start
            && self.attempt(spilled.copy(range.start..base, to)).is_none()
        {
            to.resize(to.len() + (base - range.start) * self.width, 0);
        }
        for index in base..range.end {
            inner.states.copy(index - inner.base, to);
        }
    }

    /// The state with this number.
    pub(crate) fn state(&self, id: StateId) -> Vec<u32> {
        let (shard, index) = parts(id);
        let mut state = Vec::with_capacity(self.width);
        self.copy(shard, index..index + 1, &mut state);
        state
    }

    /// The state from which this one was first reached.
    pub(crate) fn parent(&self, id: StateId) -> Option<StateId> {
        let (shard, index) = parts(id);
        let inner = self.shard(shard);
        let parent = match (&inner.spilled, index.checked_sub(inner.base)) {
            (_, Some(index)) => inner.parents[index / CHUNK][index % CHUNK],
            (Some(spilled), None) => *self.attempt(spilled.row(index))?.last()?,
            (None, None) => return None,
        };
        (parent != NO_PARENT.0).then_some(StateId(parent))
    }

    /// How many bytes of memory the states take.
    pub(crate) fn bytes(&self) -> u64 {
        (0..SHARDS).map(|shard| self.shard(shard).bytes() as u64).sum()
    }

    /// Moves all states to disk, if there is a place for them and no other thread does so already.
    pub(crate) fn spill(&self) {
        let (Some(directory), Ok(_guard)) = (&self.directory, self.spilling.try_lock()) else { return };
        for shard in 0..SHARDS {
            let mut inner = self.shard(shard);
            if self.attempt(inner.spill(directory)).is_none() {
                return;
            }
        }
    }

    /// What went wrong with the files, if anything did.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Takes note if something goes wrong with a file: the search ends as soon as it looks.
    fn attempt<T>(&self, result: io::Result<T>) -> Option<T> {
        result.map_err(|error| self.failure.set(error.to_string())).ok()
    }

    fn shard(&self, shard: usize) -> MutexGuard<'_, Shard> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shard of a state, and its index there.
pub(crate) fn parts(id: StateId) -> (usize, usize) {
    (id.0 as usize % SHARDS, id.0 as usize / SHARDS)
}

impl Shard {
    fn new(width: usize) -> Self {
        Shard { spilled: None, base: 0, slots: Vec::new(), states: Rows::new(width), parents: Vec::new() }
    }

    /// How many states there are, on disk and in memory.
    fn len(&self) -> usize {
        self.base + self.states.len()
    }

    fn bytes(&self) -> usize {
        let parents: usize = self.parents.iter().map(|chunk| chunk.capacity() * size_of::<u32>()).sum();
        let spilled = self.spilled.as_ref().map_or(0, |spilled| spilled.bytes());
        self.states.bytes() + parents + self.slots.capacity() * size_of::<u64>() + spilled
    }

    /// Moves all states to disk.
    fn spill(&mut self, directory: &Path) -> io::Result<()> {
        if self.states.len() == 0 {
            return Ok(());
        }
        let width = self.states.width();
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Box::new(Spilled::new(directory, width)?)),
        };
        let slots = std::mem::take(&mut self.slots).into_iter().filter(|slot| *slot != FREE);
        let mut hashes: Vec<u64> = slots.map(|slot| slot + self.base as u64).collect();
        hashes.sort_unstable();
        let rows = (0..self.states.len()).map(|index| {
            let mut row = Vec::with_capacity(width + 1);
            self.states.copy(index, &mut row);
            (row, self.parents[index / CHUNK][index % CHUNK])
        });
        spilled.take(rows, &hashes)?;
        self.base += self.states.len();
        (self.states, self.parents) = (Rows::new(width), Vec::new());
        Ok(())
    }

    /// Takes states out of a batch that are on disk; says which of them was reached first.
    fn leave_out_spilled(&mut self, batch: &mut Batch, width: usize) -> io::Result<usize> {
        let Some(spilled) = &mut self.spilled else { return Ok(usize::MAX) };
        // In the order of their hashes, a block is read once for all of them.
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_unstable_by_key(|&at| batch.heads[at].0 >> 32);
        let mut is_new = vec![true; batch.len()];
        let mut earliest = usize::MAX;
        for at in order {
            let state = &batch.words[at * width..(at + 1) * width];
            if let Some(index) = spilled.find(batch.heads[at].0, state)? {
                is_new[at] = false;
                earliest = earliest.min(index);
            }
        }
        batch.keep(&is_new, width);
        Ok(earliest)
    }

    /// Makes room for this many more; a table is at most two thirds full.
    fn reserve(&mut self, more: usize) {
        let needed = (self.states.len() + more) * 3 / 2 + 1;
        if needed <= self.slots.len() {
            return;
        }
        let size = needed.max(self.slots.len() * 3 / 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; size]);
        for slot in old.into_iter().filter(|slot| *slot != FREE) {
            let mut at = self.slot(slot);
            while self.slots[at] != FREE {
                at = self.next(at);
            }
            self.slots[at] = slot;
        }
    }

    /// Looks at the states that may be those of these hashes. The first look at each is the slow one, and the
    /// processor can do many of them at a time if none waits for another.
    fn fetch(&self, heads: &[(u64, u32)]) {
        let first = |&(hash, _): &(u64, u32)| {
            let slot = self.slots[self.slot(hash)];
            let is_likely = slot != FREE && slot >> 32 == hash >> 32;
            if is_likely { u64::from(self.states.first(slot as u32 as usize)) } else { 0 }
        };
        std::hint::black_box(heads.iter().map(first).sum::<u64>());
    }

    /// Where to look first, by the high half of the hash, which the slot itself holds.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// The index of the state, or the free slot where it belongs.
    #[inline]
    fn find(&self, hash: u64, state: &[u32]) -> Result<usize, usize> {
        let mut at = self.slot(hash);
        loop {
            let slot = self.slots[at];
            if slot == FREE {
                return Err(at);
            }
            if slot >> 32 == hash >> 32 {
                let index = slot as u32 as usize;
                if self.states.is(index, state) {
                    return Ok(index);
                }
            }
            at = self.next(at);
        }
    }

    #[inline]
    fn push(&mut self, free: usize, hash: u64, state: &[u32], parent: u32) {
        let index = self.states.len();
        if index.is_multiple_of(CHUNK) {
            self.parents.push(Vec::with_capacity(room(index)));
        }
        self.states.push(state);
        self.parents[index / CHUNK].push(parent);
        self.slots[free] = (hash >> 32) << 32 | index as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_again_with_their_parents_and_counted_once() {
        let visited = Visited::new(4, None);
        let state = |number: u32| [number, number / 7, 3, number ^ 5];
        for round in 0..2 {
            for number in 0..20_000 {
                let hash = hash(&state(number));
                let mut batch = Batch::default();
                let parent = if number == 0 { NO_PARENT } else { StateId(number - 1) };
                batch.push(hash, parent, &state(number));
                let was_there = visited.add(shard_of(hash), &mut batch, usize::MAX);
                assert_eq!(was_there, round == 1, "{number}");
            }
            assert_eq!(visited.len(), 20_000, "round {round}");
        }
        for number in [0, 1, 12_345, 19_999] {
            let id = visited.find(&state(number)).expect("it was added");
            assert_eq!(visited.state(id), state(number));
            assert_eq!(visited.parent(id), number.checked_sub(1).map(StateId));
        }
        assert_eq!(visited.find(&state(20_000)), None);
        assert!(visited.bytes() < 20_000 * 64, "{}", visited.bytes());
    }

    #[test]
    fn states_on_disk_are_what_they_were_and_leave_no_file_behind() {
        let directory = std::env::temp_dir().join(format!("habemus-spill-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a temporary directory can be made");
        let (kept, spilled) = (Visited::new(4, None), Visited::new(4, Some(&directory)));
        let state = |number: u32| [number % 9_000, number % 9_000 / 7, 3, 70_000];
        for number in 0..20_000 {
            let mut said = Vec::new();
            for visited in [&kept, &spilled] {
                let hash = hash(&state(number));
                let mut batch = Batch::default();
                batch.push(hash, StateId(number), &state(number));
                said.push(visited.add(shard_of(hash), &mut batch, 40));
            }
            assert_eq!(said[0], said[1], "{number}");
            if number % 3_333 == 0 {
                spilled.spill();
            }
        }
        assert!(spilled.bytes() < kept.bytes() && spilled.failure().is_none());
        assert_eq!((kept.len(), kept.lens()), (spilled.len(), spilled.lens()));
        for number in (0..9_100).step_by(13) {
            let id = kept.find(&state(number));
            assert_eq!(id, spilled.find(&state(number)), "{number}");
            let Some(id) = id else { continue };
            assert_eq!((kept.state(id), kept.parent(id)), (spilled.state(id), spilled.parent(id)));
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        kept.copy(5, 3..120, &mut one);
        spilled.copy(5, 3..120, &mut other);
        assert_eq!(one, other);
        drop(spilled);
        std::fs::remove_dir(&directory).expect("nothing is left in it");
    }

    #[test]
    fn files_that_cannot_be_made_are_a_failure_and_no_panic() {
        let visited = Visited::new(4, Some(Path::new("/nowhere/at/all")));
        let mut batch = Batch::default();
        batch.push(hash(&[1; 4]), NO_PARENT, &[1; 4]);
        visited.add(shard_of(hash(&[1; 4])), &mut batch, 0);
        visited.spill();
        assert!(visited.failure().is_some());
    }
}
