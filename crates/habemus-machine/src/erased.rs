//! The translation between a process and plain data: what must be compiled for every algorithm.

use std::sync::Arc;
use std::time::Duration;

use habemus::{
    Address, Context, Effect, Event, EventOf, Message, Problem, Process, Status, Step, Suspicion, System,
    Topology, election,
};

use crate::Random;
use crate::census::is_in_range;
use crate::machine::Machine;
use crate::plain::{Encoded, Garbled, Label, Labels, PlainEffect, PlainStep, decode, encode, text_of};

/// One process, and what its handlers need.
pub(crate) struct Erased<P: Process> {
    system: Arc<System<P>>,
    me: Address,
    labels: Labels,
    pub(crate) process: Option<P>,
    step: Step<P>,
    random: Random,
}

impl<P: Process> Erased<P> {
    pub(crate) fn boxed(system: System<P>, me: Address, labels: Labels) -> Box<dyn Machine> {
        Erased::unstarted(Arc::new(system), me, labels)
    }

    fn unstarted(system: Arc<System<P>>, me: Address, labels: Labels) -> Box<dyn Machine> {
        Box::new(Erased::new(system, me, labels))
    }

    pub(crate) fn new(system: Arc<System<P>>, me: Address, labels: Labels) -> Self {
        let (process, step, random) = (None, Step::default(), Random::new());
        Erased { system, me, labels, process, step, random }
    }

    /// Another one, not started.
    pub(crate) fn another(&self) -> Self {
        Erased::new(Arc::clone(&self.system), self.me, self.labels)
    }

    /// Lets something happen to the process that is no event of its own.
    pub(crate) fn with(
        &mut self,
        now: Duration,
        out: &mut PlainStep,
        happens: impl FnOnce(&mut P, &mut Context<'_, P>),
    ) {
        let Some(process) = &mut self.process else { return };
        let mut cx = Context::new(self.me, &self.system, now, &mut self.step, &mut self.random);
        happens(process, &mut cx);
        self.translate(out);
    }

    fn handle(&mut self, event: EventOf<P>, now: Duration, out: &mut PlainStep) {
        self.react(event, now);
        self.translate(out);
    }

    fn react(&mut self, event: EventOf<P>, now: Duration) {
        // Nothing happens to a process that has not started.
        let Some(process) = &mut self.process else { return };
        let mut cx = Context::new(self.me, &self.system, now, &mut self.step, &mut self.random);
        event.dispatch(process, &mut cx);
    }

    fn translate(&mut self, out: &mut PlainStep) {
        out.persist = self.step.persist.take().map(|stable| encode(&stable));
        for effect in self.step.effects.drain(..) {
            out.effects.push(match effect {
                Effect::Send { to, message } => {
                    debug_assert!(self.system.topology.linked(self.me, to), "{:?} sent to {to:?}", self.me);
                    let (bytes, label) = (encode(&message), label_of(&message, self.labels));
                    PlainEffect::Send { to, bytes, label }
                }
                Effect::SetTimer { timer, after } => {
                    let background = P::is_background(&timer);
                    PlainEffect::SetTimer { key: encode(&timer), after, background }
                }
                Effect::CancelTimer(timer) => PlainEffect::CancelTimer { key: encode(&timer) },
                Effect::Output(output) => {
                    let status = P::Problem::status_after_output(&output);
                    PlainEffect::Output(Encoded::new(&output, status, self.labels))
                }
                Effect::Suspicion(suspicion) => PlainEffect::Suspicion(suspicion),
            });
        }
    }
}

impl<P: Process> Machine for Erased<P> {
    fn fresh(&self) -> Box<dyn Machine> {
        Erased::unstarted(Arc::clone(&self.system), self.me, self.labels)
    }

    fn blank(&self) -> Vec<u8> {
        encode(&P::Stable::default())
    }

    fn renumbered(&self, stored: &[u8]) -> Option<Vec<u8>> {
        let stored = postcard::from_bytes(stored).ok()?;
        P::renumbered(stored).map(|stable| encode(&stable))
    }

    fn start(&mut self, recovered: Option<&[u8]>, now: Duration, out: &mut PlainStep) -> Result<(), Garbled> {
        let recovered = match recovered {
            Some(bytes) => Some(postcard::from_bytes(bytes).map_err(|_| Garbled("stored state"))?),
            None => None,
        };
        let mut cx = Context::new(self.me, &self.system, now, &mut self.step, &mut self.random);
        self.process = Some(P::on_start(recovered, &mut cx));
        self.translate(out);
        Ok(())
    }

    fn message(
        &mut self,
        from: Address,
        bytes: &[u8],
        now: Duration,
        out: &mut PlainStep,
    ) -> Result<Label, Garbled> {
        let message: P::Message = decode(bytes, "message")?;
        let system = Arc::clone(&self.system);
        // Whoever wrote it, handlers see only what a process of this system could have sent to this one.
        if !is_in_range(&message, &system.ids) || !system.topology.linked(from, self.me) {
            return Err(Garbled("message"));
        }
        let label = label_of(&message, self.labels);
        let before = self.process.clone();
        self.react(Event::Message { from, message }, now);
        // A lie may make the process turn to somebody that it cannot reach: then it has not heard it.
        if !self.step.effects.iter().all(|effect| is_possible(&system, self.me, effect)) {
            (self.process, self.step) = (before, Step::default());
            return Err(Garbled("message"));
        }
        self.translate(out);
        Ok(label)
    }

    fn timer(&mut self, key: &[u8], now: Duration, out: &mut PlainStep) -> Result<Label, Garbled> {
        let timer: P::Timer = decode(key, "timer")?;
        let text = text_of(&timer, self.labels);
        let label = Label { kind: "", text, background: P::is_background(&timer) };
        self.handle(Event::Timer(timer), now, out);
        Ok(label)
    }

    fn command(&mut self, word: &str, now: Duration, out: &mut PlainStep) -> Option<Encoded> {
        let command = P::Problem::command(word)?;
        let encoded = Encoded::new(&command, P::Problem::status_after_command(&command), self.labels);
        self.handle(Event::Command(command), now, out);
        Some(encoded)
    }

    fn suspicion(&mut self, suspicion: Suspicion, now: Duration, out: &mut PlainStep) {
        self.handle(Event::Suspicion(suspicion), now, out);
    }

    fn stop(&mut self, now: Duration, out: &mut PlainStep) {
        self.with(now, out, Process::on_stop);
    }

    fn lease(&self) -> Option<Vec<u8>> {
        self.process.as_ref()?.lease(&self.system).map(|timer| encode(&timer))
    }

    fn leadership(&self) -> Option<election::Output> {
        self.process.as_ref()?.leadership(&self.system)
    }

    fn state(&self) -> String {
        self.process.as_ref().map_or_else(String::new, |process| format!("{process:?}"))
    }

    fn next_command(&self, status: &Status) -> Option<String> {
        P::Problem::next_command(status).map(|command| command.to_string())
    }
}

/// Whether the driver can carry it out.
fn is_possible<P: Process>(system: &System<P>, me: Address, effect: &Effect<P>) -> bool {
    match effect {
        Effect::Send { to, .. } => to.index() < system.len() && system.topology.linked(me, *to),
        Effect::Suspicion(Suspicion::Suspect(peer) | Suspicion::Restore(peer)) => peer.index() < system.len(),
        Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Output(_) => true,
    }
}

fn label_of<M: Message>(message: &M, labels: Labels) -> Label {
    Label { kind: message.kind(), text: text_of(message, labels), background: message.is_background() }
}
