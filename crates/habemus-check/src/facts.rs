//! What there is to know of a system before it runs, whatever its processes are.

use habemus::catalogue::{Contract, Entry, Setup};
use habemus::property::{Monitor, Population};
use habemus::{Problem, ProblemKind, Process, Status};

/// A system, but for its processes.
#[derive(Clone, Debug)]
pub(crate) struct SystemFacts {
    pub(crate) entry: &'static Entry,
    pub(crate) population: Population,
    /// How the processes are connected, to be shown.
    pub(crate) topology: String,
    /// What it solves.
    pub(crate) problem: ProblemKind,
    /// Its properties.
    pub(crate) properties: Vec<Property>,
    /// What it promises, and under which model.
    pub(crate) contract: Contract,
    /// Whether there is an oracle detector.
    pub(crate) oracle: bool,
    /// Whether it works in pulses.
    pub(crate) synchronous: bool,
    /// Whether clients begin once, as in an election, and not in a loop.
    pub(crate) one_shot: bool,
    /// Whether its processes read the clock.
    pub(crate) reads_clock: bool,
}

/// A property of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) demand: &'static str,
    /// Whether the algorithm promises it under its model.
    pub(crate) is_promised: bool,
}

impl SystemFacts {
    pub(crate) fn of<P: Process>(setup: &Setup<P>) -> Self {
        SystemFacts {
            entry: setup.entry,
            population: setup.population.clone(),
            topology: setup.topology.clone(),
            problem: P::Problem::KIND,
            properties: properties::<P::Problem>(&setup.population, &|name| {
                setup.contract.promise(name).is_some()
            }),
            contract: setup.contract.clone(),
            oracle: setup.oracle.is_some(),
            synchronous: setup.synchronous,
            one_shot: P::Problem::next_command(&Status::Idle).is_none(),
            reads_clock: P::READS_CLOCK,
        }
    }

    /// How many processes there are.
    pub(crate) fn processes(&self) -> usize {
        self.population.ids.len()
    }
}

fn properties<Q: Problem>(population: &Population, promises: &dyn Fn(&str) -> bool) -> Vec<Property> {
    let property = |monitor: &Q::Monitor| {
        let (name, demand) = (monitor.name(), monitor.demand());
        Property { name, demand, is_promised: promises(name) }
    };
    Q::monitors(population).iter().map(property).collect()
}
