//! A set of processes as a row of bits: of a million, one is found at once.

use crate::Address;

/// Processes, by address. Equal sets are equal rows: there is no empty word at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Addresses(Vec<u64>);

impl Addresses {
    pub(super) fn insert(&mut self, address: Address) {
        let (word, bit) = (address.index() / 64, address.index() % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(super) fn remove(&mut self, address: Address) {
        if let Some(word) = self.0.get_mut(address.index() / 64) {
            *word &= !(1 << (address.index() % 64));
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Address> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        (0..)
            .zip(&self.0)
            .flat_map(move |(index, &word)| bits(word).map(move |bit| Address(index * 64 + bit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_leaves_no_trace() {
        let mut set = Addresses::default();
        for address in [200, 3, 64, 3] {
            set.insert(Address(address));
        }
        assert!(set.iter().eq([3, 64, 200].map(Address)));
        for address in [200, 7, 64, 1000] {
            set.remove(Address(address));
        }
        let mut other = Addresses::default();
        other.insert(Address(3));
        assert_eq!(set, other);
        set.remove(Address(3));
        assert!(set.is_empty() && set == Addresses::default());
    }
}
