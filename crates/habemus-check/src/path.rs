//! From a state back to the beginning, and forward again step by step.

use crate::explore::Explored;
use crate::protocol::{Label, Trouble};
use crate::visited::StateId;
use crate::world::{Successors, Worker, World};

/// A run: how it begins, and its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) opening: Vec<(u32, u16)>,
    pub(crate) steps: Vec<Label>,
}

/// The run by which a state was first reached: a shortest one, as exploration is breadth first.
pub(crate) fn path_to(world: &World, explored: &Explored, state: StateId) -> Result<Path, Trouble> {
    path_through(world, explored, &states_to(explored, state))
}

/// The states on the way on which a state was first reached, itself included.
pub(crate) fn states_to(explored: &Explored, state: StateId) -> Vec<StateId> {
    let mut states: Vec<StateId> =
        std::iter::successors(Some(state), |&id| explored.visited.parent(id)).collect();
    states.reverse();
    states
}

/// The run through these states, of which the first is one in which runs begin.
pub(crate) fn path_through(world: &World, explored: &Explored, states: &[StateId]) -> Result<Path, Trouble> {
    let mut worker = Worker::new(world);
    let mut successors = Successors::labelled();
    let first = explored.visited.state(states[0]);
    let opening = explored.openings.iter().find(|(row, _)| worker.is_kept_as(row, &first));
    let (row, opening) = opening.expect("a state without a parent is one in which runs begin");
    let mut row = row.clone();
    let mut steps = Vec::new();
    for &state in &states[1..] {
        // The state that was kept may have earlier times on all clocks than the run has by now, or be a turn of it.
        let kept = explored.visited.state(state);
        worker.expand_as_they_are(&row, &mut successors)?;
        let labels = successors.labels.as_deref().unwrap_or_default();
        let single = successors.states.chunks_exact(world.width()).zip(labels);
        if let Some((next, label)) = single.into_iter().find(|(next, _)| worker.is_kept_as(next, &kept)) {
            steps.push(*label);
            row = next.to_vec();
        } else {
            // Several steps that were taken in one go.
            let (next, several) = worker.unfold(&row, &kept)?.expect("a state comes after its parent");
            steps.extend(several);
            row = next;
        }
    }
    Ok(Path { opening: opening.clone(), steps })
}
