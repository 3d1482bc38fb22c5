//! How an algorithm's message count is measured, and the figure that theory gives for it.

use crate::{Chooser, Id};

/// How well the identifiers lie for the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arrangement {
    /// Anyhow.
    Random,
    /// As cheaply as can be.
    Best,
    /// As dearly as can be.
    Worst,
}

/// Who starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// Everybody at once.
    All,
    /// One process: the arrangement says which.
    One,
}

/// A system laid out for a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arranged {
    /// The identifiers in the order of their addresses.
    pub ids: Vec<Id>,
    /// Those that are given the problem's first command ("elect", "acquire").
    pub start: Vec<Id>,
    /// Those that are dead from the beginning.
    pub down: Vec<Id>,
}

/// What theory says of the number of messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The figure.
    pub messages: f64,
    /// What kind of figure it is.
    pub kind: BoundKind,
    /// As a formula.
    pub formula: &'static str,
}

/// What kind of figure a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// Every run sends exactly as many.
    Exactly,
    /// No run sends more.
    AtMost,
    /// Runs send as many on average.
    OnAverage,
}

impl BoundKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            BoundKind::Exactly => "exactly",
            BoundKind::AtMost => "at most",
            BoundKind::OnAverage => "on average",
        }
    }
}

impl Bound {
    /// Why runs that sent from `min` to `max` messages contradict the figure, if they do. A mean cannot be
    /// contradicted by single runs.
    pub fn broken_by(&self, min: u64, max: u64) -> Option<String> {
        let Bound { messages, kind, formula } = self;
        let broken = match kind {
            BoundKind::Exactly => min as f64 != *messages || max as f64 != *messages,
            BoundKind::AtMost => max as f64 > *messages,
            BoundKind::OnAverage => false,
        };
        let words = kind.words();
        broken.then(|| format!("theory says {words} {formula} = {messages}, but runs sent {min} to {max}"))
    }
}

/// Lays out `n` processes.
pub type Arrange =
    fn(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged;
/// The figure for `n` processes, given a look at the algorithm's options, and at its "topology" if it is not the
/// first of those that the algorithm runs on.
pub type Theory = fn(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound>;

/// How to measure an algorithm's cost, and what to expect.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// The layout.
    pub arrange: Arrange,
    /// What theory says; `None` where nothing is known.
    pub bound: Theory,
}

/// The identifiers 1 … n in random order.
pub fn shuffled_ids(n: usize, chooser: &mut dyn Chooser) -> Vec<Id> {
    let mut ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    for last in (1..n).rev() {
        ids.swap(last, chooser.choose(last as u32 + 1) as usize);
    }
    ids
}
