//! The two directions of a two-way ring.

use crate::topology::TwoWayRing;
use crate::{Address, Context, Process};

/// The direction in which a message travels.
///
/// It is part of the message: on a ring of two processes both directions lead to the same neighbour, and the
/// sender's address alone would not tell from which side a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Way {
    /// Towards falling addresses.
    Left,
    /// Towards growing addresses.
    Right,
}

impl Way {
    /// Both, in the order in which they are sent.
    pub const BOTH: [Way; 2] = [Way::Left, Way::Right];

    /// The way back.
    #[inline]
    pub fn opposite(self) -> Self {
        match self {
            Way::Left => Way::Right,
            Way::Right => Way::Left,
        }
    }

    /// Where a message that travels this way goes next.
    #[inline]
    pub fn ahead<P: Process<Topology = TwoWayRing>>(self, cx: &Context<'_, P>) -> Address {
        match self {
            Way::Left => cx.left(),
            Way::Right => cx.right(),
        }
    }

    /// This way's place in a table with one row for each.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Way::Left => 0,
            Way::Right => 1,
        }
    }
}
