//! What a seed is like before anything goes wrong: how many members and clients, and for how long there is
//! trouble. No two seeds need be alike: a bug that one crowd of clients hides, another one shows, and many
//! short runs find more in the same time than a few long ones.

use crate::clock::Micros;
use crate::random::Random;

/// What a seed is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeedShape {
    /// How many members the cluster has at first.
    pub(crate) members: u64,
    /// So long things go wrong.
    pub(crate) trouble: Micros,
    /// Whether all of the time of peace passes, also when all is well long before: something may yet come.
    pub(crate) is_patient: bool,
    /// How many clients watch,
    pub(crate) watches: usize,
    /// write and read keys,
    pub(crate) keys: usize,
    /// want to be alone,
    pub(crate) orders: usize,
    /// want to lead,
    pub(crate) leaders: usize,
    /// want one of two permits,
    pub(crate) parkers: usize,
    /// or share, and one of them does not.
    pub(crate) readers: usize,
}

impl SeedShape {
    /// The shape of a seed.
    pub(crate) fn draw(seed: u64) -> SeedShape {
        let mut random = Random::new(seed, 0x5a9e);
        let members = [1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 7][random.below(16) as usize];
        let crowd = |random: &mut Random, size: usize| if random.happens(500) { size } else { 0 };
        SeedShape {
            members,
            trouble: [6_000_000, 10_000_000, 15_000_000, 24_000_000][random.below(4) as usize],
            is_patient: random.happens(125),
            watches: random.between(1, 2) as usize,
            keys: random.between(1, 4) as usize,
            orders: random.between(2, 3) as usize,
            leaders: crowd(&mut random, 2),
            parkers: crowd(&mut random, 3),
            readers: crowd(&mut random, 3),
        }
    }

    /// The shape of a long run: everybody is there.
    pub(crate) fn of_long_run(seed: u64, trouble: Micros) -> SeedShape {
        let members = SeedShape::draw(seed).members;
        let is_patient = true;
        SeedShape {
            members,
            trouble,
            is_patient,
            watches: 2,
            keys: 4,
            orders: 3,
            leaders: 2,
            parkers: 3,
            readers: 3,
        }
    }

    /// How many clients there are.
    pub(crate) fn clients(&self) -> usize {
        self.watches + self.keys + self.orders + self.leaders + self.parkers + self.readers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeds_are_not_alike_and_each_has_somebody_who_writes_watches_and_competes() {
        let shapes: Vec<SeedShape> = (0..200).map(SeedShape::draw).collect();
        let clients: BTreeSet<usize> = shapes.iter().map(SeedShape::clients).collect();
        assert!(clients.len() > 10 && clients.contains(&5), "{clients:?}");
        assert!(shapes.iter().all(|it| it.watches > 0 && it.keys > 0 && it.orders > 1));
        assert_eq!(SeedShape::draw(7), SeedShape::draw(7));
    }
}
