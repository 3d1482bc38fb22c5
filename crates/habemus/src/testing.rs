//! One process under test: feed it an event, compare everything that it asked for.

use std::time::Duration;

use crate::process::Output;
use crate::{Address, Command, Context, Effect, Id, Process, Step, Suspicion, System};

/// A single process of a system whose other processes are the test.
#[derive(Clone, Debug)]
pub struct Harness<P: Process> {
    /// The variables, to look at.
    pub process: P,
    system: System<P>,
    me: Address,
    started: Step<P>,
    choices: Vec<u32>,
}

impl<P: Process> Harness<P> {
    /// Starts the process at `me`.
    ///
    /// # Panics
    /// If the system is not well formed, as [`System::new`] says.
    pub fn new(
        topology: P::Topology,
        ids: impl IntoIterator<Item = u64>,
        config: P::Config,
        me: Address,
    ) -> Self {
        Self::recovered(topology, ids, config, me, None)
    }

    /// Starts the process at `me` after a crash that left `stable` on its disk.
    ///
    /// # Panics
    /// If the system is not well formed, as [`System::new`] says.
    pub fn recovered(
        topology: P::Topology,
        ids: impl IntoIterator<Item = u64>,
        config: P::Config,
        me: Address,
        stable: Option<P::Stable>,
    ) -> Self {
        let system = System::new(topology, ids.into_iter().map(Id).collect::<Vec<_>>(), config)
            .expect("the system of a test is well formed");
        let mut started = Step::default();
        let mut chooser = |_| 0;
        let mut cx = Context::new(me, &system, Duration::ZERO, &mut started, &mut chooser);
        let process = P::on_start(stable, &mut cx);
        Harness { process, system, me, started, choices: Vec::new() }
    }

    /// What the process asked for when it started.
    pub fn started(&self) -> &Step<P> {
        &self.started
    }

    /// The choices to make from now on; when they run out, the first possibility is taken.
    pub fn will_choose(&mut self, choices: impl IntoIterator<Item = u32>) {
        self.choices = choices.into_iter().collect();
        self.choices.reverse();
    }

    /// Delivers a message.
    pub fn message(&mut self, from: Address, message: P::Message) -> Step<P> {
        self.handle(|process, cx| process.on_message(from, message, cx))
    }

    /// Lets a timer run out.
    pub fn timer(&mut self, timer: P::Timer) -> Step<P> {
        self.handle(|process, cx| process.on_timer(timer, cx))
    }

    /// Gives a command.
    pub fn command(&mut self, command: Command<P>) -> Step<P> {
        self.handle(|process, cx| process.on_command(command, cx))
    }

    /// Lets the detector speak.
    pub fn suspicion(&mut self, suspicion: Suspicion) -> Step<P> {
        self.handle(|process, cx| process.on_suspicion(suspicion, cx))
    }

    /// Stops the process in good order.
    pub fn stop(&mut self) -> Step<P> {
        self.handle(P::on_stop)
    }

    /// What the process says of itself, and of its system.
    pub fn asked<T>(&self, question: impl FnOnce(&P, &System<P>) -> T) -> T {
        question(&self.process, &self.system)
    }

    /// Lets something happen to the process that is no event of its own.
    pub fn handle(&mut self, handler: impl FnOnce(&mut P, &mut Context<'_, P>)) -> Step<P> {
        let mut step = Step::default();
        let choices = &mut self.choices;
        let mut chooser = |bound: u32| choices.pop().unwrap_or(0).min(bound - 1);
        let mut cx = Context::new(self.me, &self.system, Duration::ZERO, &mut step, &mut chooser);
        handler(&mut self.process, &mut cx);
        step
    }
}

impl<P: Process> Step<P> {
    /// Whether the handler asked for nothing.
    pub fn is_empty(&self) -> bool {
        self.persist.is_none() && self.effects.is_empty()
    }

    /// The messages sent, in order.
    pub fn sent(&self) -> Vec<(Address, P::Message)> {
        let sends = self.effects.iter().filter_map(|effect| match effect {
            Effect::Send { to, message } => Some((*to, message.clone())),
            _ => None,
        });
        sends.collect()
    }

    /// What the application was told, in order.
    pub fn outputs(&self) -> Vec<Output<P>> {
        let outputs = self.effects.iter().filter_map(|effect| match effect {
            Effect::Output(output) => Some(output.clone()),
            _ => None,
        });
        outputs.collect()
    }
}
