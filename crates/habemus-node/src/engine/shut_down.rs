//! The end of a node, in good order: its own, and that of a peer that says goodbye.

use std::time::Duration;

use habemus::{Address, Status, Suspicion};
use habemus_trace::Happening;
use tracing::info;

use super::{Engine, EngineError, RecordedEvent};
use crate::clock::BootInstant as Instant;
use crate::transport::WhileAway;
use crate::transport::frame::Body;

impl Engine {
    /// A peer has said that it stops. Whoever listens to a detector need not wait until that notices; a
    /// supervisor that plays the oracle says it itself.
    pub(super) async fn miss(&mut self, peer: Address) -> Result<(), EngineError> {
        let facts = &self.parts.facts;
        info!(peer = self.id(peer), "has stopped");
        if !facts.hears_of_suspicions || facts.oracle.is_some() || !self.absent.stopped.insert(peer) {
            return Ok(());
        }
        self.hear_of(Suspicion::Suspect(peer)).await
    }

    /// Tells all processes of the node what is known for certain of a peer.
    pub(super) async fn hear_of(&mut self, suspicion: Suspicion) -> Result<(), EngineError> {
        for name in self.instances.keys().cloned().collect::<Vec<_>>() {
            self.foretell(&name, suspicion).await?;
        }
        Ok(())
    }

    /// Leaves what it is in, hands over what it can, and lets what it has sent get out.
    pub(super) async fn shut_down(&mut self) -> Result<(), EngineError> {
        let inside: Vec<String> = self
            .instances
            .iter()
            .filter(|(_, it)| it.status == Status::Inside)
            .map(|(name, _)| name.clone())
            .collect();
        for name in inside {
            info!(process = name, "leaves before it stops");
            let _ = self.command(&name, "release", Instant::now()).await?;
        }
        let now = Instant::now();
        for name in self.instances.keys().cloned().collect::<Vec<_>>() {
            let elapsed = self.clock.shows(now);
            let Some(instance) = self.instances.get_mut(&name) else { continue };
            let mut step = std::mem::take(&mut self.step);
            instance.machine.stop(elapsed, &mut step);
            self.carry_out(&name, RecordedEvent::Stop, step, now).await?;
        }
        let at = self.clock.wall.at(Instant::now());
        for instance in self.instances.values_mut() {
            if let Some(recorder) = &mut instance.recorder {
                recorder.record(at, Happening::Crash);
                recorder.commit(|_| {})?;
            }
            // Whoever listens learns that it is over before anybody else can take over.
            instance.fall_silent();
        }
        tokio::task::yield_now().await;
        for peer in self.parts.peers.iter().flatten() {
            peer.send(&Body::Goodbye, WhileAway::Drop);
        }
        for peer in self.parts.peers.iter().flatten() {
            peer.flushed(Duration::from_millis(500)).await;
        }
        let endpoint = std::sync::Arc::clone(&self.parts.endpoint);
        let saved = tokio::task::spawn_blocking(move || endpoint.memory.save()).await;
        saved.expect("storing does not panic")?;
        info!("stopped");
        Ok(())
    }
}
