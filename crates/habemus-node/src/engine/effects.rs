//! Carrying out what a handler asked for: store, record, then send.

use std::io;
use std::time::Duration;

use habemus::{Address, ProblemKind, Status, Suspicion, election};
use habemus_machine::{Encoded, Label, PlainEffect, PlainStep};
use habemus_trace::{Dropped, Happening};
use tracing::{debug, info, warn};

use super::{Ask, Engine, EngineError, RecordedEvent};
use crate::clock::BootInstant as Instant;
use crate::control::{Moment, NodeReport, SupervisorCommand};
use crate::faults::Fate;
use crate::store::Store;
use crate::transport::frame::Body;
use crate::transport::{WhileAway, count};

/// A frame that leaves as soon as what was recorded is in the system's hands.
struct Departure {
    to: Address,
    body: Body,
    away: WhileAway,
}

/// The step whose effects are carried out.
#[derive(Clone, Copy)]
struct StepOf<'a> {
    /// The process.
    name: &'a str,
    /// When it happened, in nanoseconds since the run began.
    at: u64,
    /// From when timers and pretended latencies are counted.
    base: Instant,
    /// Whether the application asked for it.
    asked: bool,
}

impl Engine {
    /// Records what happened to a process and carries out what it asked for. Timers and pretended latencies
    /// are counted from `base`.
    pub(super) async fn carry_out(
        &mut self,
        name: &str,
        cause: RecordedEvent,
        mut step: PlainStep,
        base: Instant,
    ) -> Result<(), EngineError> {
        if let Some(instance) = self.instances.get_mut(name) {
            instance.used = true;
        }
        let asked = matches!(cause, RecordedEvent::Command(_) | RecordedEvent::Stop);
        let of = StepOf { name, at: self.clock.wall.at(Instant::now()), base, asked };
        let moment = self.record_cause(of, cause);
        if let Some(value) = step.persist.take()
            && let Some(instance) = self.instances.get_mut(name)
        {
            instance.persist(value).await?;
            if name.is_empty() {
                let writes = instance.store.as_ref().map_or(0, Store::sequence);
                self.parts.endpoint.memory.on_write(writes);
                self.writes = writes;
            }
        }
        let mut stood_still = match moment {
            Some(moment) => self.stand_still(name, moment).await?,
            None => false,
        };
        let mut departures = Vec::new();
        for effect in step.effects.drain(..) {
            let moment = self.carry_out_one(of, effect, &mut departures);
            if self.breakpoints.are_set() {
                self.let_go(name, &mut departures)?;
                if let Some(moment) = moment {
                    stood_still |= self.stand_still(name, moment).await?;
                }
            }
        }
        self.step = step;
        self.renew_lease(name);
        self.notice_establishment(name);
        self.let_go(name, &mut departures)?;
        if stood_still {
            self.report(&NodeReport::Went);
        }
        Ok(())
    }

    /// As soon as somebody leads, or if nobody ever does, the node's settings are in force.
    fn notice_establishment(&mut self, name: &str) {
        if name.is_empty()
            && !self.established
            && let Some(main) = self.instances.get("")
            && main.machine.leadership() != Some(election::Output::Leaderless)
        {
            self.established = true;
            self.parts.endpoint.memory.on_established();
            self.remember();
        }
    }

    /// What the process claims holds as long as the timer runs that ends it.
    fn renew_lease(&mut self, name: &str) {
        let Some(instance) = self.instances.get_mut(name) else { return };
        let key = instance.machine.lease().map(|key| (name.to_owned(), key));
        instance.renew(key.and_then(|key| self.timers.due(&key)));
    }

    /// Writes down what happened to the process, and says which moment it is.
    fn record_cause(&mut self, of: StepOf<'_>, cause: RecordedEvent) -> Option<Moment> {
        match cause {
            RecordedEvent::Start { recovered } => {
                self.record(of, Happening::Start { recovered });
                None
            }
            RecordedEvent::Deliver { from, number, clock, label: Label { kind, text, background } } => {
                let recorder = self.instances.get_mut(of.name).and_then(|it| it.recorder.as_mut());
                if let Some(recorder) = recorder {
                    recorder.learn(&clock);
                }
                let (from, kind) = (self.id(from), kind.to_owned());
                let delivery = Happening::Deliver {
                    message: number,
                    from,
                    kind: kind.as_str().into(),
                    label: text.into(),
                    background,
                };
                self.record(of, delivery);
                Some(Moment::Receives(kind))
            }
            RecordedEvent::Timer(Label { text, background, .. }) => {
                self.record(of, Happening::Timer { label: text.into(), background });
                None
            }
            RecordedEvent::Command(Encoded { label, value, status, .. }) => {
                self.record(of, Happening::Command { label: label.into(), value, status });
                None
            }
            RecordedEvent::Suspicion(suspicion) => self.suspicion(of, suspicion),
            // What comes of it is recorded.
            RecordedEvent::Standing | RecordedEvent::Stop => None,
        }
    }

    fn record(&mut self, of: StepOf<'_>, what: Happening) {
        if let Some(recorder) = self.instances.get_mut(of.name).and_then(|it| it.recorder.as_mut()) {
            recorder.record(of.at, what);
        }
    }

    /// Whom a detector suspects has changed.
    fn suspicion(&mut self, of: StepOf<'_>, suspicion: Suspicion) -> Option<Moment> {
        let is_news = self.absent.on_suspicion(suspicion);
        let (what, moment) = match suspicion {
            Suspicion::Suspect(peer) => {
                let suspect = self.id(peer);
                if is_news {
                    info!(peer = suspect, "suspects");
                }
                (Happening::Suspect { suspect }, Some(Moment::Suspects))
            }
            Suspicion::Restore(peer) => {
                let restored = self.id(peer);
                if is_news {
                    info!(peer = restored, "hears again of");
                }
                (Happening::Restore { restored }, None)
            }
        };
        self.record(of, what);
        moment
    }

    fn carry_out_one(
        &mut self,
        of: StepOf<'_>,
        effect: PlainEffect,
        departures: &mut Vec<Departure>,
    ) -> Option<Moment> {
        match effect {
            PlainEffect::Send { to, bytes, label } => {
                let kind = label.kind;
                self.send(of, to, bytes, label, departures);
                Some(Moment::Sends(kind.to_owned()))
            }
            PlainEffect::SetTimer { key, after, background } => {
                let after = self.clock.really(self.random.delay(after));
                self.timers.set((of.name.to_owned(), key), of.base + after, background);
                None
            }
            PlainEffect::CancelTimer { key } => {
                self.timers.cancel(&(of.name.to_owned(), key));
                None
            }
            PlainEffect::Output(output) => self.output(of, output),
            PlainEffect::Suspicion(suspicion) => self.suspicion(of, suspicion),
        }
    }

    fn send(
        &mut self,
        of: StepOf<'_>,
        to: Address,
        bytes: Vec<u8>,
        Label { kind, text, background }: Label,
        departures: &mut Vec<Departure>,
    ) {
        self.tally.on_send(kind);
        let to_id = self.id(to);
        let fate = if to == self.parts.me {
            Fate::Arrives(Duration::ZERO)
        } else {
            self.faults.fate(to, &mut self.random)
        };
        let Some(instance) = self.instances.get_mut(of.name) else { return };
        let (mut number, mut clock) = (0, Vec::new());
        if let Some(recorder) = &mut instance.recorder {
            number = recorder.number();
            let kind = kind.to_owned();
            recorder.record(
                of.at,
                Happening::Send {
                    message: number,
                    to: to_id,
                    kind: kind.into(),
                    label: text.into(),
                    background,
                },
            );
            clock = recorder.clock();
            let why = match fate {
                Fate::Cut => Some(Dropped::Cut),
                Fate::Lost => Some(Dropped::Loss),
                Fate::Arrives(_) | Fate::Twice(..) => None,
            };
            if let Some(why) = why {
                let from = self.parts.endpoint.id;
                recorder.note(of.at, to, Happening::Drop { message: number, from, why });
            }
        }
        let sent = self.clock.wall.at(of.base);
        // A lock that shares its election says again what was not answered.
        let away = if background || instance.shared { WhileAway::Drop } else { WhileAway::Keep };
        let mut depart = |hold: Duration, bytes: Vec<u8>| {
            let at_once = hold.is_zero() && to != self.parts.me;
            let due = if at_once { 0 } else { sent.saturating_add(hold.as_nanos() as u64) };
            let body = Body::Message { name: of.name.to_owned(), number, clock: clock.clone(), due, bytes };
            departures.push(Departure { to, body, away });
        };
        match fate {
            Fate::Arrives(hold) => depart(hold, bytes),
            Fate::Twice(first, second) => {
                depart(first, bytes.clone());
                depart(second, bytes);
            }
            Fate::Cut | Fate::Lost => {}
        }
    }

    fn output(&mut self, of: StepOf<'_>, output: Encoded) -> Option<Moment> {
        let Encoded { label, value, bytes, status } = output;
        info!(process = of.name, "{label}");
        self.record(of, Happening::Output { label: label.into(), value, status });
        if of.name.is_empty()
            && self.parts.facts.problem == ProblemKind::Election
            && let Ok(output) = postcard::from_bytes::<election::Output>(&bytes)
        {
            self.tally.term = match output {
                election::Output::Leads { term } | election::Output::Follows { term, .. } => term,
                election::Output::Leaderless => 0,
            };
        }
        let instance = self.instances.get_mut(of.name)?;
        instance.say(bytes, status);
        let status = status?;
        let before = std::mem::replace(&mut instance.status, status);
        if before == Status::Inside && status != Status::Inside && !of.asked {
            warn!(process = of.name, "has lost the lock: its lease is over");
        }
        self.tally.entries += u64::from(status == Status::Inside);
        if status == Status::Inside && std::mem::take(&mut instance.taken_back) {
            info!(process = of.name, "leaves at once, for its request was taken back");
            self.scheduled.add(of.base, of.name, "release".to_owned());
        }
        if of.name.is_empty() {
            self.client_reacts(of.base);
        }
        Moment::of_change(before, status)
    }

    /// A client in a loop asks for what comes next, a while after `now`.
    pub(super) fn client_reacts(&mut self, now: Instant) {
        if self.client.is_employed()
            && let Some(main) = self.instances.get("")
            && let Some(word) = main.machine.next_command(&main.status)
        {
            self.client.on_status(main.status, word, now, &mut self.random);
        }
    }

    /// Hands what was recorded to the system, and then lets the frames leave.
    fn let_go(&mut self, name: &str, departures: &mut Vec<Departure>) -> Result<(), EngineError> {
        if let Some(instance) = self.instances.get_mut(name)
            && let Some(recorder) = &mut instance.recorder
        {
            let listener = &mut self.parts.listener;
            let written = recorder.commit(|record| {
                if let Some(listener) = listener.as_mut()
                    && !is_background(&record.what)
                {
                    listener(&NodeReport::Record { name: name.to_owned(), record: record.clone() });
                }
            });
            if let Err(why) = written {
                // A supervisor needs every record. Everybody else needs the node.
                if self.parts.standby {
                    return Err(why.into());
                }
                give_up_trace(name, &why);
                instance.recorder = None;
            }
        }
        for Departure { to, body, away } in departures.drain(..) {
            let due = match body {
                Body::Message { due, .. } if due > 0 => self.clock.wall.instant(due),
                _ => Instant::now(),
            };
            match &self.parts.peers[to.index()] {
                Some(peer) => {
                    if self.told[to.index()] < self.writes
                        && peer.send(&Body::Stored { writes: self.writes }, WhileAway::Drop)
                    {
                        self.told[to.index()] = self.writes;
                    }
                    if !peer.send_slowly(&body, away, due) && away == WhileAway::Keep {
                        debug!(peer = self.id(to), "no room for a message");
                        count(&self.parts.endpoint.traffic.dropped, 1);
                    }
                }
                None => self.held.hold(due, to, body),
            }
        }
        Ok(())
    }

    pub(super) fn report(&mut self, report: &NodeReport) {
        if let Some(listener) = &mut self.parts.listener {
            listener(report);
        }
    }

    /// If a supervisor waits for this moment: tells it, and waits until it says go. Says whether that was so.
    async fn stand_still(&mut self, name: &str, moment: Moment) -> Result<bool, EngineError> {
        if !self.breakpoints.apply(name, &moment) {
            return Ok(false);
        }
        self.let_go(name, &mut Vec::new())?;
        // What was sent has left, even if the next thing to happen is kill -9.
        for peer in self.parts.peers.iter().flatten() {
            peer.flushed(Duration::from_millis(200)).await;
        }
        self.report(&NodeReport::Reached(moment));
        while let Some(ask) = self.parts.asks.recv().await {
            match ask {
                Ask::Supervisor(SupervisorCommand::Go) => return Ok(true),
                Ask::Supervisor(command) if command.is_about_the_network() => self.arrange(command),
                later => self.breakpoints.defer(later),
            }
        }
        Ok(false)
    }
}

pub(super) fn give_up_trace(name: &str, why: &io::Error) {
    warn!(process = name, %why, "the trace cannot be written, and is written no longer; the node goes on");
}

fn is_background(what: &Happening) -> bool {
    match what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        _ => false,
    }
}
