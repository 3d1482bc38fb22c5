//! Values that few processes have.

use habemus::Address;
use rustc_hash::FxHashMap;

/// Values of some processes. The table knows only places, whatever the values are, and so is compiled once.
#[derive(Clone, Debug)]
pub(crate) struct ByProcess<T> {
    places: FxHashMap<Address, usize>,
    values: Vec<Option<T>>,
    /// Places whose value was taken out.
    free: Vec<usize>,
}

impl<T> Default for ByProcess<T> {
    fn default() -> Self {
        ByProcess { places: FxHashMap::default(), values: Vec::new(), free: Vec::new() }
    }
}

impl<T> ByProcess<T> {
    /// Whether no process has a value.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether this process has one.
    pub(crate) fn contains(&self, process: Address) -> bool {
        self.places.contains_key(&process)
    }

    /// The value of a process.
    pub(crate) fn get(&self, process: Address) -> Option<&T> {
        self.values[*self.places.get(&process)?].as_ref()
    }

    /// The value of a process, to be changed.
    pub(crate) fn get_mut(&mut self, process: Address) -> Option<&mut T> {
        self.values[*self.places.get(&process)?].as_mut()
    }

    /// Gives a process a value, instead of the one that it may have.
    pub(crate) fn insert(&mut self, process: Address, value: T) {
        let place = place_of(process, &mut self.places, &mut self.free, self.values.len());
        match self.values.get_mut(place) {
            Some(held) => *held = Some(value),
            None => self.values.push(Some(value)),
        }
    }

    /// Takes the value of a process out.
    pub(crate) fn remove(&mut self, process: Address) -> Option<T> {
        let place = self.places.remove(&process)?;
        self.free.push(place);
        self.values[place].take()
    }
}

/// The place of a process: its own, a free one, or a new one behind all others.
fn place_of(
    process: Address,
    places: &mut FxHashMap<Address, usize>,
    free: &mut Vec<usize>,
    new: usize,
) -> usize {
    *places.entry(process).or_insert_with(|| free.pop().unwrap_or(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_value_that_it_was_given_last() {
        let mut values = ByProcess::default();
        let [a, b] = [Address(7), Address(1)];
        values.insert(a, 'x');
        values.insert(b, 'y');
        values.insert(a, 'z');
        assert_eq!((values.get(a), values.get(b)), (Some(&'z'), Some(&'y')));
        assert_eq!((values.remove(a), values.remove(a)), (Some('z'), None));
        assert!(!values.contains(a) && values.get_mut(a).is_none());
        values.insert(Address(9), 'w');
        assert_eq!((values.get(Address(9)), values.get(b)), (Some(&'w'), Some(&'y')));
        values.remove(Address(9));
        values.remove(b);
        assert!(values.is_empty());
    }
}
