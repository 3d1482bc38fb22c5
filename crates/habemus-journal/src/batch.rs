//! What is written at once: a header with a checksum, and what several writes say.

use habemus_replica::{Entry, StoredState, Write};
use serde::{Deserialize, Serialize};

/// What begins every batch, so that one can be found behind damage.
const MAGIC: [u8; 4] = *b"hbms";

/// Magic, length and checksum.
pub(crate) const HEADER: usize = 12;

/// Batches begin at multiples of this.
pub(crate) const ALIGNMENT: usize = 8;

/// What an entry takes beside what it says, at most.
const ENTRY: u64 = 64;

/// What several writes say together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// In order; entries replace those that have the index of the first one or a later one.
    pub(crate) appended: Vec<Vec<Entry>>,
    /// The state after all of them, if it is not the one that is known already.
    pub(crate) state: Option<StoredState>,
}

impl Batch {
    /// What these writes say, in one batch, or in several if it has many more bytes than `limit`. Whatever
    /// comes of a crash between two of them makes sense: the term and the vote come with the first, for no
    /// entry may be of a later term, and what is committed (before, up to `committed`) with the last, for no
    /// entry may be missing.
    pub(crate) fn of(writes: &[Write], state: StoredState, committed: u64, limit: u64) -> Vec<Batch> {
        let mut batches = Vec::new();
        let mut batch = Batch::default();
        let mut bytes = 0;
        for write in writes {
            let mut begins = true;
            for entry in &write.entries {
                let size = (entry.data.len() + entry.context.len()) as u64 + ENTRY;
                if bytes + size > limit && !batch.appended.is_empty() {
                    batches.push(std::mem::take(&mut batch));
                    (bytes, begins) = (0, true);
                }
                bytes += size;
                match batch.appended.last_mut() {
                    Some(last) if !begins => last.push(entry.clone()),
                    _ => batch.appended.push(vec![entry.clone()]),
                }
                begins = false;
            }
        }
        batches.push(batch);
        let early = StoredState { commit: committed.min(state.commit), ..state };
        for batch in &mut batches {
            batch.state = Some(early);
        }
        if let Some(last) = batches.last_mut() {
            last.state = Some(state);
        }
        batches
    }

    /// The batch as bytes, for this segment and this offset and no other: a segment that is used again may
    /// hold batches of its former life.
    pub(crate) fn to_bytes(&self, segment: u64, offset: usize) -> Vec<u8> {
        let mut bytes = postcard::to_extend(self, vec![0; HEADER]).expect("memory takes whatever is written");
        let length = u32::try_from(bytes.len() - HEADER).expect("a segment is shorter");
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        let checksum = checksum(segment, offset, &bytes[HEADER..]);
        bytes[8..HEADER].copy_from_slice(&checksum.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes
    }

    /// The batch that begins at `offset`, and where the next one does. Nothing if there is none.
    pub(crate) fn at(bytes: &[u8], segment: u64, offset: usize) -> Option<(Batch, usize)> {
        let rest = bytes.get(offset..)?.strip_prefix(&MAGIC)?;
        let (length, rest) = rest.split_first_chunk()?;
        let (expected, rest) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        let payload = rest.get(..length)?;
        if checksum(segment, offset, payload) != u32::from_le_bytes(*expected) {
            return None;
        }
        let batch = postcard::from_bytes(payload).ok()?;
        Some((batch, (offset + HEADER + length).next_multiple_of(ALIGNMENT)))
    }
}

fn checksum(segment: u64, offset: usize, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&segment.to_le_bytes());
    hasher.update(&(offset as u64).to_le_bytes());
    hasher.update(&(payload.len() as u64).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch { appended: vec![], state: Some(StoredState { term: 3, vote: 1, commit: 7 }) }
    }

    #[test]
    fn a_batch_is_found_where_it_was_written_and_nowhere_else() {
        let mut bytes = vec![0; 64];
        let written = batch().to_bytes(5, 16);
        bytes[16..16 + written.len()].copy_from_slice(&written);
        assert_eq!(Batch::at(&bytes, 5, 16), Some((batch(), 16 + written.len())));
        assert_eq!(Batch::at(&bytes, 6, 16), None, "it is of another segment");
        assert_eq!(Batch::at(&bytes, 5, 8), None);
        assert_eq!(Batch::at(&bytes, 5, 100), None, "beyond the end");
        let moved = [vec![0; 8], written].concat();
        assert_eq!(Batch::at(&moved, 5, 8), None, "it was not written there");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let written = batch().to_bytes(5, 0);
        let length = HEADER
            + usize::try_from(u32::from_le_bytes(written[4..8].try_into().expect("four"))).expect("short");
        for bit in 0..length * 8 {
            let mut flipped = written.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Batch::at(&flipped, 5, 0), None, "bit {bit}");
        }
    }
}
