//! Which states are one: symmetries of time and of addresses.
//!
//! *Clock-shift invariance.* Lamport's clocks grow for ever, and with them the states of whatever uses them.
//! But a process that compares logical times with each other, and with nothing else, does the same at any
//! time of day: a state and the same state with all times later by some amount are two names for one. Its
//! canonical form has 0 as its earliest time. Where that leaves finitely many states, what holds is proved
//! for runs of any length.
//!
//! *Rotation symmetry.* Where processes mind neither their identifiers nor their addresses, a state and the
//! same state with everybody one address further on are two names for one. Where they do not mind either who
//! is next to whom, nor whoever fails, any permutation of them makes another name. The canonical form is the
//! least of all.
//!
//! Processes say of themselves that they have a symmetry ([`habemus::symmetry`]); here it is tried on every
//! step.

use habemus::clock::VectorClock;
use habemus::symmetry::{FAR, Permutation};
use habemus::{Address, Status, Suspicion};

use super::{Numbered, Outcomes};
use crate::facts::SystemFacts;
use crate::handlers::{Effect, Handled, Handlers, Interchange, Part, TermPart};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};
use crate::setting::{Reduction, Setting};
use crate::watching::Sight;

/// A change of all that names a time or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Renaming {
    /// All logical times are later by so much; earlier, if that wraps around.
    Shift(u64),
    /// Everybody moves, as the permutation with this number says.
    Move(usize),
}

/// Whether states of this system that differ by a shift of all clocks are one.
pub(super) fn is_shift_invariant(handlers: &dyn Handlers, setting: &Setting) -> bool {
    // Who starts again begins with a time of its own, whatever the others' are.
    setting.uses(Reduction::ClockShift) && setting.budget.recoveries == 0 && handlers.is_shift_invariant()
}

/// All permutations are tried of so many processes at most; of more, all rotations.
const MAX_PERMUTED: u32 = 4;

/// The permutations, but for the one that leaves all where they are, by which states of this system are one:
/// the processes say so, and neither the network nor what is asked of them tells them apart.
pub(super) fn moves(facts: &SystemFacts, handlers: &dyn Handlers, setting: &Setting) -> Vec<Vec<u32>> {
    let n = facts.processes() as u32;
    let interchange = handlers.interchange();
    // Who is better suited to lead is somebody, too.
    let all_alike = facts.population.preference.is_none();
    if !setting.uses(Reduction::Rotation) || interchange == Interchange::None || !all_alike {
        return Vec::new();
    }
    let is_somebody = match interchange {
        // Who fails is somebody, and others may go by their addresses to make up for it.
        Interchange::Rotation => setting.budget.crashes > 0 || setting.budget.suspicions > 0,
        _ => !setting.faulty.is_empty() || setting.timers.speed().is_some(),
    };
    if is_somebody {
        return Vec::new();
    }
    let linked = |from: u32, to: u32| handlers.linked(Address(from), Address(to));
    let keeps_links = |to: &Vec<u32>| {
        let same = |from: u32| {
            (0..n).all(|other| linked(from, other) == linked(to[from as usize], to[other as usize]))
        };
        (0..n).all(same)
    };
    let rotations = || (1..n).map(|by| (0..n).map(|place| (place + by) % n).collect::<Vec<u32>>()).collect();
    let mut moves: Vec<Vec<u32>> = match interchange {
        Interchange::Permutation if n <= MAX_PERMUTED => permutations(n),
        _ => rotations(),
    };
    // What keeps the links is a group again.
    let all = moves.len();
    moves.retain(keeps_links);
    if interchange != Interchange::Permutation && moves.len() < all { Vec::new() } else { moves }
}

/// Every permutation of so many, but for the one that leaves all where they are.
fn permutations(n: u32) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for next in 0..n {
        let with = |places: Vec<u32>| {
            (0..=places.len()).map(move |at| {
                let mut places = places.clone();
                places.insert(at, next);
                places
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all.retain(|places| places.iter().copied().ne(0..n));
    all
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

    /// The local state where the permutation with this number puts it.
    pub(crate) fn moved(&self, local: u32, by: usize) -> u32 {
        self.locals.number(self.renamed(self.locals.value(local), Renaming::Move(by)))
    }

    /// The item where the permutation puts it.
    pub(crate) fn item_moved(&self, item: u32, by: usize) -> u32 {
        self.moved_item(item, Renaming::Move(by))
    }

    /// The monitors after all that they saw was seen where the permutation puts it.
    pub(crate) fn moved_monitors(&self, monitors: u32, by: usize) -> Option<u32> {
        let renaming = Renaming::Move(by);
        self.watching.renamed(monitors, &|seen| {
            seen.process = self.renamed_address(seen.process, renaming);
            seen.clock = seen.clock.as_ref().map(|clock| self.renamed_clock(clock, renaming));
            if let Sight::Output(output) = &mut seen.what {
                *output = self.moved_part(TermPart::Output(*output), renaming);
            }
        })
    }

    /// Whether the process would do the same, but for the time, if all were later before.
    pub(super) fn minds_no_shift(
        &self,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        // It is enough to try this one: so late, a time that was held against anything else is found out.
        // Otherwise the process went by distances alone, and does the same whenever it is.
        self.is_equivariant(Renaming::Shift(FAR), local, cause, outcomes)
    }

    /// Whether the process would do the same, but for the addresses, wherever all stood: move by move.
    pub(super) fn minds_no_move(
        &self,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        for by in 0..self.moves.len() {
            if !self.is_equivariant(Renaming::Move(by), local, cause, outcomes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the process would do the same, but for the renaming, if all were renamed before.
    fn is_equivariant(
        &self,
        renaming: Renaming,
        local: &Local,
        cause: Cause,
        outcomes: &Outcomes,
    ) -> Result<bool, Trouble> {
        let local = self.renamed(local, renaming);
        let cause = match cause {
            // How processes start may differ.
            Cause::Start => return Ok(true),
            Cause::Item(item) => Cause::Item(self.moved_item(item, renaming)),
            Cause::Timer(timer) => Cause::Timer(self.moved_part(TermPart::Timer(timer), renaming)),
            Cause::Suspicion(suspicion) => Cause::Suspicion(self.renamed_suspicion(suspicion, renaming)),
            other => other,
        };
        let mut found = self.outcomes(&local, cause)?;
        let mut expected = outcomes.clone();
        for handled in expected.iter_mut().flatten() {
            handled.process = self.renamed_part(Part::Process(handled.process), renaming);
            handled.persist =
                handled.persist.map(|stored| self.moved_part(TermPart::Stored(stored), renaming));
            for effect in &mut handled.effects {
                self.rename_effect(effect, renaming);
            }
        }
        expected.iter_mut().chain(&mut found).flatten().for_each(sort_by_receiver);
        Ok(found == expected)
    }

    fn rename_effect(&self, effect: &mut Effect, renaming: Renaming) {
        match effect {
            Effect::Send { to, message } => {
                *to = self.renamed_address(*to, renaming);
                *message = self.renamed_part(Part::Message(*message), renaming);
            }
            Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer) => {
                *timer = self.moved_part(TermPart::Timer(*timer), renaming);
            }
            Effect::Output(output) => *output = self.moved_part(TermPart::Output(*output), renaming),
            Effect::Suspicion(suspicion) => *suspicion = self.renamed_suspicion(*suspicion, renaming),
        }
    }

    /// A local state after the renaming.
    fn renamed(&self, local: &Local, renaming: Renaming) -> Local {
        let mut local = local.clone();
        local.address = self.renamed_address(local.address, renaming);
        local.clock = self.renamed_clock(&local.clock, renaming);
        if let Body::Up { process, timers } = &mut local.body {
            *process = self.renamed_part(Part::Process(*process), renaming);
            if matches!(renaming, Renaming::Move(_)) {
                for running in &mut *timers {
                    running.timer = self.moved_part(TermPart::Timer(running.timer), renaming);
                }
                timers.sort_unstable_by(|one, other| self.handlers.compare_timers(one.timer, other.timer));
            }
        }
        local.stored = local.stored.map(|stored| self.moved_part(TermPart::Stored(stored), renaming));
        if let (Status::Following(Some(leader)), Some(to)) = (&mut local.status, self.places(renaming)) {
            *leader = Permutation::new(&self.facts.population.ids, to).id(*leader);
        }
        local
    }

    /// An item after the renaming.
    fn moved_item(&self, item: u32, renaming: Renaming) -> u32 {
        let (from, message, clock) = match self.items.value(item) {
            Item::Message { from, message, clock } => (from, message, clock),
            Item::Notice(suspicion) => {
                return self.items.number(Item::Notice(self.renamed_suspicion(*suspicion, renaming)));
            }
        };
        let message = self.renamed_part(Part::Message(*message), renaming);
        let clock = self.renamed_clock(clock, renaming);
        self.message_item(self.renamed_address(*from, renaming), message, &clock)
    }

    fn renamed_part(&self, part: Part, renaming: Renaming) -> u32 {
        match (renaming, part) {
            (Renaming::Shift(by), part) => self.handlers.shifted(part, by),
            (_, Part::Process(process)) => self.moved_part(TermPart::Process(process), renaming),
            (_, Part::Message(message)) => self.moved_part(TermPart::Message(message), renaming),
        }
    }

    /// A part that may name processes, after the renaming.
    fn moved_part(&self, part: TermPart, renaming: Renaming) -> u32 {
        self.places(renaming).map_or(part.number(), |to| self.handlers.moved(part, to))
    }

    /// Where each process moves, if any does.
    fn places(&self, renaming: Renaming) -> Option<&[u32]> {
        match renaming {
            Renaming::Shift(_) => None,
            Renaming::Move(by) => Some(&self.moves[by]),
        }
    }

    fn renamed_address(&self, address: Address, renaming: Renaming) -> Address {
        self.places(renaming).map_or(address, |to| Address(to[address.index()]))
    }

    fn renamed_suspicion(&self, suspicion: Suspicion, renaming: Renaming) -> Suspicion {
        match suspicion {
            Suspicion::Suspect(about) => Suspicion::Suspect(self.renamed_address(about, renaming)),
            Suspicion::Restore(about) => Suspicion::Restore(self.renamed_address(about, renaming)),
        }
    }

    fn renamed_clock(&self, clock: &VectorClock, renaming: Renaming) -> VectorClock {
        if self.places(renaming).is_none() {
            return clock.clone();
        }
        clock.iter().map(|(process, ticks)| (self.renamed_address(process, renaming), ticks)).collect()
    }
}

/// To whom something is said first makes no difference.
fn sort_by_receiver(handled: &mut Handled) {
    handled.effects.sort_by_key(|effect| match effect {
        Effect::Send { to, .. } => to.0,
        _ => u32::MAX,
    });
}
