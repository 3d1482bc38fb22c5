//! What the engine is told to do.

use habemus::catalogue::Links;
use habemus::{Status, Suspicion};
use tracing::{info, warn};

use super::instance::Instance;
use super::{Ask, Engine, EngineError};
use crate::clock::BootInstant as Instant;
use crate::control::{NodeReport, Overview, SupervisorCommand};
use crate::recorder::Wall;
use crate::settings::check_address;
use crate::transport::Outgoing;

impl SupervisorCommand {
    /// Whether it only changes what becomes of messages, and so can be followed in the midst of a step.
    pub(super) fn is_about_the_network(&self) -> bool {
        matches!(
            self,
            SupervisorCommand::Peer { .. }
                | SupervisorCommand::Cut { .. }
                | SupervisorCommand::Heal { .. }
                | SupervisorCommand::Loss(_)
                | SupervisorCommand::Duplication(_)
                | SupervisorCommand::Latency { .. }
                | SupervisorCommand::LatencyLimit(_)
                | SupervisorCommand::Fifo(_)
                | SupervisorCommand::Slow(_)
                | SupervisorCommand::Drift(_)
                | SupervisorCommand::Break(_)
        )
    }
}

impl Engine {
    pub(super) async fn answer(&mut self, ask: Ask) -> Result<(), EngineError> {
        match ask {
            // What comes before the process lives waits for it.
            ask @ (Ask::Supervisor(SupervisorCommand::Command { .. })
            | Ask::Command { .. }
            | Ask::Listen { .. })
                if !self.start_up.is_over() =>
            {
                self.start_up.defer_ask(ask);
            }
            Ask::Supervisor(command) => self.obey(command).await?,
            Ask::Command { name, word, done } => {
                let result = self.command(&name, word, Instant::now()).await?;
                let _ = done.send(result);
            }
            Ask::Listen { name, to, done } => {
                self.make_room();
                let refused = match self.refusal_of(&name) {
                    Some(reason) => Err(reason),
                    None => Ok(self.open(&name, Instant::now()).await?),
                };
                if let Some(instance) = self.instances.get_mut(&name) {
                    instance.listen(to);
                }
                let _ = done.send(refused);
            }
            Ask::Overview(to) => {
                let _ = to.send(self.overview());
            }
            Ask::Stop => self.stopping = true,
        }
        Ok(())
    }

    async fn obey(&mut self, command: SupervisorCommand) -> Result<(), EngineError> {
        match command {
            SupervisorCommand::Begin { zero, at } => {
                if !self.start_up.is_over() {
                    self.clock.wall = Wall::new(zero);
                    self.start_up.schedule(self.clock.wall.instant(at), at > 0);
                }
            }
            SupervisorCommand::Status => {
                let overview = self.overview();
                self.report(&NodeReport::Status(overview));
            }
            SupervisorCommand::Command { word, name } => {
                if let Err(reason) = self.command(&name, &word, Instant::now()).await? {
                    warn!(%reason, "cannot do what was asked");
                }
            }
            SupervisorCommand::CommandAt { word, at } => {
                self.scheduled.add(self.clock.wall.instant(at), "", word);
            }
            SupervisorCommand::Suspect(id) => {
                if let Some(address) = self.address(id) {
                    self.foretell("", Suspicion::Suspect(address)).await?;
                }
            }
            SupervisorCommand::Restore(id) => {
                if let Some(address) = self.address(id) {
                    self.foretell("", Suspicion::Restore(address)).await?;
                }
            }
            SupervisorCommand::Clients(clients) => {
                self.client.employ(clients);
                self.client_reacts(Instant::now());
            }
            SupervisorCommand::Stop => self.stopping = true,
            // Nobody stands still.
            SupervisorCommand::Go => {}
            about_the_network => self.arrange(about_the_network),
        }
        Ok(())
    }

    /// Follows a command about the network.
    pub(super) fn arrange(&mut self, command: SupervisorCommand) {
        match command {
            SupervisorCommand::Peer { id, address } => {
                if let Err(why) = check_address(&address) {
                    return warn!(peer = id, address, why, "this cannot be the address of a peer");
                }
                if let Some(peer) = self.address(id)
                    && let Some(peer) = &self.parts.peers[peer.index()]
                {
                    peer.move_to(address);
                }
            }
            SupervisorCommand::Cut { to, loses } => {
                info!(?to, "sends nothing to");
                let waits = self.parts.endpoint.links == Links::Reliable && !loses;
                for id in to {
                    let Some(address) = self.address(id) else { continue };
                    match &self.parts.peers[address.index()] {
                        Some(peer) if waits => peer.hold_back(true),
                        _ => {
                            self.faults.cut.insert(address);
                        }
                    }
                }
            }
            SupervisorCommand::Heal { to } => {
                let all = to.is_empty().then(|| self.parts.endpoint.ids.clone());
                for id in all.unwrap_or(to) {
                    let Some(address) = self.address(id) else { continue };
                    self.faults.cut.remove(&address);
                    if let Some(peer) = &self.parts.peers[address.index()] {
                        peer.hold_back(false);
                    }
                }
            }
            SupervisorCommand::Loss(probability) => self.faults.loss = probability,
            SupervisorCommand::Duplication(probability) => self.faults.duplication = probability,
            SupervisorCommand::Latency { to, latency } => {
                match (latency.parse(), to.map(|id| self.address(id))) {
                    (Ok(latency), None) => self.faults.latency = Some(latency),
                    (Ok(latency), Some(Some(address))) => {
                        self.faults.latency_to.insert(address, latency);
                    }
                    (Ok(_), Some(None)) => {}
                    (Err(why), _) => warn!(%latency, %why, "cannot pretend this latency"),
                }
            }
            SupervisorCommand::LatencyLimit(limit) => self.faults.latency_limit = Some(limit),
            SupervisorCommand::Fifo(fifo) => self.held.keep_order(fifo),
            SupervisorCommand::Slow(by) => self.faults.slow = by,
            SupervisorCommand::Drift(rate) if self.clock.drift(rate) => {}
            SupervisorCommand::Break(moments) => self.breakpoints.set(moments),
            command => warn!(?command, "cannot do what was asked"),
        }
    }

    fn overview(&self) -> Overview {
        let facts = &self.parts.facts;
        let status = self.instances.get("").map_or(Status::Idle, Instance::present_status);
        let peers = self.parts.endpoint.ids.iter().zip(&self.parts.peers);
        let connected = peers.filter(|(_, peer)| peer.as_ref().is_some_and(Outgoing::is_connected));
        let locks = self.instances.iter().filter(|(name, _)| !name.is_empty());
        Overview {
            id: self.parts.endpoint.id,
            cluster: self.parts.endpoint.cluster.clone(),
            algorithm: facts.algorithm.to_owned(),
            problem: facts.problem,
            started: self.start_up.is_over(),
            status,
            leader: match status {
                Status::Leading => Some(self.parts.endpoint.id),
                Status::Following(leader) => leader.map(|leader| leader.0),
                _ => None,
            },
            term: self.tally.term,
            locks: locks.map(|(name, it)| (name.clone(), it.present_status())).collect(),
            connected: connected.map(|(id, _)| *id).collect(),
            suspected: self.absent.suspected.iter().map(|address| self.id(*address)).collect(),
            pending: self.timers.pending()
                + self.held.len()
                + self.scheduled.len()
                + usize::from(self.client.next_due().is_some()),
            sent: self.tally.sent.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect(),
            received: self.tally.received,
            entries: self.tally.entries,
        }
    }
}
