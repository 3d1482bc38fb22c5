//! Changes of times and places that make no difference to the processes, so they say.

use habemus::clock::{LamportClock, VectorClock};
use habemus::symmetry::{Part, Rotate, Rotation, VisitTimes};
use habemus::{Address, Effect, Process};

use super::{Deed, Numbered};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};

/// A change of all that names a time or a place.
pub(super) trait Renaming<P: Process> {
    fn process(&self, process: &mut P);

    fn message(&self, message: &mut P::Message);

    fn address(&self, address: Address) -> Address {
        address
    }
}

/// All logical times are later, by so much; earlier, if that wraps around.
pub(super) struct Later<'a, P: Process> {
    pub(super) visit: VisitTimes<P>,
    pub(super) config: &'a P::Config,
    pub(super) by: u64,
}

impl<P: Process> Renaming<P> for Later<'_, P> {
    fn process(&self, process: &mut P) {
        (self.visit)(Part::Process(process), self.config, &mut |time| self.shift(time));
    }

    fn message(&self, message: &mut P::Message) {
        (self.visit)(Part::Message(message), self.config, &mut |time| self.shift(time));
    }
}

impl<P: Process> Later<'_, P> {
    fn shift(&self, time: &mut LamportClock) {
        time.0 = time.0.wrapping_add(self.by);
    }
}

/// Everybody is one address further on.
pub(super) struct Rotated<'a, P: Process> {
    pub(super) rotate: Rotate<P>,
    pub(super) rotation: Rotation<'a>,
}

impl<P: Process> Renaming<P> for Rotated<'_, P> {
    fn process(&self, process: &mut P) {
        (self.rotate)(Part::Process(process), &self.rotation);
    }

    fn message(&self, message: &mut P::Message) {
        (self.rotate)(Part::Message(message), &self.rotation);
    }

    fn address(&self, address: Address) -> Address {
        self.rotation.address(address)
    }
}

impl<P: Process> Numbered<P> {
    /// A local state after the change.
    pub(super) fn renamed(&self, local: &Local<P>, renaming: &impl Renaming<P>) -> Local<P> {
        let mut local = local.clone();
        local.place = renaming.address(local.place);
        local.clock = renamed_clock(&local.clock, renaming);
        if let Body::Up { process, .. } = &mut local.body {
            renaming.process(process);
        }
        local
    }

    /// An item after the change, by number.
    pub(super) fn renamed_item(&self, item: u32, renaming: &impl Renaming<P>) -> u32 {
        let mut changed = self.items.value(item).clone();
        let Item::Message { from, message, clock } = &mut changed else { return item };
        *from = renaming.address(*from);
        *clock = renamed_clock(clock, renaming);
        renaming.message(message);
        self.items.number(changed)
    }

    /// Whether the process would do the same, but for the change, if all were changed before.
    pub(super) fn does_not_mind(
        &self,
        renaming: &impl Renaming<P>,
        local: &Local<P>,
        cause: &Cause,
        deeds: &[Deed<P>],
    ) -> Result<bool, Trouble> {
        let cause = match cause {
            // How processes start may differ.
            Cause::Start => return Ok(true),
            Cause::Item(item) => Cause::Item(self.renamed_item(*item, renaming)),
            other => *other,
        };
        let mut done = self.deeds(&self.renamed(local, renaming), &cause)?;
        let mut expected = deeds.to_vec();
        for (process, step) in &mut expected {
            process.iter_mut().for_each(|process| renaming.process(process));
            for effect in &mut step.effects {
                if let Effect::Send { to, message } = effect {
                    *to = renaming.address(*to);
                    renaming.message(message);
                }
            }
        }
        // To whom something is said first makes no difference.
        for (_, step) in expected.iter_mut().chain(&mut done) {
            step.effects.sort_by_key(|effect| match effect {
                Effect::Send { to, .. } => to.0,
                _ => u32::MAX,
            });
        }
        Ok(*done == *expected)
    }
}

/// A vector clock after the change.
pub(super) fn renamed_clock<P: Process>(clock: &VectorClock, renaming: &impl Renaming<P>) -> VectorClock {
    clock.iter().map(|(process, ticks)| (renaming.address(process), ticks)).collect()
}
