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
    let mut states = vec![state];
    while let Some(parent) = explored.visited.parent(states[states.len() - 1]) {
        states.push(parent);
    }
    states.reverse();
    let rows: Vec<Vec<u32>> = states.iter().map(|&id| explored.visited.state(id)).collect();
    let opening = explored.openings.iter().find(|(first, _)| *first == rows[0]);
    let (_, opening) = opening.expect("a state without a parent is one in which runs begin");
    Ok(Path { opening: opening.clone(), steps: steps_between(world, &rows)? })
}

/// The steps that lead through these states.
pub(crate) fn steps_between(world: &World, rows: &[Vec<u32>]) -> Result<Vec<Label>, Trouble> {
    let mut worker = Worker::new(world);
    let mut successors = Successors::labelled();
    let mut steps = Vec::new();
    for pair in rows.windows(2) {
        worker.expand(&pair[0], &mut successors)?;
        let index = successors.states.chunks_exact(world.width()).position(|next| *next == *pair[1]);
        match (index, &successors.labels) {
            (Some(index), Some(labels)) => steps.push(labels[index]),
            // Several steps that were taken in one go.
            _ => steps.extend(worker.unfold(&pair[0], &pair[1])?.expect("a state comes after its parent")),
        }
    }
    Ok(steps)
}
