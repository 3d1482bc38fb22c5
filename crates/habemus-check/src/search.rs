//! How much of the state graph to explore, as a value.

use crate::setting::Reduction;
use crate::world::World;

/// What a search leaves out, and where it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Whether ample sets are explored where there are any.
    pub(crate) ample_sets: bool,
    /// Whether invisible deliveries are merged with what comes after them.
    pub(crate) blocks: bool,
    /// Whether states that are equal up to a permutation of processes are merged.
    pub(crate) rotation: bool,
    /// Steps from the beginning beyond which nothing is explored.
    pub(crate) max_depth: Option<u32>,
    /// States after which exploration stops.
    pub(crate) max_states: Option<u64>,
}

impl Search {
    /// What the setting asks for: as little as decides every property, but for runs without end.
    pub(crate) fn planned(world: &World) -> Self {
        Search {
            ample_sets: world.setting.uses(Reduction::PartialOrder),
            blocks: world.setting.uses(Reduction::InvisibleDeliveries),
            rotation: !world.system.moves.is_empty(),
            max_depth: world.setting.max_depth,
            max_states: world.setting.max_states,
        }
    }

    /// Everything, as far as the setting allows. Clock shifts are merged even so: fairness does not mind
    /// them.
    pub(crate) fn whole(world: &World) -> Self {
        Search { ample_sets: false, blocks: false, rotation: false, ..Search::planned(world) }
    }

    /// Every order of events, up to a depth and a number of states.
    pub(crate) fn unreduced(self, max_depth: Option<u32>, max_states: u64) -> Self {
        let max_states = Some(self.max_states.unwrap_or(max_states).min(max_states));
        Search { ample_sets: false, blocks: false, max_depth, max_states, ..self }
    }
}
