//! Whether the state graph has a cycle in which a property is lacking, so that some run may break it by going
//! on for ever.

use std::cell::Cell;

use crate::environment::Environment;
use crate::explore::{Explored, Stop, memory};
use crate::handle::CheckHandle;
use crate::protocol::Trouble;
use crate::search::Search;
use crate::visited::{SHARDS, StateId, Visited};
use crate::world::{Successors, Worker, World};

/// A search for cycles looks at the memory in use after so many states.
const LOOK: u64 = 4096;

/// How long to look for cycles, and why it ended early, if it did.
pub(crate) struct Patience<'a> {
    handle: &'a CheckHandle,
    max_memory: Option<u64>,
    looked: Cell<u64>,
    over: Cell<Option<Stop>>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(max_memory: Option<u64>, handle: &'a CheckHandle) -> Self {
        Patience { handle, max_memory, looked: Cell::new(0), over: Cell::new(None) }
    }

    /// Why the search ended early.
    pub(crate) fn over(&self) -> Option<Stop> {
        self.over.get()
    }

    /// Takes note of another state that is looked at; says whether to go on.
    pub(crate) fn go_on(&self, visited: &Visited) -> bool {
        let looked = self.looked.replace(self.looked.get() + 1);
        if !self.handle.count_cycle_search() {
            self.over.set(Some(Stop::Interrupted));
        } else if looked.is_multiple_of(LOOK) {
            self.has_room(visited, 0);
        }
        self.over.get().is_none()
    }

    /// Whether there is room for so many bytes more.
    pub(crate) fn has_room(&self, visited: &Visited, bytes: u64) -> bool {
        let is_full = || self.max_memory.is_some_and(|max| memory(visited).saturating_add(bytes) >= max);
        if is_full() {
            visited.spill();
            if is_full() {
                self.over.set(Some(Stop::Memory));
            }
        }
        self.over.get().is_none()
    }
}

/// Whether some run goes on for ever among those that were explored, in states in which a property is lacking
/// of which no violation is known: whether a search in depth comes back to a state that it has not left yet.
/// If it is stopped on the way, it has found none.
///
/// What was left out makes no difference: a run without end can be taken in the chosen order, step by step,
/// with all that monitors see in the same order, and never comes to its end that way either. Nor can it stay
/// where links have failed: they heal in the end, if nothing else happens.
pub(crate) fn has_lacking_cycle(
    world: &World,
    explored: &Explored,
    patience: &Patience<'_>,
) -> Result<bool, Trouble> {
    let is_broken = |property| explored.violations.iter().any(|violation| violation.property == property);
    let is_lacking = |property: &usize| explored.counts.lacking >> property & 1 == 1 && !is_broken(*property);
    let room = explored.visited.lens().iter().max().map_or(0, |max| max * SHARDS);
    if !patience.has_room(&explored.visited, room as u64) {
        return Ok(false);
    }
    let lacking: u32 = (0..u32::BITS as usize).filter(is_lacking).map(|property| 1 << property).sum();
    let mut stages = vec![Stage::Unmet; room];
    let worker = Worker::new(world, explored.search);
    let mut steps = Steps { world, explored, worker, successors: Successors::default(), properties: lacking };
    // Nearly always there is no cycle at all in which anything is lacking. If there is, one property is
    // lacking all the way, or now this one and now that.
    if lacking == 0 || !steps.have_cycle(&mut stages, patience)? {
        return Ok(false);
    }
    if lacking.is_power_of_two() {
        return Ok(true);
    }
    for property in (0..u32::BITS).map(|property| 1 << property).filter(|property| lacking & property != 0) {
        stages.fill(Stage::Unmet);
        steps.properties = property;
        if steps.have_cycle(&mut stages, patience)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How far the visit of a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unmet,
    /// What comes after it is being visited.
    Begun,
    Done,
}

/// The steps that were explored, once more.
struct Steps<'w> {
    world: &'w World,
    explored: &'w Explored,
    worker: Worker<'w>,
    successors: Successors,
    /// Those of which one at least is lacking all the time.
    properties: u32,
}

impl Steps<'_> {
    fn have_cycle(&mut self, stages: &mut [Stage], patience: &Patience<'_>) -> Result<bool, Trouble> {
        let visited = &self.explored.visited;
        // The states that are being visited, and where in `open` what comes after each begins.
        let mut way: Vec<(StateId, usize)> = Vec::new();
        let mut open: Vec<StateId> = Vec::new();
        for (shard, len) in visited.lens().into_iter().enumerate() {
            for root in (0..len).map(|index| StateId((index * SHARDS + shard) as u32)) {
                open.push(root);
                while let Some(state) = open.pop() {
                    match stages[state.0 as usize] {
                        Stage::Done => {}
                        Stage::Begun => return Ok(true),
                        Stage::Unmet if !patience.go_on(visited) => return Ok(false),
                        Stage::Unmet => {
                            let row = visited.state(state);
                            if self.can_stay(&row) {
                                stages[state.0 as usize] = Stage::Begun;
                                way.push((state, open.len()));
                                self.collect(state, &row, &mut open)?;
                            } else {
                                stages[state.0 as usize] = Stage::Done;
                            }
                        }
                    }
                    while let Some(&(state, first)) = way.last() {
                        if open.len() > first {
                            break;
                        }
                        stages[state.0 as usize] = Stage::Done;
                        way.pop();
                    }
                }
            }
        }
        Ok(false)
    }

    /// Whether a run that breaks one of the properties might pass through such a state for ever.
    fn can_stay(&mut self, row: &[u32]) -> bool {
        let is_whole = Environment(row[self.world.environment_at()]).group() == 0;
        let heals = self.world.setting.timers.speed().is_none();
        let lacking = self.worker.judge(row[self.world.monitors_at()]).lacking;
        lacking & self.properties != 0 && (is_whole || !heals)
    }

    /// Adds the states to which the explored steps out of a state lead.
    fn collect(&mut self, state: StateId, row: &[u32], to: &mut Vec<StateId>) -> Result<(), Trouble> {
        let first = to.len();
        let Search { ample_sets, blocks, .. } = self.explored.search;
        if ample_sets && let Some(process) = self.worker.ample_process(row)? {
            self.worker.expand_ample(row, process, &mut self.successors)?;
            self.find(to);
            // As in exploration: one of these steps must have led to where nobody had been.
            let depth = self.explored.depth_of(state);
            if to[first..].iter().any(|&next| self.explored.depth_of(next) > depth) {
                return Ok(());
            }
            to.truncate(first);
        }
        if blocks {
            self.worker.expand_blocks(row, &mut self.successors)?;
        } else {
            self.worker.expand(row, &mut self.successors)?;
        }
        self.find(to);
        Ok(())
    }

    fn find(&self, to: &mut Vec<StateId>) {
        let rows = self.successors.states.chunks_exact(self.world.width());
        to.extend(rows.filter_map(|row| self.explored.visited.find(row)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_for_cycles_ends_where_memory_ends_or_when_it_is_stopped() {
        let (visited, handle) = (Visited::new(4, None), CheckHandle::default());
        let free = Patience::new(None, &handle);
        assert!(free.has_room(&visited, 1 << 40) && free.go_on(&visited));
        let bounded = Patience::new(Some(1 << 40), &handle);
        assert!(bounded.go_on(&visited) && !bounded.has_room(&visited, 1 << 40));
        assert_eq!(bounded.over(), Some(Stop::Memory));
        let narrow = Patience::new(Some(1), &handle);
        assert!(!narrow.go_on(&visited));
        handle.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(!free.go_on(&visited));
        assert_eq!(free.over(), Some(Stop::Interrupted));
    }
}
