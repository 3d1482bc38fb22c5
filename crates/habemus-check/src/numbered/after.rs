//! What a step makes of a local state.

use std::time::Duration;

use habemus::Status;
use habemus::clock::VectorClock;

use super::Numbered;
use crate::handlers::{Effect, Handled};
use crate::local::{Body, Item, Local, Running};
use crate::protocol::Cause;
use crate::rate::window;
use crate::watching::{Seen, Sight};

impl Numbered {
    /// The local state after a cause, and what monitors see of it. Messages are left to the caller.
    pub(crate) fn after(&self, local: &Local, cause: Cause, handled: Option<&Handled>) -> (Local, Vec<Seen>) {
        let address = local.address;
        let mut next = Local { body: Body::Down, ..local.clone() };
        let mut seen = Vec::new();
        let see = |what| Seen { process: address, clock: None, what };
        let mut timers = match &local.body {
            Body::Up { timers, .. } => timers.clone(),
            Body::Down | Body::Dead => Vec::new(),
        };
        match cause {
            Cause::Item(item) => {
                if let (Item::Message { clock, .. }, true) = (self.items.value(item), self.clocks) {
                    next.clock.merge(clock);
                }
            }
            Cause::Client => {
                if let Some((command, wants)) = self.wish(local) {
                    next.wants = wants;
                    let mut clock = None;
                    if let Some(status) = self.handlers.words().status_after_command(command) {
                        if next.status == Status::Idle {
                            next.status = status;
                        }
                        if self.clocks {
                            next.clock.tick(address);
                            clock = Some(next.clock.clone());
                        }
                    }
                    seen.push(Seen { process: address, clock, what: Sight::Command(command) });
                }
            }
            Cause::Timer(timer) => timers.retain(|running| running.timer != timer),
            Cause::Crash { forever } => {
                next.body = if forever { Body::Dead } else { Body::Down };
                next.status = Status::Idle;
                if forever {
                    // Nobody will read them again.
                    (next.stored, next.wants, next.clock) = (None, 0, VectorClock::default());
                }
                seen.push(see(Sight::Crashed));
                return (next, seen);
            }
            Cause::Start | Cause::Recover => {
                next.status = Status::Idle;
                if self.amnesia {
                    next.stored = None;
                }
                seen.push(see(Sight::Started));
            }
            Cause::Suspicion(_) => {}
        }
        let Some(handled) = handled else { return (next, seen) };
        if self.keeps_stored {
            next.stored = handled.persist.or(next.stored);
        }
        for &effect in &handled.effects {
            match effect {
                Effect::SetTimer { timer, after } => {
                    timers.retain(|running| running.timer != timer);
                    let (min, max) = match &self.speed {
                        Some(speed) => window(after, local.rate, speed),
                        None if self.keeps_durations => {
                            (nanos(after.min), nanos(after.max).max(nanos(after.min)))
                        }
                        None => (0, 0),
                    };
                    timers.push(Running { timer, min, max });
                }
                Effect::CancelTimer(timer) => timers.retain(|running| running.timer != timer),
                Effect::Output(output) => {
                    if let Some(status) = self.handlers.words().status_after_output(output) {
                        next.status = status;
                    }
                    seen.push(see(Sight::Output(output)));
                }
                Effect::Send { .. } | Effect::Suspicion(_) => {}
            }
        }
        timers.sort_unstable_by(|one, other| self.handlers.compare_timers(one.timer, other.timer));
        next.body = Body::Up { process: handled.process, timers };
        (next, seen)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
