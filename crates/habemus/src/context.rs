//! What a handler sees of the world, and the only way in which it can act on it.

use std::time::Duration;

use crate::process::{Chooser, Effect, Output};
use crate::{Address, Delay, Id, Process, Step, Suspicion, System, Topology};

/// The handler's view of the world: who it is, what it knows of the network, and its out-buffer.
///
/// Each topology adds its own words: [`successor`](Context::successor) on a ring,
/// [`id_of`](Context::id_of) in a complete graph, where everyone knows everyone.
pub struct Context<'a, P: Process> {
    pub(crate) me: Address,
    pub(crate) system: &'a System<P>,
    pub(crate) step: &'a mut Step<P>,
    pub(crate) chooser: &'a mut dyn Chooser,
    pub(crate) now: Duration,
}

impl<'a, P: Process> Context<'a, P> {
    /// The context of one handler call. Drivers make it; `step` is theirs, to be reused from call to call.
    #[inline]
    pub fn new(
        me: Address,
        system: &'a System<P>,
        now: Duration,
        step: &'a mut Step<P>,
        chooser: &'a mut dyn Chooser,
    ) -> Self {
        Context { me, system, step, chooser, now }
    }

    /// The address of this process.
    #[inline]
    pub fn me(&self) -> Address {
        self.me
    }

    /// The identifier of this process. An anonymous algorithm never asks.
    #[inline]
    pub fn id(&self) -> Id {
        self.system.ids[self.me.index()]
    }

    /// The constants of the algorithm.
    #[inline]
    pub fn config(&self) -> &'a P::Config {
        &self.system.config
    }

    /// The network.
    #[inline]
    pub fn topology(&self) -> &'a P::Topology {
        &self.system.topology
    }

    /// The length of a pulse, for synchronous algorithms.
    pub fn pulse(&self) -> Duration {
        self.system.pulse
    }

    /// How many processes there are, for algorithms that may know it.
    #[inline]
    pub fn process_count(&self) -> usize {
        self.system.topology.present()
    }

    /// Those that this process can send to.
    #[inline]
    pub fn neighbours(&self) -> impl Iterator<Item = Address> + use<'a, P> {
        self.system.topology.neighbours(self.me)
    }

    /// Sends `message` to the process at `to`.
    #[inline]
    pub fn send(&mut self, to: Address, message: P::Message) {
        self.step.effects.push(Effect::Send { to, message });
    }

    /// Sends `message` to every neighbour.
    pub fn broadcast(&mut self, message: &P::Message) {
        for to in self.neighbours() {
            self.send(to, message.clone());
        }
    }

    /// Asks to be woken with `timer`. A running timer of the same value is replaced.
    pub fn set_timer(&mut self, timer: P::Timer, after: impl Into<Delay>) {
        ask(self.step, Effect::SetTimer { timer, after: after.into() });
    }

    /// Takes a timer back.
    pub fn cancel_timer(&mut self, timer: P::Timer) {
        ask(self.step, Effect::CancelTimer(timer));
    }

    /// Tells the application something.
    #[inline]
    pub fn output(&mut self, output: Output<P>) {
        ask(self.step, Effect::Output(output));
    }

    /// Puts `stable` on stable storage, before any effect of this step is carried out.
    pub fn persist(&mut self, stable: P::Stable) {
        self.step.persist = Some(stable);
    }

    /// Says what this detector thinks of another process.
    pub fn report(&mut self, suspicion: Suspicion) {
        ask(self.step, Effect::Suspicion(suspicion));
    }

    /// A free choice: a number below `bound`.
    ///
    /// # Panics
    /// If `bound` is zero: there is nothing to choose from.
    pub fn choose(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a choice needs at least one possibility");
        let choice = self.chooser.choose(bound);
        debug_assert!(choice < bound, "the driver chose {choice}, which is not below {bound}");
        choice
    }

    /// What the local clock shows.
    ///
    /// # Panics
    /// If the process does not declare [`Process::READS_CLOCK`]: it could not be model-checked.
    pub fn now(&self) -> Duration {
        assert!(P::READS_CLOCK, "a process that reads the clock must declare READS_CLOCK");
        self.now
    }

    /// Runs a handler of another process `Q` that lives inside this one, and collects what it asked for.
    ///
    /// `system` is the inner process's view. Combinators (an algorithm over a detector, an epoch around a
    /// one-shot election) map the inner step to their own effects.
    pub fn inner<Q: Process, R>(
        &mut self,
        system: &System<Q>,
        handler: impl FnOnce(&mut Context<'_, Q>) -> R,
    ) -> (R, Step<Q>) {
        let mut step = Step::default();
        let mut cx =
            Context { me: self.me, system, step: &mut step, chooser: &mut *self.chooser, now: self.now };
        let result = handler(&mut cx);
        (result, step)
    }

    /// Carries out what a process inside this one asked for, in the words of this one. What it says, to its
    /// application or as a detector, is given back: what that means is for the one around it to decide.
    #[inline]
    pub fn carry_out<Q: Process>(
        &mut self,
        effect: Effect<Q>,
        message_of: impl FnOnce(Q::Message) -> P::Message,
        timer_of: impl FnOnce(Q::Timer) -> P::Timer,
    ) -> Option<Said<Q>> {
        match effect {
            Effect::Send { to, message } => self.send(to, message_of(message)),
            Effect::SetTimer { timer, after } => self.set_timer(timer_of(timer), after),
            Effect::CancelTimer(timer) => self.cancel_timer(timer_of(timer)),
            Effect::Output(output) => return Some(Said::Output(output)),
            Effect::Suspicion(suspicion) => return Some(Said::Suspicion(suspicion)),
        }
        None
    }
}

/// Asks for what is rarer than a message: a call keeps handlers short. It takes the step and not the context,
/// which need then lie nowhere in memory where a handler is part of its driver's loop.
#[inline(never)]
fn ask<P: Process>(step: &mut Step<P>, effect: Effect<P>) {
    step.effects.push(effect);
}

/// What a process inside another one says.
#[derive(Clone, Debug)]
pub enum Said<Q: Process> {
    /// To its application.
    Output(Output<Q>),
    /// Of another process.
    Suspicion(Suspicion),
}
