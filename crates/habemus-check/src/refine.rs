//! Explorations that build on each other, until every property is decided.
//!
//! The first exploration leaves out whatever makes no difference to safety. Where it has cycles, in which somebody may
//! wait for ever, the whole state graph is explored after it: fairness is about single processes and single steps. Where
//! a violation was found in a reduced graph, all runs up to its length are searched for a shorter one.

use crate::cycle::has_cycle;
use crate::explore::{Explored, Stop, explore};
use crate::handle::CheckHandle;
use crate::liveness;
use crate::path::{Violation, path_to};
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
    pub(crate) length: Length,
    /// By property that is checked: a run that breaks it.
    pub(crate) violations: Vec<Option<Violation>>,
    pub(crate) stop: Stop,
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
}

/// Whether counterexamples are as short as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Shortest,
    /// There were too many runs to look for a shorter one.
    Unknown,
}

impl Searched {
    pub(crate) fn new(world: &World, selection: &Selection, handle: &CheckHandle) -> Result<Self, Trouble> {
        let properties = selection.checked.len();
        let first = explore(world, Search::planned(world), properties, handle)?;
        let cycles = find_cycles(world, &first, handle)?;
        let explored = match cycles {
            Cycles::None | Cycles::Possible => first,
            Cycles::Found => {
                drop(first);
                explore(world, Search::whole(world), properties, handle)?
            }
        };
        let (shorter, length) = match shorten(world, &explored, properties, handle)? {
            Shortened::NotNeeded => (None, Length::Shortest),
            Shortened::Found(shorter) => (Some(shorter), Length::Shortest),
            Shortened::TooMany => (None, Length::Unknown),
        };
        let mut violations: Vec<Option<Violation>> = selection.checked.iter().map(|_| None).collect();
        let told = shorter.as_ref().unwrap_or(&explored);
        for violation in &told.violations {
            let path = path_to(world, told, violation.state)?;
            violations[violation.property] = Some(Violation { path, cycle: None });
        }
        let is_exhausted = explored.stop == Stop::Exhausted;
        if is_exhausted && cycles != Cycles::None {
            let may_break = |property: usize| explored.counts.lacking >> property & 1 == 1;
            for (property, violation) in violations.iter_mut().enumerate() {
                if violation.is_none() && may_break(property) {
                    *violation = liveness::find(world, &explored, property, handle)?;
                }
            }
        }
        // All states may have been explored, but cycles not to the end.
        let is_interrupted = is_exhausted && handle.is_stopped();
        let stop = if is_interrupted { Stop::Interrupted } else { explored.stop };
        Ok(Searched { explored, cycles, length, violations, stop })
    }
}

fn find_cycles(world: &World, explored: &Explored, handle: &CheckHandle) -> Result<Cycles, Trouble> {
    let matter = explored.stop == Stop::Exhausted && explored.may_have_cycles() && world.setting.liveness;
    let is_whole = !explored.is_reduced() && !explored.search.rotation;
    Ok(match (matter, is_whole) {
        (false, _) => Cycles::None,
        (true, true) => Cycles::Possible,
        // Where the chosen runs all end, all do.
        (true, false) if has_cycle(world, explored, handle)? => Cycles::Found,
        (true, false) => Cycles::None,
    })
}

/// What came of the search for shorter runs.
enum Shortened {
    NotNeeded,
    Found(Explored),
    TooMany,
}

/// A chosen run may be longer than needed: looks at all runs up to its length for a shorter one.
fn shorten(
    world: &World,
    explored: &Explored,
    properties: usize,
    handle: &CheckHandle,
) -> Result<Shortened, Trouble> {
    if !explored.is_reduced() || explored.violations.is_empty() {
        return Ok(Shortened::NotNeeded);
    }
    let mut deepest = None;
    for violation in &explored.violations {
        let steps = path_to(world, explored, violation.state)?.steps.len();
        deepest = deepest.max(u32::try_from(steps).ok());
    }
    let search = explored.search.unreduced(deepest, MAX_RESEARCH);
    let whole = explore(world, search, properties, handle)?;
    let is_found = |property| whole.violations.iter().any(|violation| violation.property == property);
    let all_found = explored.violations.iter().all(|violation| is_found(violation.property));
    Ok(if all_found { Shortened::Found(whole) } else { Shortened::TooMany })
}
