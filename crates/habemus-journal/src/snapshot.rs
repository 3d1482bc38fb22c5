//! A snapshot in a file of its own.

use habemus_replica::{StoredSnapshot, StoredState};

use crate::disk::Disk;
use crate::error::JournalError;

/// What begins a snapshot's file; the last digit is its form.
const MAGIC: [u8; 8] = *b"habemus1";

/// A snapshot that is being written.
pub(crate) const UNFINISHED: &str = "snapshot.new";

/// The file of the latest snapshot.
pub(crate) const NAME: &str = "snapshot";

/// What is in the file: the snapshot, the state that goes with it, and in which segment the log goes on.
pub(crate) struct Found {
    pub(crate) snapshot: StoredSnapshot,
    pub(crate) state: StoredState,
    pub(crate) first_segment: u64,
}

/// Writes a snapshot beside the present one, and puts it in its place.
pub(crate) fn write(
    disk: &mut impl Disk,
    snapshot: &StoredSnapshot,
    state: StoredState,
    first_segment: u64,
) -> Result<(), JournalError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([0; 4]);
    bytes = postcard::to_extend(&(first_segment, state, snapshot), bytes)
        .expect("memory takes whatever is written");
    let checksum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    disk.create(UNFINISHED, bytes.len() as u64).map_err(JournalError::disk(UNFINISHED))?;
    disk.write(UNFINISHED, 0, &bytes).map_err(JournalError::disk(UNFINISHED))?;
    disk.sync(UNFINISHED).map_err(JournalError::disk(UNFINISHED))?;
    disk.rename(UNFINISHED, NAME).map_err(JournalError::disk(NAME))?;
    disk.sync_names().map_err(JournalError::disk(NAME))
}

/// Reads the latest snapshot.
pub(crate) fn read(disk: &impl Disk) -> Result<Found, JournalError> {
    let bytes = disk.read(NAME).map_err(JournalError::disk(NAME))?;
    let damaged = |offset, what: &dyn ToString| JournalError::damaged(NAME, offset, what.to_string());
    let rest = bytes.strip_prefix(&MAGIC).ok_or_else(|| damaged(0, &"it does not begin like a snapshot"))?;
    let (checksum, payload) = rest.split_first_chunk().ok_or_else(|| damaged(8, &"it ends"))?;
    if crc32fast::hash(payload) != u32::from_le_bytes(*checksum) {
        return Err(damaged(12, &"the checksum does not fit"));
    }
    let (first_segment, state, snapshot) =
        postcard::from_bytes(payload).map_err(|error| damaged(12, &error))?;
    Ok(Found { snapshot, state, first_segment })
}
