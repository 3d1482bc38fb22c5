//! What the engine is told to do.

use habemus::{Status, Suspicion};
use tokio::time::Instant;
use tracing::{info, warn};

use super::{Ask, Engine, EngineError};
use crate::control::{Order, Overview, Report};
use crate::is_name;
use crate::recorder::Wall;
use crate::transport::Outgoing;

impl Order {
    /// Whether it only changes what becomes of messages, and so can be followed in the midst of a step.
    pub(super) fn is_about_the_network(&self) -> bool {
        matches!(
            self,
            Order::Peer { .. }
                | Order::Cut { .. }
                | Order::Heal { .. }
                | Order::Loss(_)
                | Order::Duplication(_)
                | Order::Latency { .. }
                | Order::LatencyLimit(_)
                | Order::Fifo(_)
                | Order::Slow(_)
                | Order::Drift(_)
                | Order::Break(_)
        )
    }
}

impl Engine {
    pub(super) async fn answer(&mut self, ask: Ask) -> Result<(), EngineError> {
        match ask {
            // What comes before the process lives waits for it.
            ask @ (Ask::Order(Order::Command { .. }) | Ask::Command { .. } | Ask::Listen { .. })
                if !self.started =>
            {
                self.early_asks.push(ask);
            }
            Ask::Order(order) => self.obey(order).await?,
            Ask::Command { name, word, done } => {
                let result = self.command(&name, word, Instant::now()).await?;
                let _ = done.send(result);
            }
            Ask::Listen { name, to } => {
                if !self.instances.contains_key(&name) && is_name(&name) {
                    self.open(&name, Instant::now()).await?;
                }
                if let Some(instance) = self.instances.get_mut(&name) {
                    if let Some(said) = &instance.said {
                        let _ = to.send(said.clone());
                    }
                    instance.listeners.push(to);
                }
            }
            Ask::Overview(to) => {
                let _ = to.send(self.overview());
            }
            Ask::Stop(done) => {
                self.stopping = true;
                self.stopped.push(done);
            }
        }
        Ok(())
    }

    async fn obey(&mut self, order: Order) -> Result<(), EngineError> {
        match order {
            Order::Begin { zero, at } => {
                if !self.started {
                    self.wall = Wall::new(zero);
                    self.begin_at = Some(self.wall.instant(at));
                    self.comes_back = at > 0;
                }
            }
            Order::Status => {
                let overview = self.overview();
                self.report(&Report::Status(overview));
            }
            Order::Command { word, name } => {
                if let Err(reason) = self.command(&name, &word, Instant::now()).await? {
                    warn!(%reason, "cannot do what was asked");
                }
            }
            Order::CommandAt { word, at } => {
                self.next_held += 1;
                self.scheduled.insert((self.wall.instant(at), self.next_held), word);
            }
            Order::Suspect(id) => {
                if let Some(place) = self.place(id) {
                    self.foretell("", Suspicion::Suspect(place)).await?;
                }
            }
            Order::Restore(id) => {
                if let Some(place) = self.place(id) {
                    self.foretell("", Suspicion::Restore(place)).await?;
                }
            }
            Order::Clients(clients) => {
                self.clients = Some(clients);
                let status = self.instances.get("").map_or(Status::Idle, |it| it.status);
                self.client_reacts(status, Instant::now());
            }
            Order::Stop => self.stopping = true,
            // Nobody stands still.
            Order::Go => {}
            order => self.arrange(order),
        }
        Ok(())
    }

    /// Follows an order about the network.
    pub(super) fn arrange(&mut self, order: Order) {
        match order {
            Order::Peer { id, address } => {
                if let Some(place) = self.place(id)
                    && let Some(peer) = &self.parts.peers[place.index()]
                {
                    peer.move_to(address);
                }
            }
            Order::Cut { to } => {
                info!(?to, "sends nothing to");
                let places: Vec<_> = to.into_iter().filter_map(|id| self.place(id)).collect();
                self.faults.cut.extend(places);
            }
            Order::Heal { to } if to.is_empty() => self.faults.cut.clear(),
            Order::Heal { to } => {
                for place in to.into_iter().filter_map(|id| self.place(id)).collect::<Vec<_>>() {
                    self.faults.cut.remove(&place);
                }
            }
            Order::Loss(probability) => self.faults.loss = probability,
            Order::Duplication(probability) => self.faults.duplication = probability,
            Order::Latency { to, latency } => match (latency.parse(), to.map(|id| self.place(id))) {
                (Ok(latency), None) => self.faults.latency = Some(latency),
                (Ok(latency), Some(Some(place))) => {
                    self.faults.latency_to.insert(place, latency);
                }
                (Ok(_), Some(None)) => {}
                (Err(why), _) => warn!(%latency, %why, "cannot pretend this latency"),
            },
            Order::LatencyLimit(limit) => self.faults.latency_limit = Some(limit),
            Order::Fifo(fifo) => self.fifo = fifo,
            Order::Slow(by) => self.faults.slow = by,
            Order::Drift(rate) if rate.is_finite() && rate > 0.0 => self.drift = rate,
            Order::Break(moments) => self.breaks = moments,
            order => warn!(?order, "cannot do what was asked"),
        }
    }

    fn overview(&self) -> Overview {
        let facts = &self.parts.facts;
        let status = self.instances.get("").map_or(Status::Idle, |it| it.status);
        let peers = self.parts.endpoint.ids.iter().zip(&self.parts.peers);
        let connected = peers.filter(|(_, peer)| peer.as_ref().is_some_and(Outgoing::is_connected));
        let locks = self.instances.iter().filter(|(name, _)| !name.is_empty());
        Overview {
            id: self.parts.endpoint.id,
            cluster: self.parts.endpoint.cluster.clone(),
            algorithm: facts.algorithm.to_owned(),
            problem: facts.problem.to_owned(),
            started: self.started,
            status,
            leader: match status {
                Status::Leading => Some(self.parts.endpoint.id),
                Status::Following(leader) => leader.map(|leader| leader.0),
                _ => None,
            },
            term: self.term,
            locks: locks.map(|(name, it)| (name.clone(), it.status)).collect(),
            connected: connected.map(|(id, _)| *id).collect(),
            suspected: self.suspected.iter().map(|place| self.id(*place)).collect(),
            pending: self.timers.pending()
                + self.held.len()
                + self.scheduled.len()
                + usize::from(self.next_command.is_some()),
            sent: self.sent.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect(),
            received: self.received,
            entries: self.entries,
        }
    }
}
