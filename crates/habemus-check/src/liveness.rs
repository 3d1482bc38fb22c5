//! Runs without end in which somebody waits for ever.

use crate::check::Violation;
use crate::explore::Explored;
use crate::protocol::Trouble;
use crate::world::World;

pub(crate) fn find(_: &World, _: &Explored, _: usize) -> Result<Option<Violation>, Trouble> {
    Ok(None)
}
