//! Processes that are interchangeable.
//!
//! Where processes mind neither their identifiers nor their places, a state and the same state with everybody one place
//! further on are two names for one. The explorer keeps the least of them.
//!
//! Processes say of themselves that they are like this ([`Process::turn`]); here it is tried on every step.

use habemus::clock::VectorClock;
use habemus::{Address, Effect, Held, Process, Topology, Turn};

use super::{Deed, Numbered};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};
use crate::setting::Setting;

/// Whether the processes of this system say that they are interchangeable, and neither the network nor what is asked of them
/// tells them apart.
pub(super) fn turns<P: Process>(system: &habemus::System<P>, setting: &Setting) -> bool {
    let n = system.len() as u32;
    let linked = |from: u32, to: u32| system.topology.linked(Address(from % n), Address(to % n));
    let same = |from: u32| (0..n).all(|to| linked(from, to) == linked(from + 1, to + 1));
    let is_even = (0..n).all(same);
    // Who fails is somebody, and others may go by their places to make up for it.
    let nobody_fails = setting.budget.crashes == 0 && setting.budget.suspicions == 0;
    let mut process = super::times::sample(system);
    n > 1
        && setting.symmetry
        && nobody_fails
        && is_even
        && P::turn(Held::Process(&mut process), &Turn::new(&system.ids))
}

impl<P: Process> Numbered<P> {
    fn turn(&self) -> Turn<'_> {
        Turn::new(&self.system().ids)
    }

    pub(super) fn turned_clock(&self, clock: &VectorClock) -> VectorClock {
        clock.iter().map(|(process, ticks)| (self.turn().address(process), ticks)).collect()
    }

    pub(super) fn turn_local(&self, local: &mut Local<P>) {
        local.place = self.turn().address(local.place);
        local.clock = self.turned_clock(&local.clock);
        if let Body::Up { process, .. } = &mut local.body {
            P::turn(Held::Process(process), &self.turn());
        }
    }

    pub(super) fn turn_item(&self, item: &mut Item<P::Message>) {
        match item {
            Item::Message { from, message, clock } => {
                *from = self.turn().address(*from);
                *clock = self.turned_clock(clock);
                P::turn(Held::Message(message), &self.turn());
            }
            Item::Notice(_) => {}
        }
    }

    /// Whether the process would do the same to those one place further on if it stood there.
    pub(super) fn would_do_elsewhere(
        &self,
        local: &Local<P>,
        cause: &Cause,
        deeds: &[Deed<P>],
    ) -> Result<bool, Trouble> {
        if matches!(cause, Cause::Start) {
            return Ok(true);
        }
        let mut there = local.clone();
        self.turn_local(&mut there);
        let cause = match cause {
            Cause::Item(item) => {
                let mut item = self.items.value(*item).clone();
                self.turn_item(&mut item);
                Cause::Item(self.items.number(item))
            }
            other => *other,
        };
        let mut done_there = self.deeds(&there, &cause)?;
        let mut expected = deeds.to_vec();
        for (process, step) in &mut expected {
            if let Some(process) = process {
                P::turn(Held::Process(process), &self.turn());
            }
            for effect in &mut step.effects {
                if let Effect::Send { to, message } = effect {
                    *to = self.turn().address(*to);
                    P::turn(Held::Message(message), &self.turn());
                }
            }
        }
        // To whom something is said first makes no difference.
        for (_, step) in expected.iter_mut().chain(&mut done_there) {
            step.effects.sort_by_key(|effect| match effect {
                Effect::Send { to, .. } => to.0,
                _ => u32::MAX,
            });
        }
        Ok(*done_there == *expected)
    }
}
