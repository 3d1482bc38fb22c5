//! Zones: all moments at once at which a run may be in a state.
//!
//! A clock runs for each timer and for each message on its way, from when it was set or sent. A *zone* is the
//! set of all values that these clocks can have together, given the steps so far: bounds on each clock and on
//! each difference of two (a difference bound matrix: D. Dill, *Timing assumptions and verification of
//! finite-state concurrent systems*, 1989). Every clock is bounded, for every timer runs out and every
//! message arrives in the end, and all bounds are sums of given ones; so there are finitely many zones, and
//! nothing need be rounded or given up (no extrapolation).

use smallvec::SmallVec;

/// A time in picoseconds: finer than any duration that is given, so that what drift makes of one is rounded
/// by less than anybody can mean.
pub(crate) type Picos = i64;

/// No time is longer: sums of many stay far from the end of the type.
pub(crate) const LONGEST: Picos = 1 << 60;

/// The values that clocks can have together. Entry `(i, j)` of the matrix bounds clock `i` less clock `j`;
/// clock 0 is always 0, and the others follow. The bounds are as tight as can be, so that equal sets have
/// equal matrices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Zone {
    bounds: Box<[Picos]>,
}

/// What a step does to the clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rewinding {
    /// The clock that must show so much at least for the step to be possible.
    pub(crate) guard: Option<(usize, Picos)>,
    /// The clocks afterwards.
    pub(crate) clocks: SmallVec<[Clock; 12]>,
}

/// A clock after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Clock {
    /// Which it was before; `None`: it begins.
    pub(crate) before: Option<u16>,
    /// What it shows at most, until a step takes it away.
    pub(crate) max: Picos,
}

impl Zone {
    /// No clock runs.
    pub(crate) fn new() -> Self {
        Zone { bounds: Box::new([0]) }
    }

    /// The zone after a step and after any time that may pass then; `None` if the step is impossible.
    pub(crate) fn after(&self, rewinding: &Rewinding) -> Option<Zone> {
        let guarded = match rewinding.guard {
            Some((clock, min)) => Some(self.at_least(clock + 1, min)?),
            None => None,
        };
        let zone = guarded.as_ref().unwrap_or(self);
        Some(zone.rewound(&rewinding.clocks).delayed(&rewinding.clocks))
    }

    fn size(&self) -> usize {
        self.bounds.len().isqrt()
    }

    /// The part of it in which a clock shows so much at least.
    fn at_least(&self, clock: usize, min: Picos) -> Option<Zone> {
        let size = self.size();
        let at = |one: usize, other: usize| self.bounds[one * size + other];
        if at(clock, 0) < min {
            return None;
        }
        let mut bounds = self.bounds.clone();
        for (index, bound) in bounds.iter_mut().enumerate() {
            let (one, other) = (index / size, index % size);
            *bound = (*bound).min(at(one, 0) - min + at(clock, other));
        }
        Some(Zone { bounds })
    }

    /// Keeps some clocks and begins others. Nothing is lost by leaving a row out of a tight matrix.
    fn rewound(&self, clocks: &[Clock]) -> Zone {
        let (size, wider) = (self.size(), clocks.len() + 1);
        let source = |clock: usize| match clock.checked_sub(1).and_then(|index| clocks[index].before) {
            Some(before) => usize::from(before) + 1,
            // It shows what the clock that is always 0 shows.
            None => 0,
        };
        let sources: SmallVec<[usize; 12]> = (0..wider).map(source).collect();
        let pairs = sources.iter().flat_map(|one| sources.iter().map(move |other| (one, other)));
        Zone { bounds: pairs.map(|(one, other)| self.bounds[one * size + other]).collect() }
    }

    /// Lets any time pass, but no clock beyond what it shows at most.
    fn delayed(mut self, clocks: &[Clock]) -> Zone {
        let size = self.size();
        for one in 1..size {
            let latest = (1..size).map(|other| self.bounds[one * size + other] + clocks[other - 1].max).min();
            self.bounds[one * size] = latest.unwrap_or(0);
            for other in 1..size {
                let by_zero = self.bounds[one * size] + self.bounds[other];
                let bound = &mut self.bounds[one * size + other];
                *bound = (*bound).min(by_zero);
            }
        }
        self
    }
}

/// The earliest moments at which steps can be taken: each rewinding is a step, and the first is the
/// beginning.
pub(crate) fn earliest(steps: &[Rewinding]) -> Vec<Picos> {
    // (step, earlier step, at least): the one is so much later than the other.
    let mut constraints: Vec<(usize, usize, Picos)> = Vec::new();
    // Of each clock: the step at which it began, and what it shows at most.
    let mut births: Vec<(usize, Picos)> = Vec::new();
    for (step, rewinding) in steps.iter().enumerate() {
        if let Some(last) = step.checked_sub(1) {
            constraints.push((step, last, 0));
        }
        if let Some((clock, min)) = rewinding.guard {
            constraints.push((step, births[clock].0, min));
        }
        constraints.extend(births.iter().map(|&(birth, max)| (birth, step, -max)));
        let born = |clock: &Clock| match clock.before {
            Some(before) => births[usize::from(before)],
            None => (step, clock.max),
        };
        births = rewinding.clocks.iter().map(born).collect();
    }
    let mut moments = vec![0; steps.len()];
    // As many times as there are steps, at most: no way through the constraints is longer.
    for _ in 0..=steps.len() {
        let mut is_stable = true;
        for &(step, other, min) in &constraints {
            let earliest = moments[other] + min;
            is_stable &= moments[step] >= earliest;
            moments[step] = moments[step].max(earliest);
        }
        if is_stable {
            break;
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(max: Picos) -> Clock {
        Clock { before: None, max }
    }

    fn kept(before: u16, max: Picos) -> Clock {
        Clock { before: Some(before), max }
    }

    fn step(guard: Option<(usize, Picos)>, clocks: &[Clock]) -> Rewinding {
        Rewinding { guard, clocks: clocks.iter().copied().collect() }
    }

    #[test]
    fn the_earlier_of_two_timers_runs_out_first() {
        let both = Zone::new().after(&step(None, &[fresh(10), fresh(20)])).expect("it begins");
        // The second is due at 15 at the earliest, and the first at 10 at the latest.
        assert_eq!(both.after(&step(Some((1, 15)), &[kept(0, 10)])), None);
        let second = both.after(&step(Some((0, 5)), &[kept(1, 20)])).expect("the first runs out");
        assert!(second.after(&step(Some((0, 15)), &[])).is_some());
    }

    #[test]
    fn a_step_between_two_others_is_found_where_only_some_moments_allow_it() {
        // A timer due within 0 and 10 sets one of 5, which is to run out between others due at 8 and at 9:
        // only if the first runs out between 3 and 4.
        let (eight, nine) = (fresh(8), fresh(9));
        let begin = Zone::new().after(&step(None, &[fresh(10), eight, nine])).expect("it begins");
        let set = begin.after(&step(Some((0, 0)), &[fresh(5), kept(1, 8), kept(2, 9)])).expect("set");
        let at_eight = set.after(&step(Some((1, 8)), &[kept(0, 5), kept(2, 9)])).expect("at 8");
        let between = at_eight.after(&step(Some((0, 5)), &[kept(1, 9)])).expect("between");
        assert!(between.after(&step(Some((0, 9)), &[])).is_some());
        let moments = earliest(&[
            step(None, &[fresh(10), eight, nine]),
            step(Some((0, 0)), &[fresh(5), kept(1, 8), kept(2, 9)]),
            step(Some((1, 8)), &[kept(0, 5), kept(2, 9)]),
            step(Some((0, 5)), &[kept(1, 9)]),
            step(Some((0, 9)), &[]),
        ]);
        assert_eq!(moments, [0, 3, 8, 8, 9]);
    }

    #[test]
    fn equal_sets_of_values_are_equal_zones() {
        let once = Zone::new().after(&step(None, &[fresh(7)])).expect("it begins");
        let other = Zone::new().after(&step(None, &[fresh(3), fresh(7)])).expect("it begins");
        let other = other.after(&step(None, &[fresh(7)])).expect("nothing is asked");
        assert_eq!(once, other);
        assert_eq!(once.bounds, Box::from([0, 0, 7, 0]));
    }
}
