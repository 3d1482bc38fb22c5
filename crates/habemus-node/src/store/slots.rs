//! How a file keeps the last two values: a block with a mark, and two slots.
//!
//! Values go to the slots in turn, so that writing one never touches the last. The mark says which value is
//! known to be durable: if a slot is damaged that the mark or the other slot says was finished later than
//! what is left, the file is corrupt; if not, the slot was being written when the power failed, and nobody
//! was ever promised what it held.

/// Disks write blocks of this size or of a part of it; what shares none with a torn write survives it.
const BLOCK: usize = 4096;

/// "habemus", and the version of the layout.
const MAGIC: &[u8; 8] = b"habemus\x02";

/// What stands before the content of a slot: a checksum of the rest, the content's length, and the sequence.
const HEAD: usize = 16;

/// A slot that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot<'a> {
    pub(super) sequence: u64,
    pub(super) body: &'a [u8],
}

/// How long slots must be for such a content, with room to grow.
pub(super) fn capacity_for(content: usize) -> usize {
    (content + HEAD).next_power_of_two().max(BLOCK)
}

pub(super) fn fits(content: usize, capacity: usize) -> bool {
    content + HEAD <= capacity
}

/// Where the slot of this sequence begins.
pub(super) fn place(sequence: u64, capacity: usize) -> u64 {
    (BLOCK + (sequence % 2) as usize * capacity) as u64
}

/// The bytes of a slot.
pub(super) fn slot(sequence: u64, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(content);
    let sum = crc32fast::hash(&bytes[4..]);
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The bytes that say that everything up to this sequence is durable.
pub(super) fn mark(sequence: u64) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[12..].copy_from_slice(&sequence.to_le_bytes());
    let sum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// A whole file with the same content in both slots.
pub(super) fn whole(sequence: u64, content: &[u8], capacity: usize) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK + 2 * capacity];
    bytes[..20].copy_from_slice(&mark(sequence));
    let slot = slot(sequence, content);
    for begin in [BLOCK, BLOCK + capacity] {
        bytes[begin..begin + slot.len()].copy_from_slice(&slot);
    }
    bytes
}

/// How long the slots of a file are, and the newest of them.
///
/// # Errors
/// In which way the file is damaged.
pub(super) fn read(bytes: &[u8]) -> Result<(usize, Slot<'_>), &'static str> {
    let both = bytes.len().checked_sub(BLOCK).filter(|both| *both > 0).ok_or("it is too short")?;
    if both % (2 * BLOCK) != 0 {
        return Err("its length is wrong");
    }
    let capacity = both / 2;
    let slots = [BLOCK, BLOCK + capacity].map(|begin| read_slot(&bytes[begin..begin + capacity]));
    let newest = slots.into_iter().flatten().max_by_key(|slot| slot.sequence);
    let newest = newest.ok_or("the checksums are wrong")?;
    match read_mark(bytes) {
        Some(durable) if durable > newest.sequence => Err("the checksum of the last value is wrong"),
        Some(_) => Ok((capacity, newest)),
        None if slots.iter().all(Option::is_some) => Ok((capacity, newest)),
        None => Err("it does not begin as it should, and a checksum is wrong"),
    }
}

fn read_slot(bytes: &[u8]) -> Option<Slot<'_>> {
    let length = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
    let end = HEAD.checked_add(length)?;
    let sum = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let sequence = u64::from_le_bytes(bytes.get(8..HEAD)?.try_into().ok()?);
    let sound = crc32fast::hash(bytes.get(4..end)?) == sum;
    sound.then(|| Slot { sequence, body: &bytes[HEAD..end] })
}

fn read_mark(bytes: &[u8]) -> Option<u64> {
    let sequence = u64::from_le_bytes(bytes.get(12..20)?.try_into().ok()?);
    (bytes[..20] == mark(sequence)).then_some(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_two_is_read() {
        let capacity = capacity_for(3);
        let mut bytes = whole(4, b"old", capacity);
        assert_eq!(read(&bytes), Ok((capacity, Slot { sequence: 4, body: b"old" })));
        let (place, slot) = (place(5, capacity) as usize, slot(5, b"new"));
        bytes[place..place + slot.len()].copy_from_slice(&slot);
        assert_eq!(read(&bytes), Ok((capacity, Slot { sequence: 5, body: b"new" })));
    }

    #[test]
    fn a_slot_that_was_finished_and_is_damaged_is_told_from_one_that_was_not() {
        let capacity = capacity_for(3);
        let mut bytes = whole(4, b"old", capacity);
        let place = place(5, capacity) as usize;
        bytes[place] ^= 1;
        assert_eq!(read(&bytes).map(|(_, slot)| slot.sequence), Ok(4));
        bytes[..20].copy_from_slice(&mark(5));
        assert_eq!(read(&bytes), Err("the checksum of the last value is wrong"));
    }

    #[test]
    fn other_files_are_refused() {
        for bytes in [vec![], vec![0; 20], vec![0; 3 * BLOCK], vec![7; BLOCK + 1], vec![0xff; 3 * BLOCK]] {
            assert!(read(&bytes).is_err(), "{} bytes", bytes.len());
        }
    }
}
