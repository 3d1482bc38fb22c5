//! Events: what happens at a process, and what comes of it.

use std::time::Duration;

use habemus::{
    Address, Command, Context, Delay, Effect, Message, Output, Problem, Process, Status, Step, Suspicion,
    System, Topology,
};
use habemus_trace::Dropped;
use rustc_hash::FxHashMap;

use super::{LocalClock, Pending, Rare, RareEvent, Simulation};
use crate::network::Fate;
use crate::observer::{Notice, Observer};
use crate::plan::Occurrence;
use crate::time::{Time, nanos};

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// Whether nothing but latency lies between the processes, all of them react, and no line of the script
    /// waits for what one of them does. Only the script can change that.
    pub(super) fn is_calm(&self) -> bool {
        self.held_back.is_empty() && self.plan.triggered.is_empty() && self.network.is_plain()
    }

    /// Lets an event take place at its time, in the quick way if all is calm; says whether it did. It belongs
    /// into the loop, and hands on the parts of an event: what is handed over in one piece must first lie in
    /// memory.
    #[inline(always)]
    pub(super) fn happen_at(&mut self, time: Time, pending: Pending<P, O::Stamp>, calm: bool) -> bool {
        match pending {
            Pending::Deliver { from, to, message, stamp } if calm => {
                self.now = time;
                self.deliver_calmly(from, to, message, &stamp);
                true
            }
            Pending::Deliver { from, to, message, stamp } => self.arrive(time, from, to, message, stamp),
            Pending::Timer { at, timer, number } => self.ring(time, at, timer, number),
            Pending::Rare(rare) => self.rare(time, rare),
        }
    }

    #[inline(always)]
    fn deliver_calmly(&mut self, from: Address, to: Address, message: P::Message, stamp: &O::Stamp) {
        let Some(process) = &mut self.slots[to.index()].process else {
            self.observer.dropped(self.now, from, to, stamp, Dropped::Down);
            return;
        };
        self.delivered += 1;
        self.observer.delivered(self.now, from, to, &message, stamp);
        let now = local_time::<P>(&self.drift, to, self.now);
        let mut cx = Context::new(to, &self.system, now, &mut self.step, &mut self.choices);
        process.on_message(from, message, &mut cx);
        self.keep_stable(to);
        if self.step.effects.is_empty() {
            return;
        }
        // Most handlers ask for one message and nothing else, or for one at the end.
        let last = self.step.effects.pop_if(is_send::<P>);
        if !self.step.effects.is_empty() {
            self.carry_out_effects(to);
        }
        if let Some(Effect::Send { to: next, message }) = last {
            check_link(&self.system, to, next);
            let stamp = self.observer.sent(self.now, to, next, &message);
            let arrival = self.network.plain_arrival(self.now, to);
            self.post(arrival, to, next, message, stamp);
        }
    }

    /// Puts a message on its way. A call brings a small message here in registers: to copy it from the
    /// out-buffer into the queue in one piece would wait until the handler has written it in pieces.
    #[inline(never)]
    fn post(&mut self, arrival: Time, from: Address, to: Address, message: P::Message, stamp: O::Stamp) {
        self.queue.push(arrival, Pending::Deliver { from, to, message, stamp });
    }

    /// Lets an event take place, whatever the circumstances; says whether it did.
    #[inline(never)]
    pub(super) fn happen(&mut self, pending: Pending<P, O::Stamp>) -> bool {
        self.happen_at(self.now, pending, false)
    }

    /// A message arrives, wherever anything may be wrong; says whether it is delivered or lost now.
    #[inline(never)]
    fn arrive(
        &mut self,
        time: Time,
        from: Address,
        to: Address,
        message: P::Message,
        stamp: O::Stamp,
    ) -> bool {
        if let Some(waiting) = self.held_back.get_mut(to) {
            waiting.push(Pending::Deliver { from, to, message, stamp });
            return false;
        }
        self.now = time;
        self.deliver(from, to, message, &stamp);
        true
    }

    fn deliver(&mut self, from: Address, to: Address, message: P::Message, stamp: &O::Stamp) {
        if !self.is_up(to) {
            self.observer.dropped(self.now, from, to, stamp, Dropped::Down);
            return;
        }
        self.delivered += 1;
        self.observer.delivered(self.now, from, to, &message, stamp);
        let kind = message.kind();
        self.call(to, |process, cx| process.on_message(from, message, cx));
        if self.interrupted(to, Occurrence::Receives(kind)) {
            self.step = Step::default();
        } else {
            self.carry_out(to);
        }
    }

    #[inline(never)]
    fn ring(&mut self, time: Time, at: Address, timer: P::Timer, number: u32) -> bool {
        if let Some(waiting) = self.held_back.get_mut(at) {
            waiting.push(Pending::Timer { at, timer, number });
            return false;
        }
        if !self.timers.ring(at, number) {
            return false; // Cancelled, replaced, or of a former life.
        }
        self.now = time;
        self.observer.timer(self.now, at, &timer);
        self.handle(at, |process, cx| process.on_timer(timer, cx));
        true
    }

    #[inline(never)]
    fn rare(&mut self, time: Time, rare: Box<Rare<P>>) -> bool {
        if let Some(waiting) = self.held_back.get_mut(rare.at) {
            waiting.push(Pending::Rare(rare));
            return false;
        }
        let rare = *rare;
        if self.slots[rare.at.index()].life != rare.life || !self.is_up(rare.at) {
            return false;
        }
        self.now = time;
        match rare.what {
            RareEvent::Client(command) => self.give_command(rare.at, command),
            // Who is back already is not suspected, and who is down again not trusted.
            RareEvent::Truth(Suspicion::Suspect(about)) if self.is_up(about) => {}
            RareEvent::Truth(Suspicion::Restore(about)) if !self.is_up(about) => {}
            RareEvent::Truth(suspicion) | RareEvent::Suspicion(suspicion) => {
                self.observer.noticed(self.now, rare.at, Notice::Suspicion(suspicion));
                if matches!(suspicion, Suspicion::Suspect(_))
                    && self.interrupted(rare.at, Occurrence::Suspects)
                {
                    return true;
                }
                self.handle(rare.at, |process, cx| process.on_suspicion(suspicion, cx));
            }
        }
        true
    }

    pub(super) fn give_command(&mut self, at: Address, command: Command<P>) {
        self.observer.noticed(self.now, at, Notice::Command(&command));
        if let Some(status) = P::Problem::status_after_command(&command) {
            // A second request while inside or waiting changes nothing.
            if self.status[at.index()] == Status::Idle {
                self.status[at.index()] = status;
            }
        }
        self.handle(at, |process, cx| process.on_command(command, cx));
    }

    fn handle(&mut self, at: Address, handler: impl FnOnce(&mut P, &mut Context<'_, P>)) {
        self.call(at, handler);
        self.carry_out(at);
    }

    /// Calls a handler, and leaves what it asks for in the out-buffer.
    fn call(&mut self, at: Address, handler: impl FnOnce(&mut P, &mut Context<'_, P>)) {
        let Some(process) = &mut self.slots[at.index()].process else { return };
        let now = local_time::<P>(&self.drift, at, self.now);
        handler(process, &mut Context::new(at, &self.system, now, &mut self.step, &mut self.choices));
    }

    /// Carries out what a handler asked for.
    #[inline(never)]
    pub(super) fn carry_out(&mut self, at: Address) {
        self.keep_stable(at);
        if self.step.effects.len() == 1
            && let Some(Effect::Send { to, message }) = self.step.effects.pop_if(is_send::<P>)
        {
            self.send(at, to, message);
        } else {
            self.carry_out_effects(at);
        }
    }

    #[inline(always)]
    fn keep_stable(&mut self, at: Address) {
        if size_of::<P::Stable>() > 0
            && let Some(stable) = self.step.persist.take()
        {
            self.stable.insert(at, stable);
        }
    }

    /// Carries out the effects that a handler asked for. A trigger may crash the process in the midst of it:
    /// what it has not yet done is then lost.
    #[inline(never)]
    fn carry_out_effects(&mut self, at: Address) {
        let mut effects = std::mem::take(&mut self.step.effects);
        // Each is taken apart where it lies: to read as a whole what was just written in pieces would wait.
        for effect in effects.drain(..) {
            let alive = match effect {
                Effect::Send { to, message } => self.send(at, to, message),
                Effect::SetTimer { timer, after } => self.set_timer(at, timer, after),
                Effect::CancelTimer(timer) => {
                    self.timers.cancel(at, &timer);
                    true
                }
                Effect::Output(output) => self.output(at, &output),
                Effect::Suspicion(suspicion) => self.report(at, suspicion),
            };
            if !alive {
                break;
            }
        }
        self.step.effects = effects;
    }

    /// Sends a message; says whether the sender survives it.
    #[inline(always)]
    fn send(&mut self, from: Address, to: Address, message: P::Message) -> bool {
        check_link(&self.system, from, to);
        let stamp = self.observer.sent(self.now, from, to, &message);
        if !self.plan.triggered.is_empty() || !self.network.is_plain() {
            return self.send_with_care(from, to, message, stamp);
        }
        let arrival = self.network.plain_arrival(self.now, from);
        self.post(arrival, from, to, message, stamp);
        true
    }

    /// Sends where something may go wrong, on the way or because of the sending.
    #[inline(never)]
    fn send_with_care(&mut self, from: Address, to: Address, message: P::Message, stamp: O::Stamp) -> bool {
        let kind = message.kind();
        match self.network.route(self.now, from, to) {
            Fate::Arrives(_) | Fate::Twice(..) if self.stage.is_some() => {
                if let Some(stage) = &mut self.stage {
                    stage.hold_message((from, to), message, stamp);
                }
            }
            Fate::Arrives(at) => self.post(at, from, to, message, stamp),
            Fate::Twice(first, second) => {
                self.observer.duplicated(&stamp);
                self.post(first, from, to, message.clone(), stamp.clone());
                self.post(second, from, to, message, stamp);
            }
            Fate::Lost(why) => self.observer.dropped(self.now, from, to, &stamp, why),
        }
        !self.interrupted(from, Occurrence::Sends(kind))
    }

    #[inline(never)]
    fn set_timer(&mut self, at: Address, timer: P::Timer, after: Delay) -> bool {
        let mut after = self.jitter.between(nanos(after.min), nanos(after.max));
        if let Some(clock) = self.drift.get(&at) {
            after = (after as f64 / clock.rate) as Time;
        }
        let number = self.timers.set(at, &timer);
        if let Some(stage) = &mut self.stage {
            stage.hold_timer(at, timer, number, self.now.saturating_add(after));
            return true;
        }
        self.queue.push(self.now.saturating_add(after), Pending::Timer { at, timer, number });
        true
    }

    /// A detector speaks; says whether the process survives it.
    #[inline(never)]
    fn report(&mut self, at: Address, suspicion: Suspicion) -> bool {
        self.observer.noticed(self.now, at, Notice::Suspicion(suspicion));
        !(matches!(suspicion, Suspicion::Suspect(_)) && self.interrupted(at, Occurrence::Suspects))
    }

    /// Tells the application; says whether the process survives it.
    fn output(&mut self, at: Address, output: &Output<P>) -> bool {
        self.observer.noticed(self.now, at, Notice::Output(output));
        let Some(status) = P::Problem::status_after_output(output) else { return true };
        let before = std::mem::replace(&mut self.status[at.index()], status);
        if !self.plan.triggered.is_empty() && self.interrupted(at, Occurrence::Becomes(before, status)) {
            return false;
        }
        if self.clients.is_some() {
            self.client_reacts(at, status);
        }
        true
    }

    /// Performs what was waiting for this; says whether it made an end of the process that it happened at.
    pub(super) fn interrupted(&mut self, at: Address, occurrence: Occurrence<'_>) -> bool {
        if self.plan.triggered.is_empty() {
            return false;
        }
        let life = self.slots[at.index()].life;
        // The handlers that a deed calls have steps of their own.
        let step = std::mem::take(&mut self.step);
        for deed in self.plan.occasion(at, occurrence) {
            self.perform(deed);
        }
        self.step = step;
        !self.is_up(at) || self.slots[at.index()].life != life
    }

    /// A client in a loop asks for what comes next.
    pub(super) fn client_reacts(&mut self, at: Address, status: Status) {
        let Some(clients) = &mut self.clients else { return };
        let Some(command) = P::Problem::next_command(&status) else { return };
        let (min, max) = if status == Status::Inside {
            clients.workload.hold
        } else if clients.remaining[at.index()] > 0 {
            clients.remaining[at.index()] -= 1;
            if let Some(wish) = clients.wishes.get_mut(at.index()) {
                // It came up when it did; if the process was busy then, it has waited at the client.
                *wish += self.jitter.exponential(1e9 / clients.workload.rate) as Time;
                let due = self.now.max(*wish);
                self.queue.push(due, self.in_this_life(at, RareEvent::Client(command)));
                return;
            }
            clients.workload.think
        } else {
            return;
        };
        let wait = self.jitter.between(nanos(min), nanos(max));
        self.queue.push(self.now + wait, self.in_this_life(at, RareEvent::Client(command)));
    }

    /// Something rare, meant for the present life of a process.
    pub(super) fn in_this_life(&self, at: Address, what: RareEvent<P>) -> Pending<P, O::Stamp> {
        Pending::Rare(Box::new(Rare { at, life: self.slots[at.index()].life, what }))
    }
}

/// # Panics
/// If the one cannot send to the other: the algorithm has a bug.
#[inline(always)]
fn check_link<P: Process>(system: &System<P>, from: Address, to: Address) {
    assert!(
        system.topology.linked(from, to),
        "bug in the algorithm: {from:?} sent to {to:?}, but there is no such link"
    );
}

fn is_send<P: Process>(effect: &mut Effect<P>) -> bool {
    matches!(effect, Effect::Send { .. })
}

/// What the clock of a process shows: virtual time, unless it drifts. It is not worked out for a process that
/// may not ask.
#[inline]
pub(super) fn local_time<P: Process>(
    drift: &FxHashMap<Address, LocalClock>,
    process: Address,
    now: Time,
) -> Duration {
    if !P::READS_CLOCK {
        return Duration::ZERO;
    }
    let drifted = if drift.is_empty() { None } else { drift.get(&process) };
    Duration::from_nanos(drifted.map_or(now, |clock| clock.at(now)))
}
