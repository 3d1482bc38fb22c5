//! Every state that was ever reached, whole, with the state it was first reached from.
//!
//! States are kept whole, not as fingerprints: no state is ever taken for another, so what holds is proved and
//! not merely likely. A state is a short row of numbers, so that this takes less room than fingerprints do
//! elsewhere.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::row::append;

/// The shards are locked one by one, so that threads seldom wait for each other. A power of two.
pub(crate) const SHARDS: usize = 64;
/// The states of a shard lie in chunks of this many, so that growing copies nothing.
const CHUNK: usize = 1 << 12;

/// The number of a state: its place in its shard, times [`SHARDS`], plus the shard.
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
}

#[derive(Debug, Default)]
struct Shard {
    /// Open addressing: the high half of the hash, and the place of the state plus one; 0 is free.
    slots: Vec<u64>,
    words: Vec<Vec<u32>>,
    parents: Vec<Vec<u32>>,
    len: usize,
}

/// States on their way into a shard.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    hashes: Vec<u64>,
    parents: Vec<u32>,
    words: Vec<u32>,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn push(&mut self, hash: u64, parent: StateId, state: &[u32]) {
        self.hashes.push(hash);
        self.parents.push(parent.0);
        append(&mut self.words, state);
    }

    fn clear(&mut self) {
        self.hashes.clear();
        self.parents.clear();
        self.words.clear();
    }
}

/// A hash of a state, whose low bits name the shard.
#[inline]
pub(crate) fn hash(state: &[u32]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for pair in state.chunks(2) {
        let high = pair.get(1).copied().unwrap_or(0);
        hash = (hash ^ (u64::from(pair[0]) | u64::from(high) << 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^= hash >> 32;
    }
    hash.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (hash >> 29)
}

#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    hash as usize & (SHARDS - 1)
}

impl Visited {
    pub(crate) fn new(width: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Visited { width, shards, states: AtomicU64::new(0) }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }

    /// Adds the states of a batch to their shard, and empties the batch; says how many were new.
    ///
    /// # Panics
    /// If there are more than 2³² states: a limit on memory comes first.
    pub(crate) fn add(&self, shard: usize, batch: &mut Batch) -> u64 {
        self.add_to(self.shard(shard), batch)
    }

    /// The same, unless another thread is at the shard.
    pub(crate) fn try_add(&self, shard: usize, batch: &mut Batch) {
        match self.shards[shard].try_lock() {
            Ok(guard) => _ = self.add_to(guard, batch),
            Err(TryLockError::Poisoned(poisoned)) => _ = self.add_to(poisoned.into_inner(), batch),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    fn add_to(&self, mut guard: MutexGuard<'_, Shard>, batch: &mut Batch) -> u64 {
        let inner = &mut *guard;
        let mut new = 0;
        inner.reserve(batch.len());
        inner.fetch(&batch.hashes, self.width);
        for (index, &hash) in batch.hashes.iter().enumerate() {
            let state = &batch.words[index * self.width..(index + 1) * self.width];
            if let Err(free) = inner.find(hash, state, self.width) {
                inner.push(free, hash, state, batch.parents[index], self.width);
                new += 1;
            }
        }
        batch.clear();
        assert!(inner.len < (u32::MAX as usize) / SHARDS, "there are more states than can be numbered");
        drop(guard);
        self.states.fetch_add(new, Ordering::Relaxed);
        new
    }

    /// The number of a state, if it was reached.
    pub(crate) fn find(&self, state: &[u32]) -> Option<StateId> {
        let hash = hash(state);
        let shard = shard_of(hash);
        let inner = self.shard(shard);
        if inner.slots.is_empty() {
            return None;
        }
        inner.find(hash, state, self.width).ok().map(|place| StateId((place * SHARDS + shard) as u32))
    }

    /// How many states each shard has.
    pub(crate) fn lens(&self) -> Vec<usize> {
        (0..SHARDS).map(|shard| self.shard(shard).len).collect()
    }

    /// Copies states of a shard, those at `range`, to the end of `to`.
    pub(crate) fn copy(&self, shard: usize, range: std::ops::Range<usize>, to: &mut Vec<u32>) {
        let inner = self.shard(shard);
        for place in range {
            append(to, inner.state(place, self.width));
        }
    }

    /// The state with this number.
    pub(crate) fn state(&self, id: StateId) -> Vec<u32> {
        let (shard, place) = parts(id);
        self.shard(shard).state(place, self.width).to_vec()
    }

    /// The state from which this one was first reached.
    pub(crate) fn parent(&self, id: StateId) -> Option<StateId> {
        let (shard, place) = parts(id);
        let parent = StateId(self.shard(shard).parents[place / CHUNK][place % CHUNK]);
        (parent != NO_PARENT).then_some(parent)
    }

    /// How many bytes the states take.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |shard: usize| {
            let inner = self.shard(shard);
            let words: usize = inner.words.iter().map(|chunk| chunk.capacity() * 4).sum();
            let parents: usize = inner.parents.iter().map(|chunk| chunk.capacity() * 4).sum();
            (words + parents + inner.slots.capacity() * 8) as u64
        };
        (0..SHARDS).map(bytes).sum()
    }

    fn shard(&self, shard: usize) -> MutexGuard<'_, Shard> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shard of a state, and its place there.
pub(crate) fn parts(id: StateId) -> (usize, usize) {
    (id.0 as usize % SHARDS, id.0 as usize / SHARDS)
}

impl Shard {
    /// Makes room for this many more; a table is at most four fifths full.
    fn reserve(&mut self, more: usize) {
        let needed = (self.len + more) * 5 / 4 + 1;
        if needed <= self.slots.len() {
            return;
        }
        let size = needed.max(self.slots.len() * 3 / 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = self.slot(slot);
            while self.slots[at] != 0 {
                at = self.next(at);
            }
            self.slots[at] = slot;
        }
    }

    /// Looks at the slots of these hashes, and then at the states behind them. The first look at each is the slow one,
    /// and the processor can do many of them at a time if none waits for another.
    fn fetch(&self, hashes: &[u64], width: usize) {
        let slots: u64 = hashes.iter().map(|&hash| self.slots[self.slot(hash)] & 1).sum();
        let states: u64 = hashes
            .iter()
            .map(|&hash| {
                let slot = self.slots[self.slot(hash)];
                let is_likely = slot != 0 && slot >> 32 == hash >> 32;
                if is_likely { u64::from(self.state((slot as u32 - 1) as usize, width)[0]) } else { 0 }
            })
            .sum();
        std::hint::black_box(slots + states);
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

    /// The place of the state, or the free slot where it belongs.
    #[inline]
    fn find(&self, hash: u64, state: &[u32], width: usize) -> Result<usize, usize> {
        let mut at = self.slot(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot >> 32 == hash >> 32 {
                let place = (slot as u32 - 1) as usize;
                // A row is too short for comparing memory in bulk to pay.
                if self.state(place, width).iter().zip(state).all(|(one, other)| one == other) {
                    return Ok(place);
                }
            }
            at = self.next(at);
        }
    }

    #[inline]
    fn push(&mut self, free: usize, hash: u64, state: &[u32], parent: u32, width: usize) {
        if self.len.is_multiple_of(CHUNK) {
            // The first chunk grows as it is needed: most systems are small.
            let room = if self.len == 0 { 0 } else { CHUNK };
            self.words.push(Vec::with_capacity(room * width));
            self.parents.push(Vec::with_capacity(room));
        }
        let chunk = self.len / CHUNK;
        append(&mut self.words[chunk], state);
        self.parents[chunk].push(parent);
        self.len += 1;
        self.slots[free] = (hash >> 32) << 32 | self.len as u64;
    }

    #[inline]
    fn state(&self, place: usize, width: usize) -> &[u32] {
        &self.words[place / CHUNK][place % CHUNK * width..][..width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_again_with_their_parents_and_counted_once() {
        let visited = Visited::new(4);
        let state = |number: u32| [number, number / 7, 3, number ^ 5];
        let mut new = 0;
        for round in 0..2 {
            for number in 0..20_000 {
                let hash = hash(&state(number));
                let mut batch = Batch::default();
                let parent = if number == 0 { NO_PARENT } else { StateId(number - 1) };
                batch.push(hash, parent, &state(number));
                new += visited.add(shard_of(hash), &mut batch);
            }
            assert_eq!((new, visited.len()), (20_000, 20_000), "round {round}");
        }
        for number in [0, 1, 12_345, 19_999] {
            let id = visited.find(&state(number)).expect("it was added");
            assert_eq!(visited.state(id), state(number));
            assert_eq!(visited.parent(id), number.checked_sub(1).map(StateId));
        }
        assert_eq!(visited.find(&state(20_000)), None);
        assert!(visited.bytes() < 20_000 * 64, "{}", visited.bytes());
    }
}
