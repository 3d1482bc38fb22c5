//! What comes of every cause in every local state, worked out once for all threads.

use std::sync::{Arc, PoisonError, RwLock};

use habemus::Suspicion;
use rustc_hash::FxHashMap;

use crate::protocol::{Cause, Protocol, Reaction, Trouble};

/// Threads lock a part at a time. A power of two.
const PARTS: usize = 16;

/// All reactions that were ever asked for. Threads share them.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    parts: [RwLock<FxHashMap<u64, Arc<[Reaction]>>>; PARTS],
}

impl Reactions {
    /// What comes of a cause in a local state, one for each way to choose.
    pub(crate) fn of(
        &self,
        protocol: &dyn Protocol,
        local: u32,
        cause: Cause,
    ) -> Result<Arc<[Reaction]>, Trouble> {
        let key = u64::from(local) << 32 | u64::from(code(cause));
        let part = &self.parts[local as usize % PARTS];
        if let Some(known) = part.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(known));
        }
        let reactions: Arc<[Reaction]> = protocol.react(local, cause)?.into();
        part.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&reactions));
        Ok(reactions)
    }
}

/// A number for each cause: its kind in the low bits.
fn code(cause: Cause) -> u32 {
    let (kind, which) = match cause {
        Cause::Item(item) => (0, item),
        Cause::Timer(timer) => (1, timer),
        Cause::Client => (2, 0),
        Cause::Crash { forever } => (3, u32::from(forever)),
        Cause::Start => (4, 0),
        Cause::Recover => (5, 0),
        Cause::Suspicion(Suspicion::Suspect(about)) => (6, about.0),
        Cause::Suspicion(Suspicion::Restore(about)) => (7, about.0),
    };
    assert!(which < 1 << 29, "fewer than 2²⁹ messages fit into memory");
    which << 3 | kind
}
