//! A segment: a file of a fixed length, with one batch after the other.

use crate::batch::{ALIGNMENT, Batch};
use crate::error::JournalError;

/// The file of a segment.
pub(crate) fn name(number: u64) -> String {
    format!("{number:016x}.log")
}

/// The number of a segment's file.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log").filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// What a segment holds, and where its end is.
pub(crate) struct Scanned {
    pub(crate) batches: Vec<Batch>,
    pub(crate) end: usize,
}

/// Reads a segment. The end of the last one may be torn; in all others, and before any batch, everything must
/// be sound: a batch is only written when the one before is durable.
pub(crate) fn scan(name: &str, number: u64, bytes: &[u8], is_last: bool) -> Result<Scanned, JournalError> {
    let mut batches = Vec::new();
    let mut end = 0;
    while let Some((batch, next)) = Batch::at(bytes, number, end) {
        batches.push(batch);
        end = next;
    }
    let later =
        (end..bytes.len()).step_by(ALIGNMENT).find(|&offset| Batch::at(bytes, number, offset).is_some());
    if let Some(later) = later {
        let what = format!("there is no batch, but one behind it, at byte {later}");
        return Err(JournalError::damaged(name, end, what));
    }
    // A segment ends with zeros, unless the last batch was torn.
    let torn = bytes.get(end..).is_some_and(|rest| rest.iter().any(|&byte| byte != 0));
    if torn && !is_last {
        return Err(JournalError::damaged(
            name,
            end,
            "what is there is no batch, and there is a later segment",
        ));
    }
    Ok(Scanned { batches, end })
}
