//! From a state back to the beginning, and forward again step by step.

use crate::explore::Explored;
use crate::protocol::{Beginning, Transition, Trouble};
use crate::visited::StateId;
use crate::world::{Successors, Worker, World};
use crate::zone::Picos;

/// A run: how it begins, and its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// How each process begins.
    pub(crate) initial: Vec<Beginning>,
    pub(crate) steps: Vec<Transition>,
    /// When each step is taken at the earliest, if there are clocks.
    pub(crate) moments: Option<Vec<Picos>>,
}

/// A run that breaks a property.
pub(crate) struct Violation {
    pub(crate) path: Path,
    /// From which step on it is a cycle, if it ends in one.
    pub(crate) cycle: Option<usize>,
    pub(crate) length: Length,
}

/// Whether a counterexample is as short as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Shortest,
    /// There may be a shorter one: there were too many runs to look at, or it is a cycle of a component that
    /// is nearest to the beginning, while a shorter cycle may be further away.
    AtMost,
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

/// The run through these states, of which the first is an initial one.
pub(crate) fn path_through(world: &World, explored: &Explored, states: &[StateId]) -> Result<Path, Trouble> {
    let mut worker = Worker::new(world, explored.search);
    let mut successors = Successors::labelled();
    let first = explored.visited.state(states[0]);
    let initial = explored.initial.iter().find(|initial| worker.is_canonically(&initial.row, &first));
    let initial = initial.expect("a state without a parent is an initial one");
    let mut row = initial.row.clone();
    let mut steps = Vec::new();
    let mut rows = vec![row.clone()];
    for &state in &states[1..] {
        // What was kept is the canonical form: the run may be a shift or a rotation of it by now.
        let canonical = explored.visited.state(state);
        worker.expand_plainly(&row, &mut successors)?;
        let transitions = successors.transitions.as_deref().unwrap_or_default();
        let mut single = successors.states.chunks_exact(world.width()).zip(transitions);
        if let Some((next, transition)) = single.find(|(next, _)| worker.is_canonically(next, &canonical)) {
            steps.push(*transition);
            row = next.to_vec();
            rows.push(row.clone());
        } else {
            // Several steps that were merged.
            let (next, several) = worker.unfold(&row, &canonical)?.expect("a state comes after its parent");
            steps.extend(several);
            row = next;
        }
    }
    // Where there are clocks nothing is merged: there is a row for each step.
    let moments = worker.moments(&rows, &steps)?.map(|mut moments| moments.split_off(1));
    Ok(Path { initial: initial.beginnings.clone(), steps, moments })
}
