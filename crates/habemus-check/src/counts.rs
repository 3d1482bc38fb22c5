//! How many states there are with everything left out that can be, without each reduction, and with none:
//! numbers that another program can be compared with.

use serde::Serialize;

use crate::error::CheckError;
use crate::explore::{Explored, Stop, explore};
use crate::handle::CheckHandle;
use crate::search::Search;
use crate::setting::{Reduction, Setting};
use crate::world::World;

/// What one exploration counted, up to its end, whatever is broken on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplorationCounts {
    /// The reductions that made a difference.
    pub reductions: Vec<Reduction>,
    /// Whether everything was explored that they leave; if not, a limit came first.
    pub complete: bool,
    /// Distinct states.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// States in which nothing more need happen.
    pub quiet: u64,
    /// Steps to the farthest state.
    pub depth: u32,
}

/// Counts with every reduction that the setting allows, then without each one of those that make a
/// difference, and with none of them.
pub(crate) fn count(
    setting: &Setting,
    make: &dyn Fn(&Setting) -> World,
    handle: &CheckHandle,
) -> Result<Vec<ExplorationCounts>, CheckError> {
    let counted = |setting: &Setting| -> Result<ExplorationCounts, CheckError> {
        let world = make(setting);
        let explored = explore(&world, Search::planned(&world), usize::MAX, handle)?;
        Ok(counts(&world, &explored))
    };
    let all = counted(setting)?;
    let used = all.reductions.clone();
    let mut counts = vec![all];
    for &reduction in used.iter().filter(|_| used.len() > 1) {
        counts.push(counted(&Setting { without: Some(reduction), ..setting.clone() })?);
    }
    if !used.is_empty() {
        counts.push(counted(&Setting { reduction: false, symmetry: false, ..setting.clone() })?);
    }
    Ok(counts)
}

fn counts(world: &World, explored: &Explored) -> ExplorationCounts {
    let counts = &explored.counts;
    let made_a_difference = [
        (Reduction::PartialOrder, counts.reduced > 0),
        (Reduction::InvisibleDeliveries, counts.merged > 0),
        (Reduction::Rotation, explored.search.rotation),
        (Reduction::ClockShift, world.system.is_shift_invariant),
        (Reduction::Terms, world.system.is_term_invariant),
    ];
    ExplorationCounts {
        reductions: made_a_difference.iter().filter(|(_, used)| *used).map(|(which, _)| *which).collect(),
        complete: explored.stop == Stop::Exhausted,
        states: explored.visited.len(),
        transitions: counts.transitions,
        quiet: counts.quiet,
        depth: explored.depth,
    }
}
