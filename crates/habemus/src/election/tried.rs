//! Which neighbours a candidate has tried to capture: the notes' table `tried`, kept as one number.

use crate::Address;
use crate::topology::{Complete, Topology};

/// In which order a candidate tries its neighbours. The notes leave it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisitOrder {
    /// By address, beginning after its own and going round: candidates begin at different addresses.
    #[default]
    Ring,
    /// By address, beginning with the first: candidates fight for the same processes from the start.
    Address,
}

/// The neighbours that have been tried: in a fixed order, n flags become a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tried {
    /// How many addresses have been passed.
    pub passed: u32,
}

impl Tried {
    /// A neighbour of `me` that has not been tried; from now on it has been. `None`: all have.
    pub fn next_neighbour(&mut self, order: VisitOrder, me: Address, network: &Complete) -> Option<Address> {
        let count = network.len() as u64;
        while u64::from(self.passed) < count {
            let passed = u64::from(self.passed);
            let next = match order {
                VisitOrder::Ring => (u64::from(me.0) + 1 + passed) % count,
                VisitOrder::Address => passed,
            };
            self.passed += 1;
            let next = Address(next as u32);
            if next != me && network.linked(me, next) {
                return Some(next);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all(order: VisitOrder, me: u32, network: &Complete) -> Vec<u32> {
        let mut tried = Tried::default();
        let next = || tried.next_neighbour(order, Address(me), network);
        std::iter::from_fn(next).map(|next| next.0).collect()
    }

    #[test]
    fn everybody_else_is_tried_once() {
        assert_eq!(all(VisitOrder::Ring, 2, &Complete::new(4)), [3, 0, 1]);
        assert_eq!(all(VisitOrder::Address, 2, &Complete::new(4)), [0, 1, 3]);
        assert_eq!(all(VisitOrder::Ring, 0, &Complete::new(1)), []);
    }

    #[test]
    fn those_that_are_gone_are_passed_over() {
        let network = Complete::new(5).without(&BTreeSet::from([Address(0), Address(3)]));
        assert_eq!(all(VisitOrder::Ring, 2, &network), [4, 1]);
        assert_eq!(all(VisitOrder::Address, 2, &network), [1, 4]);
    }
}
