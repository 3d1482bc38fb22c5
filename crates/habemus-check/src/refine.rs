//! Explorations that build on each other, until every property is decided.
//!
//! The first exploration leaves out whatever makes no difference to safety. Where it has cycles, in which
//! somebody may wait for ever, the whole state graph is explored after it: fairness is about single processes
//! and single steps. Where a violation was found in a reduced graph, all runs up to its length are searched
//! for a shorter one.

use crate::cycle::{Patience, has_lacking_cycle};
use crate::explore::{Explored, FirstViolation, Stop, explore, intact};
use crate::handle::CheckHandle;
use crate::liveness::{self, Endless};
use crate::path::{Length, Violation, path_to};
use crate::protocol::Trouble;
use crate::search::Search;
use crate::selection::Selection;
use crate::world::World;

/// States that are looked at again, at most, for a shorter run.
const MAX_RESEARCH: u64 = 3_000_000;

/// What was explored, and what came of it.
pub(crate) struct Searched {
    pub(crate) explored: Explored,
    pub(crate) cycles: Cycles,
    /// By property that is checked: a run that breaks it.
    pub(crate) violations: Vec<Option<Violation>>,
    pub(crate) stop: Stop,
    /// The properties, as a set of bits, that hold if no run is known to break them.
    decided: u32,
    /// Those whose antecedent was met.
    at_stake: u32,
}

/// Runs that break properties, by property, and the properties, as a set of bits, of which it is open whether
/// there is one: it was found among states whose terms are renamed, and with terms as they were it cannot be.
#[derive(Default)]
struct Told {
    violations: Vec<Option<Violation>>,
    unreal: u32,
}

/// Whether there are runs without end that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cycles {
    /// There are none, or they make no difference to any property that is checked.
    None,
    /// There may be some; nothing was left out.
    Possible,
    /// There are some among the runs that were chosen, and so everything was explored after that.
    Found,
    /// There may be some, and nobody looked.
    Ignored,
}

impl Searched {
    pub(crate) fn new(world: &World, selection: &Selection, handle: &CheckHandle) -> Result<Self, Trouble> {
        let enough = if world.setting.keep_going { selection.checked.len().max(1) } else { 1 };
        let patience = Patience::new(world.setting.max_memory, handle);
        let first = explore(world, Search::planned(world), enough, handle)?;
        // What a run without end cannot break is decided once all states were reached, in whichever order.
        let safe = if first.stop == Stop::Exhausted { !first.counts.lacking } else { 0 };
        let at_stake = first.counts.at_stake;
        let cycles = find_cycles(world, &first, &patience)?;
        let explored = match cycles {
            Cycles::None | Cycles::Possible | Cycles::Ignored => first,
            Cycles::Found => {
                drop(first);
                explore(world, Search::whole(world), enough, handle)?
            }
        };
        let mut told = Told { violations: selection.checked.iter().map(|_| None).collect(), unreal: 0 };
        tell(world, &explored, handle, &mut told)?;
        let Told { mut violations, mut unreal } = told;
        let is_exhausted = explored.stop == Stop::Exhausted;
        if is_exhausted && matches!(cycles, Cycles::Possible | Cycles::Found) {
            let may_break = |property: usize| explored.counts.lacking >> property & 1 == 1;
            for (property, violation) in violations.iter_mut().enumerate() {
                if violation.is_none() && may_break(property) {
                    match liveness::find(world, &explored, property, &patience)? {
                        Endless::None => {}
                        Endless::Run(run) => *violation = Some(run),
                        Endless::Unreal => unreal |= 1 << property,
                    }
                }
            }
        }
        intact(&explored.visited)?;
        let stop = match (explored.stop, patience.over(), cycles) {
            // All states may have been explored, but cycles not to the end.
            (Stop::Exhausted, Some(why), _) => why,
            (Stop::Exhausted, None, Cycles::Ignored) => Stop::Cycles,
            (stop, ..) => stop,
        };
        let decided = if stop == Stop::Exhausted { u32::MAX } else { safe } & !unreal;
        let at_stake = at_stake | explored.counts.at_stake;
        Ok(Searched { explored, cycles, violations, stop, decided, at_stake })
    }

    /// Whether a property that no run was found to break holds.
    pub(crate) fn is_decided(&self, property: usize) -> bool {
        self.decided >> property & 1 == 1
    }

    /// Whether the antecedent of a property was met in some run.
    pub(crate) fn was_at_stake(&self, property: usize) -> bool {
        self.at_stake >> property & 1 == 1
    }

    /// Whether there may be a shorter run than one that is told.
    pub(crate) fn may_be_shorter(&self) -> bool {
        self.violations.iter().flatten().any(|told| told.length == Length::AtMost)
    }
}

fn find_cycles(world: &World, explored: &Explored, patience: &Patience<'_>) -> Result<Cycles, Trouble> {
    let matter = explored.stop == Stop::Exhausted && explored.may_have_cycles();
    let is_whole = !explored.is_reduced() && !explored.search.rotation;
    Ok(match (matter, is_whole) {
        (false, _) => Cycles::None,
        // Where every run that lacks something ends, it is decided by how it ends, also where there are
        // clocks.
        (true, _) if world.setting.timers.speed().is_some() => {
            if has_lacking_cycle(world, explored, patience)? { Cycles::Ignored } else { Cycles::None }
        }
        (true, _) if !world.setting.liveness => Cycles::Ignored,
        (true, true) => Cycles::Possible,
        // Where the chosen runs that lack something all end, all such runs do.
        (true, false) if has_lacking_cycle(world, explored, patience)? => Cycles::Found,
        (true, false) => Cycles::None,
    })
}

/// Takes note of the runs that break something. A chosen run may be longer than needed: where orders of
/// events were left out, all runs up to its length are searched for a shorter one, as far as there is time.
fn tell(world: &World, explored: &Explored, handle: &CheckHandle, all: &mut Told) -> Result<(), Trouble> {
    let mut note = |told: &Explored, violation: &FirstViolation, length: Length| {
        let Some(path) = path_to(world, told, violation.state)? else {
            all.unreal |= u32::from(all.violations[violation.property].is_none()) << violation.property;
            return Ok(None);
        };
        let steps = path.steps.len();
        all.unreal &= !(1 << violation.property);
        all.violations[violation.property] = Some(Violation { path, cycle: None, length });
        Ok(u32::try_from(steps).ok())
    };
    if !explored.is_reduced() {
        for violation in &explored.violations {
            note(explored, violation, Length::Shortest)?;
        }
        return Ok(());
    }
    let mut deepest = None;
    for violation in &explored.violations {
        let steps = note(explored, violation, Length::AtMost)?;
        deepest = deepest.max(steps);
    }
    if deepest.is_none() {
        return Ok(());
    }
    let search = explored.search.unreduced(deepest, MAX_RESEARCH);
    let whole = explore(world, search, explored.violations.len(), handle)?;
    for violation in &whole.violations {
        note(&whole, violation, Length::Shortest)?;
    }
    Ok(())
}
