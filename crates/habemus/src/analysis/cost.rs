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

/// Why an election is held again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Again {
    /// The leader has crashed, and everybody is told.
    Crash,
    /// It is back, and everybody is told.
    Recovery,
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

/// Fewer runs than this say nothing about a mean.
const MIN_RUNS_FOR_A_MEAN: f64 = 10.0;

impl Bound {
    /// Why runs that sent so many messages contradict the figure, if they do. A mean is contradicted by a
    /// mean that exceeds it by more than chance would in one of a million measurements, and by more than a
    /// twentieth, for some figures are approximate; and never by a handful of runs, which do not show how far
    /// chance goes.
    pub fn broken_by(&self, runs: &[u64]) -> Option<String> {
        let Bound { messages, kind, formula } = self;
        let (min, max) = (runs.iter().copied().min()?, runs.iter().copied().max()?);
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<u64>() as f64 / count;
        let broken = match kind {
            BoundKind::Exactly => min as f64 != *messages || max as f64 != *messages,
            BoundKind::AtMost => max as f64 > *messages,
            BoundKind::OnAverage => {
                let variance = runs.iter().map(|run| (*run as f64 - mean).powi(2)).sum::<f64>() / count;
                count >= MIN_RUNS_FOR_A_MEAN && mean > 1.05 * messages + 5.0 * (variance / count).sqrt()
            }
        };
        let words = kind.words();
        broken.then(|| {
            format!(
                "theory says {words} {formula} = {messages}, but runs sent {min} to {max}, {mean} on average"
            )
        })
    }
}

/// Lays out `n` processes.
pub type Arrange =
    fn(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged;
/// The figure for `n` processes, given a look at the algorithm's options, and at its "topology" if it is not
/// the first of those that the algorithm runs on.
pub type Theory = fn(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound>;

/// The figure for an election that is held again among `n` processes, for this reason, under the usual
/// options; `None` where those that are left after a crash are too few to elect anybody.
pub type TheoryAgain = fn(again: Again, n: usize) -> Option<Bound>;

/// How to measure an algorithm's cost, and what to expect.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// The layout.
    pub arrange: Arrange,
    /// What theory says; `None` where nothing is known.
    pub bound: Theory,
    /// What it says of an election that is held again; `None` where none is.
    pub again: Option<TheoryAgain>,
}

/// The figure for a one-shot election that is held again on a detector, given that of one that all start.
/// After a crash everybody is told at once, and all begin the same epoch. After a recovery one begins, and
/// the others when they are told: an epoch, perhaps another beside it, and the one that all are in at last;
/// with an answer to each message of an epoch that is over, which are no more than those of one epoch.
pub fn held_again(all: Option<Bound>, n: usize) -> Option<Bound> {
    let count = n as f64;
    let (messages, kind) = all.map_or((count * count, BoundKind::AtMost), |all| match all.kind {
        BoundKind::OnAverage => (all.messages, BoundKind::OnAverage),
        BoundKind::Exactly | BoundKind::AtMost => (all.messages, BoundKind::AtMost),
    });
    Some(Bound { messages: 3.0 * messages + 3.0 * count, kind, formula: "3(all start, at worst) + 3n" })
}

/// The identifiers 1 … n in random order.
pub fn shuffled_ids(n: usize, chooser: &mut dyn Chooser) -> Vec<Id> {
    let mut ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    for last in (1..n).rev() {
        ids.swap(last, chooser.choose(last as u32 + 1) as usize);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(kind: BoundKind) -> Bound {
        Bound { messages: 100.0, kind, formula: "100" }
    }

    #[test]
    fn a_figure_is_contradicted_by_what_exceeds_it() {
        assert_eq!(bound(BoundKind::Exactly).broken_by(&[100, 100]), None);
        assert!(bound(BoundKind::Exactly).broken_by(&[100, 99]).is_some());
        assert_eq!(bound(BoundKind::AtMost).broken_by(&[100, 7]), None);
        assert!(bound(BoundKind::AtMost).broken_by(&[101, 7]).is_some());
    }

    #[test]
    fn a_mean_is_contradicted_by_a_mean_and_not_by_chance() {
        let spread: Vec<u64> = (0..20).map(|run| if run % 2 == 0 { 60 } else { 150 }).collect();
        assert_eq!(bound(BoundKind::OnAverage).broken_by(&spread), None);
        assert_eq!(bound(BoundKind::OnAverage).broken_by(&[104; 20]), None);
        assert_eq!(bound(BoundKind::OnAverage).broken_by(&[110]), None, "one run is no mean");
        assert!(bound(BoundKind::OnAverage).broken_by(&[110; 20]).is_some());
    }
}
