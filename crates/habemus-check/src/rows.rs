//! Rows of numbers, one after the other, in as little room as they need.
//!
//! Most systems have fewer than 2¹⁶ local states and inboxes; their rows take half the room.

use crate::row::{append, append_narrow, append_widened, is_narrow, is_same};

/// Rows lie in chunks of this many, so that growing copies nothing.
pub(crate) const CHUNK: usize = 1 << 12;
/// A power of two, so that a chunk that doubles its room comes to the size of a chunk, and no further.
const FEWEST: usize = 8;

/// Many rows of one width.
#[derive(Debug)]
pub(crate) struct Rows {
    width: usize,
    chunks: Vec<Chunk>,
    len: usize,
}

/// A part of the rows: as wide as its greatest number needs.
#[derive(Debug)]
enum Chunk {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Rows { width, chunks: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many numbers make a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Adds a row at the end.
    #[inline]
    pub(crate) fn push(&mut self, row: &[u32]) {
        if self.len.is_multiple_of(CHUNK) {
            let room = room(self.len) * self.width;
            let chunk = if is_narrow(row) {
                Chunk::Narrow(Vec::with_capacity(room))
            } else {
                Chunk::Wide(Vec::with_capacity(room))
            };
            self.chunks.push(chunk);
        }
        self.len += 1;
        let chunk = self.chunks.last_mut().expect("there is one by now");
        if let Chunk::Narrow(words) = chunk {
            if is_narrow(row) {
                append_narrow(words, row);
                return;
            }
            let mut wide = Vec::with_capacity(words.capacity());
            append_widened(&mut wide, words);
            *chunk = Chunk::Wide(wide);
        }
        if let Chunk::Wide(words) = chunk {
            append(words, row);
        }
    }

    /// Whether the row at `index` is this one.
    #[inline]
    pub(crate) fn is(&self, index: usize, row: &[u32]) -> bool {
        let at = index % CHUNK * self.width;
        match &self.chunks[index / CHUNK] {
            Chunk::Narrow(words) => is_same(&words[at..at + self.width], row),
            Chunk::Wide(words) => is_same(&words[at..at + self.width], row),
        }
    }

    /// The first number of the row at `index`.
    #[inline]
    pub(crate) fn first(&self, index: usize) -> u32 {
        let at = index % CHUNK * self.width;
        match &self.chunks[index / CHUNK] {
            Chunk::Narrow(words) => u32::from(words[at]),
            Chunk::Wide(words) => words[at],
        }
    }

    /// Copies the row at `index` to the end of others.
    #[inline]
    pub(crate) fn copy(&self, index: usize, to: &mut Vec<u32>) {
        let at = index % CHUNK * self.width;
        match &self.chunks[index / CHUNK] {
            Chunk::Narrow(words) => append_widened(to, &words[at..at + self.width]),
            Chunk::Wide(words) => append(to, &words[at..at + self.width]),
        }
    }

    /// How many bytes the rows take.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |chunk: &Chunk| match chunk {
            Chunk::Narrow(words) => words.capacity() * size_of::<u16>(),
            Chunk::Wide(words) => words.capacity() * size_of::<u32>(),
        };
        self.chunks.iter().map(bytes).sum()
    }
}

/// For how many more elements there is to be room at the beginning of a chunk, where so many are in others.
/// The first chunk grows as it is needed: most systems are small.
pub(crate) fn room(len: usize) -> usize {
    if len == 0 { FEWEST } else { CHUNK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_they_were_before_and_after_numbers_grow() {
        let mut rows = Rows::new(3);
        let row = |number: u32| [number, number % 7, if number < 6000 { 1 } else { 70_000 }];
        for number in 0..10_000 {
            rows.push(&row(number));
        }
        for number in 0..10_000 {
            let mut copy = vec![9];
            rows.copy(number as usize, &mut copy);
            assert_eq!(copy[1..], row(number));
            assert!(rows.is(number as usize, &row(number)));
            assert!(!rows.is(number as usize, &row(number + 1)));
            assert_eq!(rows.first(number as usize), number);
        }
        assert_eq!(rows.len(), 10_000);
        // The first chunk is narrow, the second was made wide, the third was wide from its first row.
        assert!(rows.bytes() < (2 * 4096 + 2 * 4 * 4096) * 3 + 64, "{}", rows.bytes());
    }
}
