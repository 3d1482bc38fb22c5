//! A made-up run for the tests of monitors.

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::time::Duration;

use super::{End, Monitor, Observation, ObservedEvent, Population, Verdict};
use crate::clock::VectorClock;
use crate::{Address, Id, Problem};

/// A run under one monitor: the test says what happens, and each thing happens a millisecond after the last.
///
/// Processes are called by their identifiers, which are not their addresses; the higher is the better leader.
pub(crate) struct Rehearsal<P, M> {
    pub(crate) monitor: M,
    pub(crate) who: Population,
    now: Duration,
    violation: Option<String>,
    problem: PhantomData<P>,
}

impl<P: Problem, M: Monitor<P>> Rehearsal<P, M> {
    /// A run of the processes with these identifiers, before anything has happened.
    pub(crate) fn of<const N: usize>(ids: [u32; N], monitor: impl FnOnce(&Population) -> M) -> Self {
        let who = Population {
            ids: ids.iter().map(|id| Id(u64::from(*id))).collect(),
            preference: Some(ids.to_vec()),
            permits: 1,
            is_sure_to_start: true,
        };
        let monitor = monitor(&who);
        Rehearsal { monitor, who, now: Duration::ZERO, violation: None, problem: PhantomData }
    }

    /// As [`of`](Rehearsal::of), and all processes have started.
    pub(crate) fn started<const N: usize>(ids: [u32; N], monitor: impl FnOnce(&Population) -> M) -> Self {
        let mut run = Self::of(ids, monitor);
        for id in ids {
            run.start(id);
        }
        run
    }

    pub(crate) fn start(&mut self, id: u32) {
        self.see(id, None, ObservedEvent::Started);
    }

    pub(crate) fn crash(&mut self, id: u32) {
        self.see(id, None, ObservedEvent::Crashed);
    }

    pub(crate) fn command(&mut self, id: u32, command: impl Borrow<P::Command>) {
        self.see(id, None, ObservedEvent::Command(command.borrow()));
    }

    pub(crate) fn command_at(&mut self, id: u32, clock: &VectorClock, command: impl Borrow<P::Command>) {
        self.see(id, Some(clock), ObservedEvent::Command(command.borrow()));
    }

    pub(crate) fn output(&mut self, id: u32, output: impl Borrow<P::Output>) {
        self.see(id, None, ObservedEvent::Output(output.borrow()));
    }

    /// How the property was broken first, if it was.
    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn at_end(&self, end: End) -> Verdict {
        self.monitor.at_end(end, &self.who)
    }

    /// The address of a process.
    pub(crate) fn address(&self, id: u32) -> Address {
        self.who.address(Id(u64::from(id))).expect("a test calls only processes that take part")
    }

    fn see(&mut self, id: u32, clock: Option<&VectorClock>, what: ObservedEvent<'_, P>) {
        self.now += Duration::from_millis(1);
        let seen = Observation { at: self.now, process: self.address(id), clock, what };
        if let Err(violation) = self.monitor.observe(&seen, &self.who) {
            self.violation.get_or_insert(violation.0);
        }
    }
}
