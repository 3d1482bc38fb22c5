//! Carrying out what a handler asked for.

use std::time::Duration;

use habemus::{Address, Status, Suspicion, election};
use habemus_trace::{Dropped, Happening};
use tokio::time::Instant;
use tracing::{debug, info};

use super::{Cause, Engine, EngineError, Heard, save};
use crate::control::{Moment, Order, Report};
use crate::faults::Fate;
use crate::transport::count;
use crate::transport::frame::Body;
use habemus_machine::{Encoded, Label, PlainEffect, PlainStep};

/// A frame that leaves as soon as what was recorded is in the system's hands.
struct Leaving {
    to: Address,
    body: Body,
    background: bool,
}

/// A message that a process sends.
struct Outbound {
    to: Address,
    bytes: Vec<u8>,
    label: Label,
}

impl Engine {
    /// Records what happened to a process and carries out what it asked for. Timers and pretended latencies are counted
    /// from `base`.
    pub(super) async fn carry_out(
        &mut self,
        name: &str,
        cause: Cause,
        mut step: PlainStep,
        base: Instant,
    ) -> Result<(), EngineError> {
        let at = self.wall.at(Instant::now());
        let moment = self.record_cause(name, at, cause);
        if let Some(value) = step.persist.take()
            && let Some(instance) = self.instances.get_mut(name)
            && let Some(store) = instance.store.take()
        {
            instance.store = Some(save(store, value).await?);
        }
        let mut went = match moment {
            Some(moment) => self.stand_still(name, moment).await?,
            None => false,
        };
        let mut leaving = Vec::new();
        for effect in step.effects.drain(..) {
            let moment = self.act(name, effect, at, base, &mut leaving);
            // Only a supervisor makes it worth while to look up after each effect.
            if !self.breaks.is_empty() {
                self.let_go(name, &mut leaving)?;
                if let Some(moment) = moment {
                    went |= self.stand_still(name, moment).await?;
                }
            }
        }
        self.step = step;
        self.let_go(name, &mut leaving)?;
        if went {
            self.report(&Report::Went);
        }
        Ok(())
    }

    /// Writes down what happened to the process, and says which moment it is.
    fn record_cause(&mut self, name: &str, at: u64, cause: Cause) -> Option<Moment> {
        let ids = &self.parts.endpoint.ids;
        let instance = self.instances.get_mut(name)?;
        let mut moment = None;
        let what = match cause {
            Cause::Start { recovered } => Happening::Start { recovered },
            Cause::Deliver { from, number, clock, label } => {
                if let Some(recorder) = &mut instance.recorder {
                    recorder.learn(&clock);
                }
                let Label { kind, text, background } = label;
                moment = Some(Moment::Receives(kind.to_owned()));
                let from = ids[from.index()];
                Happening::Deliver { message: number, from, kind: kind.to_owned(), label: text, background }
            }
            Cause::Timer(Label { text, background, .. }) => Happening::Timer { label: text, background },
            Cause::Command(Encoded { label, value, status, .. }) => {
                Happening::Command { label, value, status }
            }
            Cause::Suspicion(suspicion) => {
                (_, moment) = (self.suspected_changes(suspicion), Some(Moment::Suspects));
                let what = self.suspicion(suspicion);
                self.record(name, at, what);
                return moment.filter(|_| matches!(suspicion, Suspicion::Suspect(_)));
            }
            // What comes of it is recorded, and then the end.
            Cause::Stop => return None,
        };
        self.record(name, at, what);
        moment
    }

    fn record(&mut self, name: &str, at: u64, what: Happening) {
        if let Some(recorder) = self.instances.get_mut(name).and_then(|instance| instance.recorder.as_mut()) {
            recorder.record(at, what);
        }
    }

    fn suspicion(&self, suspicion: Suspicion) -> Happening {
        match suspicion {
            Suspicion::Suspect(suspect) => Happening::Suspect { suspect: self.id(suspect) },
            Suspicion::Restore(restored) => Happening::Restore { restored: self.id(restored) },
        }
    }

    fn suspected_changes(&mut self, suspicion: Suspicion) {
        match suspicion {
            Suspicion::Suspect(peer) => {
                if self.suspected.insert(peer) {
                    info!(peer = self.id(peer), "suspects");
                }
            }
            Suspicion::Restore(peer) => {
                if self.suspected.remove(&peer) {
                    info!(peer = self.id(peer), "hears again of");
                }
            }
        }
    }

    fn act(
        &mut self,
        name: &str,
        effect: PlainEffect,
        at: u64,
        base: Instant,
        leaving: &mut Vec<Leaving>,
    ) -> Option<Moment> {
        match effect {
            PlainEffect::Send { to, bytes, label } => {
                let kind = label.kind;
                self.send(name, Outbound { to, bytes, label }, at, base, leaving);
                Some(Moment::Sends(kind.to_owned()))
            }
            PlainEffect::SetTimer { key, after, background } => {
                let mut after = self.random.delay(after);
                if self.drift != 1.0 {
                    after = after.div_f64(self.drift);
                }
                self.timers.set((name.to_owned(), key), base + after, background);
                None
            }
            PlainEffect::CancelTimer { key } => {
                self.timers.cancel(&(name.to_owned(), key));
                None
            }
            PlainEffect::Output(output) => self.output(name, output, at, base),
            PlainEffect::Suspicion(suspicion) => {
                self.suspected_changes(suspicion);
                let what = self.suspicion(suspicion);
                self.record(name, at, what);
                matches!(suspicion, Suspicion::Suspect(_)).then_some(Moment::Suspects)
            }
        }
    }

    fn send(
        &mut self,
        name: &str,
        Outbound { to, bytes, label: Label { kind, text, background } }: Outbound,
        at: u64,
        base: Instant,
        leaving: &mut Vec<Leaving>,
    ) {
        *self.sent.entry(kind).or_default() += 1;
        let to_id = self.id(to);
        let fate = if to == self.parts.me {
            Fate::Arrives(Duration::ZERO)
        } else {
            self.faults.fate(to, &mut self.random)
        };
        let Some(instance) = self.instances.get_mut(name) else { return };
        let (mut number, mut clock) = (0, Vec::new());
        if let Some(recorder) = &mut instance.recorder {
            number = recorder.number();
            let kind = kind.to_owned();
            recorder
                .record(at, Happening::Send { message: number, to: to_id, kind, label: text, background });
            clock = recorder.clock();
            let why = match fate {
                Fate::Cut => Some(Dropped::Cut),
                Fate::Lost => Some(Dropped::Loss),
                _ => None,
            };
            if let Some(why) = why {
                let from = self.parts.endpoint.id;
                recorder.note(at, to, Happening::Drop { message: number, from, why });
            }
        }
        let sent = self.wall.at(base);
        let mut leave = |hold: Duration, bytes: Vec<u8>| {
            let at_once = hold.is_zero() && to != self.parts.me;
            let due = if at_once { 0 } else { sent.saturating_add(hold.as_nanos() as u64) };
            let body = Body::Message { name: name.to_owned(), number, clock: clock.clone(), due, bytes };
            leaving.push(Leaving { to, body, background });
        };
        match fate {
            Fate::Arrives(hold) => leave(hold, bytes),
            Fate::Twice(first, second) => {
                leave(first, bytes.clone());
                leave(second, bytes);
            }
            Fate::Cut | Fate::Lost => {}
        }
    }

    fn output(&mut self, name: &str, output: Encoded, at: u64, base: Instant) -> Option<Moment> {
        let Encoded { label, value, bytes, status } = output;
        info!(process = name, "{label}");
        self.record(name, at, Happening::Output { label, value, status });
        if name.is_empty()
            && self.parts.facts.problem == "election"
            && let Ok(output) = postcard::from_bytes::<election::Output>(&bytes)
        {
            self.term = match output {
                election::Output::Leads { term } | election::Output::Follows { term, .. } => term,
                election::Output::Leaderless => 0,
            };
        }
        let instance = self.instances.get_mut(name)?;
        let heard = Heard(bytes);
        instance.listeners.retain(|listener| listener.send(heard.clone()).is_ok());
        instance.said = Some(heard);
        let status = status?;
        let before = std::mem::replace(&mut instance.status, status);
        self.entries += u64::from(status == Status::Inside);
        if name.is_empty() {
            self.client_reacts(status, base);
        }
        Moment::of_change(before, status)
    }

    /// A client in a loop asks for what comes next, a while after `now`.
    pub(super) fn client_reacts(&mut self, status: Status, now: Instant) {
        let Some(clients) = &mut self.clients else { return };
        let Some(word) = self.instances.get("").and_then(|it| it.machine.next_command(&status)) else {
            return;
        };
        let due = if status == Status::Inside {
            now + self.random.between(clients.hold.0, clients.hold.1)
        } else if clients.entries > 0 {
            clients.entries -= 1;
            match clients.wish_every {
                // It came up when it did; if the process was busy then, it has waited at the client.
                Some(mean) => {
                    let wish = self.last_wish.unwrap_or(now) + self.random.exponential(mean);
                    self.last_wish = Some(wish);
                    now.max(wish)
                }
                None => now + self.random.between(clients.think.0, clients.think.1),
            }
        } else {
            return;
        };
        self.next_command = Some((due, word));
    }

    /// Hands what was recorded to the system, and then lets the frames leave.
    fn let_go(&mut self, name: &str, leaving: &mut Vec<Leaving>) -> Result<(), EngineError> {
        if let Some(recorder) = self.instances.get_mut(name).and_then(|it| it.recorder.as_mut()) {
            let listener = &mut self.parts.listener;
            recorder.commit(|record| {
                if let Some(listener) = listener.as_mut()
                    && !is_background(&record.what)
                {
                    listener(&Report::Record { name: name.to_owned(), record: record.clone() });
                }
            })?;
        }
        for Leaving { to, body, background } in leaving.drain(..) {
            let due = match body {
                Body::Message { due, .. } if due > 0 => self.wall.instant(due),
                _ => Instant::now(),
            };
            match &self.parts.peers[to.index()] {
                Some(peer) => {
                    if !peer.send_slowly(body, background, due) && !background {
                        debug!(peer = self.id(to), "no room for a message");
                        count(&self.parts.endpoint.traffic.dropped, 1);
                    }
                }
                None => self.hold(due, to, body),
            }
        }
        Ok(())
    }

    pub(super) fn report(&mut self, report: &Report) {
        if let Some(listener) = &mut self.parts.listener {
            listener(report);
        }
    }

    /// If a supervisor waits for this moment: tells it, and waits until it says go. Says whether that was so.
    async fn stand_still(&mut self, name: &str, moment: Moment) -> Result<bool, EngineError> {
        if !name.is_empty() || !self.breaks.contains(&moment) {
            return Ok(false);
        }
        self.let_go(name, &mut Vec::new())?;
        // What was sent has left, even if the next thing to happen is kill -9.
        for peer in self.parts.peers.iter().flatten() {
            peer.flushed(Duration::from_millis(200)).await;
        }
        self.report(&Report::Reached(moment));
        while let Some(ask) = self.parts.asks.recv().await {
            match ask {
                super::Ask::Order(Order::Go) => return Ok(true),
                super::Ask::Order(order) if order.is_about_the_network() => self.arrange(order),
                later => self.deferred.push_back(later),
            }
        }
        Ok(false)
    }
}

fn is_background(what: &Happening) -> bool {
    match what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        _ => false,
    }
}
