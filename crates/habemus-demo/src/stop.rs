//! How the story is told to end: by Ctrl-C, by a supervisor, or because its terminal is closed.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Failed;

/// Hears of it.
pub(crate) struct Stop([Signal; 3]);

impl Stop {
    pub(crate) fn new() -> Result<Stop, Failed> {
        let hear = |kind| signal(kind).map_err(|error| Failed::missing(format!("no signals here: {error}")));
        Ok(Stop([
            hear(SignalKind::interrupt())?,
            hear(SignalKind::terminate())?,
            hear(SignalKind::hangup())?,
        ]))
    }

    /// Waits until it comes.
    pub(crate) async fn asked(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
