//! Which states are one: symmetries of time and of addresses.
//!
//! *Clock-shift invariance.* Lamport's clocks grow for ever, and with them the states of whatever uses them. But a
//! process that compares logical times with each other, and with nothing else, does the same at any time of day: a
//! state and the same state with all times later by some amount are two names for one. Its canonical form has 0 as
//! its earliest time. Where that leaves finitely many states, what holds is proved for runs of any length.
//!
//! *Rotation symmetry.* Where processes mind neither their identifiers nor their addresses, a state and the same state
//! with everybody one address further on are two names for one. The canonical form is the least of all rotations.
//!
//! Processes say of themselves that they have a symmetry ([`habemus::symmetry`]); here it is tried on every step.

use std::sync::atomic::Ordering;

use habemus::clock::VectorClock;
use habemus::{Address, symmetry::Rotation};

use super::{Numbered, Outcomes};
use crate::facts::SystemFacts;
use crate::handlers::{Effect, Handled, Handlers, Part};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};
use crate::setting::{Reduction, Setting};

/// A change of all that names a time or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Renaming {
    /// All logical times are later by so much; earlier, if that wraps around.
    Shift(u64),
    /// Everybody is one address further on.
    Rotation,
}

/// By so much times are shifted to see whether a process minds. A process cannot read a time, but it can make
/// one by ticking and compare it: where it does, that one is near the beginning, or else all are past it.
const SHIFTS: [u64; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000_003];
/// On so many steps all of them are tried, and on the others one after the other: all would take half of the
/// time.
const WHOLLY_SHIFTED: usize = 1_000;

/// Whether states of this system that differ by a shift of all clocks are one.
pub(super) fn is_shift_invariant(handlers: &dyn Handlers, setting: &Setting) -> bool {
    // Who starts again begins with a time of its own, whatever the others' are.
    setting.uses(Reduction::ClockShift) && setting.budget.recoveries == 0 && handlers.is_shift_invariant()
}

/// Whether states of this system that differ by a rotation are one: the processes say so, and neither the network nor
/// what is asked of them tells them apart.
pub(super) fn is_rotation_symmetric(facts: &SystemFacts, handlers: &dyn Handlers, setting: &Setting) -> bool {
    let n = facts.processes() as u32;
    let linked = |from: u32, to: u32| handlers.linked(Address(from % n), Address(to % n));
    let same = |from: u32| (0..n).all(|to| linked(from, to) == linked(from + 1, to + 1));
    let is_even = || (0..n).all(same);
    // Who fails is somebody, and others may go by their addresses to make up for it.
    let nobody_fails = setting.budget.crashes == 0 && setting.budget.suspicions == 0;
    // Who is better suited to lead is somebody, too.
    let all_alike = facts.population.preference.is_none();
    let may_be = n > 1 && setting.uses(Reduction::Rotation) && nobody_fails && all_alike;
    may_be && handlers.is_rotation_symmetric() && is_even()
}

impl Numbered {
    /// The earliest logical time in a local state; `None` if it holds none.
    pub(crate) fn min_time(&self, local: u32) -> Option<u64> {
        let Body::Up { process, .. } = self.locals.value(local).body else { return None };
        self.handlers.min_time(Part::Process(process))
    }

    /// The earliest logical time in an item.
    pub(crate) fn min_time_of_item(&self, item: u32) -> Option<u64> {
        let Item::Message { message, .. } = *self.items.value(item) else { return None };
        self.handlers.min_time(Part::Message(message))
    }

    /// The local state with all logical times earlier by so much.
    pub(crate) fn earlier(&self, local: u32, by: u64) -> u32 {
        self.locals.number(self.renamed(self.locals.value(local), Renaming::Shift(by.wrapping_neg())))
    }

    /// The item with all logical times earlier by so much.
    pub(crate) fn earlier_item(&self, item: u32, by: u64) -> u32 {
        self.moved_item(item, Renaming::Shift(by.wrapping_neg()))
    }

    /// The local state one address further on.
    pub(crate) fn rotated(&self, local: u32) -> u32 {
        self.locals.number(self.renamed(self.locals.value(local), Renaming::Rotation))
    }

    /// The item one address further on.
    pub(crate) fn rotated_item(&self, item: u32) -> u32 {
        self.moved_item(item, Renaming::Rotation)
    }

    /// The monitors after all that they saw was seen one address further on.
    pub(crate) fn rotated_monitors(&self, monitors: u32) -> Option<u32> {
        self.watching.renamed(monitors, &|seen| {
            seen.process = self.renamed_address(seen.process, Renaming::Rotation);
            seen.clock = seen.clock.as_ref().map(|clock| self.renamed_clock(clock, Renaming::Rotation));
        })
    }

    /// Whether the process would do the same, but for the time, if all were later before.
    pub(super) fn minds_no_shift(
        &self,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        let number = self.shifted.fetch_add(1, Ordering::Relaxed);
        let one = number % SHIFTS.len();
        let tried = if number < WHOLLY_SHIFTED { &SHIFTS[..] } else { &SHIFTS[one..=one] };
        for &by in tried {
            if self.equivariant(Renaming::Shift(by), local, cause, outcomes)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the process would do the same, but for the addresses, wherever it stood: rotation by rotation.
    pub(super) fn minds_no_rotation(
        &self,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        let (mut local, mut cause, mut outcomes) = (local.clone(), cause, outcomes.clone());
        for _ in 1..self.processes() {
            let rotated = self.equivariant(Renaming::Rotation, &local, cause, &outcomes)?;
            let Some(rotated) = rotated else { return Ok(false) };
            (local, cause, outcomes) = rotated;
        }
        Ok(true)
    }

    /// What the process would do if all were renamed before, if it is the same but for the renaming.
    fn equivariant(
        &self,
        renaming: Renaming,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<Option<(Local, Cause, Outcomes)>, Trouble> {
        let local = self.renamed(local, renaming);
        let cause = match cause {
            // How processes start may differ.
            Cause::Start => return Ok(Some((local, cause, outcomes.clone()))),
            Cause::Item(item) => Cause::Item(self.moved_item(item, renaming)),
            other => other,
        };
        let mut found = self.outcomes(&local, cause)?;
        let mut expected = outcomes.clone();
        for handled in expected.iter_mut().flatten() {
            handled.process = self.renamed_part(Part::Process(handled.process), renaming);
            for effect in &mut handled.effects {
                if let Effect::Send { to, message } = effect {
                    *to = self.renamed_address(*to, renaming);
                    *message = self.renamed_part(Part::Message(*message), renaming);
                }
            }
        }
        expected.iter_mut().chain(&mut found).flatten().for_each(sort_by_receiver);
        Ok((found == expected).then_some((local, cause, found)))
    }

    /// A local state after the renaming.
    fn renamed(&self, local: &Local, renaming: Renaming) -> Local {
        let mut local = local.clone();
        local.address = self.renamed_address(local.address, renaming);
        local.clock = self.renamed_clock(&local.clock, renaming);
        if let Body::Up { process, .. } = &mut local.body {
            *process = self.renamed_part(Part::Process(*process), renaming);
        }
        local
    }

    /// An item after the renaming.
    fn moved_item(&self, item: u32, renaming: Renaming) -> u32 {
        let Item::Message { from, message, clock } = self.items.value(item) else { return item };
        let message = self.renamed_part(Part::Message(*message), renaming);
        let clock = self.renamed_clock(clock, renaming);
        self.message_item(self.renamed_address(*from, renaming), message, &clock)
    }

    fn renamed_part(&self, part: Part, renaming: Renaming) -> u32 {
        match renaming {
            Renaming::Shift(by) => self.handlers.shifted(part, by),
            Renaming::Rotation => self.handlers.rotated(part),
        }
    }

    fn renamed_address(&self, address: Address, renaming: Renaming) -> Address {
        match renaming {
            Renaming::Shift(_) => address,
            Renaming::Rotation => Rotation::new(&self.facts.population.ids).address(address),
        }
    }

    fn renamed_clock(&self, clock: &VectorClock, renaming: Renaming) -> VectorClock {
        match renaming {
            Renaming::Shift(_) => clock.clone(),
            Renaming::Rotation => {
                let renamed = |(process, ticks)| (self.renamed_address(process, renaming), ticks);
                clock.iter().map(renamed).collect()
            }
        }
    }
}

/// To whom something is said first makes no difference.
fn sort_by_receiver(handled: &mut Handled) {
    handled.effects.sort_by_key(|effect| match effect {
        Effect::Send { to, .. } => to.0,
        _ => u32::MAX,
    });
}
