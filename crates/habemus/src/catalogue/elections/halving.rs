//! The arrangement on a ring that is dearest where only local winners survive a round.

use crate::Id;

/// The identifiers 1 … n such that each round leaves as many survivors as it can: ⌊m/2⌋ of m.
///
/// A survivor is better than both its neighbours, so two neighbours never survive both; here every second place
/// survives, and again every second of those. A place survives as many rounds as its number has trailing
/// ones; for n = 2ᵏ the numbers read backwards, bit by bit, are such an order.
pub(super) fn halving_ids(n: usize) -> Vec<Id> {
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by_key(|place| place.trailing_ones());
    let mut ids = vec![Id(0); n];
    for (id, place) in (1..).map(Id).zip(places) {
        ids[place] = id;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that are greater than both their neighbours on the ring.
    fn survivors(ids: &[Id]) -> Vec<Id> {
        let n = ids.len();
        let wins =
            |place: &usize| ids[*place] > ids[(*place + 1) % n] && ids[*place] > ids[(*place + n - 1) % n];
        (0..n).filter(wins).map(|place| ids[place]).collect()
    }

    #[test]
    fn every_round_leaves_half() {
        for n in 1..=200 {
            let mut ids = halving_ids(n);
            while ids.len() > 1 {
                let left = survivors(&ids);
                assert_eq!(left.len(), ids.len() / 2, "{n}: {ids:?}");
                ids = left;
            }
            assert_eq!(ids, [Id(n as u64)]);
        }
    }
}
