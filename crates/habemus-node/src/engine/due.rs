//! What is due, and when: timers, held messages, commands given ahead of their time.

use std::time::Duration;

use tracing::warn;

use super::shared_locks::SharedLocks;
use super::{Engine, EngineError, RecordedEvent};
use crate::clock::BootInstant as Instant;

/// What happens late still counts from when it was due, unless it is later than this: then the node has stood
/// still, and what it missed is not to be made up for.
const LATE: Duration = Duration::from_millis(100);

impl Engine {
    /// When something is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        if !self.start_up.is_over() {
            return self.start_up.next_due();
        }
        let due = [
            self.scheduled.next_due(),
            self.timers.next_due(),
            self.client.next_due(),
            self.held.next_due(),
            self.shared.as_ref().and_then(SharedLocks::next_due),
        ];
        due.into_iter().flatten().min()
    }

    /// Whether a timer has run out.
    pub(super) fn is_timer_due(&self) -> bool {
        self.start_up.is_over() && self.timers.next_due().is_some_and(|due| due <= Instant::now())
    }

    /// Does what is due first, and of what is due at the same time a command before a timer before a message.
    pub(super) async fn wake(&mut self) -> Result<(), EngineError> {
        if !self.start_up.is_over() {
            return self.begin().await;
        }
        let now = Instant::now();
        let Some(due) = self.next_due().filter(|due| *due <= now) else { return Ok(()) };
        let base = if now.duration_since(due) <= LATE { due } else { now };
        if let Some((name, word)) = self.scheduled.pop(due) {
            if let Err(reason) = self.command(&name, &word, base).await? {
                warn!(%reason, "cannot do what was asked");
            }
        } else if self.timers.next_due() == Some(due) {
            self.ring(now, base).await?;
        } else if let Some(word) = self.client.pop(due) {
            if let Err(reason) = self.command("", &word, base).await? {
                warn!(%reason, "the client cannot go on");
            }
        } else if self.shared.as_ref().and_then(SharedLocks::next_due) == Some(due) {
            self.sweep();
        } else if let Some((from, body)) = self.held.pop() {
            self.deliver(from, body, base).await?;
        }
        Ok(())
    }

    /// A timer has run out.
    async fn ring(&mut self, now: Instant, base: Instant) -> Result<(), EngineError> {
        let Some((due, (name, key))) = self.timers.pop(now) else { return Ok(()) };
        let elapsed = self.clock.shows(now);
        let Some(instance) = self.instances.get_mut(&name) else { return Ok(()) };
        let mut step = std::mem::take(&mut self.step);
        let rung = instance.machine.timer(&key, elapsed, &mut step);
        let label = rung.expect("the machine made the key itself");
        // Pulses must not drift apart, however late they are.
        let base = if self.parts.facts.synchronous { due } else { base };
        self.carry_out(&name, RecordedEvent::Timer(label), step, base).await
    }
}
