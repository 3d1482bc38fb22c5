//! How far a journal goes.

use serde::{Deserialize, Serialize};

/// How far a journal goes. It only ever grows: whatever is made durable, a vote as well as an entry, moves it
/// on. So of two copies of one journal the later one goes further, unless nothing was made durable between
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Extent {
    /// The number of the last segment.
    pub segment: u64,
    /// Where the next batch goes in it.
    pub end: u64,
}
