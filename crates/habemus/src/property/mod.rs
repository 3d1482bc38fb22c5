//! What must hold, as monitors: they are fed what happens and say when a property is broken.
//!
//! A monitor sees only what an application sees (commands, outputs, crashes), never a process's variables, so
//! the same monitor serves the simulator, the model checker, real nodes and recorded traces. It is a plain
//! value: the model checker hashes it as part of a state. Time is not part of it.

use std::fmt;
use std::time::Duration;

use crate::clock::VectorClock;
use crate::{Address, Id, Problem};

mod addresses;
mod agreement;
mod dispatch;
mod election;
mod explained;
mod mutex;
#[cfg(test)]
mod rehearsal;
pub use agreement::*;
pub use election::*;
pub use explained::*;
pub use mutex::*;

/// Who takes part: constants that monitors need and do not store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    /// The identifier of each process, by address.
    pub ids: Vec<Id>,
    /// How well each process is suited to lead, by address, greater is better; `None` where the algorithm
    /// promises no particular leader.
    pub preference: Option<Vec<u32>>,
    /// How many may be in the critical section at once: one, unless it is a car park.
    pub permits: usize,
    /// Whether an election is sure to be started, so that a driver need not show the commands that start one.
    pub is_sure_to_start: bool,
}

impl Population {
    /// How many processes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The identifier by which people know the process at `address`.
    pub fn id(&self, address: Address) -> Id {
        self.ids[address.index()]
    }

    /// The address behind an identifier.
    pub fn address(&self, id: Id) -> Option<Address> {
        self.ids.iter().position(|other| *other == id).map(|index| Address(index as u32))
    }
}

/// Something that a monitor is told.
#[derive(Debug)]
pub struct Observation<'a, P: Problem> {
    /// When, for explanations only.
    pub at: Duration,
    /// At which process.
    pub process: Address,
    /// The vector clock of the event, where the driver keeps one.
    pub clock: Option<&'a VectorClock>,
    /// What.
    pub what: ObservedEvent<'a, P>,
}

/// What can be observed of a process from outside.
#[derive(Debug)]
pub enum ObservedEvent<'a, P: Problem> {
    /// It started, for the first time or again.
    Started,
    /// It crashed: it is neither leader nor inside any more.
    Crashed,
    /// Its application asked for something.
    Command(&'a P::Command),
    /// It told its application something.
    Output(&'a P::Output),
}

// Both are copied whatever the problem; deriving would ask its commands and outputs to be `Copy`.
impl<P: Problem> Clone for Observation<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Problem> Copy for Observation<'_, P> {}
impl<P: Problem> Clone for ObservedEvent<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Problem> Copy for ObservedEvent<'_, P> {}

/// One property, watched.
pub trait Monitor<P: Problem> {
    /// The label of the notes (EM1, E2, …) or the property's name.
    fn name(&self) -> &'static str;

    /// What it demands, in a sentence.
    fn demand(&self) -> &'static str;

    /// Takes note of what happened.
    ///
    /// # Errors
    /// The violation, if this breaks the property.
    fn observe(&mut self, seen: &Observation<'_, P>, who: &Population) -> Result<(), Violation>;

    /// Takes note that all processes have started, and have said what they say as they start: whatever comes
    /// next is part of the run. A driver that cannot tell need not say so.
    ///
    /// # Errors
    /// The violation, if what was said so far breaks the property.
    fn all_started(&mut self, at: Duration, who: &Population) -> Result<(), Violation> {
        let _ = (at, who);
        Ok(())
    }

    /// Whether the property's antecedent is met: whether the run has come to where the property demands or
    /// forbids something. A property whose antecedent is met in no run holds of anything, and says nothing.
    fn is_at_stake(&self, who: &Population) -> bool;

    /// How many writes of holders of the past the protected resource has refused, if this monitor is one.
    fn refused_writes(&self) -> u64 {
        0
    }

    /// Visits the terms that it remembers, to rename them; those of outputs are renamed alike. A monitor does
    /// nothing with terms but compare them.
    fn visit_terms(&mut self, visit: &mut dyn FnMut(&mut u64)) {
        let _ = visit;
    }

    /// Splits off a monitor that watches only what has been seen of one term, and forgets that term. What is
    /// demanded of every term is broken if one of many monitors, each of a single term, says so; a driver
    /// that explores every run may as well follow each of them alone, and none remembers more and more.
    /// `None` where there is nothing to split off.
    fn split_off(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// What to say of the property when the run is over.
    fn at_end(&self, end: End, who: &Population) -> Verdict;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing can happen any more: what has not happened by now never will.
    Quiet,
    /// It was cut off: what has not happened might still.
    CutOff,
}

/// How a property was broken, in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of a property in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It held.
    Holds,
    /// It was broken.
    Violated(Violation),
    /// The run was cut off before it could be told, for this reason.
    Open(String),
    /// It demands nothing of this run, for this reason.
    DoesNotApply(String),
}

impl Verdict {
    /// The verdict on something that must have happened by the end: broken if nothing more can happen.
    pub(crate) fn missing(end: End, what: String) -> Verdict {
        match end {
            End::Quiet => Verdict::Violated(Violation(what)),
            End::CutOff => Verdict::Open(what),
        }
    }
}

/// Names processes in a sentence: "1, 3 and 4".
pub(crate) fn names(addresses: impl IntoIterator<Item = Address>, who: &Population) -> String {
    let names: Vec<String> = addresses.into_iter().map(|address| who.id(address).to_string()).collect();
    match names.as_slice() {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Names processes that may be many: of a crowd only the first few, "1, 3, 4, 5, 7 and 95 others".
pub(crate) fn crowd(addresses: impl IntoIterator<Item = Address>, who: &Population) -> String {
    const NAMED: usize = 5;
    let mut addresses = addresses.into_iter();
    let first: Vec<Address> = addresses.by_ref().take(NAMED).collect();
    match addresses.count() {
        0 => names(first, who),
        others => {
            let first: Vec<String> = first.into_iter().map(|address| who.id(address).to_string()).collect();
            format!("{} and {others} other{}", first.join(", "), if others == 1 { "" } else { "s" })
        }
    }
}

/// An instant in a sentence, as exactly as anybody wants to read it: "at 12.5ms".
pub(crate) fn at(time: Duration) -> String {
    let exact = format!("{time:.3?}");
    let unit = exact.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(exact.len());
    let figure = exact[..unit].trim_end_matches('0').trim_end_matches('.');
    format!("at {figure}{}", &exact[unit..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_has_no_digits_that_nobody_reads() {
        for (nanoseconds, said) in [
            (0, "at 0ns"),
            (28_000_000, "at 28ms"),
            (4_472_011, "at 4.472ms"),
            (12_500_000, "at 12.5ms"),
            (16_805_135_273, "at 16.805s"),
            (100_000_000_000, "at 100s"),
            (900_000, "at 900µs"),
        ] {
            assert_eq!(at(Duration::from_nanos(nanoseconds)), said);
        }
    }

    #[test]
    fn a_crowd_is_named_by_its_first_few() {
        let who = Population {
            ids: (1..=100).map(Id).collect(),
            preference: None,
            permits: 1,
            is_sure_to_start: false,
        };
        let first = |count: u32| crowd((0..count).map(Address), &who);
        assert_eq!(first(0), "nobody");
        assert_eq!(first(3), "1, 2 and 3");
        assert_eq!(first(6), "1, 2, 3, 4, 5 and 1 other");
        assert_eq!(first(100), "1, 2, 3, 4, 5 and 95 others");
    }
}
