//! Symmetries: changes of a whole system that none of its processes can notice.
//!
//! Only the model checker asks for them, and only algorithms that have one say so: states that differ by
//! nothing but a symmetry need to be explored once. An algorithm implements [`ShiftInvariant`],
//! [`RotationSymmetric`], [`PermutationSymmetric`] or [`TermInvariant`], and whoever makes its
//! [`Setup`](crate::catalogue::Setup) says so there. The checker believes nobody: it tries the symmetry on
//! every step that it takes: every rotation or permutation, and times and terms that are out of reach, [of
//! which nothing can be found out](has_peeked).

use std::collections::BTreeSet;
use std::fmt::{self, Debug};

use crate::clock::LamportClock;
pub use crate::clock::{FAR, shift, time_of};
pub use crate::opaque::has_peeked;
use crate::term::{TermInvariant, TermPart, VisitTerms};
use crate::{Address, Id, Process};

/// A part of a system that a symmetry changes.
#[derive(Debug)]
pub enum Part<'a, P: Process> {
    /// The variables of a process.
    Process(&'a mut P),
    /// A message.
    Message(&'a mut P::Message),
}

/// A process to which only the distances between logical times matter: were all of them later by the same
/// amount, it would do the same, with times later by that amount.
pub trait ShiftInvariant: Process {
    /// Whether it is so with these constants.
    fn is_shift_invariant(config: &Self::Config) -> bool {
        let _ = config;
        true
    }

    /// Visits every logical time in a process or a message that may still be compared with another one.
    fn visit_times(part: Part<'_, Self>, config: &Self::Config, visit: &mut dyn FnMut(&mut LamportClock));
}

/// A process that minds neither its identifier nor its address: as long as nobody fails, a process one
/// address further on, with everybody renamed, does the same to those one address further on. How processes
/// start may differ, and so may the address of a token.
pub trait RotationSymmetric: Process {
    /// Renames everybody in a process or a message.
    fn rotate(part: Part<'_, Self>, rotation: &Rotation<'_>);
}

/// A process that minds neither its identifier nor its address, whoever fails: with everybody renamed, it
/// does the same to those with the other names.
pub trait PermutationSymmetric: Process {
    /// Whether it minds who comes after whom: then everybody must be as many addresses further on as all
    /// others.
    const MINDS_ORDER: bool = false;

    /// Renames everybody in a part of a system.
    fn permute(part: TermPart<'_, Self>, permutation: &Permutation<'_>);
}

/// How to visit the logical times of a process or a message, as a value.
pub type VisitTimes<P> = fn(Part<'_, P>, &<P as Process>::Config, &mut dyn FnMut(&mut LamportClock));

/// How to rename everybody in a process or a message, as a value.
pub type Rotate<P> = fn(Part<'_, P>, &Rotation<'_>);

/// How to rename everybody in any way in a part of a system, as a value.
pub type Permute<P> = fn(TermPart<'_, P>, &Permutation<'_>);

/// The symmetries of a system; by default it has none.
pub struct Symmetries<P: Process> {
    /// Of time, if the processes are [`ShiftInvariant`].
    pub clock_shift: Option<VisitTimes<P>>,
    /// Of addresses, if the processes are [`RotationSymmetric`].
    pub rotation: Option<Rotate<P>>,
    /// The same whoever fails, if they are [`PermutationSymmetric`], and whether they mind the order.
    pub permutation: Option<(Permute<P>, bool)>,
    /// Of terms, if the processes are [`TermInvariant`].
    pub terms: Option<VisitTerms<P>>,
}

impl<P: ShiftInvariant> Symmetries<P> {
    /// The same, and that of time if processes with these constants have it.
    #[must_use]
    pub fn with_clock_shift(self, config: &P::Config) -> Self {
        let visit: VisitTimes<P> = P::visit_times;
        Symmetries { clock_shift: P::is_shift_invariant(config).then_some(visit), ..self }
    }
}

impl<P: RotationSymmetric> Symmetries<P> {
    /// The same, and that of addresses.
    #[must_use]
    pub fn with_rotation(self) -> Self {
        Symmetries { rotation: Some(P::rotate), ..self }
    }
}

impl<P: PermutationSymmetric> Symmetries<P> {
    /// The same, and that of all permutations of addresses.
    #[must_use]
    pub fn with_permutation(self) -> Self {
        Symmetries { permutation: Some((P::permute, P::MINDS_ORDER)), ..self }
    }
}

impl<P: TermInvariant> Symmetries<P> {
    /// The same, and that of terms.
    #[must_use]
    pub fn with_terms(self) -> Self {
        Symmetries { terms: Some(P::visit_terms), ..self }
    }
}

impl<P: Process> Default for Symmetries<P> {
    fn default() -> Self {
        Symmetries { clock_shift: None, rotation: None, permutation: None, terms: None }
    }
}

impl<P: Process> Clone for Symmetries<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Process> Copy for Symmetries<P> {}

impl<P: Process> Debug for Symmetries<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symmetries")
            .field("clock_shift", &self.clock_shift.is_some())
            .field("rotation", &self.rotation.is_some())
            .field("permutation", &self.permutation.is_some())
            .field("terms", &self.terms.is_some())
            .finish()
    }
}

/// The rotation of all processes: each moves to the next address, and the last to the first.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<'a> {
    ids: &'a [Id],
}

impl<'a> Rotation<'a> {
    /// The rotation of the processes with these identifiers, by address.
    pub fn new(ids: &'a [Id]) -> Self {
        Rotation { ids }
    }

    /// The address that the process at `address` moves to.
    pub fn address(&self, address: Address) -> Address {
        Address((address.0 + 1) % self.ids.len() as u32)
    }

    /// The identifier of the process at the address that the one called `id` moves to.
    pub fn id(&self, id: Id) -> Id {
        match self.ids.iter().position(|other| *other == id) {
            Some(address) => self.ids[(address + 1) % self.ids.len()],
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

/// A permutation of all processes.
#[derive(Clone, Copy, Debug)]
pub struct Permutation<'a> {
    ids: &'a [Id],
    to: &'a [u32],
}

impl<'a> Permutation<'a> {
    /// The permutation of the processes with these identifiers that takes each to another address, all by
    /// address.
    pub fn new(ids: &'a [Id], to: &'a [u32]) -> Self {
        Permutation { ids, to }
    }

    /// The address that the process at `address` moves to.
    pub fn address(&self, address: Address) -> Address {
        self.to.get(address.index()).map_or(address, |&to| Address(to))
    }

    /// The addresses that these processes move to.
    pub fn addresses(&self, addresses: &BTreeSet<Address>) -> BTreeSet<Address> {
        addresses.iter().map(|&address| self.address(address)).collect()
    }

    /// The identifier of the process at the address that the one called `id` moves to.
    pub fn id(&self, id: Id) -> Id {
        let place = self.ids.iter().position(|other| *other == id);
        place.map_or(id, |place| self.ids[self.to[place] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_moves_as_the_permutation_says() {
        let ids = [Id(7), Id(3), Id(9)];
        let permutation = Permutation::new(&ids, &[1, 0, 2]);
        assert_eq!([0, 1, 2].map(|place| permutation.address(Address(place)).0), [1, 0, 2]);
        assert_eq!(ids.map(|id| permutation.id(id)), [Id(3), Id(7), Id(9)]);
        assert_eq!(permutation.addresses(&BTreeSet::from([Address(0), Address(2)])).len(), 2);
    }

    #[test]
    fn the_last_moves_to_the_first_address() {
        let ids = [Id(7), Id(3), Id(9)];
        let rotation = Rotation::new(&ids);
        let addresses = [0, 1, 2].map(|address| rotation.address(Address(address)));
        assert_eq!(addresses, [Address(1), Address(2), Address(0)]);
        assert_eq!(ids.map(|id| rotation.id(id)), [Id(3), Id(9), Id(7)]);
        let mut list = ["of the first", "of the second", "of the last"];
        rotation.list(&mut list);
        assert_eq!(list, ["of the last", "of the first", "of the second"]);
    }
}
