//! Tables of what was worked out before, made for one thing: to be asked often.
//!
//! A slot of a [`Memo`] holds key and value side by side, so that an answer is one look at memory where a
//! general map takes two.

/// Numbers by pairs of numbers. Nothing is ever taken out.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Open addressing; the length is a power of two.
    slots: Vec<Slot>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: (u32, u32),
    value: (u32, u32),
}

/// No key has this as its first number.
const FREE: u32 = u32::MAX;
const FREE_SLOT: Slot = Slot { key: (FREE, 0), value: (0, 0) };
const FEWEST: usize = 64;

impl Memo {
    /// What was kept under this key.
    #[inline]
    pub(crate) fn get(&self, key: (u32, u32)) -> Option<(u32, u32)> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.slot_of(key)];
        (slot.key.0 != FREE).then_some(slot.value)
    }

    /// Keeps a value under a key that has none.
    pub(crate) fn keep(&mut self, key: (u32, u32), value: (u32, u32)) {
        debug_assert!(key.0 != FREE, "numbers are smaller");
        // At most two thirds of the slots are taken.
        if (self.len + 1) * 3 > self.slots.len() * 2 {
            let more = vec![FREE_SLOT; (self.slots.len() * 2).max(FEWEST)];
            for slot in std::mem::replace(&mut self.slots, more) {
                if slot.key.0 != FREE {
                    let index = self.slot_of(slot.key);
                    self.slots[index] = slot;
                }
            }
        }
        let index = self.slot_of(key);
        debug_assert!(self.slots[index].key.0 == FREE, "nothing is kept twice");
        self.slots[index] = Slot { key, value };
        self.len += 1;
    }

    /// Everything that was kept.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ((u32, u32), (u32, u32))> {
        self.slots.iter().filter(|slot| slot.key.0 != FREE).map(|slot| (slot.key, slot.value))
    }

    /// Where the key is, or the free slot where it belongs.
    #[inline]
    fn slot_of(&self, key: (u32, u32)) -> usize {
        let last = self.slots.len() - 1;
        let mixed = (u64::from(key.0) << 32 | u64::from(key.1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut index = (mixed >> 32) as usize & last;
        while self.slots[index].key.0 != FREE && self.slots[index].key != key {
            index = (index + 1) & last;
        }
        index
    }
}

/// The entry of a table by number, which grows as it must.
pub(crate) fn entry<T: Clone + Default>(table: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
    &mut table[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_and_nothing_else() {
        let mut memo = Memo::default();
        assert_eq!(memo.get((0, 0)), None);
        let keys = || (0..5000_u32).map(|number| (number % 40, number / 40));
        for (number, key) in keys().enumerate() {
            memo.keep(key, (number as u32, key.1));
        }
        for (number, key) in keys().enumerate() {
            assert_eq!(memo.get(key), Some((number as u32, key.1)));
        }
        assert_eq!(memo.get((40, 0)), None);
    }
}
