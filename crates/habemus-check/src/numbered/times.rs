//! Logical times of which only the distances matter.
//!
//! Lamport's clocks grow for ever, and with them the states of whatever uses them. But a process that compares times
//! with each other, and with nothing else, does the same at any time of day: a state and the same state with all times
//! later by some amount are two names for one. The explorer keeps the one whose earliest time is 0. Where that leaves
//! finitely many states, what holds is proved for runs of any length.
//!
//! Processes say of themselves that they are like this ([`Process::times`]); here it is tried on every step.

use std::time::Duration;

use habemus::clock::LamportClock;
use habemus::{Address, Context, Effect, Held, Process, Step, System};

use super::{Deed, Numbered};
use crate::local::{Body, Item, Local};
use crate::protocol::{Cause, Trouble};

/// By how much times are moved to see whether a process minds.
const LATER: u64 = 1_000_003;

/// Whether the processes of this system say that nothing but the distances between logical times matters.
pub(super) fn is_timeless<P: Process>(system: &System<P>) -> bool {
    P::times(Held::Process(&mut sample(system)), &system.config, &mut |_| {})
}

/// A process that can be asked what it says of itself.
pub(super) fn sample<P: Process>(system: &System<P>) -> P {
    let (mut step, mut chooser) = (Step::default(), |_| 0);
    P::on_start(None, &mut Context::new(Address(0), system, Duration::ZERO, &mut step, &mut chooser))
}

/// The least of the times that are visited.
pub(super) fn least(visit_all: impl FnOnce(&mut dyn FnMut(&mut LamportClock))) -> Option<u64> {
    let mut least = None;
    visit_all(&mut |time| least = Some(least.map_or(time.0, |least: u64| least.min(time.0))));
    least
}

impl<P: Process> Numbered<P> {
    pub(super) fn visit_local(&self, local: &mut Local<P>, visit: &mut dyn FnMut(&mut LamportClock)) {
        if let Body::Up { process, .. } = &mut local.body {
            P::times(Held::Process(process), &self.system().config, visit);
        }
    }

    pub(super) fn visit_item(&self, item: &mut Item<P::Message>, visit: &mut dyn FnMut(&mut LamportClock)) {
        if let Item::Message { message, .. } = item {
            P::times(Held::Message(message), &self.system().config, visit);
        }
    }

    /// Whether the process would do the same, only later, if all times were later.
    pub(super) fn would_do_later(
        &self,
        local: &Local<P>,
        cause: &Cause,
        deeds: &[Deed<P>],
    ) -> Result<bool, Trouble> {
        if matches!(cause, Cause::Start) {
            return Ok(true);
        }
        let mut later = local.clone();
        self.visit_local(&mut later, &mut |time| time.0 += LATER);
        let cause = match cause {
            Cause::Item(item) => {
                let mut item = self.items.value(*item).clone();
                self.visit_item(&mut item, &mut |time| time.0 += LATER);
                Cause::Item(self.items.number(item))
            }
            other => *other,
        };
        let mut late = self.deeds(&later, &cause)?;
        let config = &self.system().config;
        for (process, step) in &mut late {
            let back = &mut |time: &mut LamportClock| time.0 = time.0.wrapping_sub(LATER);
            if let Some(process) = process {
                P::times(Held::Process(process), config, back);
            }
            for effect in &mut step.effects {
                if let Effect::Send { message, .. } = effect {
                    P::times(Held::Message(message), config, back);
                }
            }
        }
        Ok(*late == *deeds)
    }
}
