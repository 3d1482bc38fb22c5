//! What comes of every cause in every local state, worked out once for all threads.

use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use habemus::Suspicion;
use rustc_hash::FxHashMap;

use crate::memo::Memo;
use crate::numbered::Numbered;
use crate::protocol::{Cause, Reaction, Trouble};
use crate::world::Shown;

/// Threads lock a part at a time. A power of two.
const PARTS: usize = 16;

/// All reactions that were ever asked for. Threads share them.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    parts: [RwLock<Known>; PARTS],
}

/// One thread's way to reactions: those it asked for before lie side by side.
pub(crate) struct Reflexes<'w> {
    /// What other threads have worked out, if there are any.
    shared: Option<&'w Reactions>,
    system: &'w Numbered,
    known: Known,
    halfways: FxHashMap<(u32, u32, usize, u32), Reflex>,
}

/// A reaction, without what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reflex {
    /// The local state afterwards.
    pub(crate) local: u32,
    /// What monitors see of it; 0 is nothing.
    pub(crate) observations: u32,
    /// Where its sends are.
    first: u32,
    count: u32,
}

impl Reflex {
    /// Nothing happens.
    pub(crate) fn none(local: u32) -> Self {
        Reflex { local, observations: 0, first: 0, count: 0 }
    }

    /// Where its sends are, for [`Reflexes::send`].
    #[inline]
    pub(crate) fn sends(self) -> Range<u32> {
        self.first..self.first + self.count
    }

    /// Whether others notice nothing of it.
    pub(crate) fn is_silent(self) -> bool {
        self.count == 0 && self.observations == 0
    }
}

impl<'w> Reflexes<'w> {
    pub(crate) fn new(shared: Option<&'w Reactions>, system: &'w Numbered) -> Self {
        Reflexes { shared, system, known: Known::default(), halfways: FxHashMap::default() }
    }

    /// What comes of a cause in a local state, one for each way to choose, as indices for
    /// [`at`](Reflexes::at).
    #[inline]
    pub(crate) fn of(&mut self, local: u32, cause: Cause) -> Result<Range<u32>, Trouble> {
        let key = (local, code(cause));
        match self.known.find(key) {
            Some(known) => Ok(known),
            None => self.ask(key, cause),
        }
    }

    #[cold]
    fn ask(&mut self, key: (u32, u32), cause: Cause) -> Result<Range<u32>, Trouble> {
        let part = self.shared.map(|shared| &shared.parts[key.0 as usize % PARTS]);
        if let Some(part) = part {
            let shared = part.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(range) = shared.find(key) {
                let all = range.map(|index| {
                    let reflex = shared.reflexes[index as usize];
                    (reflex.local, reflex.observations, shared.sends_of(reflex))
                });
                return Ok(self.known.keep(key, all));
            }
        }
        let reactions = self.system.react(key.0, cause)?;
        if let Some(part) = part {
            let mut shared = part.write().unwrap_or_else(PoisonError::into_inner);
            if shared.find(key).is_none() {
                shared.keep(key, reactions.iter().map(Reaction::parts));
            }
        }
        Ok(self.known.keep(key, reactions.iter().map(Reaction::parts)))
    }

    /// What comes of a timer at a process that crashes in the midst of it, when these of its messages are
    /// sent: a set of bits.
    pub(crate) fn halfway(
        &mut self,
        local: u32,
        timer: u32,
        choice: usize,
        kept: u32,
    ) -> Result<Reflex, Trouble> {
        let key = (local, timer, choice, kept);
        if let Some(&known) = self.halfways.get(&key) {
            return Ok(known);
        }
        let reaction = self.system.halfway(local, timer, choice, kept)?;
        let reflex = self.known.add(reaction.parts());
        self.halfways.insert(key, reflex);
        Ok(reflex)
    }

    /// Every reaction that was asked for: the local state, the cause, and a reaction for each choice.
    pub(crate) fn known_reactions(&self) -> Vec<(u32, (&'static str, u32), Vec<Shown>)> {
        let shown = |((local, code), (first, last)): ((u32, u32), (u32, u32))| {
            let reactions = (first..last).map(|index| self.show(self.at(index)));
            (local, name(code), reactions.collect())
        };
        let mut all: Vec<_> = self.known.indices.iter().map(shown).collect();
        all.sort_unstable();
        all
    }

    /// Every reaction that was asked for of a process that crashes in the midst of it.
    pub(crate) fn known_halfways(&self) -> Vec<((u32, u32, usize, u32), Shown)> {
        let mut all: Vec<_> = self.halfways.iter().map(|(&key, &reflex)| (key, self.show(reflex))).collect();
        all.sort_unstable();
        all
    }

    fn show(&self, reflex: Reflex) -> Shown {
        (reflex.local, self.sends_of(reflex).to_vec(), reflex.observations)
    }

    #[inline]
    pub(crate) fn at(&self, index: u32) -> Reflex {
        self.known.reflexes[index as usize]
    }

    /// A message that is sent: to whom, and which item.
    #[inline]
    pub(crate) fn send(&self, index: u32) -> (u8, u32) {
        self.known.sends[index as usize]
    }

    pub(crate) fn sends_of(&self, reflex: Reflex) -> &[(u8, u32)] {
        self.known.sends_of(reflex)
    }
}

/// Reactions in a row, and where to find them.
#[derive(Debug, Default)]
struct Known {
    /// By local state and cause: from where to where in `reflexes`.
    indices: Memo,
    reflexes: Vec<Reflex>,
    sends: Vec<(u8, u32)>,
}

impl Known {
    #[inline]
    fn find(&self, key: (u32, u32)) -> Option<Range<u32>> {
        self.indices.get(key).map(|(first, last)| first..last)
    }

    fn keep<'a>(
        &mut self,
        key: (u32, u32),
        all: impl Iterator<Item = (u32, u32, &'a [(u8, u32)])>,
    ) -> Range<u32> {
        let first = self.reflexes.len() as u32;
        for parts in all {
            let reflex = self.add(parts);
            self.reflexes.push(reflex);
        }
        let last = self.reflexes.len() as u32;
        self.indices.keep(key, (first, last));
        first..last
    }

    fn add(&mut self, (local, observations, sends): (u32, u32, &[(u8, u32)])) -> Reflex {
        let first = self.sends.len() as u32;
        self.sends.extend_from_slice(sends);
        Reflex { local, observations, first, count: sends.len() as u32 }
    }

    fn sends_of(&self, reflex: Reflex) -> &[(u8, u32)] {
        &self.sends[reflex.first as usize..(reflex.first + reflex.count) as usize]
    }
}

/// A number for each cause: its kind in the low bits.
fn code(cause: Cause) -> u32 {
    let (kind, which) = match cause {
        Cause::Item(item) => (0, item),
        Cause::Timer(timer) => (1, timer),
        Cause::Client => (2, 0),
        Cause::Crash { forever } => (3, u32::from(forever)),
        Cause::Start => (4, 0),
        Cause::Recover => (5, 0),
        Cause::Suspicion(Suspicion::Suspect(about)) => (6, about.0),
        Cause::Suspicion(Suspicion::Restore(about)) => (7, about.0),
    };
    assert!(which < 1 << 29, "fewer than 2²⁹ messages fit into memory");
    which << 3 | kind
}

/// The kind of a cause that has this number, and which it is.
fn name(code: u32) -> (&'static str, u32) {
    let kinds = ["item", "timer", "client", "crash", "start", "recover", "suspect", "restore"];
    (kinds[(code & 7) as usize], code >> 3)
}
