//! Logical clocks: Lamport's for timestamps, vectors for happened-before.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::Address;
use crate::opaque::peek;

/// Lamport's clock: if one event happened before another, its time is smaller.
///
/// A time is opaque: it can be compared with another one and ticks, and that is all. Whoever compares a time
/// that is [out of reach](FAR) with one that is not, or finds out its number, [is
/// noticed](crate::symmetry::has_peeked). So no process can mind the time itself, and the model checker may
/// take states for one that differ by a shift of all clocks.
#[derive(Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct LamportClock(u64);

/// So late no clock is that began at zero and ticks.
pub const FAR: u64 = 1 << 40;

impl LamportClock {
    /// Notes that somebody finds out the number.
    #[inline]
    fn read(self) -> u64 {
        if self.0 >= FAR {
            peek();
        }
        self.0
    }

    /// Both numbers, to be compared.
    #[inline]
    fn with(self, other: LamportClock) -> (u64, u64) {
        if (self.0 >= FAR) != (other.0 >= FAR) {
            peek();
        }
        (self.0, other.0)
    }
}

impl PartialEq for LamportClock {
    #[inline]
    fn eq(&self, other: &LamportClock) -> bool {
        let (one, other) = self.with(*other);
        one == other
    }
}

impl Eq for LamportClock {}

impl Ord for LamportClock {
    #[inline]
    fn cmp(&self, other: &LamportClock) -> Ordering {
        let (one, other) = self.with(*other);
        one.cmp(&other)
    }
}

impl PartialOrd for LamportClock {
    #[inline]
    fn partial_cmp(&self, other: &LamportClock) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for LamportClock {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.read().hash(state);
    }
}

impl fmt::Debug for LamportClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.read())
    }
}

/// The time that a clock shows, for a driver that looks for the earliest one.
pub fn time_of(clock: LamportClock) -> u64 {
    clock.0
}

/// Sets a clock forward, or back if that wraps around: for a driver that shifts all of them.
pub fn shift(clock: &mut LamportClock, by: u64) {
    clock.0 = clock.0.wrapping_add(by);
}

impl LamportClock {
    /// A clock that has ticked so often.
    #[cfg(test)]
    pub(crate) fn at(ticks: u64) -> LamportClock {
        LamportClock(ticks)
    }

    /// A number that grows with the time, and among events of the same time with the rank, of which there are
    /// `ranks`: a fencing token is made of it. Whoever hands it out is not shift invariant.
    pub fn numbered(self, rank: usize, ranks: usize) -> u64 {
        self.read().saturating_mul(ranks as u64).saturating_add(rank as u64)
    }

    /// The time of a new local event.
    pub fn tick(&mut self) -> LamportClock {
        self.0 += 1;
        *self
    }

    /// The time of receiving a message that was sent at `sent`.
    pub fn witness(&mut self, sent: LamportClock) -> LamportClock {
        let (mine, sent) = self.with(sent);
        self.0 = mine.max(sent) + 1;
        *self
    }
}

/// A vector clock: one event happened before another exactly if its vector is smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorClock {
    /// How many events of each process are known; processes past the end have had none.
    ticks: Vec<u32>,
}

impl VectorClock {
    /// Counts a new event of `process`.
    pub fn tick(&mut self, process: Address) {
        if self.ticks.len() <= process.index() {
            self.ticks.resize(process.index() + 1, 0);
        }
        self.ticks[process.index()] += 1;
    }

    /// Learns everything that `other` knows.
    pub fn merge(&mut self, other: &VectorClock) {
        if self.ticks.len() < other.ticks.len() {
            self.ticks.resize(other.ticks.len(), 0);
        }
        for (mine, theirs) in self.ticks.iter_mut().zip(&other.ticks) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// How many events of `process` are known.
    pub fn of(&self, process: Address) -> u32 {
        self.ticks.get(process.index()).copied().unwrap_or(0)
    }

    /// The processes of which events are known, and how many.
    pub fn iter(&self) -> impl Iterator<Item = (Address, u32)> + '_ {
        (0..).map(Address).zip(self.ticks.iter().copied()).filter(|(_, ticks)| *ticks > 0)
    }

    /// Whether the event of this clock happened before the event of `other`.
    pub fn happened_before(&self, other: &VectorClock) -> bool {
        self.partial_cmp(other) == Some(Ordering::Less)
    }
}

impl FromIterator<(Address, u32)> for VectorClock {
    fn from_iter<I: IntoIterator<Item = (Address, u32)>>(entries: I) -> Self {
        let mut clock = VectorClock::default();
        for (process, ticks) in entries {
            if clock.ticks.len() <= process.index() {
                clock.ticks.resize(process.index() + 1, 0);
            }
            clock.ticks[process.index()] = ticks;
        }
        clock
    }
}

impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (mut less, mut greater) = (false, false);
        for index in 0..self.ticks.len().max(other.ticks.len()) {
            let process = Address(index as u32);
            match self.of(process).cmp(&other.of(process)) {
                Ordering::Less => less = true,
                Ordering::Greater => greater = true,
                Ordering::Equal => {}
            }
        }
        match (less, greater) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opaque::has_peeked;

    #[test]
    fn a_received_message_is_later_than_its_sending() {
        let (mut sender, mut receiver) = (LamportClock(7), LamportClock(2));
        let sent = sender.tick();
        assert!(receiver.witness(sent) > sent);
    }

    #[test]
    fn a_time_out_of_reach_is_compared_with_its_like_alone() {
        let peeks = |look: &dyn Fn(LamportClock)| {
            let mut far = LamportClock(3);
            shift(&mut far, FAR);
            has_peeked();
            look(far);
            has_peeked()
        };
        let near = LamportClock(9);
        assert!(peeks(&|far| _ = far == near) && peeks(&|far| _ = near < far));
        assert!(peeks(&|mut far| _ = far.witness(near)) && peeks(&|far| _ = far.max(near)));
        assert!(peeks(&|far| _ = far.numbered(0, 1)) && peeks(&|far| _ = format!("{far:?}")));
        assert!(peeks(&|far| far.hash(&mut std::hash::DefaultHasher::new())));
        let later = |mut far: LamportClock| far.tick();
        assert!(!peeks(&|far| _ = later(far) > far) && !peeks(&|mut far| _ = far.witness(later(far))));
        assert!(!peeks(&|_| _ = near.max(LamportClock::default())));
    }

    #[test]
    fn vectors_tell_before_from_concurrent() {
        let (mut a, mut b) = (VectorClock::default(), VectorClock::default());
        a.tick(Address(0));
        b.tick(Address(1));
        assert!(!a.happened_before(&b) && !b.happened_before(&a));
        let sent = a.clone();
        b.merge(&sent);
        b.tick(Address(1));
        assert!(sent.happened_before(&b));
        assert_eq!(b.iter().collect::<Vec<_>>(), [(Address(0), 1), (Address(1), 2)]);
    }
}
