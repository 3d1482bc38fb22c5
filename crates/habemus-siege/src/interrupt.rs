//! Ctrl-C, or a signal to end: the first one ends the attacks, and what was seen so far is judged; the second
//! one ends everything.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use crate::Outcome;

/// Whether somebody wants it to end.
#[derive(Default)]
pub(crate) struct Interrupt(AtomicBool);

impl Interrupt {
    /// Whether nothing more is to be attacked.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits until it was asked for twice.
    pub(crate) async fn twice(&self) -> Outcome<()> {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        for _ in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if !self.0.swap(true, Ordering::Relaxed) {
                eprintln!("nothing more is attacked, and what was seen is judged; once more, and it is not");
            }
        }
        Ok(())
    }
}
