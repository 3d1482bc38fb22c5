//! Kinds of faults, and sets of them.

use std::fmt;

/// Something that can go wrong.
///
/// Faults come for a while: what must happen in the end is promised of runs that are left in peace after the
/// last fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Messages on a link overtake each other.
    Reordering,
    /// Timers run out before what they wait for, again and again: messages are slower than any timeout.
    WrongTimeouts,
    /// A process crashes, and stays down.
    Crash,
    /// A process crashes, and comes back with what it had stored.
    Recovery,
    /// A process crashes, and comes back without.
    Amnesia,
    /// Messages are lost.
    Loss,
    /// Messages arrive twice.
    Duplication,
    /// The oracle detector suspects a live process, and trusts it again later.
    FalseSuspicion,
    /// The network falls into two groups that hear nothing of each other, and is whole again at once.
    Partition,
    /// Single links carry nothing for a while, perhaps in one direction only.
    Cut,
    /// A process stops to react for a while, and knows nothing of it.
    Pause,
    /// Clocks are fast or slow, by a tenth at most.
    Drift,
    /// A holder stays inside for longer than any timeout.
    LateHolder,
    /// A process says whatever it likes.
    Treason,
}

impl Fault {
    /// Every kind of fault.
    pub const ALL: [Fault; 14] = [
        Fault::Reordering,
        Fault::WrongTimeouts,
        Fault::Crash,
        Fault::Recovery,
        Fault::Amnesia,
        Fault::Loss,
        Fault::Duplication,
        Fault::FalseSuspicion,
        Fault::Partition,
        Fault::Cut,
        Fault::Pause,
        Fault::Drift,
        Fault::LateHolder,
        Fault::Treason,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Reordering => "reordered messages",
            Fault::WrongTimeouts => "wrong timeouts",
            Fault::Crash => "crashes",
            Fault::Recovery => "recoveries",
            Fault::Amnesia => "amnesia",
            Fault::Loss => "lost messages",
            Fault::Duplication => "doubled messages",
            Fault::FalseSuspicion => "false suspicions",
            Fault::Partition => "partitions",
            Fault::Cut => "cut links",
            Fault::Pause => "pauses",
            Fault::Drift => "drifting clocks",
            Fault::LateHolder => "late holders",
            Fault::Treason => "traitors",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults(u16);

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Faults = Faults(0);

    /// These.
    pub const fn of(faults: &[Fault]) -> Self {
        let (mut set, mut next) = (0, 0);
        while next < faults.len() {
            set |= 1 << faults[next] as u16;
            next += 1;
        }
        Faults(set)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    pub const fn contains(self, fault: Fault) -> bool {
        self.0 & 1 << fault as u16 != 0
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, others: Faults) -> Self {
        Faults(self.0 | others.0)
    }

    /// These, but none of those.
    #[must_use]
    pub const fn without(self, others: Faults) -> Self {
        Faults(self.0 & !others.0)
    }

    /// What these and those have in common.
    #[must_use]
    pub const fn common(self, others: Faults) -> Self {
        Faults(self.0 & others.0)
    }

    /// Whether each of these is among those.
    pub const fn is_within(self, others: Faults) -> bool {
        self.without(others).is_empty()
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |fault| self.contains(*fault))
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        faults.into_iter().fold(Faults::NONE, |set, fault| set.and(Faults::of(&[fault])))
    }
}

/// In a sentence: "crashes, recoveries and partitions".
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Fault::name).collect();
        match names.as_slice() {
            [] => f.write_str("nothing"),
            [one] => f.write_str(one),
            [first @ .., last] => write!(f, "{} and {last}", first.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it_and_nothing_else() {
        let set = Faults::of(&[Fault::Crash, Fault::Loss]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Fault::Crash, Fault::Loss]);
        assert_eq!(set.iter().collect::<Faults>(), set);
        assert!(set.contains(Fault::Loss) && !set.contains(Fault::Recovery));
        assert!(set.is_within(set.and(Faults::of(&[Fault::Pause]))));
        assert!(!set.is_within(Faults::of(&[Fault::Loss])));
        assert!(set.without(set).is_empty() && Faults::NONE.is_within(set));
        assert_eq!(Faults::of(&Fault::ALL).iter().count(), Fault::ALL.len());
    }

    #[test]
    fn a_set_is_named_in_a_sentence() {
        assert_eq!(Faults::NONE.to_string(), "nothing");
        assert_eq!(Faults::of(&[Fault::Pause]).to_string(), "pauses");
        let three = Faults::of(&[Fault::Partition, Fault::Recovery, Fault::Crash]);
        assert_eq!(three.to_string(), "crashes, recoveries and partitions");
    }
}
