//! Runs without end in which somebody waits for ever.
//!
//! A run that never ends goes round in some strongly connected component of the state graph. A property that
//! demands something to happen is broken by it if the property is lacking in every state of the component,
//! and if the run is fair: a step that is possible all the time is taken at some time (weak fairness). It is
//! enough to look at maximal components: a run through all of one's states and steps is fair if any run in it
//! is, for what a smaller one can do is possible in the larger one as well.
//!
//! Random choices are fair, too: whoever draws for ever draws everything at some time. A draw of which some
//! outcome leads out of the component is therefore no way to stay in it.
//!
//! Where clocks are shifted, a message has another number afterwards, and is not taken for the same one.
//! Nothing is lost by that: clocks only grow, so a component in which they are shifted comes round only if
//! every message that holds a time is delivered, and a message that holds none keeps its number.
//!
//! Where terms are renamed, messages that differ by their terms alone count as one: on a link that keeps the
//! order the first stays first until it is delivered, and whatever the order, if there is always one of them,
//! one is delivered at some time.
//!
//! To look only along single paths would miss runs that leave a state and come back by another way.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cycle::Patience;
use crate::explore::Explored;
use crate::path::{Length, Violation, Walk, states_to};
use crate::protocol::{Transition, TransitionKind, Trouble};
use crate::row::situation;
use crate::setting::{ANY_NUMBER, Setting};
use crate::visited::{SHARDS, StateId};
use crate::world::{Successors, Worker, World};

/// Whether there is a run without end in which the property is lacking for ever.
pub(crate) enum Endless {
    /// There is none, or the search was stopped.
    None,
    /// This one.
    Run(Violation),
    /// There is one among states whose terms are renamed, but not with terms as they were: round it goes only
    /// as long as there is room between two of them.
    Unreal,
}

/// A shortest way into a fair cycle in which the property is lacking for ever, and once round it, if there is
/// one. If the search is stopped, there is none.
pub(crate) fn find(
    world: &World,
    explored: &Explored,
    property: usize,
    patience: &Patience<'_>,
) -> Result<Endless, Trouble> {
    if world.setting.entries != ANY_NUMBER || world.system.facts.one_shot {
        return find_for(world, explored, property, None, patience);
    }
    // There is always somebody who waits: what must not be is that it is always the same one.
    let mut found = Endless::None;
    for address in 0..world.processes() {
        match find_for(world, explored, property, Some(address), patience)? {
            Endless::None => {}
            Endless::Unreal => found = Endless::Unreal,
            run => return Ok(run),
        }
    }
    Ok(found)
}

fn find_for(
    world: &World,
    explored: &Explored,
    property: usize,
    whose: Option<usize>,
    patience: &Patience<'_>,
) -> Result<Endless, Trouble> {
    let Some(mut search) = ComponentSearch::new(world, explored, property, patience) else {
        return Ok(Endless::None);
    };
    search.whose = whose;
    loop {
        let draws = search.draws.len();
        for shard in 0..SHARDS {
            for root in search.lacking_states(shard) {
                search.components_from(root)?;
            }
        }
        if patience.over().is_some() {
            return Ok(Endless::None);
        }
        if search.draws.len() == draws {
            break;
        }
        // Without the draws that lead out, what is left may fall apart into smaller components.
        search.forget();
    }
    search.nearest.take().map_or(Ok(Endless::None), |nearest| search.violation(&nearest))
}

/// Tarjan's search over the states in which the property is lacking, without recursion: paths are long.
struct ComponentSearch<'w> {
    world: &'w World,
    explored: &'w Explored,
    patience: &'w Patience<'w>,
    worker: Worker<'w>,
    successors: Successors,
    property: usize,
    /// The process that must be waiting all the time; `None`: anybody.
    whose: Option<usize>,
    /// By state: when it was met, counted from 1, or 0 if it was not, or [`DONE`] if its component is known.
    met: Vec<u32>,
    stack: Vec<StateId>,
    /// How many states were met.
    count: u32,
    /// The states that are being visited.
    way: Vec<Visit>,
    open: Vec<StateId>,
    /// The fair component to which the shortest way leads, of those found so far.
    nearest: Option<Component>,
    /// Draws of which some outcome leads out of the component that another outcome stays in.
    draws: FxHashSet<(StateId, Class)>,
}

/// What the search keeps for each state: see [`ComponentSearch`].
const BYTES_PER_STATE: u64 = 4;

/// The component of a state is known.
const DONE: u32 = u32::MAX;

/// A state that is being visited.
struct Visit {
    state: StateId,
    /// Where in `open` what comes after it begins.
    first: usize,
    /// When the earliest state on the stack was met that it is known to lead to.
    low: u32,
}

/// What counts as the same step in different states.
type Class = (u8, TransitionKind);

/// A component in which a fair run can stay for ever.
struct Component {
    /// In order.
    states: Vec<StateId>,
    /// The state of it that is nearest to the beginning.
    first: StateId,
    depth: usize,
}

impl<'w> ComponentSearch<'w> {
    /// A search that has not begun; `None` if there is no room for it.
    fn new(
        world: &'w World,
        explored: &'w Explored,
        property: usize,
        patience: &'w Patience<'w>,
    ) -> Option<Self> {
        let room = explored.visited.lens().iter().max().map_or(0, |max| max * SHARDS);
        patience.has_room(&explored.visited, room as u64 * BYTES_PER_STATE).then(|| ComponentSearch {
            world,
            explored,
            patience,
            worker: Worker::new(world, explored.search),
            successors: Successors::labelled(),
            property,
            whose: None,
            met: vec![0; room],
            stack: Vec::new(),
            count: 0,
            way: Vec::new(),
            open: Vec::new(),
            nearest: None,
            draws: FxHashSet::default(),
        })
    }

    /// Begins anew, but for the draws.
    fn forget(&mut self) {
        self.met.fill(0);
        self.count = 0;
    }

    /// The states of a shard in which the property would be broken if nothing more happened.
    fn lacking_states(&mut self, shard: usize) -> Vec<StateId> {
        let mut lacking = Vec::new();
        let mut rows = Vec::new();
        self.explored.visited.copy(shard, 0..self.explored.visited.lens()[shard], &mut rows);
        for (index, state) in rows.chunks_exact(self.world.width()).enumerate() {
            if self.is_lacking(state) {
                lacking.push(StateId((index * SHARDS + shard) as u32));
            }
        }
        lacking
    }

    fn is_lacking(&mut self, state: &[u32]) -> bool {
        self.worker.judge(state[self.world.monitors_at()]).lacking >> self.property & 1 == 1
            && self.whose.is_none_or(|address| self.worker.is_waiting(situation(state, address).0))
    }

    /// Where ordinary steps lead, faults aside, as far as the property stays lacking: a run without end has
    /// only so many faults.
    fn next(&mut self, state: StateId, next: &mut Vec<StateId>) -> Result<(), Trouble> {
        let row = self.explored.visited.state(state);
        let mut successors = std::mem::take(&mut self.successors);
        self.worker.expand(&row, &mut successors)?;
        let transitions = successors.transitions.as_deref().unwrap_or_default();
        for (row, transition) in successors.states.chunks_exact(self.world.width()).zip(transitions) {
            if is_ordinary(*transition, &self.world.setting)
                && !self.draws.contains(&(state, class(*transition)))
                && self.is_lacking(row)
                && let Some(id) = self.explored.visited.find(row)
            {
                next.push(id);
            }
        }
        self.successors = successors;
        Ok(())
    }

    /// Finishes every component that can be reached from `root`.
    fn components_from(&mut self, root: StateId) -> Result<(), Trouble> {
        if self.met[root.0 as usize] != 0 || self.patience.over().is_some() {
            return Ok(());
        }
        self.enter(root)?;
        while let Some(&mut Visit { state, first, ref mut low }) = self.way.last_mut() {
            if self.open.len() > first {
                let Some(next) = self.open.pop() else { break };
                match self.met[next.0 as usize] {
                    DONE => {}
                    0 if !self.patience.go_on(&self.explored.visited) => return Ok(()),
                    0 => self.enter(next)?,
                    met => *low = met.min(*low),
                }
                continue;
            }
            let low = *low;
            self.way.pop();
            if let Some(before) = self.way.last_mut() {
                before.low = before.low.min(low);
            }
            if low == self.met[state.0 as usize] {
                let first = self.stack.iter().rposition(|&member| member == state);
                let component =
                    self.stack.split_off(first.expect("a state is on the stack until it is done"));
                component.iter().for_each(|member| self.met[member.0 as usize] = DONE);
                self.consider(component)?;
            }
        }
        Ok(())
    }

    /// Keeps a component if it is fair and nearer than those found before.
    fn consider(&mut self, mut states: Vec<StateId>) -> Result<(), Trouble> {
        states.sort_unstable();
        if !self.is_fair_component(&states)? {
            return Ok(());
        }
        let depths = states.iter().map(|&state| (self.explored.depth_of(state), state));
        let (depth, first) = depths.min().expect("a component has a state");
        if self.nearest.as_ref().is_none_or(|nearest| depth < nearest.depth) {
            self.nearest = Some(Component { states, first, depth });
        }
        Ok(())
    }

    fn enter(&mut self, state: StateId) -> Result<(), Trouble> {
        self.count += 1;
        self.met[state.0 as usize] = self.count;
        self.stack.push(state);
        self.way.push(Visit { state, first: self.open.len(), low: self.count });
        let mut open = std::mem::take(&mut self.open);
        let collected = self.next(state, &mut open);
        self.open = open;
        collected
    }

    /// Whether a run can stay in the component, whose states are in order, for ever and be fair: no step is
    /// possible in all of its states and leads out of it from each.
    fn is_fair_component(&mut self, component: &[StateId]) -> Result<bool, Trouble> {
        let mut inside = false;
        let mut taken: FxHashSet<Class> = FxHashSet::default();
        let mut always: Option<FxHashSet<Class>> = None;
        let mut partial = Vec::new();
        let mut successors = Successors::labelled();
        for &member in component {
            let row = self.explored.visited.state(member);
            self.worker.expand(&row, &mut successors)?;
            let transitions = successors.transitions.as_deref().unwrap_or_default();
            let mut possible = FxHashSet::default();
            // By draw and outcome, whether it can stay; of several forms of an outcome, if one can.
            let mut outcomes: FxHashMap<(Class, u16), bool> = FxHashMap::default();
            for (next, transition) in successors.states.chunks_exact(self.world.width()).zip(transitions) {
                if !is_ordinary(*transition, &self.world.setting) {
                    continue;
                }
                let (local, _) = situation(&row, transition.process as usize);
                let owed = transition.kind != TransitionKind::Client || !self.worker.may_leave_it(local);
                if owed {
                    possible.extend(self.owed_class(*transition));
                }
                let staying =
                    self.explored.visited.find(next).is_some_and(|id| component.binary_search(&id).is_ok());
                *outcomes.entry((class(*transition), transition.choice)).or_default() |= staying;
            }
            let those = |stay: bool| outcomes.iter().filter(move |(_, stays)| **stays == stay);
            let stays: FxHashSet<Class> = those(true).map(|((step, _), _)| *step).collect();
            let leaves: FxHashSet<Class> = those(false).map(|((step, _), _)| *step).collect();
            for &step in stays.iter().filter(|&&step| !self.draws.contains(&(member, step))) {
                if leaves.contains(&step) {
                    partial.push((member, step));
                } else {
                    inside = true;
                    taken.extend(self.fairness_class(step));
                }
            }
            always = Some(match always {
                None => possible,
                Some(always) => always.intersection(&possible).copied().collect(),
            });
        }
        if !partial.is_empty() {
            self.draws.extend(partial);
            return Ok(false);
        }
        let owed = always.unwrap_or_default();
        Ok(inside && owed.iter().all(|class| taken.contains(class)))
    }

    /// The way into the component, and once round in it.
    fn violation(&mut self, component: &Component) -> Result<Endless, Trouble> {
        let mut states = states_to(self.explored, component.first);
        let first = states.len() - 1;
        states.extend(self.round(component.first, &component.states)?);
        let walk = Walk::through(self.world, self.explored, &states)?;
        for (path, before, after, cycle) in walk.paths_with(first) {
            // A gap between terms that shrinks does not do so for ever.
            let (before, after) = (self.worker.gaps(before), self.worker.gaps(after));
            if before.iter().zip(&after).all(|(before, after)| before <= after) {
                return Ok(Endless::Run(Violation { path, cycle: Some(cycle), length: Length::AtMost }));
            }
        }
        Ok(Endless::Unreal)
    }

    /// What counts as the same step for fairness, if it does: a message, whatever its terms are called by
    /// now. A timer that holds a term is another one each time it is set, and may be cancelled before its
    /// turn comes.
    fn fairness_class(&self, (process, kind): Class) -> Option<Class> {
        let system = &self.world.system;
        if !system.is_term_invariant {
            return Some((process, kind));
        }
        let kind = match kind {
            TransitionKind::Deliver(item) => TransitionKind::Deliver(system.shape(item)),
            TransitionKind::Discard(item) => TransitionKind::Discard(system.shape(item)),
            TransitionKind::Timer { timer, .. } if system.timer_has_terms(timer) => return None,
            kind => kind,
        };
        Some((process, kind))
    }

    fn owed_class(&self, transition: Transition) -> Option<Class> {
        self.fairness_class(class(transition))
    }

    /// The states on a shortest way from a state back to itself, within the component; itself is the last.
    fn round(&mut self, first: StateId, component: &[StateId]) -> Result<Vec<StateId>, Trouble> {
        let mut came_from: FxHashMap<StateId, StateId> = FxHashMap::default();
        let mut open = std::collections::VecDeque::from([first]);
        let mut after = Vec::new();
        while let Some(state) = open.pop_front() {
            after.clear();
            self.next(state, &mut after)?;
            for &next in &after {
                if component.binary_search(&next).is_ok() && !came_from.contains_key(&next) {
                    came_from.insert(next, state);
                    open.push_back(next);
                }
            }
            if came_from.contains_key(&first) {
                break;
            }
        }
        let mut states = vec![first];
        let mut at = first;
        while let Some(&before) = came_from.get(&at) {
            states.push(before);
            at = before;
            if at == first {
                break;
            }
        }
        // The first one is there twice.
        states.pop();
        states.reverse();
        Ok(states)
    }
}

/// Whether a step is owed to a fair run: faults are not, and recoveries only where they are sure.
fn is_ordinary(transition: Transition, setting: &Setting) -> bool {
    match transition.kind {
        TransitionKind::Recover => setting.sure_recovery,
        TransitionKind::Deliver(_)
        | TransitionKind::Discard(_)
        | TransitionKind::Client
        | TransitionKind::Timer { .. }
        | TransitionKind::Heal => true,
        TransitionKind::WrongTimeout(_)
        | TransitionKind::Crash { .. }
        | TransitionKind::Halfway { .. }
        | TransitionKind::Suspect(_)
        | TransitionKind::Lose(_)
        | TransitionKind::Duplicate(_)
        | TransitionKind::Cut(_) => false,
    }
}

/// What counts as the same step in different states: the same message, timer or client at the same process,
/// however the process chooses and however long it waited.
fn class(transition: Transition) -> Class {
    let kind = match transition.kind {
        TransitionKind::Timer { timer, .. } => TransitionKind::Timer { timer, elapsed: 0 },
        kind => kind,
    };
    (transition.process, kind)
}
