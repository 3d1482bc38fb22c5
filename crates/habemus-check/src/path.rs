//! From a state back to the beginning, and forward again step by step.

use crate::explore::{Explored, intact};
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

/// Of the runs that pass through the same states, terms renamed, so many are followed.
const MAX_RUNS: usize = 256;

/// The run by which a state was first reached: a shortest one, as exploration is breadth first. `None` if
/// there is no such run with the terms as they were; see [`terms`](crate::terms).
pub(crate) fn path_to(world: &World, explored: &Explored, state: StateId) -> Result<Option<Path>, Trouble> {
    let states = states_to(explored, state);
    let walk = Walk::through(world, explored, &states)?;
    Ok(walk.paths().next())
}

/// The states on the way on which a state was first reached, itself included.
pub(crate) fn states_to(explored: &Explored, state: StateId) -> Vec<StateId> {
    let mut states: Vec<StateId> =
        std::iter::successors(Some(state), |&id| explored.visited.parent(id)).collect();
    states.reverse();
    states
}

/// The runs through some states, of which the first is an initial one: one, but for terms.
pub(crate) struct Walk<'a> {
    explored: &'a Explored,
    /// Each state of each run, and which one was before it.
    reached: Vec<Reached>,
    /// The last states: where in `reached`.
    last: Vec<usize>,
    /// For each of these, when the steps on the way to it are taken at the earliest; empty without clocks.
    moments: Vec<Vec<Picos>>,
}

/// A state that a run came to.
struct Reached {
    row: Vec<u32>,
    /// By these steps, nearly always one.
    steps: Vec<Transition>,
    /// From this one, or else it is this one of the initial states.
    before: Result<usize, usize>,
}

impl<'a> Walk<'a> {
    pub(crate) fn through(
        world: &World,
        explored: &'a Explored,
        states: &[StateId],
    ) -> Result<Self, Trouble> {
        let mut worker = Worker::new(world, explored.search);
        let mut walk = Walk { explored, reached: Vec::new(), last: Vec::new(), moments: Vec::new() };
        let first = explored.visited.state(states[0]);
        intact(&explored.visited)?;
        for (number, initial) in explored.initial.iter().enumerate() {
            if let Some(row) = worker.becoming(&initial.row, &first) {
                walk.reach(Reached { row, steps: Vec::new(), before: Err(number) });
                break;
            }
        }
        for &state in &states[1..] {
            // What was kept is the canonical form: the run may be a shift or a rotation of it by now.
            let canonical = explored.visited.state(state);
            intact(&explored.visited)?;
            let before = std::mem::take(&mut walk.last);
            for &from in &before {
                walk.step_to(&canonical, from, &mut worker)?;
            }
            if walk.last.is_empty() {
                // Several steps that were merged.
                for from in before {
                    let merged = worker.unfold(&walk.reached[from].row, &canonical)?;
                    if let Some((row, steps)) = merged {
                        walk.reach(Reached { row, steps, before: Ok(from) });
                    }
                }
            }
        }
        let has_terms = world.system.is_term_invariant;
        assert!(has_terms || !walk.last.is_empty(), "a state comes after its parent");
        walk.note_moments(&mut worker)?;
        Ok(walk)
    }

    /// Finds out when steps are taken, if there are clocks. Nothing is merged then: there is a state for each
    /// step.
    fn note_moments(&mut self, worker: &mut Worker<'_>) -> Result<(), Trouble> {
        for &last in &self.last {
            let way = self.way(last);
            let rows: Vec<&[u32]> = way.iter().map(|&at| &*self.reached[at].row).collect();
            if let Some(moments) = worker.moments(&rows, &self.steps(&way))? {
                self.moments.push(moments[1..].to_vec());
            }
        }
        Ok(())
    }

    /// Takes single steps to a state with this canonical form: the first, or all that differ by terms.
    fn step_to(&mut self, canonical: &[u32], from: usize, worker: &mut Worker<'_>) -> Result<(), Trouble> {
        let world = worker.world();
        let mut successors = Successors::labelled();
        worker.expand_plainly(&self.reached[from].row, &mut successors)?;
        let transitions = successors.transitions.as_deref().unwrap_or_default();
        for (row, &step) in successors.states.chunks_exact(world.width()).zip(transitions) {
            if let Some(row) = worker.becoming(row, canonical) {
                self.reach(Reached { row, steps: vec![step], before: Ok(from) });
                if !world.system.is_term_invariant {
                    break;
                }
            }
        }
        Ok(())
    }

    fn reach(&mut self, reached: Reached) {
        let is_new = self.last.iter().all(|&other| self.reached[other].row != reached.row);
        if is_new && self.last.len() < MAX_RUNS {
            self.last.push(self.reached.len());
            self.reached.push(reached);
        }
    }

    /// The runs.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> + '_ {
        (0..self.last.len()).map(|index| self.path(index))
    }

    /// Each run, with its state that has this index, its last state, and after how many steps it came to the
    /// former.
    pub(crate) fn paths_with(
        &self,
        index: usize,
    ) -> impl Iterator<Item = (Path, &[u32], &[u32], usize)> + '_ {
        self.last.iter().enumerate().map(move |(number, &last)| {
            let way = self.way(last);
            let steps = way[..=index].iter().map(|&at| self.reached[at].steps.len()).sum();
            (self.path(number), &*self.reached[way[index]].row, &*self.reached[last].row, steps)
        })
    }

    fn path(&self, index: usize) -> Path {
        let way = self.way(self.last[index]);
        let number = self.reached[way[0]].before.expect_err("it is an initial state");
        let initial = self.explored.initial[number].beginnings.clone();
        Path { initial, steps: self.steps(&way), moments: self.moments.get(index).cloned() }
    }

    fn steps(&self, way: &[usize]) -> Vec<Transition> {
        way.iter().flat_map(|&at| self.reached[at].steps.iter().copied()).collect()
    }

    /// Where the states of a run are, from the first to this one.
    fn way(&self, last: usize) -> Vec<usize> {
        let mut way: Vec<usize> =
            std::iter::successors(Some(last), |&at| self.reached[at].before.ok()).collect();
        way.reverse();
        way
    }
}
