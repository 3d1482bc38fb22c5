//! The arrangement on a ring that is dearest where only local winners survive a round.

use crate::Id;

/// The identifiers 1 … n such that each round leaves as many survivors as it can: ⌊m/2⌋ of m.
///
/// A survivor is better than both its neighbours, so two neighbours never survive both; here every second
/// address survives, and again every second of those. An address survives as many rounds as its number has
/// trailing ones; for n = 2ᵏ the numbers read backwards, bit by bit, are such an order.
pub(super) fn halving_ids(n: usize) -> Vec<Id> {
    let mut addresses: Vec<usize> = (0..n).collect();
    addresses.sort_by_key(|address| address.trailing_ones());
    let mut ids = vec![Id(0); n];
    for (id, address) in (1..).map(Id).zip(addresses) {
        ids[address] = id;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that are greater than both their neighbours on the ring.
    fn survivors(ids: &[Id]) -> Vec<Id> {
        let n = ids.len();
        let wins = |address: &usize| {
            ids[*address] > ids[(*address + 1) % n] && ids[*address] > ids[(*address + n - 1) % n]
        };
        (0..n).filter(wins).map(|address| ids[address]).collect()
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
