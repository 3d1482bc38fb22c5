//! Everybody one place further on.

use crate::{Address, Id};

/// What becomes of places and of what is kept by place when every process moves to the next one, and the last to the first:
/// the argument of [`Process::turn`](crate::Process::turn).
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    ids: &'a [Id],
}

impl<'a> Turn<'a> {
    /// The turn of the processes with these identifiers, by address.
    pub fn new(ids: &'a [Id]) -> Self {
        Turn { ids }
    }

    /// Where who stands at `address` comes to.
    pub fn address(&self, address: Address) -> Address {
        Address((address.0 + 1) % self.ids.len() as u32)
    }

    /// The identifier of the process at the place that the one called `id` comes to.
    pub fn id(&self, id: Id) -> Id {
        match self.ids.iter().position(|other| *other == id) {
            Some(place) => self.ids[(place + 1) % self.ids.len()],
            None => id,
        }
    }

    /// A list with an entry for each process, by address.
    pub fn list<T>(&self, list: &mut [T]) {
        if !list.is_empty() {
            list.rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_comes_to_the_first_place() {
        let ids = [Id(7), Id(3), Id(9)];
        let turn = Turn::new(&ids);
        assert_eq!([0, 1, 2].map(|place| turn.address(Address(place))), [Address(1), Address(2), Address(0)]);
        assert_eq!(ids.map(|id| turn.id(id)), [Id(3), Id(9), Id(7)]);
        let mut list = ["of the first", "of the second", "of the last"];
        turn.list(&mut list);
        assert_eq!(list, ["of the last", "of the first", "of the second"]);
    }
}
